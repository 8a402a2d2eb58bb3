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

// CellKind says what a cell is.
type CellKind string

// The kinds. Several values of a field are one list, as a cell spells them.
const (
	CellAbsent  CellKind = "absent"
	CellString  CellKind = "string"
	CellNumber  CellKind = "number"
	CellBoolean CellKind = "boolean"
	CellNull    CellKind = "null"
	CellObject  CellKind = "object"
	CellArray   CellKind = "array"
	CellSeveral CellKind = "several"
)

// Cell is the value of a field of an event as one text, for tables: of a string what it says, of anything else
// in the data its spelling as sent, and of several values a JSON list of them. Absent is empty, and so is the
// empty text.
func Cell(f Field, c *Candidate) string {
	_, text := KindedCell(f, c)
	return text
}

// KindedCell is Cell, and what kind of value it is of: it tells what is absent from the empty text, and a text
// from the number that it looks like.
func KindedCell(f Field, c *Candidate) (CellKind, string) {
	switch f.Kind {
	case Attribute:
		return textCell(attributeOf(f.Name)(c))
	case Severity:
		return textCell(SeverityName(c.Severity))
	case Trace:
		return textCell(hex.EncodeToString(c.TraceID))
	case Extension:
		return extensionCell(f.Name, c)
	case Facet:
		return severalCell(facetValues(f.Name, c))
	case Data:
		return dataCell(f.Name, c)
	default:
		return CellAbsent, ""
	}
}

// textCell is of what is never the empty text where it is there.
func textCell(text string) (CellKind, string) {
	if text == "" {
		return CellAbsent, ""
	}
	return CellString, text
}

func extensionCell(name string, c *Candidate) (CellKind, string) {
	for i := 0; i+2 < len(c.Attributes); i += 3 {
		if c.Attributes[i] != name {
			continue
		}
		kind := CellString
		switch c.Attributes[i+1] {
		case "integer":
			kind = CellNumber
		case "boolean":
			kind = CellBoolean
		}
		return kind, c.Attributes[i+2]
	}
	return CellAbsent, ""
}

func facetValues(name string, c *Candidate) (values []string) {
	if name == facetTag {
		return c.Tags
	}
	for _, pair := range c.Facets {
		if n, v, ok := strings.Cut(pair, "="); ok && n == name {
			values = append(values, v)
		}
	}
	return values
}

func severalCell(values []string) (CellKind, string) {
	switch len(values) {
	case 0:
		return CellAbsent, ""
	case 1:
		return CellString, values[0]
	}
	quoted := make([][]byte, len(values))
	for i, v := range values {
		quoted[i], _ = jsontext.AppendQuote(nil, v) // of text that is no UTF-8 it makes some
	}
	return CellSeveral, list(quoted)
}

// list is a JSON list of spelled values.
func list(values [][]byte) string {
	return "[" + string(bytes.Join(values, []byte(","))) + "]"
}

func dataCell(path string, c *Candidate) (CellKind, string) {
	steps, err := lexicon.ParsePath(path)
	json, _ := cloudevents.Claims(c.ContentType, c.Flags)
	if err != nil || !json || len(c.Data) == 0 || !utf8.Valid(c.Data) || !new(lexicon.Reader).Read(c.Data, unheard{}) {
		return CellAbsent, ""
	}
	found := collect(nil, c.Data, steps)
	switch len(found) {
	case 0:
		return CellAbsent, ""
	case 1:
		return valueCell(found[0])
	default:
		return CellSeveral, list(found)
	}
}

// valueCell is of one JSON value.
func valueCell(value []byte) (CellKind, string) {
	switch value[0] {
	case '"':
		text, _ := jsontext.AppendUnquote(nil, value) // a lone surrogate becomes U+FFFD
		return CellString, string(text)
	case '{':
		return CellObject, string(value)
	case '[':
		return CellArray, string(value)
	case 'n':
		return CellNull, string(value)
	case 't', 'f':
		return CellBoolean, string(value)
	default:
		return CellNumber, string(value)
	}
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
