package query

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
)

// Candidate is what of a stored event the verifier reads. Tags and Facets ("name=value") are as stored.
type Candidate struct {
	Source, ID, Type     string
	Subject, ContentType string // "" is absent
	DataSchema           string
	Severity             int16 // 0 is none
	Flags                cloudevents.Flags
	Attributes           []string // extensions as stored: name, type, value, …
	Tags, Facets         []string
	TraceID              []byte
	Data                 []byte // nil is absent
}

// Verifier evaluates a condition on stored events: the judge wherever SQL is a superset, and what the tail
// runs. Parts that are cheap to judge come first, and the data is read only where they leave it open. One
// goroutine at a time.
type Verifier struct {
	root    test
	matcher lexicon.Matcher
	paths   *paths
	parts   *parts
	input   lexicon.Input

	event                       *Candidate
	claims                      bool // json and text are known of the event
	json, text                  bool
	loaded, walked, partsLooked bool
	scratch                     []byte
	folder                      lexicon.Folder
}

// test is a compiled condition; its cost says how late it is judged.
type test struct {
	of    func(*Verifier) bool // a leaf's; nil of the others
	all   []test               // And
	any   []test               // Or
	not   *test
	never bool // Or{}
	cost  int
}

// What a judgement costs, about, in the order of judging.
const (
	costColumn = iota
	costFacet
	costPaths
	costWords
	costParts
)

// NewVerifier makes the verifier of a condition.
func NewVerifier(where Node) *Verifier {
	v := &Verifier{paths: newPaths(), parts: &parts{}}
	v.root = v.compile(where)
	return v
}

// Match says whether the event fulfils the condition.
func (v *Verifier) Match(c *Candidate) bool {
	v.event = c
	v.claims, v.loaded, v.walked, v.partsLooked = false, false, false, false
	ok := v.holds(&v.root)
	v.event = nil
	return ok
}

func (v *Verifier) holds(t *test) bool {
	switch {
	case t.of != nil:
		return t.of(v)
	case t.not != nil:
		return !v.holds(t.not)
	case t.any != nil || t.never:
		for i := range t.any {
			if v.holds(&t.any[i]) {
				return true
			}
		}
		return false
	}
	for i := range t.all {
		if !v.holds(&t.all[i]) {
			return false
		}
	}
	return true
}

func (v *Verifier) compile(n Node) test {
	switch n := n.(type) {
	case And:
		parts, cost := v.several(n)
		return test{all: parts, cost: cost}
	case Or:
		parts, cost := v.several(n)
		return test{any: parts, never: len(n) == 0, cost: cost}
	case Not:
		of := v.compile(n.Of)
		return test{not: &of, cost: of.cost}
	case Word:
		w := lexicon.Compile(lexicon.Key{}, n.Text) // matching is on text, not on hashes
		return test{cost: costWords, of: func(v *Verifier) bool { return v.words().Match(w) }}
	default:
		return v.leaf(n)
	}
}

func (v *Verifier) several(ns []Node) ([]test, int) {
	out := make([]test, len(ns))
	cost := 0
	for i, n := range ns {
		out[i] = v.compile(n)
		cost = max(cost, out[i].cost)
	}
	slices.SortStableFunc(out, func(a, b test) int { return cmp.Compare(a.cost, b.cost) })
	return out, cost
}

// leaf compiles a condition on a field.
func (v *Verifier) leaf(n Node) test {
	k, _ := unwrapped(n)
	switch k.field.Kind {
	case AnyField:
		return v.anywhere(n)
	case Severity:
		return test{of: severityTest(n)}
	case Data:
		i := v.paths.add(n)
		return test{cost: costPaths, of: func(v *Verifier) bool { return v.walk().hit(i) }}
	case Facet:
		return test{cost: costFacet, of: facetTest(k.field.Name, v.textTest(n))}
	case Extension:
		name, is := k.field.Name, v.textTest(n)
		return test{of: func(v *Verifier) bool {
			as := v.event.Attributes
			for i := 0; i+2 < len(as); i += 3 {
				if as[i] == name && is(v, as[i+2]) {
					return true
				}
			}
			return false
		}}
	case Trace:
		if e, ok := n.(Equal); ok {
			want, err := hex.DecodeString(e.Value)
			return test{of: func(v *Verifier) bool { return err == nil && len(want) > 0 && bytes.Equal(v.event.TraceID, want) }}
		}
		is := v.textTest(n)
		return test{of: func(v *Verifier) bool {
			v.scratch = hex.AppendEncode(v.scratch[:0], v.event.TraceID)
			return len(v.event.TraceID) > 0 && is(v, string(v.scratch))
		}}
	default:
		get, is := attributeOf(k.field.Name), v.textTest(n)
		return test{of: func(v *Verifier) bool {
			s := get(v.event)
			return s != "" && is(v, s)
		}}
	}
}

func never(*Verifier) bool { return false }

// anywhere compiles a condition on all values of the event.
func (v *Verifier) anywhere(n Node) test {
	switch n := n.(type) {
	case Prefix:
		b := lexicon.CompileBeginning(n.Text)
		return test{cost: costWords, of: func(v *Verifier) bool { return v.words().Begins(b) }}
	case Contains:
		i := v.parts.add(v.folded(n.Text))
		return test{cost: costParts, of: func(v *Verifier) bool { return v.lookForParts().hit(i) }}
	default:
		return test{of: never}
	}
}

// claim is what the event says that its data is.
func (v *Verifier) claim() (json, text bool) {
	if !v.claims {
		v.json, v.text = cloudevents.Claims(v.event.ContentType, v.event.Flags)
		v.claims = true
	}
	return v.json, v.text
}

// words is the event's words, loaded once.
func (v *Verifier) words() *lexicon.Matcher {
	if v.loaded {
		return &v.matcher
	}
	v.loaded = true
	c, in := v.event, &v.input
	in.ID, in.Data = c.ID, c.Data
	in.JSON, in.Text = v.claim()
	in.Attributes = append(in.Attributes[:0], "type", c.Type, "source", c.Source)
	if c.Subject != "" {
		in.Attributes = append(in.Attributes, "subject", c.Subject)
	}
	for i := 0; i+2 < len(c.Attributes); i += 3 {
		in.Attributes = append(in.Attributes, c.Attributes[i], c.Attributes[i+2])
	}
	v.matcher.Load(in)
	return &v.matcher
}

// walk reads the data for all conditions on its paths, once.
func (v *Verifier) walk() *paths {
	if !v.walked {
		v.walked = true
		json, _ := v.claim()
		v.paths.read(v.event.Data, json)
	}
	return v.paths
}

// lookForParts looks through all values for all parts, once.
func (v *Verifier) lookForParts() *parts {
	if v.partsLooked {
		return v.parts
	}
	v.partsLooked = true
	c, p := v.event, v.parts
	p.begin()
	for _, s := range []string{c.ID, c.Type, c.Source, c.Subject} {
		p.attribute(s)
	}
	for i := 0; i+2 < len(c.Attributes); i += 3 {
		p.attribute(c.Attributes[i+2])
	}
	json, text := v.claim()
	p.data(c.Data, json, text)
	return p
}
