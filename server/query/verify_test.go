package query

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
)

// sample is an event with something in every field.
func sample(data string) *Candidate {
	trace, err := hex.DecodeString(someTrace)
	if err != nil {
		panic(err)
	}
	return &Candidate{
		Source: "/Shop/Ünit", ID: "id-1", Type: "order.paid", Subject: "s/1", ContentType: "application/json", DataSchema: "https://schema.test/1",
		Severity: 5, Attributes: []string{"retry", "integer", "3", "flag", "boolean", "true", "note", "string", "", "word", "string", "Kettle On"},
		Tags: []string{"hot", "Blue Tea"}, Facets: []string{"device=d=1", "device=d2", "room=Kitchen", "roomy=no"},
		TraceID: trace, Data: []byte(data),
	}
}

// judged is whether an event fulfils a query.
func judged(t testing.TB, q string, c *Candidate) bool {
	t.Helper()
	n, violations := Parse(testSchema(), "q", q)
	if len(violations) > 0 {
		t.Fatalf("%s: %v", q, violations)
	}
	v := NewVerifier(n)
	got := v.Match(c)
	if again := v.Match(c); again != got {
		t.Errorf("%s: judged twice, another answer", q)
	}
	if NewVerifier(Not{n}).Match(c) == got {
		t.Errorf("%s: its negation is judged alike", q)
	}
	return got
}

func TestWhatConditionsHoldOf(t *testing.T) {
	t.Parallel()
	const data = `{"n":100,"big":9007199254740993,"f":1.0,"z":-0,"e":1E2,"t":"1","s":"Grüner Tee (heiß)","truth":true,"no":null,"empty":"",` +
		`"items":[{"sku":"a-1","q":2},{"sku":"b-2","q":[5,6]},"bare",[7]],"a.b":"dot","a":{"b":"nested","":"nameless"},"twice":1,"twice":"2","nul":"x\u0000y",` +
		`"slash":"x\\u0000y","low":"\ud800","emoji":"\ud83d\ude00","日本":"語"}`
	for q, want := range map[string]bool{
		"type:order.paid": true, "type:order": false, "type:ORDER.PAID": false, "type:order*": true, "type:paid*": false, `type~"DER.P"`: true, `type~"der p"`: false,
		"subject:*": true, `subject:""`: false, "id:id-1": true, "datacontenttype:application/json": true, `dataschema~"schema.TEST"`: true,
		`source~"unit"`: true, "source:/Shop*": true,
		"severity:warning": true, "severity:error": false, "severity>=warn": true, "severity>warn": false, "severity<error": true, "severity<=notice": false, "severity:*": true,
		"tag:hot": true, "tag:(hot OR cold)": true, "tag:(hot cold)": false, `tag:"Blue Tea"`: true, "tag:blue": false, `tag~"blue t"`: true, "tag:Blu*": true, "tag:*": true,
		"device:d=1": true, "device:d2": true, "device:d": false, "device:d*": true, "room:Kitchen": true, "room:kitchen": false, "person:*": false, "-person:*": true, `room~"KITCH"`: true,
		"ext.retry:3": true, `ext.retry:"3"`: true, "ext.retry:3.0": false, "ext.retry>=3": true, "ext.retry>3": false, "ext.retry<1e1": true, "ext.word>0": false,
		"ext.flag:true": true, `ext.note:""`: true, "ext.note:*": true, "ext.gone:*": false, `ext.word~"tle o"`: true, "ext.word:Ket*": true,
		"trace:" + someTrace: true, "trace:" + strings.ToUpper(someTrace): true, "trace:4bf*": true, "trace:5bf*": false, "trace:*": true, "trace:00000000000000000000000000000000": false,
		// Words, prefixes and parts, anywhere.
		"kettle": true, `"kettle on"`: true, `"on kettle"`: false, "gruner": true, "heiss": true, "100": true, "9007199254740993": true, "9007199254740992": false,
		"kett*": true, `"kettle o"*`: true, `"ettle o"*`: false, "order.pa*": true, "order-pa*": true, "aid*": false, "90071992*": true, "10*": true, "sku*": false, "語*": true, "gr\u00fc*": true, `"tee (h"*`: true, `"te("*`: false, `"tee ("*`: true,
		`~"tee (HEI"`: true, `~"tee hei"`: false, `~"ettle"`: true, `~"9254740993"`: true, `~"1e2"`: true, `~"true"`: true, `~"sku"`: false, `~"null"`: false, `~"/SHOP/UNIT"`: true, `~"😀"`: true, `~"json"`: false,
		// Exact numbers of the data.
		"data.n:100": true, "data.n:1e2": true, `data.n:"100"`: false, "data.n:101": false, "data.e:100": true, "data.e:1.0e+2": true, "data.big:9007199254740993": true, "data.big:9007199254740992": false,
		"data.big>9007199254740992": true, "data.big>=9007199254740994": false, "data.big<9007199254740993.5": true, "data.z:0": true, "data.z:-0.0": true, "data.z<0": false, "data.z>=-0": true, "data.f:1": true,
		"data.t:1": true, `data.t:"1"`: true, "data.t:1.0": false, "data.t>=0": false, "data.truth:true": true, `data.truth:"true"`: false, "data.truth:false": false,
		"data.n:10*": true, "data.e:1E*": true, "data.e:10*": false, `data.big~"4740993"`: true, "data.truth:tr*": true,
		// Text of the data.
		`data.s:"Grüner Tee (heiß)"`: true, `data.s:"grüner tee (heiß)"`: false, `data.s~"TEE (HEISS"`: true, "data.s:Grün*": true, "data.s:grün*": false,
		// Null, empty and absent are three.
		"data.no:null": true, `data.no:"null"`: false, "data.no:*": true, `data.no:""`: false, "data.empty:null": false, `data.empty:""`: true, "data.empty:*": true, "data.gone:*": false, "data.gone:null": false, "-data.gone:*": true, `-data.no:""`: true,
		// Arrays.
		"data.items[*].sku:b-2": true, "data.items[1].sku:b-2": true, "data.items[0].sku:b-2": false, "data.items.sku:b-2": false, "data.items:bare": false, "data.items[*]:bare": true, "data.items[2]:bare": true,
		"data.items[*].q>=3": false, "data.items[*].q[*]>=6": true, "data.items[*][*]:7": true, "data.items[3][0]:7": true, "data.items[4]:*": false, "data.items[3]:*": true, "data.items:*": true, "-data.items[*].sku:a-1": false, "data.items[*]:null": false,
		// Names of any kind.
		`data."a.b":dot`: true, "data.a.b:nested": true, `data.a."b":nested`: true, `data.a."":nameless`: true, `data."a.b":nested`: false, "data.日本:語": true, "data.a:*": true, "data:*": true, "data.a:nested": false,
		// Repeated names.
		"data.twice:1": true, "data.twice:2": true, `data.twice:"2"`: true, "data.twice>=2": false, "data.twice:3": false,
		// Odd characters.
		"data.nul:\"x\x00y\"": true, `data.nul:"xy"`: false, `data.slash:"x\u0000y"`: true, "data.slash:\"x\x00y\"": false, "data.low:\ufffd": true, "data.emoji:😀": true,
		// Together.
		"*": true, "-*": false, "kettle (type:x OR data.n:100) -room:x": true, "kettle OR -*": true, "-(kettle data.n:100)": false,
	} {
		if got := judged(t, q, sample(data)); got != want {
			t.Errorf("%s: %v", q, got)
		}
	}
}

