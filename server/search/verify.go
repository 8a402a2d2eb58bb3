package search

import (
	"encoding/hex"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
)

// Candidate is what of a stored event the verifier reads.
type Candidate struct {
	Source, ID, Type string
	Subject          string // "" is absent
	Severity         int16  // 0 is none
	Flags            cloudevents.Flags
	ContentType      string
	Attributes       []string // extensions as stored: name, type, value, …
	TraceID          []byte
	Data             []byte
}

// Verifier evaluates a filter on stored events: the other half of the compiler, and the judge wherever
// SQL is a superset. One goroutine at a time.
type Verifier struct {
	where   Node
	words   map[string]lexicon.Word
	matcher lexicon.Matcher
	loaded  bool
}

// NewVerifier makes the verifier of a condition.
func NewVerifier(where Node) *Verifier {
	v := &Verifier{where: where, words: map[string]lexicon.Word{}}
	for _, w := range words(where) {
		v.words[w] = lexicon.Compile(lexicon.Key{}, w) // matching is on text, not on hashes
	}
	return v
}

// Match says whether the event fulfils the condition.
func (v *Verifier) Match(c *Candidate) bool {
	v.loaded = false
	return v.holds(v.where, c)
}

func (v *Verifier) holds(n Node, e *Candidate) bool {
	switch n := n.(type) {
	case And:
		for _, c := range n {
			if !v.holds(c, e) {
				return false
			}
		}
		return true
	case Or:
		for _, c := range n {
			if v.holds(c, e) {
				return true
			}
		}
		return false
	case Not:
		return !v.holds(n.Of, e)
	case Equal:
		return e.field(n.Field) == n.Value
	case AtLeast:
		return e.Severity >= n.Rank
	case Word:
		if !v.loaded {
			v.matcher.Load(e.input())
			v.loaded = true
		}
		return v.matcher.Match(v.words[n.Text])
	default:
		return false
	}
}

func (c *Candidate) field(f Field) string {
	switch f {
	case FieldType:
		return c.Type
	case FieldSource:
		return c.Source
	default:
		return c.Subject
	}
}

// input is the event as the lexicon indexed it when it was stored.
func (c *Candidate) input() *lexicon.Input {
	in := &lexicon.Input{Type: c.Type, Source: c.Source, ID: c.ID, Data: c.Data}
	in.JSON, in.Text = cloudevents.Claims(c.ContentType, c.Flags)
	in.Attributes = make([]string, 0, 6+len(c.Attributes))
	in.Attributes = append(in.Attributes, "type", c.Type, "source", c.Source)
	if c.Subject != "" {
		in.Attributes = append(in.Attributes, "subject", c.Subject)
	}
	for i := 0; i+2 < len(c.Attributes); i += 3 {
		in.Attributes = append(in.Attributes, c.Attributes[i], c.Attributes[i+2])
	}
	if len(c.TraceID) > 0 {
		in.TraceID = hex.EncodeToString(c.TraceID)
	}
	return in
}
