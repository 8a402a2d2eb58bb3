package lexicon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func terms(out *Output) []string {
	var words []string
	for _, t := range out.NewTerms {
		words = append(words, t.Word)
	}
	slices.Sort(words)
	return words
}

func TestAnalyze(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    Input
		terms []string
		paths []Path
	}{
		"words, values at paths and kinds of an object": {
			Input{JSON: true, Data: []byte(`{"a":"Two Words","b":[1.0,{"c":true}],"d":null,"e":"","f":{}}`)},
			[]string{"1", "data.a=two words", "data.b[*].c=true", "data.b[*]=1", "true", "two", "words"},
			[]Path{
				{"a", KindString},
				{"b", KindArray},
				{"b[*]", KindNumber | KindObject},
				{"b[*].c", KindBoolean},
				{"d", KindNull},
				{"e", KindString | KindEmptyString},
				{"f", KindObject},
			},
		},
		"a scalar is a value of data itself": {
			Input{JSON: true, Data: []byte(`"red"`)}, []string{"data=red", "red"}, []Path{{"", KindString}},
		},
		"elements of a top-level array": {
			Input{JSON: true, Data: []byte(`["red",2]`)},
			[]string{"2", "data[*]=2", "data[*]=red", "red"},
			[]Path{{"", KindArray}, {"[*]", KindString | KindNumber}},
		},
		"two members of one name": {
			Input{JSON: true, Data: []byte(`{"a":"x","a":2}`)},
			[]string{"2", "data.a=2", "data.a=x", "x"},
			[]Path{{"a", KindString | KindNumber}},
		},
		"names that need quotes": {
			Input{JSON: true, Data: []byte(`{"a b":{"c.d":true}}`)},
			[]string{`data."a b"."c.d"=true`, "true"},
			[]Path{{`"a b"`, KindObject}, {`"a b"."c.d"`, KindBoolean}},
		},
		"an empty string is a kind and no word": {
			Input{JSON: true, Data: []byte(`{"a":""}`)}, nil, []Path{{"a", KindString | KindEmptyString}},
		},
		"identifiers are spelled nowhere": {
			Input{JSON: true, Data: []byte(`{"a":"da39a3ee5e6b","b":12345}`)}, nil, []Path{{"a", KindString}, {"b", KindNumber}},
		},
		"a name that is an identifier lists no path": {
			Input{JSON: true, Data: []byte(`{"550e8400-e29b":{"a":"red"}}`)}, []string{"red"}, nil,
		},
		"a name with NUL lists no path": {
			Input{JSON: true, Data: []byte(`{"a\u0000":"red"}`)}, []string{"red"}, nil,
		},
		"NUL in a value stays out of terms": {
			Input{JSON: true, Data: []byte(`{"a":"red\u0000blue"}`)}, []string{"blue", "red"}, []Path{{"a", KindString}},
		},
		"attributes and extensions": {
			Input{Attributes: []string{"type", "Order.Placed", "subject", "x", "region", "North", "empty", ""}},
			[]string{"north", "order", "placed", "region=north", "x"},
			nil,
		},
		"the id's words": {Input{ID: "order-17"}, []string{"17", "order"}, nil},
		"text has words and no paths": {
			Input{Text: true, Data: []byte("plain Text")}, []string{"plain", "text"}, nil,
		},
		"other data has none":        {Input{Data: []byte("plain")}, nil, nil},
		"absent data is not invalid": {Input{JSON: true}, nil, nil},
		"characters of Han are no terms": {
			Input{Text: true, Data: []byte("東京 x")}, []string{"x"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := New(testKey, nil).Analyze(&c.in, nil)
			if out.Invalid || out.Over {
				t.Fatalf("invalid %v, over %v", out.Invalid, out.Over)
			}
			if got := terms(out); !slices.Equal(got, c.terms) {
				t.Errorf("terms are %q", got)
			}
			if !slices.Equal(out.NewPaths, c.paths) {
				t.Errorf("paths are %v", out.NewPaths)
			}
			if !slices.IsSorted(out.Lexemes) || !slices.IsSorted(out.Identifiers) {
				t.Error("hashes are not sorted")
			}
			for _, p := range out.NewPaths {
				if !ListedPath(p.Path) {
					t.Errorf("path %q is reported and not listed", p.Path)
				}
			}
		})
	}
}

