package query

import (
	"testing"

	"oriel/server/cloudevents"
)

func TestACellIsTheValueAsItIsSpelled(t *testing.T) {
	t.Parallel()
	const data = `{"n":9007199254740993,"f":1.0,"z":-0,"e":1E2,"s":"a\u0000b","lit":"a\\u0000b","emoji":"\ud83d\ude00","lone":"\ud800x",
 "o":{"b" : 1,"a":[ 1,2 ]},"empty":"","null":null,"t":true,"twice":1,"twice":"2","list":[{"k":"x"},{"k":"y"},{}],"a b":{"c":7}}`
	c := &Candidate{
		Source: "urn:x", ID: "1", Type: "t", Severity: 6, ContentType: "application/json", Data: []byte(data),
		Attributes: []string{"floor", "integer", "-5"}, Tags: []string{"a", `b"c`}, Facets: []string{"room=kitchen", "line=1", "line=2"},
		TraceID: []byte{0x0a, 0xf7},
	}
	s := Schema{Facets: []string{"room", "tag", "line"}}
	for name, want := range map[string]string{
		"source": "urn:x", "subject": "", "severity": "error", "trace": "0af7", "ext.floor": "-5", "ext.other": "",
		"room": "kitchen", "tag": `["a","b\"c"]`, "line": `["1","2"]`,
		"data.n": "9007199254740993", "data.f": "1.0", "data.z": "-0", "data.e": "1E2", "data.s": "a\x00b", "data.lit": `a\u0000b`,
		"data.emoji": "😀", "data.lone": "\ufffdx", "data.o": `{"b" : 1,"a":[ 1,2 ]}`, "data.o.a[1]": "2", "data.o.a[*]": "[1,2]", "data.o.a": "[ 1,2 ]",
		"data.empty": "", "data.null": "null", "data.t": "true", "data.twice": `[1,"2"]`, "data.list[*].k": `["x","y"]`, "data.list[0].k": "x",
		"data.list[9].k": "", `data."a b".c`: "7", "data.absent": "", "data.n.x": "", "data.list.k": "",
	} {
		f, err := FieldOf(s, name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := Cell(f, c); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	f, _ := FieldOf(s, "data.n")
	for what, c := range map[string]*Candidate{
		"malformed":   {ContentType: "application/json", Data: []byte(`{"n":1`)},
		"not UTF-8":   {ContentType: "application/json", Data: []byte("{\"n\":1,\"x\":\"\xff\"}")},
		"text":        {ContentType: "text/plain", Data: []byte(`{"n":1}`)},
		"binary":      {Data: []byte(`{"n":1}`), Flags: cloudevents.ModeFlags(cloudevents.Binary)},
		"not there":   {ContentType: "application/json"},
		"with a tail": {ContentType: "application/json", Data: []byte(`{"n":1} 2`)},
	} {
		if got := Cell(f, c); got != "" {
			t.Errorf("of data that is %s: %q", what, got)
		}
	}
}
