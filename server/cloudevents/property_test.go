package cloudevents_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"

	"pgregory.net/rapid"
)

// allowed are texts without what the String type excludes.
func allowed(minLength, maxBytes int) *rapid.Generator[string] {
	r := rapid.Custom(func(t *rapid.T) rune {
		return rapid.OneOf(
			rapid.RuneFrom([]rune("az09-._~:/#%\"\\' ;,=+<é房间😀\u2028\u200d\ufffd\u00a0")),
			rapid.Rune(),
		).Draw(t, "rune")
	}).Filter(func(r rune) bool {
		return r >= 0x20 && (r < 0x7F || r >= 0xA0) && (r < 0xFDD0 || r > 0xFDEF) && r&0xFFFE != 0xFFFE && (r < 0xD800 || r > 0xDFFF)
	})
	return rapid.StringOfN(r, minLength, 64, maxBytes)
}

func reference(minLength int) *rapid.Generator[string] {
	return allowed(minLength, 200).Filter(func(s string) bool { return s == strings.Join(strings.Fields(s), "") })
}

func drawTime(t *rapid.T) (string, time.Time) {
	at := time.UnixMicro(rapid.Int64Range(-62_000_000_000_000_000, 250_000_000_000_000_000).Draw(t, "micros")).UTC()
	offset := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "offset")
	text := at.In(time.FixedZone("", offset*60)).Format("2006-01-02T15:04:05.000000")
	text += strings.Repeat("9", rapid.IntRange(0, 9).Draw(t, "digits beyond"))
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	text += fmt.Sprintf("%s%02d:%02d", sign, offset/60, offset%60)
	if rapid.Bool().Draw(t, "lower case") {
		text = strings.ToLower(text)
	}
	return text, at
}

func drawData(t *rapid.T, e *cloudevents.Event) {
	e.DataContentType = rapid.SampledFrom([]string{
		"", "application/json", "text/json; charset=utf-8", "application/x+json", "text/plain",
		"text/plain; charset=iso-8859-1", "application/xml", "image/png", "application/cloudevents+json", "no type; at=all",
	}).Draw(t, "content type")
	switch rapid.IntRange(0, 4).Draw(t, "kind of data") {
	case 0: // absent
	case 1:
		e.Data = []byte{}
	case 2:
		e.Data = rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "bytes")
	case 3:
		e.Data = []byte(rapid.String().Draw(t, "text"))
	default:
		e.Data = []byte(rapid.SampledFrom([]string{
			"null", " null", `"a"`, `{"b" : 1.0,"a":"\u0000","a":-0}`, "[1e999999]", `"\ud800"`, `{"a":`, "\ufeff{}", "{}\n",
			strings.Repeat("[", 512) + strings.Repeat("]", 512), strings.Repeat("[", 513) + strings.Repeat("]", 513),
		}).Draw(t, "JSON"))
		if cloudevents.DepthExceeded(e.Data) && e.DataContentType != "image/png" {
			e.DataContentType = "text/plain" // too deep for JSON
		}
	}
}

func drawEvent(t *rapid.T) *cloudevents.Event {
	e := &cloudevents.Event{
		ID:      allowed(1, 200).Draw(t, "id"),
		Source:  reference(1).Draw(t, "source"),
		Type:    allowed(1, 200).Draw(t, "type"),
		Subject: allowed(0, 200).Draw(t, "subject"),
		Mode:    rapid.SampledFrom([]cloudevents.Mode{cloudevents.Binary, cloudevents.Structured, cloudevents.Batch}).Draw(t, "mode"),
	}
	e.DataSchema = reference(0).Draw(t, "schema")
	e.TimeText, e.Time = drawTime(t)
	names := rapid.SliceOfNDistinct(rapid.StringMatching("x[a-z0-9]{0,19}"), 0, 6, rapid.ID[string]).Draw(t, "names")
	slices.Sort(names)
	for _, name := range names {
		x := cloudevents.Extension{Name: name, Value: allowed(0, 200).Draw(t, "value")}
		if e.Mode != cloudevents.Binary { // headers have no types
			switch rapid.IntRange(0, 2).Draw(t, "type") {
			case 1:
				x.Type, x.Value = cloudevents.Boolean, fmt.Sprint(rapid.Bool().Draw(t, "boolean"))
			case 2:
				x.Type, x.Value = cloudevents.Integer, fmt.Sprint(rapid.Int32().Draw(t, "integer"))
			}
		}
		e.Extensions = append(e.Extensions, x)
	}
	drawData(t, e)
	return e
}

func TestDecodingWhatWasEncodedGivesTheEventBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		if v := cloudevents.Validate(e); len(v) != 0 {
			t.Fatalf("the generator made an invalid event: %+v", v)
		}
		checkRoundTrips(t, e)
	})
}

// failer is what a testing.TB and a rapid.T have in common here.
type failer interface {
	Fatalf(format string, arguments ...any)
}

// checkRoundTrips is what holds for every valid event: the record and the JSON give it back, and
// neither changes what it means.
func checkRoundTrips(t failer, e *cloudevents.Event) {
	record := cloudevents.EncodeRecord(e)
	got, rest, err := cloudevents.DecodeRecord(record)
	if err != nil || rest != nil {
		t.Fatalf("the record of %+v is refused: %v, rest %v", e, err, rest)
	}
	if !reflect.DeepEqual(got, e) {
		t.Fatalf("the record gives\n%+v, want\n%+v", got, e)
	}
	if cloudevents.DepthExceeded(e.Data) && e.JSON() {
		return // from the topic; the JSON format's decoder refuses it by design
	}
	text := cloudevents.EncodeJSON(e)
	want := *e
	want.Mode = cloudevents.Structured
	got, err = cloudevents.DecodeStructured(cloudevents.MediaTypeStructured, text)
	if err != nil {
		t.Fatalf("%s is refused: %v", text, err)
	}
	if !reflect.DeepEqual(got, &want) {
		t.Fatalf("%s gives\n%+v, want\n%+v", text, got, &want)
	}
	if got.Digest() != e.Digest() {
		t.Fatalf("%s has another digest", text)
	}
	batch, err := cloudevents.DecodeBatch(cloudevents.MediaTypeBatch, slices.Concat([]byte("["), text, []byte(" , "), text, []byte("]")))
	if err != nil || len(batch) != 2 || batch[1].Err != nil {
		t.Fatalf("a batch of %s: %+v, %v", text, batch, err)
	}
	want.Mode = cloudevents.Batch
	if !reflect.DeepEqual(batch[1].Event, &want) {
		t.Fatalf("a batch of %s gives\n%+v", text, batch[1].Event)
	}
	source, id, ok := cloudevents.ParseName(cloudevents.EscapeName(e.Source, e.ID))
	if !ok || source != e.Source || id != e.ID {
		t.Fatalf("the name of %q and %q gives %q and %q", e.Source, e.ID, source, id)
	}
}