func TestDataThatHasNoPaths(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", lexicon.MaxDepth) + "1" + strings.Repeat("]", lexicon.MaxDepth)
	for name, c := range map[string]struct {
		contentType, data string
		paths, text       bool
	}{
		"JSON":                       {"application/json", `{"a":"tea"}`, true, true},
		"JSON of some format":        {"application/x+json; charset=utf-8", `{"a":"tea"}`, true, true},
		"malformed at the end":       {"application/json", `{"a":"tea"}}`, false, false},
		"cut short":                  {"application/json", `{"a":"tea"`, false, false},
		"bytes that are not UTF-8":   {"application/json", "{\"a\":\"tea\",\"b\":\"\xff\"}", false, false},
		"too deep":                   {"application/json", `{"a":"tea","b":` + deep + `}`, false, false},
		"as deep as may be":          {"application/json", `{"a":"tea","b":` + deep[1:len(deep)-1] + `}`, true, true},
		"text":                       {"text/plain", `{"a":"tea"}`, false, true},
		"text that is not UTF-8":     {"text/plain", "tea \xff", false, false},
		"of another kind":            {"application/xml", `{"a":"tea"}`, false, false},
		"of no kind, in binary mode": {"", `{"a":"tea"}`, false, false},
		"zero bytes":                 {"application/json", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := sample(c.data)
			e.ContentType = c.contentType
			for q, want := range map[string]bool{
				"data.a:tea": c.paths, "data:*": c.paths, "data.a:*": c.paths, "-data.a:*": !c.paths, `data.a~"TE"`: c.paths,
				"tea": c.text, `~"TEA"`: c.text, // tags are no values of their own
			} {
				if got := judged(t, q, e); got != want {
					t.Errorf("%s: %v", q, got)
				}
			}
		})
	}
	structured := sample(`{"a":"tea"}`)
	structured.ContentType, structured.Flags = "", cloudevents.FlagModeStructured|cloudevents.FlagContentTypeAbsent
	if !judged(t, "data.a:tea", structured) {
		t.Error("a structured event without a content type is JSON")
	}
	absent := sample("")
	absent.Data = nil
	if judged(t, "data:*", absent) {
		t.Error("absent data has no paths")
	}
}

