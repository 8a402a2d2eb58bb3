package reference

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"oriel/server/query"
)

// Holds says whether an event fulfils a condition.
func (e *Event) Holds(n query.Node) bool {
	switch n := n.(type) {
	case query.And:
		for _, of := range n {
			if !e.Holds(of) {
				return false
			}
		}
		return true
	case query.Or:
		for _, of := range n {
			if e.Holds(of) {
				return true
			}
		}
		return false
	case query.Not:
		return !e.Holds(n.Of)
	case query.Equal:
		return e.equal(n)
	case query.Compare:
		return e.compare(n)
	case query.Exists:
		return e.exists(n.Field)
	case query.Null:
		return slices.ContainsFunc(e.dataAt(n.Field), func(v *value) bool { return v.kind == aNull })
	case query.Prefix:
		if n.Field.Kind == query.AnyField {
			return e.prefix(n.Text)
		}
		return slices.ContainsFunc(e.spellings(n.Field), func(s string) bool { return strings.HasPrefix(s, n.Text) })
	case query.Contains:
		part := fold(n.Text)
		if n.Field.Kind == query.AnyField {
			return slices.ContainsFunc(e.texts, func(s string) bool { return strings.Contains(s, part) })
		}
		return slices.ContainsFunc(e.spellings(n.Field), func(s string) bool { return strings.Contains(fold(s), part) })
	case query.Word:
		return e.word(n.Text)
	default:
		panic(fmt.Sprintf("a condition of an unknown kind %T", n))
	}
}

// word looks for leaves one after another within one value, and for a number of the same value.
func (e *Event) word(text string) bool {
	if isNumber(text) && slices.Contains(e.number, canonical(text)) {
		return true
	}
	want := leaves(text)
	if len(want) == 0 {
		return false
	}
	for _, have := range e.leaves {
		for i := 0; i+len(want) <= len(have); i++ {
			if slices.Equal(have[i:i+len(want)], want) {
				return true
			}
		}
	}
	return false
}

// prefix looks for leaves one after another, the last of which begins as the text's last does, and for a number
// whose plain spelling begins with the text. A mark at the end ends the last leaf. One of letters alone goes on as
// vocabulary, never as an identifier.
func (e *Event) prefix(text string) bool {
	folded := fold(text)
	if slices.ContainsFunc(e.number, func(n string) bool { return strings.HasPrefix(n, folded) }) {
		return true
	}
	want := leaves(text)
	if len(want) == 0 {
		return false
	}
	whole, last := want[:len(want)-1], want[len(want)-1]
	if !strings.HasSuffix(folded, last) {
		return e.word(text)
	}
	lettered := !strings.ContainsFunc(last, func(r rune) bool { return unicode.IsNumber(r) || single(r) })
	for _, have := range e.leaves {
		for i := 0; i+len(want) <= len(have); i++ {
			next := have[i+len(want)-1:][0]
			if slices.Equal(have[i:i+len(whole)], whole) && strings.HasPrefix(next, last) && (!lettered || isVocabulary(next)) {
				return true
			}
		}
	}
	return false
}

func (e *Event) dataAt(f query.Field) []*value {
	if f.Kind != query.Data {
		return nil
	}
	return e.root.at(steps(f.Name))
}

// spellings is the texts and spellings of a field's values.
func (e *Event) spellings(f query.Field) []string {
	one := func(s string) []string {
		if s == "" {
			return nil
		}
		return []string{s}
	}
	switch f.Kind {
	case query.AnyField: // every value, which nothing asks for one by one
	case query.Attribute:
		switch f.Name {
		case "type":
			return one(e.Type)
		case "source":
			return one(e.Source)
		case "subject":
			return one(e.Subject)
		case "id":
			return one(e.ID)
		case "datacontenttype":
			return one(e.DataContentType)
		case "dataschema":
			return one(e.DataSchema)
		}
	case query.Severity:
		if e.Severity > 0 {
			return one(Ranks()[e.Severity-1])
		}
	case query.Facet:
		if f.Name == "tag" {
			return e.Tags
		}
		return e.Facets[f.Name]
	case query.Trace:
		return one(e.TraceID)
	case query.Extension:
		if v, ok := e.extension(f.Name); ok {
			return []string{v}
		}
	case query.Data:
		var out []string
		for _, v := range e.dataAt(f) {
			if v.kind == aString || v.kind == aNumber || v.kind == aBoolean {
				out = append(out, v.text)
			}
		}
		return out
	}
	return nil
}

func (e *Event) equal(n query.Equal) bool {
	if n.Field.Kind != query.Data {
		return slices.Contains(e.spellings(n.Field), n.Value)
	}
	for _, v := range e.dataAt(n.Field) {
		switch v.kind {
		case aString:
			if v.text == n.Value {
				return true
			}
		case aBoolean:
			if !n.Text && v.text == n.Value {
				return true
			}
		case aNumber:
			if !n.Text && isNumber(n.Value) && canonical(v.text) == canonical(n.Value) {
				return true
			}
		default: // null, and what holds others, equal nothing
		}
	}
	return false
}

func (e *Event) compare(n query.Compare) bool {
	stands := func(c int) bool {
		switch n.Op {
		case query.Less:
			return c < 0
		case query.AtMost:
			return c <= 0
		case query.AtLeast:
			return c >= 0
		default:
			return c > 0
		}
	}
	if n.Field.Kind == query.Severity {
		return e.Severity > 0 && stands(e.Severity-1-slices.Index(Ranks(), n.Value))
	}
	if n.Field.Kind != query.Data {
		return slices.ContainsFunc(e.spellings(n.Field), func(s string) bool { return isNumber(s) && stands(compareNumbers(s, n.Value)) })
	}
	return slices.ContainsFunc(e.dataAt(n.Field), func(v *value) bool {
		return v.kind == aNumber && stands(compareNumbers(v.text, n.Value))
	})
}

func (e *Event) exists(f query.Field) bool {
	if f.Kind == query.Data {
		return len(e.dataAt(f)) > 0
	}
	return len(e.spellings(f)) > 0
}