func TestInvalidDataKeepsTheAttributesAlone(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"malformed at its end": `{"severity":"error","a":"word"`,
		"invalid UTF-8":        "{\"severity\":\"error\",\"a\":\"word\xff\"}",
		"too deep":             `{"severity":"error","a":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}`,
		"only space":           " ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := jsonInput(data)
			in.Attributes = []string{"type", "alarm"}
			a := New(testKey, []string{"severity"})
			out := a.Analyze(in, nil)
			if !out.Invalid || out.Over || out.Picked[0] != "" || len(out.PickedAll[0]) != 0 || len(out.NewPaths) != 0 {
				t.Errorf("%+v", *out)
			}
			if got := terms(out); !slices.Equal(got, []string{"alarm", "i"}) {
				t.Errorf("terms are %q", got)
			}
			for word, want := range map[string]bool{"word": false, "alarm": true} {
				w := Compile(testKey, word)
				if holds(out, w) != want || Match(in, w) != want {
					t.Errorf("%q is not as it should be", word)
				}
			}
			if out = a.Analyze(jsonInput(`{"severity":"info"}`), nil); out.Invalid || out.Picked[0] != "info" {
				t.Errorf("an invalid event spoils the next: %+v", *out)
			}
		})
	}
}

func TestDepthBound(t *testing.T) {
	t.Parallel()
	for depth, invalid := range map[int]bool{MaxDepth: false, MaxDepth + 1: true, 20000: true} {
		for _, brackets := range []string{"[]", `{"a":}`} {
			half := len(brackets) - 1
			data := strings.Repeat(brackets[:half], depth) + `1` + strings.Repeat(brackets[half:], depth)
			if got := New(testKey, nil).Analyze(jsonInput(data), nil).Invalid; got != invalid {
				t.Errorf("%d levels of %s: invalid %v", depth, brackets, got)
			}
		}
	}
}

func TestLargeEventIsFoundByVerification(t *testing.T) {
	t.Parallel()
	in := jsonInput(large())
	in.Attributes = []string{"subject", "boiler"}
	a := New(testKey, nil)
	start := time.Now()
	out := a.Analyze(in, nil)
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("1 MiB took %v", d)
	}
	if !out.Over || out.Invalid || !slices.Contains(out.Lexemes, Reserved(testKey)) {
		t.Fatalf("over %v, invalid %v", out.Over, out.Invalid)
	}
	if got := terms(out); !slices.Equal(got, []string{"boiler", "i"}) {
		t.Errorf("terms are %v", got)
	}
	var m Matcher
	m.Load(in)
	for _, i := range []int{0, 17, 39999} {
		if w := Compile(testKey, letters(i)+strings.Repeat("x", 18)); !m.Match(w) {
			t.Errorf("%q is not found", w.Text)
		}
	}
	if m.Match(Compile(testKey, "boilers")) || !holds(out, Compile(testKey, "boiler")) {
		t.Error("an event over the bound lost or won a word")
	}
	out = a.Analyze(jsonInput(`{"a":"small"}`), nil)
	if out.Over || slices.Contains(out.Lexemes, Reserved(testKey)) {
		t.Error("a large event spoils the next")
	}
}

