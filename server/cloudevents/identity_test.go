package cloudevents_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"oriel/server/cloudevents"

	"github.com/zeebo/xxh3"
)

func TestPartitionKeyHasTheSubjectWhereThereIsOne(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{``: "/s", `,"subject":"a#b"`: "/s#a#b", `,"partitionkey":"p"`: "/s"} {
		if e := mustStructured(t, structured(members)); e.PartitionKey() != want || string(cloudevents.EncodeRecord(e).Key) != want {
			t.Errorf("%s gives %q", members, e.PartitionKey())
		}
	}
}

func TestNamesGoThereAndBack(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"/s", "1", "%2Fs:1"},
		{"https://a.example/b?c=d#e", "A-z_0.~", "https%3A%2F%2Fa.example%2Fb%3Fc%3Dd%23e:A-z_0.~"},
		{"urn:x", "a:b", "urn%3Ax:a%3Ab"},
		{"a", ":", "a:%3A"},
		{"café", "100% 房", "caf%C3%A9:100%25%20%E6%88%BF"},
		{"@[`{", "/", "%40%5B%60%7B:%2F"},
	} {
		if got := cloudevents.EscapeName(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q give %s", c[0], c[1], got)
		}
		source, id, ok := cloudevents.ParseName(c[2])
		if !ok || source != c[0] || id != c[1] {
			t.Errorf("%s gives %q, %q, %v", c[2], source, id, ok)
		}
		source, id, ok = cloudevents.ParseName(strings.ReplaceAll(c[2], "%2F", "%2f"))
		if !ok || source != c[0] || id != c[1] {
			t.Errorf("%s in lower case gives %q, %q, %v", c[2], source, id, ok)
		}
	}
	if got := mustStructured(t, structured("")).Name(); got != "events/%2Fs:1" {
		t.Errorf("name %s", got)
	}
	for _, name := range []string{"", ":", "a:", ":a", "a", "a:b:c", "a:%", "a:%4", "a:%zz", "a/b:c", "a:b?c", "a:b#c", "a:%FF", "a:%00", "a:%0A", "\xff:a"} {
		if source, id, ok := cloudevents.ParseName(name); ok || source != "" || id != "" {
			t.Errorf("%q gives %q, %q", name, source, id)
		}
	}
}

func TestDigestIsOfWhatTheEventSays(t *testing.T) {
	t.Parallel()
	base := `,"subject":"x","n":1,"data":{"a":1}`
	digest := func(body string) int64 { return mustStructured(t, body).Digest() }
	want := digest(structured(base))
	same := map[string]string{
		"members in another order":        structured(`,"data":{"a":1},"n":1,"subject":"x"`),
		"an integer as text":              structured(`,"subject":"x","n":"1","data":{"a":1}`),
		"trace context":                   structured(base + `,"traceparent":"00-1","tracestate":"a=b"`),
		"the same instant otherwise":      strings.Replace(structured(base), "12:00:00Z", "13:00:00.0000000+01:00", 1),
		"nanoseconds below a microsecond": strings.Replace(structured(base), "12:00:00Z", "12:00:00.0000009Z", 1),
		"null attributes":                 structured(base + `,"dataschema":null,"zz":null`),
	}
	for sentence, body := range same {
		if digest(body) != want {
			t.Errorf("differs with %s", sentence)
		}
	}
	other := map[string]string{
		"white space in data":      structured(`,"subject":"x","n":1,"data":{"a": 1}`),
		"another number":           structured(`,"subject":"x","n":2,"data":{"a":1}`),
		"an extension more":        structured(base + `,"zz":""`),
		"no subject":               structured(`,"n":1,"data":{"a":1}`),
		"no data":                  structured(`,"subject":"x","n":1`),
		"empty data":               structured(`,"subject":"x","n":1,"data_base64":""`),
		"a content type":           structured(base + `,"datacontenttype":"application/json"`),
		"a microsecond":            strings.Replace(structured(base), "12:00:00Z", "12:00:00.000001Z", 1),
		"a value in another field": structured(`,"subject":"x1","n":"","data":{"a":1}`),
	}
	seen := map[int64]string{want: "the event itself"}
	for sentence, body := range other {
		d := digest(body)
		if seen[d] != "" {
			t.Errorf("%s has the digest of %s", sentence, seen[d])
		}
		seen[d] = sentence
	}
	e := mustStructured(t, structured(base))
	back, _, err := cloudevents.DecodeRecord(cloudevents.EncodeRecord(e))
	if err != nil || back.Digest() != want {
		t.Errorf("differs after Kafka: %v", err)
	}
}

// Digests are stored: a change of these values is a change of every row's meaning.
func TestDigestNeverChanges(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int64{
		structured(``): -6709592365759803905,
		structured(`,"subject":"café","datacontenttype":"text/plain","dataschema":"urn:x","aa":true,"zz":-1,"data":"x"`): -9207929118697861991,
		structured(`,"data_base64":""`): 7793265006295399522,
	} {
		if got := mustStructured(t, body).Digest(); got != want {
			t.Errorf("%s: got %d", body, got)
		}
	}
}

func TestDigestHasItsDocumentedLayout(t *testing.T) {
	t.Parallel()
	e := mustStructured(t, structured(`,"subject":"café","datacontenttype":"text/plain","aa":true,"tracestate":"a=b","zz":-1,"data":"xyz"`))
	var b []byte
	field := func(name, value string) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
		b = append(b, value...)
	}
	field("aa", "true")
	field("datacontenttype", "text/plain")
	field("id", "1")
	field("source", "/s")
	field("subject", "café")
	field("time", string(binary.LittleEndian.AppendUint64(nil, 1_796_040_000_000_000)))
	field("type", "t")
	field("zz", "-1")
	b = append(b, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0)
	b = append(b, "xyz"...)
	if got := e.Digest(); got != int64(xxh3.Hash(b)) {
		t.Errorf("got %d", got)
	}
}
