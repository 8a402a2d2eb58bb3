package cloudevents_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"oriel/server/cloudevents"
)

// checkOutcome holds for every answer of a decoder: an event that is valid and goes there and back,
// or an error with at least one violation that is fit to be shown.
func checkOutcome(t *testing.T, e *cloudevents.Event, err error) {
	t.Helper()
	if err != nil {
		var refused *cloudevents.Error
		if e != nil || !errors.As(err, &refused) || len(refused.Violations) == 0 {
			t.Fatalf("got %+v and %v", e, err)
		}
		for _, v := range refused.Violations {
			if v.Reason == "" || v.Message == "" || !utf8.ValidString(v.Message+v.Attribute+v.Value) || len(v.Message) > 2500 {
				t.Fatalf("a violation that cannot be shown: %+v", v)
			}
		}
		return
	}
	if v := cloudevents.Validate(e); len(v) != 0 {
		t.Fatalf("decoded and yet not valid: %+v", v)
	}
	checkRoundTrips(t, e)
}

// split makes headers of text: a line each, the key before the first colon; no colon is a null value.
func split(text string) []cloudevents.Header {
	var h []cloudevents.Header
	for line := range strings.SplitSeq(text, "\n") {
		key, value, ok := strings.Cut(line, ":")
		x := cloudevents.Header{Key: key}
		if ok {
			x.Value = []byte(value)
		}
		h = append(h, x)
	}
	return h
}

func join(h []cloudevents.Header) string {
	lines := make([]string, len(h))
	for i := range h {
		lines[i] = h[i].Key + ":" + string(h[i].Value)
	}
	return strings.Join(lines, "\n")
}

func FuzzDecodeStructured(f *testing.F) {
	f.Add("application/cloudevents+json; charset=utf-8", []byte(benchStructured))
	for _, members := range []string{
		``, `,"n":1,"b":true,"s":""`, `,"data":"\ud800"`, `,"datacontenttype":"text/plain","data":"caf\u00e9"`,
		`,"data_base64":"AA=="`, `,"data":null,"data_base64":null`, `,"subject":"\u0000"`, `,"X":[{}]`, `,"data":[1e5,-0.0,{"":[]}]`,
	} {
		f.Add("", []byte(structured(members)))
	}
	f.Add("application/cloudevents+json", []byte("{\"\xff"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		e, err := cloudevents.DecodeStructured(contentType, body)
		checkOutcome(t, e, err)
	})
}

