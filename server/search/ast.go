package search

import (
	"slices"
	"strings"
)

// Node is a condition on one event. It either holds or does not: a field that is absent makes a
// condition on it false, and Not of that true.
type Node interface{ node() }

// And holds where all do; empty, it holds always.
type And []Node

// Or holds where any does; empty, it never holds.
type Or []Node

// Not holds where Of does not.
type Not struct{ Of Node }

// Equal holds where the field is exactly Value, compared by bytes.
type Equal struct {
	Field Field
	Value string
}

// AtLeast holds where the event has a severity of at least Rank, 1 to 8.
type AtLeast struct{ Rank int16 }

// Word holds where the leaves of the word occur one after another within one value of the event
// (package lexicon folds and splits).
type Word struct{ Text string }

func (And) node()     {}
func (Or) node()      {}
func (Not) node()     {}
func (Equal) node()   {}
func (AtLeast) node() {}
func (Word) node()    {}

// Field is an attribute that has a column.
type Field uint8

// The fields, in their canonical order.
const (
	FieldType Field = iota
	FieldSource
	FieldSubject
	fields
)

// String is the name of both the parameter and the column.
func (f Field) String() string {
	switch f {
	case FieldType:
		return "type"
	case FieldSource:
		return "source"
	default:
		return "subject"
	}
}

// errorRank is where the partial index on severity begins.
const errorRank = 6

// SeverityName is the name of a rank, 1 to 8; "" for any other.
func SeverityName(rank int16) string {
	names := [...]string{"", "trace", "debug", "info", "notice", "warning", "error", "critical", "emergency"}
	if rank < 0 || int(rank) >= len(names) {
		return ""
	}
	return names[rank]
}

func severityRank(name string) (int16, bool) {
	name = strings.ToLower(name)
	if name == "warn" {
		name = "warning"
	}
	for rank := int16(1); SeverityName(rank) != ""; rank++ {
		if SeverityName(rank) == name {
			return rank, true
		}
	}
	return 0, false
}

// Bound is one end of the window: absolute where Ago is zero and Now is false, else Ago before the
// moment that the search is made. The zero Bound is not given.
type Bound struct {
	At  Instant
	Ago Duration
	Now bool
}

// Filter is what a search asks for.
type Filter struct {
	Where       And // of what the parameters say, in canonical order
	From, Until Bound
}

// walk calls f for every node under n.
func walkNodes(n Node, f func(Node)) {
	f(n)
	switch n := n.(type) {
	case And:
		for _, c := range n {
			walkNodes(c, f)
		}
	case Or:
		for _, c := range n {
			walkNodes(c, f)
		}
	case Not:
		walkNodes(n.Of, f)
	}
}

// words is every distinct word under n, in order.
func words(n Node) []string {
	var out []string
	walkNodes(n, func(n Node) {
		if w, ok := n.(Word); ok && !slices.Contains(out, w.Text) {
			out = append(out, w.Text)
		}
	})
	return out
}
