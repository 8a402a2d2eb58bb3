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
	Op          string // what stands between the field and the value, as it is written
	Text        string // what stands before the cursor, without quotes
	Quoted      bool   // it is in quotes: no field and no operator
	Joins       bool   // something stands before, which an operator may join
}

// At finds what stands at a position of a query, in characters from 0; beyond its end is at the end. It is
// total: of what is no query it makes what it can.
func At(s Schema, q string, position int) Cursor {
	c := completer{parser: parser{schema: s, q: q}, cursor: offsetOf(q, position), scopes: []scope{{}}}
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
	scopes []scope // of the open parentheses, the innermost last
	joins  bool
}

// scope is the field whose values stand somewhere, if any, and its operator.
type scope struct {
	field *Field
	op    string
}

func (c *completer) scope() scope { return c.scopes[len(c.scopes)-1] }

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
	for c.scope().field == nil && c.at < c.cursor && c.minus(nil) {
		c.at++
	}
	begin := c.at
	if c.end() {
		return c.found(c.cursor, c.cursor, false), true
	}
	if c.scope().field == nil && c.q[begin] != '"' {
		if out, passed, ok := c.field(begin); passed || ok {
			return out, ok
		}
		if end := c.openPath(begin); c.cursor <= end {
			return c.found(begin, end, false), true
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
	name, op, value := c.nameAndOperator()
	if op == "" {
		return Cursor{}, false, false
	}
	f, err := FieldOf(c.schema, name)
	if err != nil {
		return Cursor{}, false, false
	}
	if c.cursor < value { // a name that is being changed, with what follows it
		return c.found(begin, value, false), true, true
	}
	if value < len(c.q) && c.q[value] == '(' && c.cursor > value {
		if op != ":" && op != "=" && op != "!=" {
			c.at, c.joins = value, false
			return Cursor{}, true, false
		}
		c.at = value + 1
		c.scopes, c.joins = append(c.scopes, scope{&f, op}), false
		return Cursor{}, true, false
	}
	end := value
	if value < len(c.q) && c.q[value] != '(' {
		end = c.passValue(value)
	}
	if c.cursor <= end {
		c.scopes = append(c.scopes, scope{&f, op})
		return c.found(value, end, end > value && c.q[value] == '"'), true, true
	}
	c.at, c.joins = end, true
	return Cursor{}, true, false
}

// openPath is where a path with quotes in it ends that has no operator yet, or the cursor where it stands in
// quotes that are not closed; -1 where no such path begins.
func (c *completer) openPath(begin int) int {
	path, ok := strings.CutPrefix(c.q[begin:], "data")
	if !ok || path == "" || path[0] != '.' && path[0] != '[' {
		return -1
	}
	end := pathEnd(path)
	if end < 0 {
		return c.cursor
	}
	return begin + len("data") + end
}

// pathEnd is where a path ends that names in quotes may be part of; -1 where a quote of it is not closed.
func pathEnd(path string) int {
	at := 0
	for {
		at += chunkEnd(path[at:])
		if at == 0 || at == len(path) || path[at] != '"' || path[at-1] != '.' {
			return at
		}
		p := parser{q: path, at: at}
		if _, ok := p.quoted(); !ok {
			return -1
		}
		at = p.at
	}
}

// passValue is the end of the chunk or the quotes that begin somewhere, with the star behind those.
func (c *completer) passValue(begin int) int {
	if c.q[begin] != '"' {
		return begin + max(1, chunkEnd(c.q[begin:]))
	}
	at := c.at
	c.at = begin
	c.quoted()
	c.star()
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
		Field: c.scope().field, Op: c.scope().op, Text: text, Quoted: inQuotes, Joins: c.joins,
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
