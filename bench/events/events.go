// Package events makes short events of a believable stream: forty types, two hundred sources, subjects
// of which few are busy, six severities, thirty days. What it makes follows from the random source
// alone. It knows nothing of the server.
package events

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// Event is what a producer would send.
type Event struct {
	ID, Source, Type, Subject string
	Time                      time.Time
	Data                      []byte // JSON
}

// The shape of the stream.
const (
	Types    = 40
	Sources  = 200
	Subjects = 2000
	Days     = 30
)

var (
	domains    = [...]string{"device", "room", "order", "person", "door", "meter", "parcel", "alarm"}
	happenings = [...]string{"created", "updated", "measured", "failed", "closed"}
	severities = [...]string{"debug", "info", "info", "info", "info", "info", "notice", "notice", "warning", "warning", "error", "critical"}
	units      = [...]string{"celsius", "percent", "watt", "lux", "pascal", "litre"}
	tags       = [...]string{"north", "south", "east", "west", "lab", "pilot", "legacy", "night", "public", "staff", "heating", "cooling"}
	words      = [...]string{
		"sensor", "value", "above", "below", "limit", "after", "restart", "connection", "lost", "restored",
		"battery", "level", "firmware", "update", "accepted", "rejected", "retry", "timeout", "gateway",
		"signal", "weak", "strong", "window", "opened", "closed", "motion", "detected", "nobody", "present",
		"temperature", "rising", "falling", "stable", "humidity", "valve", "stuck", "pump", "running",
		"manual", "override", "schedule", "started", "finished", "queue", "length", "threshold", "reached",
		"calibration", "due", "overdue", "maintenance", "requested", "confirmed", "cancelled", "delivery",
		"address", "changed", "payment", "declined", "refund", "issued", "customer", "notified", "courier",
	}
)

// Generator makes events. One goroutine at a time.
type Generator struct {
	rng      *rand.Rand
	subjects *rand.Zipf
	vocab    *rand.Zipf
	from     time.Time
	unique   int
	named    bool
}

// New makes a generator of events in the Days before until, each with a number of tokens in its data
// that occur in no other event. Events are 0.5 to 0.9 KB whatever that number.
func New(rng *rand.Rand, until time.Time, unique int) *Generator {
	return &Generator{
		rng:      rng,
		subjects: rand.NewZipf(rng, 1.2, 8, Subjects-1),
		vocab:    rand.NewZipf(rng, 1.1, 12, uint64(len(words)-1)),
		from:     until.Add(-Days * 24 * time.Hour),
		unique:   unique,
	}
}

// Identified has each event carry what people search for by hand: a request's id, a UUID, a trace in hex and
// the number of an order, in the room of its message.
func (g *Generator) Identified() *Generator {
	g.named = true
	return g
}

// Next makes one event; its data is its own.
func (g *Generator) Next() Event {
	r := g.rng
	kind := r.IntN(Types)
	domain := domains[kind%len(domains)]
	subject := g.subjects.Uint64()
	e := Event{
		ID:      string(appendHex(nil, r.Uint64(), 16)),
		Source:  "/site/" + strconv.Itoa(r.IntN(Sources)) + "/gateway",
		Type:    "example." + domain + "." + happenings[kind/len(domains)],
		Subject: domain + "-" + strconv.FormatUint(subject, 10),
		Time:    g.from.Add(time.Duration(r.Int64N(int64(Days * 24 * time.Hour)))).Truncate(time.Microsecond),
	}
	d := make([]byte, 0, 900)
	d = append(d, `{"severity":"`...)
	d = append(d, severities[r.IntN(len(severities))]...)
	d = append(d, `","deviceId":"dev-`...)
	d = strconv.AppendUint(d, subject%800, 10)
	d = append(d, `","roomId":"room-`...)
	d = strconv.AppendUint(d, subject%120, 10)
	d = append(d, `","personId":"person-`...)
	d = strconv.AppendUint(d, subject%400, 10)
	d = append(d, `","tags":["`...)
	d = append(d, tags[r.IntN(len(tags))]...)
	d = append(d, `","`...)
	d = append(d, tags[r.IntN(len(tags))]...)
	d = append(d, `"],"reading":{"value":`...)
	d = strconv.AppendInt(d, int64(r.IntN(40)), 10)
	d = append(d, `,"unit":"`...)
	d = append(d, units[r.IntN(len(units))]...)
	d = append(d, `","valid":`...)
	d = strconv.AppendBool(d, r.IntN(20) > 0)
	d = append(d, `},"attempt":`...)
	d = strconv.AppendInt(d, int64(1+r.IntN(3)), 10)
	d = append(d, `,"refs":[`...)
	for i := range g.unique {
		if i > 0 {
			d = append(d, ',')
		}
		d = append(d, '"')
		d = appendHex(d, r.Uint64(), 16)
		d = append(d, '"')
	}
	d = append(d, ']')
	if g.named {
		d = g.appendIdentifiers(d)
	}
	d = append(d, `,"message":"`...)
	for target := 480 + r.IntN(320); ; {
		d = append(d, words[g.vocab.Uint64()]...)
		if len(d) >= target {
			break
		}
		d = append(d, ' ')
	}
	e.Data = append(d, `"}`...)
	return e
}

func (g *Generator) appendIdentifiers(d []byte) []byte {
	r := g.rng
	d = append(d, `,"requestId":"req_`...)
	d = appendHex(d, r.Uint64(), 12)
	d = append(d, `","correlationId":"`...)
	a, b := r.Uint64(), r.Uint64()
	d = appendHex(d, a, 8)
	d = append(d, '-')
	d = appendHex(d, a>>32, 4)
	d = append(d, "-4"...)
	d = appendHex(d, a>>48, 3)
	d = append(d, "-a"...)
	d = appendHex(d, b, 3)
	d = append(d, '-')
	d = appendHex(d, b>>12, 12)
	d = append(d, `","traceId":"`...)
	d = appendHex(d, r.Uint64(), 16)
	d = appendHex(d, r.Uint64(), 16)
	d = append(d, `","orderNumber":"ORD-`...)
	d = strconv.AppendUint(d, 10_000_000+r.Uint64N(90_000_000), 10)
	return append(d, '"')
}

func appendHex(dst []byte, v uint64, digits int) []byte {
	for ; digits > 0; digits-- {
		dst = append(dst, "0123456789abcdef"[v&15])
		v >>= 4
	}
	return dst
}
