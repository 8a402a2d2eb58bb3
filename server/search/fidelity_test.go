package search

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

func TestPayloadsAreFoundAndComeBackByteForByte(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		contentType    string
		data           []byte
		found, unfound []string // queries
		kind           string
	}{
		"integers beyond 2^53": {
			data:  []byte(`{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2}`),
			found: []string{"9007199254740993", "1.0", "1", "100", "0"}, unfound: []string{"9007199254740992", "9007199254740994", "9222742375320771188"}, kind: "json",
		},
		"duplicate keys and their order": {
			data: []byte(`{"b":"first","aa":2,"a":3,"b":"second"}`), found: []string{"first", "second", "first second"}, unfound: []string{"aa"}, kind: "json",
		},
		"a NUL between words":                  {data: []byte(`{"a":"kettle\u0000boils"}`), found: []string{"kettle", "boils"}, unfound: []string{"kettleboils"}, kind: "json"},
		"the six characters of an escaped NUL": {data: []byte(`{"a":"kettle \\u0000 boils"}`), found: []string{"kettle", "boils", "u0000"}, kind: "json"},
		"lone surrogates beside a real emoji": {
			data: []byte(`{"a":"left\ud800 mid\udc00 right \ud83d\ude00"}`), found: []string{"right"}, kind: "json",
		},
		"JSON that is not UTF-8": {data: []byte("{\"a\":\"kettle\xff\"}"), found: []string{"fidelity.test"}, unfound: []string{"kettle"}, kind: "invalid"},
		"no JSON at all":         {data: []byte("{kettle"), found: []string{"fidelity.test"}, unfound: []string{"kettle"}, kind: "invalid"},
		"a picture":              {contentType: "image/png", data: []byte{0x89, 'P', 'N', 'G', 0, 0xff}, found: []string{"fidelity"}, kind: "binary"},
		"text":                   {contentType: "text/plain; charset=utf-8", data: []byte("kettle\r\n\x00boils"), found: []string{"kettle", "boils"}, kind: "text"},
		"white space and a mark": {data: []byte(" {\n\t\"a\" : [ 1 , 2 ]\r\n} \n"), found: []string{"1"}, kind: "json"},
		"empty":                  {data: []byte{}, found: []string{"fidelity"}, kind: "empty"},
		"absent":                 {data: nil, found: []string{"fidelity"}, kind: "absent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStore(t)
			st.add(
				sample{id: "x", kind: "fidelity.test", contentType: c.contentType, data: c.data},
				sample{id: "other", kind: "bystander", data: jsonOf("nothing of it")},
			)
			for _, q := range c.found {
				st.expect("x", "q", q)
			}
			for _, q := range c.unfound {
				st.expect("", "q", q)
				st.expect("x", "q!", q, "type", "fidelity.test")
			}
			d, err := st.svc.Get(t.Context(), cloudevents.EscapeName("/test", "x"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(d.Data, c.data) || (d.Data == nil) != (c.data == nil) {
				t.Errorf("came back as %q", d.Data)
			}
			listed := st.list("type", "fidelity.test").Events[0]
			if d.DataKind != c.kind || listed.DataKind != c.kind || d.DataSize != len(c.data) || listed.DataSize != len(c.data) || d.Summary != listed.Summary {
				t.Errorf("kind %s and %s, size %d and %d, summary %q and %q", d.DataKind, listed.DataKind, d.DataSize, listed.DataSize, d.Summary, listed.Summary)
			}
		})
	}
}

