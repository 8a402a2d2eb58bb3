package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"oriel/server/cloudevents"
)

// shop is a fleet of order workflows: each order goes its way over several events, which share a
// subject and, for most orders, a trace.
type shop struct {
	rng    *rand.Rand
	orders []*order
	number int
}

type order struct {
	id, customer, trace string
	step                string // the last thing that happened
	cents               int
	items               []item
}

type item struct {
	SKU      string      `json:"sku"`
	Name     string      `json:"name"`
	Quantity int         `json:"quantity"`
	Price    json.Number `json:"price"`
}

// happening is the data of an event of the shop. Amounts keep their two decimals.
type happening struct {
	OrderID  string      `json:"orderId"`
	PersonID string      `json:"personId"`
	Severity string      `json:"severity,omitempty"`
	Tags     []string    `json:"tags"`
	Items    []item      `json:"items,omitempty"`
	Total    json.Number `json:"total,omitempty"`
	Currency string      `json:"currency,omitempty"`
	Carrier  string      `json:"carrier,omitempty"`
	Tracking string      `json:"trackingNumber,omitempty"`
	Reason   string      `json:"reason,omitempty"`
	Attempt  int         `json:"attempt,omitempty"`
}

// maxOpen is how many orders are under way before one must go on.
const maxOpen = 40

func newShop(rng *rand.Rand) *shop { return &shop{rng: rng, number: 10000 + rng.IntN(890000)} }

// next begins an order or takes one a step further.
func (s *shop) next(at time.Time) []*cloudevents.Event {
	if len(s.orders) == 0 || len(s.orders) < maxOpen && s.rng.IntN(4) == 0 {
		return []*cloudevents.Event{s.place(at)}
	}
	i := s.rng.IntN(len(s.orders))
	e, done := s.advance(s.orders[i], at)
	if done {
		s.orders[i] = s.orders[len(s.orders)-1]
		s.orders = s.orders[:len(s.orders)-1]
	}
	return []*cloudevents.Event{e}
}

type good struct {
	sku, name string
	cents     int
}

func goods() []good {
	return []good{
		{"LMP-201", "Desk lamp", 3990},
		{"KTL-044", "Kettle, brushed steel", 5450},
		{"CBL-USB-C2", "USB-C cable 2 m", 1290},
		{"BK-7781", "Field guide to birds", 2400},
		{"TEA-SEN-100", "煎茶 100 g", 1180},
		{"MUG-BLU", "Mug “Ozean”", 1450},
		{"BLK-A5", "Notebook A5, dotted", 890},
		{"SNS-TH-1", "Temperature sensor", 1999},
	}
}

func (s *shop) place(at time.Time) *cloudevents.Event {
	s.number++
	o := &order{
		id: fmt.Sprintf("ord-%d", s.number), customer: fmt.Sprintf("cust-%03d", s.rng.IntN(180)), step: "placed",
	}
	if s.rng.IntN(10) < 7 {
		o.trace = fmt.Sprintf("%016x%016x", s.rng.Uint64()|1, s.rng.Uint64())
	}
	shelf := goods()
	for range 1 + s.rng.IntN(3) {
		g := shelf[s.rng.IntN(len(shelf))]
		n := 1 + s.rng.IntN(3)
		o.items = append(o.items, item{g.sku, g.name, n, amount(g.cents)})
		o.cents += n * g.cents
	}
	s.orders = append(s.orders, o)
	return s.event(o, at, "/shop/orders", "com.example.shop.order.placed.v1", happening{
		Items: o.items, Total: amount(o.cents), Currency: "EUR", Tags: []string{"order"},
	})
}

// advance is the order's next event, and whether it was the last.
func (s *shop) advance(o *order, at time.Time) (*cloudevents.Event, bool) {
	luck := s.rng.IntN(100)
	to := func(step string) { o.step = step }
	switch o.step {
	case "placed", "declined":
		switch {
		case luck < 6 && o.step == "placed":
			to("declined")
			return s.event(o, at, "/shop/payments", "com.example.shop.payment.declined.v1", happening{
				Total: amount(o.cents), Currency: "EUR", Reason: "insufficient funds", Attempt: 1, Severity: "warning",
				Tags: []string{"payment"},
			}), false
		case luck < 10:
			return s.event(o, at, "/shop/payments", "com.example.shop.payment.failed.v1", happening{
				Total: amount(o.cents), Currency: "EUR", Reason: "acquirer timeout after 30 s", Attempt: 3, Severity: "error",
				Tags: []string{"payment", "attention"},
			}), true
		}
		to("paid")
		return s.event(o, at, "/shop/payments", "com.example.shop.payment.captured.v1", happening{
			Total: amount(o.cents), Currency: "EUR", Tags: []string{"payment"},
		}), false
	case "paid":
		if luck < 4 {
			return s.event(o, at, "/shop/orders", "com.example.shop.order.cancelled.v1", happening{
				Reason: "customer request", Severity: "notice", Tags: []string{"order"},
			}), true
		}
		to("shipped")
		return s.event(o, at, "/shop/warehouse", "com.example.shop.shipment.dispatched.v1", happening{
			Carrier: s.carrier(), Tracking: s.tracking(), Tags: []string{"shipment"},
		}), false
	default:
		switch {
		case luck < 2:
			return s.event(o, at, "/shop/warehouse", "com.example.shop.shipment.lost.v1", happening{
				Carrier: s.carrier(), Tracking: s.tracking(), Severity: "critical", Reason: "no scan for ten days",
				Tags: []string{"shipment", "attention"},
			}), true
		case luck < 8:
			return s.event(o, at, "/shop/warehouse", "com.example.shop.shipment.delayed.v1", happening{
				Carrier: s.carrier(), Tracking: s.tracking(), Severity: "warning", Reason: "weather", Tags: []string{"shipment"},
			}), false
		}
		return s.event(o, at, "/shop/warehouse", "com.example.shop.shipment.delivered.v1", happening{
			Carrier: s.carrier(), Tracking: s.tracking(), Tags: []string{"shipment"},
		}), true
	}
}

func (s *shop) event(o *order, at time.Time, source, kind string, h happening) *cloudevents.Event {
	h.OrderID, h.PersonID = o.id, o.customer
	e := made(at, time.UTC, source, kind, identity(s.rng))
	e.Subject = o.id
	if s.rng.IntN(3) == 0 {
		e.Mode = cloudevents.Structured
	}
	withJSON(e, h)
	if o.trace != "" {
		e.Extensions = []cloudevents.Extension{{
			Name: "traceparent", Value: fmt.Sprintf("00-%s-%016x-01", o.trace, s.rng.Uint64()|1),
		}}
	}
	return e
}

func (s *shop) carrier() string {
	return []string{"Northline", "Kite Express", "Postgang"}[s.rng.IntN(3)]
}

func (s *shop) tracking() string { return fmt.Sprintf("NL%010d", s.rng.IntN(1e10)) }

func amount(cents int) json.Number {
	return json.Number(fmt.Sprintf("%d.%02d", cents/100, cents%100))
}

// withJSON gives the event its data; the values are ours and always encode.
func withJSON(e *cloudevents.Event, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("demo: encode %T: %v", v, err))
	}
	e.DataContentType, e.Data = "application/json", data
}
