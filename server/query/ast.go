// Package query is what a search asks for: the conditions as a tree, the query language and the URL
// parameters that write them, and the evaluator that judges one event.
//
// It promises that every way of writing a filter has one meaning: Decode is total and reports everything
// that is wrong at once, Encode's parameters decode to the same filter again, and Verifier is what a
// condition means, whatever indexes answer it first. It knows no database and no HTTP framework.
package query

// Node is a condition on one event. It either holds or does not: a field that is absent makes a
// condition on it false, and Not of that true.
type Node interface{ node() }

// And holds where all do; empty, it holds always.
type And []Node

// Or holds where any does; empty, it never holds.
type Or []Node

// Not holds where Of does not.
type Not struct{ Of Node }

// Equal holds where a value of the field is Value. Attributes, facets, extensions and texts of the data are
// compared by bytes, numbers of the data by exact decimal value. Unless Text, a Value that reads as a JSON
// number, true or false stands for that as well as for the same text; Value "" with Text is the empty
// text. Of several values (tags, facets of many values, data[*]) one suffices.
type Equal struct {
	Field Field
	Value string
	Text  bool
}

// Compare holds where a value of the field is a number (of Severity: a rank) that stands in Op to Value, a
// JSON number (of Severity: a rank's name), by exact decimal value.
type Compare struct {
	Field Field
	Op    Op
	Value string
}

// Exists holds where the event has the field, whatever its value; null is a value.
type Exists struct{ Field Field }

// Null holds where a value of the data at the path is null.
type Null struct{ Field Field }

// Prefix holds where a word of the event (AnyField) begins with Text, both folded, or where the text or
// the spelling of a value of the field begins with Text, by bytes.
type Prefix struct {
	Field Field
	Text  string
}

// Contains holds where a value of the field, or any value of the event (AnyField), holds Text, both folded,
// with everything that stands in it.
type Contains struct {
	Field Field
	Text  string
}

// Word holds where the leaves of the word or phrase occur one after another within one value of the event
// (package lexicon folds and splits).
type Word struct{ Text string }

func (And) node()      {}
func (Or) node()       {}
func (Not) node()      {}
func (Equal) node()    {}
func (Compare) node()  {}
func (Exists) node()   {}
func (Null) node()     {}
func (Prefix) node()   {}
func (Contains) node() {}
func (Word) node()     {}

// Op is a comparison.
type Op uint8

// The comparisons.
const (
	Less Op = iota
	AtMost
	AtLeast
	Greater
)

// Kind is what sort of field it is.
type Kind uint8

// The kinds, in the canonical order of fields.
const (
	AnyField  Kind = iota // every value of the event; Name is ""
	Attribute             // Name: type, source, subject, id, datacontenttype, dataschema
	Severity              // Name is ""
	Facet                 // Name: device, room, person, tag, or a configured one
	Trace                 // the trace id, 32 hexadecimal digits in lower case; Name is ""
	Extension             // Name: the extension's, without "ext."
	Data                  // Name: a payload path in its canonical spelling, without "data."; "" is the data itself
)

// Field is what a condition is about.
type Field struct {
	Kind Kind
	Name string
}

// Filter is a search: conditions, and the window of event time.
type Filter struct {
	Where       And
	From, Until Bound
	// ArrivedFrom and ArrivedUntil bound when events were stored; not given, they bound nothing.
	ArrivedFrom, ArrivedUntil Bound
}
