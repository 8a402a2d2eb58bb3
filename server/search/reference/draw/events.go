package draw

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"oriel/server/cloudevents"
)

// Event makes a valid event. Few have identities of others, at another time.
func (d *Draw) Event() *cloudevents.Event {
	at := d.Time()
	e := &cloudevents.Event{
		ID: attribute(d.id(), 200), Source: d.of(d.from), Type: d.of(d.kinds), Subject: d.of(d.about), Time: at, TimeText: d.spell(at),
		Mode: cloudevents.Mode(d.rng.IntN(3)),
	}
	if e.ID == "" {
		e.ID = d.uuid()
	}
	e.Extensions = d.extensions(e.Mode)
	d.fill(e)
	if d.chance(10) {
		e.DataSchema = "https://schema.test/" + d.of([]string{"a", "b", "a/1.json"})
	}
	return e
}

func (d *Draw) id() string {
	switch n := d.rng.IntN(100); {
	case n < 70:
		return d.uuid()
	case n < 85:
		return strconv.Itoa(d.rng.IntN(40))
	default:
		return d.text()
	}
}

// spell writes a time with digits beyond the microsecond, which are floored, or in another zone.
func (d *Draw) spell(at time.Time) string {
	switch d.rng.IntN(5) {
	case 0:
		return at.Add(time.Duration(d.rng.IntN(1000))).Format("2006-01-02T15:04:05.000000000Z")
	case 1:
		return at.In(time.FixedZone("", 5*3600+30*60)).Format(time.RFC3339Nano)
	default:
		return at.Format(time.RFC3339Nano)
	}
}

