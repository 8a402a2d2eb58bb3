package demo

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"time"

	"oriel/server/cloudevents"
)

// oddities are valid events of the kinds that break tools: each is accepted and shown as it was sent.
type oddities struct {
	rng *rand.Rand
	n   int
}

func newOddities(rng *rand.Rand) *oddities { return &oddities{rng: rng} }

// oddity is one kind. make builds its events from a plain one.
type oddity struct {
	kind string
	make func(e *cloudevents.Event) []*cloudevents.Event
}

const oddSource = "/lab/oddities"

// oddityKinds is the length of the catalogue.
func oddityKinds() int { return len(catalogue()) }

// next is the next kind of the catalogue, round and round.
func (o *oddities) next(at time.Time) []*cloudevents.Event {
	kinds := catalogue()
	k := kinds[o.n%len(kinds)]
	o.n++
	e := made(at, time.UTC, oddSource, "lab.oddity."+k.kind+".v1", identity(o.rng))
	e.Subject = k.kind
	return k.make(e)
}

func one(set func(e *cloudevents.Event)) func(*cloudevents.Event) []*cloudevents.Event {
	return func(e *cloudevents.Event) []*cloudevents.Event {
		set(e)
		return []*cloudevents.Event{e}
	}
}

// body is an event in binary mode with these very bytes.
func body(contentType, data string) func(*cloudevents.Event) []*cloudevents.Event {
	return one(func(e *cloudevents.Event) { e.DataContentType, e.Data = contentType, []byte(data) })
}

func catalogue() []oddity {
	return []oddity{
		{"duplicate", func(e *cloudevents.Event) []*cloudevents.Event {
			withData(e, `{"note":"sent twice, stored once"}`)
			again := *e
			return []*cloudevents.Event{e, &again}
		}},
		{"conflicting-duplicate", func(e *cloudevents.Event) []*cloudevents.Event {
			withData(e, `{"note":"the first of two with one identity","amount":10}`)
			other := *e
			withData(&other, `{"note":"the second, which says something else","amount":11}`)
			return []*cloudevents.Event{e, &other}
		}},
		{"late", one(func(e *cloudevents.Event) {
			shift(e, -26*time.Hour)
			withData(e, `{"note":"the device was offline for a day"}`)
		})},
		{"very-late", one(func(e *cloudevents.Event) {
			shift(e, -20*24*time.Hour)
			withData(e, `{"note":"found in a drawer"}`)
		})},
		{"ahead-of-time", one(func(e *cloudevents.Event) {
			shift(e, 30*time.Minute)
			withData(e, `{"note":"this clock runs ahead"}`)
		})},
		{"nanoseconds", one(func(e *cloudevents.Event) {
			e.TimeText = e.Time.Truncate(time.Second).Format("2006-01-02T15:04:05") + ".999999600Z"
			e.Time = e.Time.Truncate(time.Second).Add(999999 * time.Microsecond)
			withData(e, `{"note":"more digits than a database keeps"}`)
		})},
		{"big-numbers", body("application/json",
			`{"exact":9007199254740993,"long":123456789012345678901234567890,"price":10.00,"minusZero":-0,"tiny":1e-400,"huge":1E400}`)},
		{"duplicate-keys", body("application/json", `{"status":"open","owner":"anna","status":"closed"}`)},
		{"unicode", one(func(e *cloudevents.Event) {
			e.Subject = "客厅/温度传感器 café 100%"
			withData(e, `{"city":"東京","greeting":"Grüße, Ærøskøbing","straße":"STRASSE","thai":"อุณหภูมิ","emoji":"👩‍🚀🏳️‍🌈","rtl":"مرحبا \u202eabc","combining":"e\u0301"}`)
		})},
		{"control-characters", body("application/json",
			`{"nul":"a\u0000b","escape":"\u001b[31mred\u001b[0m","bell":"\u0007","loneSurrogate":"\ud800","lineSeparator":"\u2028"}`)},
		{"markup", body("text/html", `<!doctype html><img src=x onerror="alert(1)"><script>alert("inert")</script>`)},
		{"formula", body("application/json", `{"name":"=HYPERLINK(\"x\")","delta":"-1+2","at":"@sum"}`)},
		{"binary", one(func(e *cloudevents.Event) {
			all := make([]byte, 256)
			for i := range all {
				all[i] = byte(i)
			}
			e.DataContentType, e.Data = "application/octet-stream", all
		})},
		{"invalid-utf8", body("text/plain; charset=utf-8", "temperature \xff\xfe 21.5")},
		{"text", body("text/plain", "Boiler pressure is back to normal: 1.8 bar\r\nChecked by Jonas.\n")},
		{"csv", body("text/csv", "device,room,watts\nkettle,kitchen,1980\nlamp,\"living room, left\",11\n")},
		{"xml", body("application/xml", `<reading device="boiler"><pressure unit="bar">1.8</pressure></reading>`)},
		{"malformed-json", body("application/json", `{"reading": 21.5, "unit": "°C`)},
		{"no-data", one(func(*cloudevents.Event) {})},
		{"empty-data", one(func(e *cloudevents.Event) {
			e.Mode, e.DataContentType, e.Data = cloudevents.Structured, "text/plain", []byte{}
		})},
		{"null-data", one(func(e *cloudevents.Event) {
			e.Mode, e.DataContentType, e.Data = cloudevents.Structured, "application/json", []byte("null")
		})},
		{"no-subject", one(func(e *cloudevents.Event) {
			e.Subject = ""
			withData(e, `{"note":"about nothing in particular"}`)
		})},
		{"typed-extensions", one(func(e *cloudevents.Event) {
			e.Mode = cloudevents.Structured
			withData(e, `{"note":"a boolean stays a boolean"}`)
			e.Extensions = []cloudevents.Extension{
				{Name: "priority", Type: cloudevents.Integer, Value: "-7"},
				{Name: "sampled", Type: cloudevents.Boolean, Value: "true"},
				{Name: "tenant", Value: "true"},
			}
		})},
		{"deep", body("application/json", strings.Repeat(`{"in":[`, 60)+`"the bottom"`+strings.Repeat(`]}`, 60))},
		{"long-text", one(func(e *cloudevents.Event) {
			line := "The quick brown fox jumps over the lazy dog, and the log grows by one more line.\n"
			e.DataContentType, e.Data = "text/plain", bytes.Repeat([]byte(line), 800)
		})},
	}
}

func withData(e *cloudevents.Event, data string) {
	e.DataContentType, e.Data = "application/json", []byte(data)
}

func shift(e *cloudevents.Event, by time.Duration) {
	e.Time = e.Time.Add(by)
	e.TimeText = e.Time.Format("2006-01-02T15:04:05.000Z07:00")
}