// TestPathsByAnotherWay holds the pass over the bytes against one over a tree built by hand.
func TestPathsByAnotherWay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		root := genTree(3).Draw(t, "data")
		e := sample(root.json())
		paths := rapid.SliceOfN(genPath(), 1, 6).Draw(t, "paths")
		var all And
		for _, steps := range paths {
			f := Field{Data, string(lexicon.AppendPath(nil, steps))}
			found := root.at(steps)
			for _, n := range []Node{Exists{f}, Null{f}, Equal{f, "1", false}, Equal{f, "1", true}, Equal{f, "true", false}, Prefix{f, "1"}, Compare{f, AtLeast, "1"}, Contains{f, "A"}} {
				want := false
				for _, x := range found {
					want = want || x.fulfils(n)
				}
				if !want {
					n = Not{n}
				}
				all = append(all, n)
			}
		}
		for _, n := range all {
			if !NewVerifier(n).Match(e) {
				t.Fatalf("%s does not hold of %s", Format(n), e.Data)
			}
		}
		if !NewVerifier(all).Match(e) {
			t.Fatalf("all of it does not hold of %s: %s", e.Data, Format(all))
		}
	})
}

// tree is a JSON value: a scalar as spelled, or its children.
type tree struct {
	scalar   string
	array    bool
	names    []string
	children []*tree
}

func genTree(depth int) *rapid.Generator[*tree] {
	scalar := rapid.Map(rapid.SampledFrom([]string{"1", "1.0", "2", "0.5", "null", "true", "false", `"1"`, `"a"`, `""`, `"true"`, `"1a"`}), func(s string) *tree { return &tree{scalar: s} })
	if depth == 0 {
		return scalar
	}
	return rapid.Custom(func(t *rapid.T) *tree {
		if rapid.IntRange(0, 3).Draw(t, "scalar") == 0 {
			return scalar.Draw(t, "value")
		}
		n := &tree{array: rapid.Bool().Draw(t, "array")}
		for range rapid.IntRange(0, 3).Draw(t, "size") {
			n.names = append(n.names, rapid.SampledFrom([]string{"a", "b", "", "a.b"}).Draw(t, "name"))
			n.children = append(n.children, genTree(depth-1).Draw(t, "child"))
		}
		return n
	})
}

func genPath() *rapid.Generator[[]lexicon.Step] {
	return rapid.SliceOfN(rapid.SampledFrom([]lexicon.Step{
		{Name: "a", Index: -1},
		{Name: "b", Index: -1},
		{Name: "", Index: -1},
		{Name: "a.b", Index: -1},
		{Element: true, Index: -1},
		{Element: true, Index: 0},
		{Element: true, Index: 1},
	}), 0, 3)
}

func (n *tree) json() string {
	if n.scalar != "" {
		return n.scalar
	}
	parts := make([]string, len(n.children))
	for i, c := range n.children {
		if parts[i] = c.json(); !n.array {
			parts[i] = fmt.Sprintf(" %q : %s", n.names[i], parts[i])
		}
	}
	if n.array {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (n *tree) at(steps []lexicon.Step) []*tree {
	if len(steps) == 0 {
		return []*tree{n}
	}
	var out []*tree
	for i, c := range n.children {
		st := steps[0]
		if st.Element == n.array && (n.array && (st.Index < 0 || st.Index == i) || !n.array && st.Name == n.names[i]) {
			out = append(out, c.at(steps[1:])...)
		}
	}
	return out
}

func (n *tree) fulfils(c Node) bool {
	text, isText := strings.CutPrefix(n.scalar, `"`)
	text = strings.TrimSuffix(text, `"`)
	switch c := c.(type) {
	case Exists:
		return true
	case Null:
		return n.scalar == "null"
	case Equal:
		switch {
		case isText:
			return text == c.Value
		case c.Text:
			return false
		case c.Value == "1":
			return n.scalar == "1" || n.scalar == "1.0"
		}
		return n.scalar == c.Value
	case Prefix:
		return n.scalar != "null" && strings.HasPrefix(text, "1")
	case Compare:
		return n.scalar == "1" || n.scalar == "1.0" || n.scalar == "2"
	default:
		return n.scalar != "null" && strings.Contains(text, "a")
	}
}