func (d *Draw) extensions(mode cloudevents.Mode) []cloudevents.Extension {
	var out []cloudevents.Extension
	add := func(name, value string, t cloudevents.Type) {
		if mode == cloudevents.Binary {
			t = cloudevents.String
		}
		if !slices.ContainsFunc(out, func(x cloudevents.Extension) bool { return x.Name == name }) {
			out = append(out, cloudevents.Extension{Name: name, Type: t, Value: value})
		}
	}
	if d.chance(30) {
		add("severitynumber", strconv.Itoa(d.rng.IntN(27)), cloudevents.Integer)
	}
	if d.chance(15) {
		add(d.of([]string{"severity", "severitytext"}), d.of(severityTexts()), cloudevents.String)
	}
	if d.chance(20) {
		add("traceparent", "00-"+d.of([]string{"4bf92f3577b34da6a3ce929d0e0e4736", d.hex(32), "00000000000000000000000000000000"})+"-00f067aa0ba902b7-01", cloudevents.String)
	}
	for range d.rng.IntN(3) {
		switch d.rng.IntN(4) {
		case 0:
			add("flag", d.of([]string{"true", "false"}), cloudevents.Boolean)
		case 1:
			add("n", d.of([]string{"0", "1", "-5", "42", "-0", "2147483647", "-2147483648"}), cloudevents.Integer)
		default:
			add(d.of([]string{"tenant", "x", "comexampleorder", "n"}), attribute(d.text(), 300), cloudevents.String)
		}
	}
	slices.SortFunc(out, func(a, b cloudevents.Extension) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func severityTexts() []string {
	return []string{"error", "ERROR", "warn", "warning", "fatal", "info", "info2", "debug", "nonsense", "", " err ", "9", "critical", "emergency", "notice"}
}

// fill gives an event its data.
func (d *Draw) fill(e *cloudevents.Event) {
	switch n := d.rng.IntN(100); {
	case n < 78:
		e.DataContentType = d.of([]string{"application/json", "application/json", "application/json", "application/vnd.x+json", "APPLICATION/JSON; charset=utf-8", "text/json"})
		e.Data = []byte(d.JSON())
	case n < 84: // not what it claims to be
		e.DataContentType = "application/json"
		e.Data = []byte(d.of([]string{
			"", "{", `{"a":1,}`, `{"a":"payment"} x`, "{\"a\":\"\xff\"}", `{"a":01}`, `["kitchen"`, "nul", "'a'", "{\"a\":\"x\ty\"}", `{"a":1e}`,
			"\ufeff{}", `{"a":"\u12"}`, `{"a":"\x"}`,
		}))
	case n < 88:
		e.DataContentType = d.of([]string{"text/plain", "text/html; charset=utf-8", "TEXT/csv"})
		e.Data = []byte(d.of([]string{d.text(), d.text() + "\n" + d.text(), "bad \xff payment", ""}))
	case n < 91:
		e.DataContentType = d.of([]string{"application/octet-stream", "application/xml", "image/png"})
		e.Data = []byte(d.of([]string{d.text(), "\x00\xff\xfe", `{"a":"payment"}`}))
	case n < 95: // no content type: JSON if structured
		if e.Mode == cloudevents.Binary {
			e.Data = []byte(d.of([]string{d.text(), `{"a":"payment"}`}))
		} else {
			e.Data = []byte(d.JSON())
		}
	default:
		if d.chance(50) {
			e.DataContentType = "application/json"
		}
	}
}

// Huge is an event with more words than the index holds of one.
func (d *Draw) Huge() *cloudevents.Event {
	e := d.Event()
	e.Mode, e.DataContentType = cloudevents.Binary, "application/json"
	var b strings.Builder
	b.WriteString(`{"a":[`)
	for i := range 5000 {
		fmt.Fprintf(&b, `"w%s%s",`, letters(i), d.of([]string{"", " x"}))
	}
	b.WriteString(d.scalar() + `],"b":` + d.value(2) + `}`)
	e.Data = []byte(b.String())
	return e
}

// letters spells a number in letters, so that it looks like a word.
func letters(n int) string {
	out := ""
	for ; n > 0; n /= 20 {
		out += string("bcdfghjklmnpqrstvwxz"[n%20])
	}
	return out
}

// JSON is a JSON text of any form: repeated names, odd spaces, any spelling.
func (d *Draw) JSON() string {
	switch n := d.rng.IntN(100); {
	case n < 80:
		return d.space() + d.object(3) + d.space()
	case n < 85:
		return d.array(2)
	case n < 87:
		return strings.Repeat("[", 512) + strings.Repeat("]", 512)
	case n < 89:
		return strings.Repeat("[", 512) + `"payment"` + strings.Repeat("]", 512)
	case n < 90:
		return strings.Repeat(`{"a":`, 40) + d.scalar() + strings.Repeat("}", 40)
	default:
		return d.space() + d.scalar() + d.space()
	}
}

func (d *Draw) space() string { return d.of([]string{"", "", "", " ", "\n\t"}) }

func (d *Draw) value(depth int) string {
	switch n := d.rng.IntN(100); {
	case depth > 0 && n < 18:
		return d.object(depth)
	case depth > 0 && n < 34:
		return d.array(depth)
	default:
		return d.scalar()
	}
}

func (d *Draw) object(depth int) string {
	parts := make([]string, d.rng.IntN(6))
	for i := range parts {
		name := d.of(d.names)
		value := d.value(depth - 1)
		switch {
		case d.chance(12):
			name, value = "severity", d.quote(d.of(severityTexts()))
		case d.chance(12):
			name, value = d.of([]string{"deviceId", "roomId", "personId"}), d.quote(d.of([]string{"kitchen", "bath", "k", "Kitchen", "room=x", "device-1", ""}))
		case d.chance(8):
			name, value = "tags", d.of([]string{`["north","south"]`, `["north"]`, `"lab"`, `["",null,1,"north","north"]`, `[["north"]]`, `{"a":"b"}`})
		}
		parts[i] = d.space() + d.quote(name) + d.space() + ":" + value
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (d *Draw) array(depth int) string {
	parts := make([]string, d.rng.IntN(4))
	for i := range parts {
		parts[i] = d.space() + d.value(depth-1)
	}
	return "[" + strings.Join(parts, ","+d.space()) + "]"
}

func (d *Draw) scalar() string {
	switch n := d.rng.IntN(100); {
	case n < 60:
		return d.quote(d.text())
	case n < 82:
		return d.of(numbers())
	case n < 90:
		return d.of([]string{"true", "false"})
	case n < 96:
		return "null"
	default:
		return d.of([]string{`"\ud83d"`, `"a\udc00b"`, `"\ud83d\ude00"`, `"a\u0000b"`, `"\u0041bc"`, `"\/"`, `"caf\u00e9"`, `"cafe\u0301"`, `""`, `"\ud83d\ud83d\ude00 payment"`})
	}
}

// quote writes a JSON string, in one of the ways that there are.
func (d *Draw) quote(s string) string {
	if d.chance(5) {
		var b strings.Builder
		for _, r := range s {
			if r > 0xFFFF {
				b.WriteRune(r)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		return `"` + b.String() + `"`
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
