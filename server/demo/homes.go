package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"oriel/server/cloudevents"
)

// homes is a fleet of smart homes. Each has rooms with devices, and people who move about.
type homes struct {
	rng   *rand.Rand
	homes []home
}

type home struct {
	source string
	zone   *time.Location
	rooms  []string
	people []string
	at     map[string]string // person → room
	open   map[string]bool   // door → open
}

// reading is the data of an event of a home.
type reading struct {
	DeviceID string    `json:"deviceId"`
	RoomID   string    `json:"roomId,omitempty"`
	PersonID string    `json:"personId,omitempty"`
	Severity string    `json:"severity,omitempty"`
	Tags     []string  `json:"tags,omitempty"`
	Reading  *measured `json:"reading,omitempty"`
	State    string    `json:"state,omitempty"`
	Message  string    `json:"message,omitempty"`
	Battery  int       `json:"batteryPercent,omitempty"`
}

type measured struct {
	Quantity string  `json:"quantity"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
}

func newHomes(rng *rand.Rand) *homes {
	h := &homes{rng: rng}
	for _, d := range []struct {
		name   string
		zone   *time.Location
		people []string
	}{
		{"lindenweg-7", time.FixedZone("", 2*3600), []string{"anna", "jonas"}},
		{"maple-street-12", time.FixedZone("", -5*3600), []string{"grace", "omar", "lily"}},
		{"rua-das-flores-3", time.FixedZone("", -3*3600), []string{"beatriz"}},
		{"sakura-2-14", time.FixedZone("", 9*3600), []string{"haruto", "yui"}},
		{"harbour-view-5", time.UTC, []string{"noah", "priya"}},
		{"rue-pasteur-21", time.FixedZone("", 3600), []string{"chloe", "mathis"}},
	} {
		one := home{
			source: "/homes/" + d.name, zone: d.zone, people: d.people,
			rooms: []string{"hall", "kitchen", "living-room", "bedroom", "bathroom", "garage"},
			at:    map[string]string{}, open: map[string]bool{},
		}
		for _, p := range d.people {
			one.at[p] = "living-room"
		}
		h.homes = append(h.homes, one)
	}
	return h
}

// next is what happens in one home at an instant: one event, seldom two that belong together.
func (h *homes) next(at time.Time) []*cloudevents.Event {
	one := &h.homes[h.rng.IntN(len(h.homes))]
	switch n := h.rng.IntN(1000); {
	case n < 560:
		return []*cloudevents.Event{h.sensor(one, at)}
	case n < 760:
		return h.presence(one, at)
	case n < 930:
		return []*cloudevents.Event{h.door(one, at)}
	case n < 965:
		return []*cloudevents.Event{h.device(one, at, "home.device.battery_low.v1", "warning", "Battery is low; replace it soon.")}
	case n < 985:
		return []*cloudevents.Event{h.device(one, at, "home.device.offline.v1", "error", "No heartbeat for five minutes.")}
	case n < 994:
		return []*cloudevents.Event{h.device(one, at, "home.lock.jammed.v1", "error", "The bolt did not reach its end position.")}
	default:
		return []*cloudevents.Event{h.device(one, at, "home.alarm.smoke.v1", "critical", "Smoke detected. Leave the house and call for help.")}
	}
}

func (h *homes) sensor(one *home, at time.Time) *cloudevents.Event {
	room := one.rooms[h.rng.IntN(len(one.rooms))]
	hour := float64(at.In(one.zone).Hour()) + float64(at.Minute())/60
	warm := math.Sin((hour - 9) / 24 * 2 * math.Pi) // warmest in the afternoon
	var m measured
	severity := ""
	switch h.rng.IntN(4) {
	case 0:
		m = measured{"temperature", round(20+2.5*warm+h.rng.NormFloat64()*.4, 2), "°C"}
	case 1:
		m = measured{"humidity", round(48-6*warm+h.rng.NormFloat64()*2, 1), "%"}
	case 2:
		m = measured{"co2", round(520+240*float64(len(one.people))*h.rng.Float64(), 0), "ppm"}
		if m.Value > 1000 {
			severity = "notice"
		}
	default:
		m = measured{"power", round(80+900*h.rng.Float64()*h.rng.Float64(), 1), "W"}
	}
	device := fmt.Sprintf("sensor-%s-%s", room, m.Quantity)
	e := h.event(one, at, "home.sensor.reading.v1", device, reading{
		DeviceID: device, RoomID: room, Severity: severity, Tags: []string{"sensor", m.Quantity}, Reading: &m,
	})
	if h.rng.IntN(10) == 0 { // some hubs speak OpenTelemetry
		e.Mode = cloudevents.Structured
		e.Extensions = []cloudevents.Extension{{Name: "severitynumber", Type: cloudevents.Integer, Value: "9"}}
	}
	return e
}

func (h *homes) presence(one *home, at time.Time) []*cloudevents.Event {
	person := one.people[h.rng.IntN(len(one.people))]
	from, to := one.at[person], one.rooms[h.rng.IntN(len(one.rooms))]
	one.at[person] = to
	motion := func(room, kind, state string, after time.Duration) *cloudevents.Event {
		device := "motion-" + room
		return h.event(one, at.Add(after), kind, device, reading{
			DeviceID: device, RoomID: room, PersonID: person, State: state, Tags: []string{"presence", "motion"},
		})
	}
	if from == to {
		return []*cloudevents.Event{motion(to, "home.presence.detected.v1", "present", 0)}
	}
	return []*cloudevents.Event{
		motion(from, "home.presence.cleared.v1", "absent", -40*time.Millisecond),
		motion(to, "home.presence.detected.v1", "present", 0),
	}
}

func (h *homes) door(one *home, at time.Time) *cloudevents.Event {
	room := []string{"hall", "garage", "kitchen"}[h.rng.IntN(3)]
	device := "door-" + room
	kind, state := "home.door.opened.v1", "open"
	if one.open[device] {
		kind, state = "home.door.closed.v1", "closed"
	}
	one.open[device] = !one.open[device]
	r := reading{DeviceID: device, RoomID: room, State: state, Tags: []string{"door"}}
	if hour := at.In(one.zone).Hour(); hour < 5 && state == "open" {
		r.Severity, r.Message = "notice", "A door opened at night."
	}
	return h.event(one, at, kind, device, r)
}

func (h *homes) device(one *home, at time.Time, kind, severity, message string) *cloudevents.Event {
	room := one.rooms[h.rng.IntN(len(one.rooms))]
	device := "sensor-" + room + "-temperature"
	r := reading{DeviceID: device, RoomID: room, Severity: severity, Message: message, Tags: []string{"device", "attention"}}
	if kind == "home.device.battery_low.v1" {
		r.Battery = 3 + h.rng.IntN(12)
	}
	e := h.event(one, at, kind, device, r)
	if severity == "critical" { // the alarm panel says so in an attribute too
		e.Extensions = []cloudevents.Extension{{Name: "severity", Value: severity}}
	}
	return e
}

func (h *homes) event(one *home, at time.Time, kind, device string, data reading) *cloudevents.Event {
	e := made(at, one.zone, one.source, kind, identity(h.rng))
	e.Subject = device
	withJSON(e, data)
	return e
}

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(v*p) / p
}
