package cloudevents

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The reasons this package gives; package fault names the same ones.
const (
	reasonMissing     = "MISSING_ATTRIBUTE"
	reasonInvalid     = "INVALID_ATTRIBUTE"
	reasonTooLong     = "ATTRIBUTE_TOO_LONG"
	reasonTooLarge    = "ATTRIBUTES_TOO_LARGE"
	reasonSpecVersion = "UNSUPPORTED_SPEC_VERSION"
	reasonContentMode = "UNSUPPORTED_CONTENT_MODE"
	reasonJSON        = "MALFORMED_JSON"
	reasonUTF8        = "INVALID_UTF8"
	reasonDepth       = "DEPTH_EXCEEDED"
	reasonConflict    = "DATA_AND_DATA_BASE64"
	reasonBatch       = "BATCH_TOO_LARGE"
	reasonUndecodable = "UNDECODABLE"
)

// maxShown is how many characters of an offending value a violation repeats.
const maxShown = 200

// binding is where an event's attributes were read, so that a refusal can speak its language.
type binding uint8

const (
	bindingJSON binding = iota
	bindingHTTP
	bindingKafka
)

// spell writes an attribute the way that a producer of the binding would.
func (b binding) spell(name, value string) string {
	switch b {
	case bindingHTTP:
		return "the header ce-" + name + ": " + value
	case bindingKafka:
		return "the header ce_" + name + ": " + value
	default:
		return `"` + name + `": "` + value + `"`
	}
}

// problems collects the violations of one event.
type problems struct {
	binding binding
	list    []Violation
}

func (p *problems) add(v Violation) {
	v.Value = shown(v.Value)
	v.Attribute = shown(v.Attribute)
	p.list = append(p.list, v)
}

// invalid adds an INVALID_ATTRIBUTE.
func (p *problems) invalid(attribute, value, accepted, message string) {
	p.add(Violation{Reason: reasonInvalid, Attribute: attribute, Value: value, Accepted: accepted, Message: message})
}

// has says whether the attribute has a violation already: one cause is not told twice.
func (p *problems) has(attribute string) bool {
	if len(p.list) == 0 {
		return false
	}
	attribute = shown(attribute)
	for i := range p.list {
		if p.list[i].Attribute == attribute {
			return true
		}
	}
	return false
}

// sorted are the violations in attribute order: the specification's attributes, the extensions by
// name, the data, then what concerns the event as a whole.
func (p *problems) sorted() []Violation {
	slices.SortStableFunc(p.list, func(a, b Violation) int {
		if c := cmp.Compare(rank(a.Attribute), rank(b.Attribute)); c != 0 {
			return c
		}
		return strings.Compare(a.Attribute, b.Attribute)
	})
	return p.list
}

func (p *problems) err() *Error {
	if len(p.list) == 0 {
		return nil
	}
	return &Error{Violations: p.sorted()}
}

func rank(attribute string) int {
	switch attribute {
	case "":
		return 99
	case "data", "data_base64":
		return 50
	}
	if c := coreOf(attribute); c != notCore {
		return int(c)
	}
	return 40
}

// refuse is an error of a single violation.
func refuse(v Violation) *Error {
	v.Value = shown(v.Value)
	return &Error{Violations: []Violation{v}}
}

// shown is a value made fit to be repeated in an answer: valid UTF-8, at most maxShown characters.
func shown(s string) string {
	if len(s) > maxShown*utf8.UTFMax { // never convert a megabyte to show a line of it
		s = s[:maxShown*utf8.UTFMax]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := 0
	for i := range s {
		if n == maxShown {
			return s[:i]
		}
		n++
	}
	return s
}