func TestBoundOfLexemes(t *testing.T) {
	t.Parallel()
	for n, over := range map[int]bool{MaxLexemes: false, MaxLexemes + 1: true} {
		var words []string
		for i := range n {
			words = append(words, letters(i))
		}
		in := &Input{Text: true, Data: []byte(strings.Join(words, " ")), ID: "x", Source: "y"}
		if out := New(testKey, nil).Analyze(in, nil); out.Over != over {
			t.Errorf("%d words: over is %v", n, out.Over)
		}
	}
	var b strings.Builder
	for i := range MaxIdentifiers + 1 {
		fmt.Fprintf(&b, "%d ", 10000+i)
	}
	in := &Input{Text: true, Data: []byte(b.String())}
	if !New(testKey, nil).Analyze(in, nil).Over {
		t.Error("identifiers have no bound")
	}
	if New(testKey, nil, WithoutIdentifiers()).Analyze(in, nil).Over {
		t.Error("identifiers that are not computed count")
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	in := jsonInput(`{"severity":"Error","n":1.50,"e":"a\n\u00e9","tags":["x","y"],"deep":{"k":[1,2,{"z":"Größe 東京"}]},"u":"550e8400-e29b-41d4-a716-446655440000"}`)
	in.Attributes = []string{"type", "t", "region", "North"}
	in.TraceID = "0af7651916cd43dd8448eb211c80319c"
	a := New(testKey, []string{"severity", "tags"})
	for range 3 {
		a.Analyze(in, everything{})
	}
	if n := testing.AllocsPerRun(100, func() { a.Analyze(in, everything{}) }); n > 1 {
		t.Errorf("%v allocations an event", n)
	}
}

func TestTraceAndIdentity(t *testing.T) {
	t.Parallel()
	const trace = "0af7651916cd43dd8448eb211c80319c"
	in := &Input{Source: "/a", ID: "b", TraceID: trace}
	out := New(testKey, nil).Analyze(in, nil)
	for name, c := range map[string]struct {
		condition Condition
		want      bool
	}{
		"its trace":                        {CompileAttribute(testKey, "trace", trace), true},
		"its trace in capitals":            {CompileAttribute(testKey, "trace", strings.ToUpper(trace)), true},
		"another trace":                    {CompileAttribute(testKey, "trace", strings.Repeat("1", 32)), false},
		"its identity":                     {Identity(testKey, "/a", "b"), true},
		"source and id cut at other bytes": {Identity(testKey, "/", "ab"), false},
		"its identity under another key":   {Identity(Key{}, "/a", "b"), false},
	} {
		if c.condition.Vocabulary || holds(out, Word{Conditions: []Condition{c.condition}}) != c.want {
			t.Errorf("%s: %+v", name, c.condition)
		}
	}
}

func TestKeysSeparate(t *testing.T) {
	t.Parallel()
	other := testKey
	for i := range other {
		other[i] ^= 1
		if Compile(testKey, "word").Conditions[0] == Compile(other, "word").Conditions[0] || Reserved(testKey) == Reserved(other) {
			t.Errorf("byte %d of the key does not matter", i)
		}
		other[i] ^= 1
	}
}

// FuzzAnalyze: whatever the data, the promises of the package hold.
func FuzzAnalyze(f *testing.F) {
	for _, p := range pieces {
		f.Add([]byte(`{"a":[`+quote(p)+`,1.50e1],"`+"k"+`":"x-1 2"}`), p, p)
	}
	f.Add([]byte(`1e999999`), "1E999999", "-0")
	a, b := New(testKey, []string{"a"}), New(testKey, nil, WithoutIdentifiers())
	var m Matcher
	f.Fuzz(func(t *testing.T, data []byte, id, word string) {
		for _, in := range []*Input{{JSON: true, Data: data, ID: id}, {Text: true, Data: data, Attributes: []string{"n", id}}} {
			out, w := a.Analyze(in, nil), Compile(testKey, word)
			agrees(t, in, out, w)
			m.Load(in)
			if m.Match(w) != Match(in, w) {
				t.Fatalf("a matcher that was loaded before differs on %q", word)
			}
			for _, term := range out.NewTerms {
				if !slices.Contains(out.Lexemes, term.Hash) || strings.ContainsRune(term.Word, 0) {
					t.Fatalf("term %q", term.Word)
				}
			}
			if !out.Over && !slices.Equal(out.Lexemes, b.Analyze(in, nil).Lexemes) {
				t.Fatal("vocabulary depends on the identifiers, or on what was analyzed before")
			}
		}
	})
}
