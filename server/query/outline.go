package query

import (
	"net/url"

	"oriel/server/cloudevents"
	"oriel/server/fault"
	"oriel/server/lexicon"
)

// Limits of a filter, named in every refusal.
const (
	MaxValues     = 100  // values of one parameter
	MaxQuery      = 4096 // bytes of one q
	MaxConditions = 64   // leaves of all q together
	MaxDepth      = 32   // of parentheses
)

// Schema is what fields there are beside the built-in ones.
type Schema struct {
	Facets []string // names of the facet fields, device, room, person and tag included where they are configured
}

// Parse reads one query of the language. Errors carry the character position, from 1, in the metadata
// "position" and what is accepted in "accepted"; name is the parameter that is blamed.
func Parse(s Schema, name, q string) (Node, []fault.Violation) { panic("outline") }

// Format writes a condition in the language; Parse of it is the same condition, normalised.
func Format(n Node) string { panic("outline") }

// Normalise is the one tree of all that say the same by construction: nested conjunctions and alternatives
// are flat, sorted and distinct, double negations gone, single ones unwrapped.
func Normalise(n Node) Node { panic("outline") }

// Decode reads the filter parameters among params: type, source, subject, each configured facet, severity,
// ext.<name>, data.<path>, q, each with its negated twin (type!), from, until, arrivedFrom, arrivedUntil and
// v. Parameters for which other says true are the caller's; anything else is reported, with accepted as what
// there is. It is total: everything wrong is reported together. A parameter that is present but empty is absent.
func Decode(s Schema, params url.Values, other func(string) bool, accepted string) (Filter, []fault.Violation) {
	panic("outline")
}

// Encode is the canonical parameters of a filter: Decode of them is the filter again, normalised.
func Encode(f Filter) url.Values { panic("outline") }

// Canonical is one text for all spellings of the conditions: the key of caches and page tokens.
func Canonical(where And) string { panic("outline") }

// FieldOf reads a field's name as the language and parameters write it: type, severity, room, ext.name,
// data.path, trace, id. String of the field is its canonical spelling.
func FieldOf(s Schema, name string) (Field, error) { panic("outline") }

// String is the canonical spelling of the field.
func (f Field) String() string { panic("outline") }

// Without is the conditions without those that pick values of one field: what a facet counts over, so that
// several of its values can be picked. Only top-level conditions on that field alone are taken out.
func Without(where And, f Field) And { panic("outline") }

// Selected is the values of a field that top-level conditions pick, in order.
func Selected(where And, f Field) []string { panic("outline") }

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
// runs. One goroutine at a time.
type Verifier struct{ matcher lexicon.Matcher }

// NewVerifier makes the verifier of a condition.
func NewVerifier(where Node) *Verifier { panic("outline") }

// Match says whether the event fulfils the condition.
func (v *Verifier) Match(c *Candidate) bool { panic("outline") }

// Walk calls f for every node under n, n first.
func Walk(n Node, f func(Node)) { panic("outline") }
