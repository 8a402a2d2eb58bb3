package query

import (
	"bytes"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
)

// Cell is the value of a field of an event as one text, for tables: of a string what it says, of anything else
// in the data its spelling as sent, and of several values a JSON list of them. Absent is empty, and so is the
// empty text.
func Cell(f Field, c *Candidate) string {
	var values []string
	switch f.Kind {
	case Attribute:
		return attributeOf(f.Name)(c)
	case Severity:
		return SeverityName(c.Severity)
	case Trace:
		return hex.EncodeToString(c.TraceID)
	case Extension:
		for i := 0; i+2 < len(c.Attributes); i += 3 {
			if c.Attributes[i] == f.Name {
				return c.Attributes[i+2]
			}
		}
		return ""
	case Facet:
		if f.Name == facetTag {
			values = c.Tags
			break
		}
		for _, pair := range c.Facets {
			if name, v, ok := strings.Cut(pair, "="); ok && name == f.Name {
				values = append(values, v)
			}
		}
	case Data:
		return dataCell(f.Name, c)
	default:
		return ""
	}
	if len(values) == 1 {
		return values[0]
	}
	quoted := make([][]byte, len(values))
	for i, v := range values {
		quoted[i], _ = jsontext.AppendQuote(nil, v) // of text that is no UTF-8 it makes some
	}
	return list(quoted)
}

// list is a JSON list of spelled values; of none, nothing.
func list(values [][]byte) string {
	if len(values) == 0 {
		return ""
	}
	return "[" + string(bytes.Join(values, []byte(","))) + "]"
}

func dataCell(path string, c *Candidate) string {
	steps, err := lexicon.ParsePath(path)
	json, _ := cloudevents.Claims(c.ContentType, c.Flags)
	if err != nil || !json || len(c.Data) == 0 || !utf8.Valid(c.Data) || !new(lexicon.Reader).Read(c.Data, unheard{}) {
		return ""
	}
	found := collect(nil, c.Data, steps)
	if len(found) != 1 {
		return list(found)
	}
	if found[0][0] == '"' {
		text, _ := jsontext.AppendUnquote(nil, found[0]) // a lone surrogate becomes U+FFFD
		return string(text)
	}
	return string(found[0])
}

// collect appends the values at a path of a JSON value, as they are spelled. Every member of a repeated name
// counts.
func collect(found [][]byte, value []byte, steps []lexicon.Step) [][]byte {
	if len(steps) == 0 {
		return append(found, bytes.TrimSpace(value))
	}
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	kind := byte('{')
	if steps[0].Element {
		kind = '['
	}
	if t, err := d.ReadToken(); err != nil || byte(t.Kind()) != kind {
		return found
	}
	for i := 0; ; i++ {
		wanted := steps[0].Element && (steps[0].Index == lexicon.AnyIndex || steps[0].Index == i)
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil || name.Kind() != '"' {
				return found
			}
			wanted = name.String() == steps[0].Name
		}
		if !wanted {
			if d.PeekKind() == ']' || d.SkipValue() != nil {
				return found
			}
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			return found
		}
		found = collect(found, bytes.Clone(v), steps[1:])
	}
}

// unheard only wants to know whether it is JSON.
type unheard struct{}

func (unheard) Open(bool)     {}
func (unheard) Close()        {}
func (unheard) Key([]byte)    {}
func (unheard) Text([]byte)   {}
func (unheard) Number([]byte) {}
func (unheard) Truth(bool)    {}
func (unheard) Null()         {}