func FuzzDecodeBatch(f *testing.F) {
	f.Add([]byte("[]"))
	f.Add([]byte("[" + structured(`,"data":{}`) + ", 1 ," + structured(`,"data":1,"data_base64":""`) + "]\n"))
	f.Add([]byte(`[{},[[]],"x"]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		elements, err := cloudevents.DecodeBatch(cloudevents.MediaTypeBatch, body)
		if err != nil {
			checkOutcome(t, nil, err)
			return
		}
		for _, x := range elements {
			if x.Err != nil {
				checkOutcome(t, x.Event, x.Err)
			} else {
				checkOutcome(t, x.Event, nil)
			}
		}
	})
}

func FuzzDecodeBinary(f *testing.F) {
	f.Add(join(benchHeaders()), []byte(benchData))
	f.Add(join(required("ce-subject", `"a\"b"`, "Ce-EXT", "100% caf%C3%A9 %", "content-type", "text/plain")), []byte("\xff"))
	f.Add(join(required("ce-subject", "%FF", "ce-a_b", "", "ce-", "x", "content-type", "")), []byte{})
	f.Fuzz(func(t *testing.T, headers string, body []byte) {
		e, err := cloudevents.DecodeBinary(split(headers), body)
		checkOutcome(t, e, err)
	})
}

func FuzzDecodeRecord(f *testing.F) {
	ours := cloudevents.EncodeRecord(mustStructured(f, benchStructured))
	f.Add(join(ours.Headers), ours.Value, false)
	f.Add(join(record(nil, "content-type", "text/plain", "x", "\xff", "oriel-transport", "mode=batch;ct=absent;types=a:integer").Headers), []byte("x"), true)
	f.Add("content-type:application/cloudevents+json\nx:y", []byte(structured(`,"data":{"a":1}`)), false)
	f.Add("Ce_\x9d:\nCe_\x9d:", []byte("0"), false)
	f.Add("ce_"+strings.Repeat("long", 5000)+":\nce_"+strings.Repeat("long", 5000)+":", []byte("0"), false)
	f.Add("ce_id\nce_:\nCE_ID:1\ncontent-type\ncontent-type:\n", []byte(nil), true)
	f.Fuzz(func(t *testing.T, headers string, value []byte, null bool) {
		r := cloudevents.Record{Value: value, Headers: split(headers)}
		if null {
			r.Value = nil
		}
		e, rest, err := cloudevents.DecodeRecord(r)
		checkOutcome(t, e, err)
		at := 0 // the rest are headers of the record, in its order
		for _, h := range rest {
			for at < len(r.Headers) && (r.Headers[at].Key != h.Key || string(r.Headers[at].Value) != string(h.Value)) {
				at++
			}
			if at++; at > len(r.Headers) {
				t.Fatalf("%+v are not headers of %+v in order", rest, r.Headers)
			}
		}
	})
}

func FuzzParseTime(f *testing.F) {
	for _, text := range []string{"2026-11-30T12:00:00Z", "2016-12-31t23:59:60.5-00:00", "0000-01-01T00:00:00+00:01", "2024-02-29T24:00:00.123456789z"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := cloudevents.ParseTime(text)
		if err != nil {
			if !got.IsZero() {
				t.Fatalf("%q gives %v and %v", text, got, err)
			}
			return
		}
		if got.Year() < 0 || got.Year() > 9999 || got.Nanosecond()%1000 != 0 {
			t.Fatalf("%q gives %v", text, got)
		}
		want, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text))
		if err == nil && !got.Equal(want.Truncate(time.Microsecond)) {
			t.Fatalf("%q gives %v, want %v", text, got, want)
		}
		if err != nil && text[17:19] != "60" && got.Year() > 0 {
			t.Fatalf("%q gives %v, the standard library says %v", text, got, err)
		}
	})
}

func FuzzParseName(f *testing.F) {
	for _, name := range []string{"%2Fs:1", "a:b", "a%3ab:%", ":", "café:x"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		source, id, ok := cloudevents.ParseName(name)
		if !ok {
			return
		}
		if again, same, ok := cloudevents.ParseName(cloudevents.EscapeName(source, id)); !ok || again != source || same != id {
			t.Fatalf("%q gives %q and %q, and those %q and %q", name, source, id, again, same)
		}
	})
}

// The scanner agrees with the standard library on what JSON is.
func FuzzDataIsJSONWhereTheStandardLibrarySaysSo(f *testing.F) {
	for _, data := range []string{
		"0", "-0.0e+1", "01", "1.", ".5", "-", "1e", "tru", "nullx", `"\u12G4"`, `"\u"`, `"\`, "\"\x01\"", "[1,]", "[,]", `{"a"}`,
		`{"a":1,}`, `{1:2}`, "[] []", " \t\r\n[ ]", "\u00a0[]", `{"a":{"b":[true,false,null]}}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) || bytes.Count(data, []byte(",")) >= cloudevents.MaxBatch || cloudevents.DepthExceeded(data) {
			return // refused for other reasons than JSON's grammar
		}
		array := slices.Concat([]byte("["), data, []byte("]"))
		_, err := cloudevents.DecodeBatch("", array)
		if valid := json.Valid(array); (err == nil) != valid {
			t.Fatalf("%q: got %v, json.Valid says %v", array, err, valid)
		}
	})
}
