package query

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cursor is where something of a query is to be completed.
type Cursor struct {
	From, Until int    // the characters that a completion replaces, from 0
	Field       *Field // whose value stands here; nil: a field, a word or an operator
	Text        string // what stands before the cursor, without quotes
	Quoted      bool   // it is in quotes: no field and no operator
	Joins       bool   // something stands before, which an operator may join
}

// At finds what stands at a position of a query, in characters from 0; beyond its end is at the end. It is
// total: of what is no query it makes what it can.
func At(s Schema, q string, position int) Cursor {
	c := completer{parser: parser{schema: s, q: q}, cursor: offsetOf(q, position), scopes: []*Field{nil}}
	for {
		c.space()
		if c.at >= c.cursor {
			return c.found(c.cursor, c.cursor, false)
		}
		if out, ok := c.token(); ok {
			return out
		}
	}
}

// completer goes through a query up to the cursor.
type completer struct {
	parser
	cursor int
	scopes []*Field // of the open parentheses, the innermost last
	joins  bool
}

func (c *completer) scope() *Field { return c.scopes[len(c.scopes)-1] }

// token passes one token, or answers the cursor in it.
func (c *completer) token() (Cursor, bool) {
	switch c.q[c.at] {
	case '(':
		c.at++
		c.scopes, c.joins = append(c.scopes, c.scope()), false
		return Cursor{}, false
	case ')':
		c.at++
		c.scopes, c.joins = c.scopes[:max(1, len(c.scopes)-1)], true
		return Cursor{}, false
	}
	for c.scope() == nil && c.at < c.cursor && c.minus(nil) {
		c.at++
	}
	begin := c.at
	if c.end() {
		return c.found(c.cursor, c.cursor, false), true
	}
	if c.scope() == nil && c.q[begin] != '"' {
		if out, passed, ok := c.field(begin); passed || ok {
			return out, ok
		}
	}
	end := c.passValue(begin)
	if c.cursor <= end {
		return c.found(begin, end, c.q[begin] == '"'), true
	}
	c.at = end
	c.joins = !operator(c.q[begin:end])
	return Cursor{}, false
}

// field passes a field with its value, if one stands here.
func (c *completer) field(begin int) (out Cursor, passed, found bool) {
	name, op := c.nameAndOperator()
	if op == "" {
		return Cursor{}, false, false
	}
	f, err := FieldOf(c.schema, name)
	if err != nil {
		return Cursor{}, false, false
	}
	value := begin + len(name) + len(op)
	if c.cursor < value { // a name that is being changed, with what follows it
		return c.found(begin, value, false), true, true
	}
	if value < len(c.q) && c.q[value] == '(' && c.cursor > value {
		c.at = value + 1
		c.scopes, c.joins = append(c.scopes, &f), false
		return Cursor{}, true, false
	}
	end := value
	if value < len(c.q) && c.q[value] != '(' {
		end = c.passValue(value)
	}
	if c.cursor <= end {
		c.scopes = append(c.scopes, &f)
		return c.found(value, end, end > value && c.q[value] == '"'), true, true
	}
	c.at, c.joins = end, true
	return Cursor{}, true, false
}

// passValue is the end of the chunk or the quotes that begin somewhere.
func (c *completer) passValue(begin int) int {
	if c.q[begin] != '"' {
		return begin + max(1, chunkEnd(c.q[begin:]))
	}
	at := c.at
	c.at = begin
	c.quoted()
	end := c.at
	c.at = at
	return end
}

// found is the cursor in what stands between two bytes.
func (c *completer) found(from, until int, inQuotes bool) Cursor {
	text := c.q[from:max(from, c.cursor)]
	if inQuotes {
		text = unquoted(text)
	}
	return Cursor{
		From: utf8.RuneCountInString(c.q[:from]), Until: utf8.RuneCountInString(c.q[:max(until, c.cursor)]),
		Field: c.scope(), Text: text, Quoted: inQuotes, Joins: c.joins,
	}
}

// unquoted is text in quotes as far as it is written.
func unquoted(s string) string {
	p := parser{q: s}
	if text, ok := p.quoted(); ok {
		return text
	}
	p = parser{q: s + `"`}
	if text, ok := p.quoted(); ok {
		return text
	}
	return strings.TrimPrefix(s, `"`) // it ends with a backslash
}

// offsetOf is the byte that a character begins at.
func offsetOf(q string, position int) int {
	at := 0
	for range position {
		if at >= len(q) {
			break
		}
		_, n := utf8.DecodeRuneInString(q[at:])
		at += n
	}
	return at
}

// FormatValue writes a value as the language has it behind a field, in quotes where it needs them. Text of the data
// that reads as something else is set apart from that.
func FormatValue(f Field, value string) string {
	return equalValue(Equal{f, value, f.Kind == Data && ambiguous(value)})
}

// FormatWord writes a word as the language has it.
func FormatWord(text string) string { return word(text) }

// FormatField writes the name of a field, as it stands before an operator.
func FormatField(f Field) string {
	if strings.IndexFunc(f.String(), unicode.IsControl) >= 0 {
		return "" // it cannot be written
	}
	return f.String()
}
