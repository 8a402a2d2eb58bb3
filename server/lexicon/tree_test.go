package lexicon

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestPicks(t *testing.T) {
	t.Parallel()
	picks := []string{"severity", "tags", "a.b", "items[*].sku", `"x y"`, "[*]", "..", "severity"}
	for name, c := range map[string]struct {
		data string
		want [][]string
	}{
		"scalars and arrays of scalars": {
			`{"severity":"warn","tags":["a",1.50,true,null,["no"],{"no":1}],"a":{"b":-0},"items":[{"sku":"p"},{"sku":"q"}],"x y":"z"}`,
			[][]string{{"warn"}, {"a", "1.50", "true"}, {"-0"}, {"p", "q"}, {"z"}, nil, nil, {"warn"}},
		},
		"every member of one name": {`{"severity":"low","severity":"high"}`, [][]string{{"low", "high"}, nil, nil, nil, nil, nil, nil, {"low", "high"}}},
		"escapes are decoded":      {`{"severity":"\u0041\n\u0000\ud800"}`, [][]string{{"A\n\uFFFD\uFFFD"}, nil, nil, nil, nil, nil, nil, {"A\n\uFFFD\uFFFD"}}},
		"a top-level array":        {`[1,"x"]`, [][]string{nil, nil, nil, nil, nil, {"1", "x"}, nil, nil}},
		"nothing of the kind":      {`{"Severity":"x","b":{"severity":"y"},"severity":{"severity":"z"},"tags":null}`, make([][]string, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := New(testKey, picks)
			for range 2 { // the second from memory
				out := a.Analyze(jsonInput(c.data), nil)
				for i, want := range c.want {
					first := ""
					if len(want) > 0 {
						first = want[0]
					}
					if !slices.Equal(out.PickedAll[i], want) || out.Picked[i] != first {
						t.Errorf("%s is %q, first %q", picks[i], out.PickedAll[i], out.Picked[i])
					}
				}
			}
		})
	}
}

func TestPickedStringsOutliveTheNextEvent(t *testing.T) {
	t.Parallel()
	a := New(testKey, []string{"s"})
	kept := a.Analyze(jsonInput(`{"s":"first \u0041"}`), nil).Picked[0]
	a.Analyze(jsonInput(`{"s":"other \u0042"}`), nil)
	if kept != "first A" {
		t.Errorf("became %q", kept)
	}
}

// A cache that knows all paths but counts what it is asked.
type counted map[string]int

func (c counted) Term(int64) bool { return true }
func (c counted) Path(eventType, path string, _ int16) bool {
	c[eventType+" "+path]++
	return true
}

func TestEndlessPathsAreBounded(t *testing.T) {
	t.Parallel()
	a := New(testKey, []string{"keep"})
	last := ""
	for n := 0; n < maxNodes+5000; n += 2500 {
		var b strings.Builder
		b.WriteString(`{"keep":"k"`)
		for i := range 2500 {
			last = letters(n + i)
			fmt.Fprintf(&b, `,"%s":"red"`, last)
		}
		b.WriteString("}")
		out := a.Analyze(jsonInput(b.String()), nil)
		if got := len(out.NewPaths); got > MaxPaths+1 || out.NewPaths[got-1].Path != Unlisted {
			t.Fatalf("%d new paths, last %q", got, out.NewPaths[got-1].Path)
		}
		if len(a.tree.nodes) > maxNodes || out.Picked[0] != "k" {
			t.Fatalf("%d paths remembered, picked %q", len(a.tree.nodes), out.Picked[0])
		}
		// Remembered or not, the value is found at its path.
		if c, err := CompileValue(testKey, last, "red"); err != nil || !c[0].Vocabulary || !holds(out, Word{Conditions: c}) {
			t.Fatalf("%s is not found: %v", last, err)
		}
	}
	seen := counted{}
	a.Analyze(jsonInput(`{"a":1,"b":{"a":1}}`), seen)
	if !maps.Equal(seen, counted{"t a": 1, "t b": 1, "t b.a": 1}) {
		t.Errorf("asked for %v", seen)
	}
}

func TestLongPathsAreNotListed(t *testing.T) {
	t.Parallel()
	for depth, listed := range map[int]bool{128: true, 129: false} {
		path := strings.Repeat("a.", depth)[:2*depth-1]
		data := strings.Repeat(`{"a":`, depth) + `"red"` + strings.Repeat("}", depth)
		out := New(testKey, nil).Analyze(jsonInput(data), nil)
		reported := slices.ContainsFunc(out.NewPaths, func(p Path) bool { return p.Path == path })
		c, err := CompileValue(testKey, path, "red")
		if err != nil || reported != listed || ListedPath(path) != listed || c[0].Vocabulary != listed || !holds(out, Word{Conditions: c}) {
			t.Errorf("%d steps: reported %v, %+v, %v", depth, reported, c, err)
		}
	}
}

func TestMalformedPaths(t *testing.T) {
	t.Parallel()
	for _, path := range []string{".", "a.", ".a", "a..b", "a b", `"a`, `"a\`, `"a"b`, "[00]", "[-1]", "[1234567890]", "[0", "[]", "[0]a", "[*]a", "a[*", "*"} {
		if _, err := CompileValue(testKey, path, "x"); err == nil || ListedPath(path) {
			t.Errorf("%q passes for a path", path)
		}
	}
}
