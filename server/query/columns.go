package query

import (
	"bytes"
	"slices"
	"strings"

	"oriel/server/lexicon"
)

// What is judged on columns of the row: attributes, severity and facets.

func severityTest(n Node) func(*Verifier) bool {
	switch n := n.(type) {
	case Equal:
		rank, ok := SeverityRank(n.Value)
		return func(v *Verifier) bool { return ok && v.event.Severity == rank }
	case Compare:
		return func(v *Verifier) bool { return fulfils(v.event.Severity, n) }
	case Exists:
		return func(v *Verifier) bool { return v.event.Severity > 0 }
	default:
		return never
	}
}

// facetTest judges the values of a facet field as they are stored.
func facetTest(name string, is func(*Verifier, string) bool) func(*Verifier) bool {
	if name == facetTag {
		return func(v *Verifier) bool {
			return slices.ContainsFunc(v.event.Tags, func(t string) bool { return is(v, t) })
		}
	}
	return func(v *Verifier) bool {
		for _, f := range v.event.Facets {
			if len(f) > len(name) && f[len(name)] == '=' && f[:len(name)] == name && is(v, f[len(name)+1:]) {
				return true
			}
		}
		return false
	}
}

// textTest judges one value that is text.
func (v *Verifier) textTest(n Node) func(*Verifier, string) bool {
	switch n := n.(type) {
	case Equal:
		return func(_ *Verifier, s string) bool { return s == n.Value }
	case Prefix:
		return func(_ *Verifier, s string) bool { return strings.HasPrefix(s, n.Text) }
	case Contains:
		part := v.folded(n.Text)
		return func(v *Verifier, s string) bool {
			v.scratch = append(v.scratch[:0], s...)
			n := len(v.scratch)
			v.scratch = v.folder.AppendFolded(v.scratch, v.scratch[:n:n])
			return bytes.Contains(v.scratch[n:], part)
		}
	case Exists:
		return func(*Verifier, string) bool { return true }
	case Compare:
		bound := []byte(n.Value)
		if n.Field.Kind != Extension || !lexicon.IsNumber(n.Value) {
			return func(*Verifier, string) bool { return false }
		}
		return func(_ *Verifier, s string) bool {
			return lexicon.IsNumber(s) && n.Op.holds(lexicon.CompareNumbers([]byte(s), bound))
		}
	default:
		return func(*Verifier, string) bool { return false }
	}
}

func (v *Verifier) folded(text string) []byte { return v.folder.AppendFolded(nil, []byte(text)) }

func attributeOf(name string) func(*Candidate) string {
	switch name {
	case "type":
		return func(c *Candidate) string { return c.Type }
	case "source":
		return func(c *Candidate) string { return c.Source }
	case "subject":
		return func(c *Candidate) string { return c.Subject }
	case "id":
		return func(c *Candidate) string { return c.ID }
	case "datacontenttype":
		return func(c *Candidate) string { return c.ContentType }
	case "dataschema":
		return func(c *Candidate) string { return c.DataSchema }
	default:
		return func(*Candidate) string { return "" }
	}
}