func TestDetailTellsEverythingThatWasStored(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	trace, err := hex.DecodeString("4bf92f3577b34da6a3ce929d0e0e4736")
	if err != nil {
		t.Fatal(err)
	}
	at := noon().Add(-3 * time.Hour).Add(123456 * time.Microsecond)
	st.add(sample{
		id: "a/b:c ü", source: "https://x.test/s?q=1", kind: "k", subject: "sub", severity: 6, at: at, partition: 2, offset: 77, commit: 5,
		timeText: "2026-11-30T10:00:00.123456789+01:00", flags: cloudevents.FlagModeBatch, extensions: []string{"flag", "boolean", "true", "n", "integer", "-5", "word", "string", "kettle"},
		headers: [][]byte{[]byte("trace"), []byte("1"), []byte("trace"), {0, 0xff}, []byte("gone"), nil, []byte("none"), {}},
		traceID: trace, recordK: "key", tags: []string{"t1", "t2"}, facets: []string{"device=d=1", "device=d2", "room=r"}, data: []byte(`{"a":1}`),
	})
	d, err := st.svc.Get(t.Context(), cloudevents.EscapeName("https://x.test/s?q=1", "a/b:c ü"), values("time", "2026-11-30T09:00:00.123456Z"))
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case d.ID != "a/b:c ü", d.Source != "https://x.test/s?q=1", d.Type != "k", d.Subject != "sub", d.Severity != 6:
		t.Errorf("attributes: %+v", d.Event)
	case d.TimeText != "2026-11-30T10:00:00.123456789+01:00", !d.OccurredAt.Equal(at):
		t.Errorf("time %q at %s", d.TimeText, d.OccurredAt)
	case d.Position != Position{"events", 1, 2, 77, 5}:
		t.Errorf("position %+v", d.Position)
	case d.Mode != cloudevents.Batch, d.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736", string(d.RecordKey) != "key":
		t.Errorf("mode %d, trace %q, key %q", d.Mode, d.TraceID, d.RecordKey)
	case !slices.Equal(d.Tags, []string{"t1", "t2"}), !slices.Equal(d.Facets["device"], []string{"d=1", "d2"}), !slices.Equal(d.Facets["room"], []string{"r"}):
		t.Errorf("tags %v, facets %v", d.Tags, d.Facets)
	}
	if want := []cloudevents.Extension{{Name: "flag", Type: cloudevents.Boolean, Value: "true"}, {Name: "n", Type: cloudevents.Integer, Value: "-5"}, {Name: "word", Type: cloudevents.String, Value: "kettle"}}; !slices.Equal(d.Extensions, want) {
		t.Errorf("extensions %+v", d.Extensions)
	}
	if h := d.Headers; len(h) != 4 || h[0].Key != "trace" || h[1].Key != "trace" || !bytes.Equal(h[1].Value, []byte{0, 0xff}) || h[2].Value != nil || h[3].Value == nil {
		t.Errorf("headers %+v", h)
	}
	st.expect("a/b:c ü", "q", "kettle")
}

func TestAnIdentityOfSeveralTimes(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	times := make([]time.Time, 25)
	for i := range times {
		times[i] = noon().Add(-time.Duration(i) * 7 * time.Hour)
		st.add(sample{id: "same", at: times[i], data: jsonOf(i)}, sample{id: "same", source: "/elsewhere", at: times[i]}, sample{id: "else", at: times[i]})
	}
	name := cloudevents.EscapeName("/test", "same")
	newest, err := st.svc.Get(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if string(newest.Data) != "0" || !newest.OccurredAt.Equal(times[0]) || !slices.Equal(newest.Others, times[1:21]) || !newest.OthersFrom.Equal(times[20]) {
		t.Errorf("newest: %s at %s, others %v from %s", newest.Data, newest.OccurredAt, newest.Others, newest.OthersFrom)
	}
	old, err := st.svc.Get(t.Context(), name, values("time", times[24].Format(time.RFC3339)))
	if err != nil {
		t.Fatal(err)
	}
	if string(old.Data) != "24" || !slices.Equal(old.Others, times[:20]) {
		t.Errorf("by time: %s, others %v", old.Data, old.Others)
	}
	for n, from := range map[int]time.Time{21: {}, 22: times[20]} { // as many as are listed, and one more
		id := fmt.Sprint("of ", n)
		for i := range n {
			st.add(sample{id: id, at: times[i]})
		}
		d, err := st.svc.Get(t.Context(), cloudevents.EscapeName("/test", id), nil)
		if err != nil || !slices.Equal(d.Others, times[1:21]) || !d.OthersFrom.Equal(from) {
			t.Errorf("%s: others %v from %s, %v", id, d.Others, d.OthersFrom, err)
		}
	}
	st.svc.limits.others = 0
	old, err = st.svc.Get(t.Context(), name, values("time", times[24].Format(time.RFC3339)))
	if err != nil || string(old.Data) != "24" || old.OthersFrom.IsZero() {
		t.Errorf("with no budget to look for others: %v, others from %s", err, old.OthersFrom)
	}
	for _, c := range []struct{ name, at, want string }{
		{name, times[0].Add(time.Microsecond).Format(time.RFC3339Nano), fault.ReasonNotFound},
		{cloudevents.EscapeName("/test", "never"), "", fault.ReasonNotFound},
		{name, "noon", fault.ReasonInvalidParameter},
		{"no-colon", "", fault.ReasonInvalidParameter},
		{"no-colon", "noon", fault.ReasonInvalidParameter},
	} {
		if _, err := st.svc.Get(t.Context(), c.name, values("time", c.at)); reasonOf(err) != c.want {
			t.Errorf("%s at %q: %v", c.name, c.at, err)
		}
	}
}
