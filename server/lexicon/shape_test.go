package lexicon_test

import (
	"fmt"
	"strings"
	"testing"

	"oriel/server/lexicon"
)

// whole is a Seen that knows some shapes and no path.
type whole struct {
	shapes map[uint64]bool
	asked  int
}

func (*whole) Term(int64) bool                   { return true }
func (w *whole) Path(string, string, int16) bool { w.asked++; return false }
func (w *whole) Shape(_ string, s uint64) bool   { return w.shapes[s] }

func TestAShapeStandsForThePathsAndKindsOfAPayload(t *testing.T) {
	t.Parallel()
	a := lexicon.New(lexicon.Key{1}, []string{"picked"})
	shape := func(data string) uint64 {
		return a.Analyze(&lexicon.Input{Type: "t", JSON: true, Data: []byte(data)}, nil).Shape
	}
	base := shape(`{"a":1,"b":{"c":"x"},"d":[1,2]}`)
	for sentence, c := range map[string]struct {
		data string
		same bool
	}{
		"the very same":              {`{"a":1,"b":{"c":"x"},"d":[1,2]}`, true},
		"other values":               {`{"a":7,"b":{"c":"other words"},"d":[5]}`, true},
		"another order":              {`{"d":[1],"b":{"c":"x"},"a":1}`, true},
		"a key twice":                {`{"a":1,"a":2,"b":{"c":"x"},"d":[1]}`, true},
		"another kind":               {`{"a":"1","b":{"c":"x"},"d":[1]}`, false},
		"a kind more":                {`{"a":1,"a":null,"b":{"c":"x"},"d":[1]}`, false},
		"a null":                     {`{"a":null,"b":{"c":"x"},"d":[1]}`, false},
		"a path more":                {`{"a":1,"b":{"c":"x"},"d":[1],"e":1}`, false},
		"a path less":                {`{"a":1,"b":{"c":"x"}}`, false},
		"a key elsewhere":            {`{"a":1,"b":{},"c":"x","d":[1]}`, false},
		"the kinds of two exchanged": {`{"a":[1],"b":{"c":"x"},"d":1}`, false},
		"no object at all":           {`7`, false},
		"no data":                    {``, false},
	} {
		if got := shape(c.data); (got == base) != c.same {
			t.Errorf("%s: the same shape is %v, want %v", sentence, got == base, c.same)
		}
	}
	if other := lexicon.New(lexicon.Key{1}, nil); other.Analyze(&lexicon.Input{Type: "t", JSON: true, Data: []byte(`{"a":1,"b":{"c":"x"},"d":[1]}`)}, nil).Shape != base {
		t.Error("another analyzer has other shapes")
	}
}

func TestPathsOfAKnownShapeAreNotAskedFor(t *testing.T) {
	t.Parallel()
	a := lexicon.New(lexicon.Key{1}, nil)
	seen := &whole{shapes: map[uint64]bool{}}
	analyze := func(data string) (paths int, shape uint64) {
		seen.asked = 0
		out := a.Analyze(&lexicon.Input{Type: "t", JSON: true, Data: []byte(data)}, seen)
		return len(out.NewPaths), out.Shape
	}
	n, shape := analyze(`{"a":1,"b":"x"}`)
	if n != 2 || seen.asked == 0 {
		t.Fatalf("%d paths", n)
	}
	seen.shapes[shape] = true
	if n, _ = analyze(`{"b":"y","a":2}`); n != 0 || seen.asked != 0 {
		t.Errorf("%d paths, asked %d times", n, seen.asked)
	}
	// What one payload left behind must not be another's.
	if n, _ = analyze(`{"a":1}`); n != 1 {
		t.Errorf("%d paths of one", n)
	}
	if n, _ = analyze(`{"a":true,"b":"x"}`); n != 2 {
		t.Errorf("%d paths of other kinds", n)
	}
	// A payload whose paths are not all remembered has no shape that could stand for them.
	var wide strings.Builder
	for i := range 1<<15 + 1 {
		fmt.Fprintf(&wide, `,"%c%c%c%c":1`, 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'a'+i/17576)
	}
	if _, shape = analyze("{" + wide.String()[1:] + "}"); shape != 0 {
		t.Errorf("a payload of more paths than are remembered has shape %d", shape)
	}
	if n, shape = analyze(`{"a":1}`); n != 1 || shape == 0 {
		t.Errorf("%d paths and shape %d after it", n, shape)
	}
}
