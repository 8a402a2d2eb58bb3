package reference

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

type kind int

const (
	aNull kind = iota
	aBoolean
	aNumber
	aString
	anArray
	anObject
)

// value is one value of JSON data. text is a string's text, a number's spelling, or true or false.
type value struct {
	kind     kind
	text     string
	elements []*value
	members  []member // in order, repeated names and all
}

type member struct {
	name string
	of   *value
}

// walk calls f for every value, parents first. A nil value has none.
func (v *value) walk(f func(*value)) {
	if v == nil {
		return
	}
	f(v)
	for _, e := range v.elements {
		e.walk(f)
	}
	for _, m := range v.members {
		m.of.walk(f)
	}
}

// maxDepth is how many levels of arrays and objects data may have.
const maxDepth = 512

// parse reads JSON by RFC 8259; nil is what is none.
func parse(data []byte) *value {
	if !utf8.Valid(data) {
		return nil
	}
	p := &parser{s: string(data)}
	v, ok := p.value(0)
	p.space()
	if !ok || p.s != "" {
		return nil
	}
	return v
}

type parser struct{ s string }

func (p *parser) space() { p.s = strings.TrimLeft(p.s, " \t\r\n") }

// eat consumes a text where it is next.
func (p *parser) eat(what string) bool {
	rest, ok := strings.CutPrefix(p.s, what)
	p.s = rest
	return ok
}

func (p *parser) value(depth int) (*value, bool) {
	p.space()
	switch {
	case p.eat("null"):
		return &value{kind: aNull, text: "null"}, true
	case p.eat("true"):
		return &value{kind: aBoolean, text: "true"}, true
	case p.eat("false"):
		return &value{kind: aBoolean, text: "false"}, true
	case p.eat(`"`):
		s, ok := p.str()
		return &value{kind: aString, text: s}, ok
	case p.eat("["):
		return p.array(depth + 1)
	case p.eat("{"):
		return p.object(depth + 1)
	}
	n := numberLength(p.s)
	v := &value{kind: aNumber, text: p.s[:n]}
	p.s = p.s[n:]
	return v, n > 0
}

func (p *parser) array(depth int) (*value, bool) {
	v := &value{kind: anArray}
	if p.space(); p.eat("]") {
		return v, depth <= maxDepth
	}
	for depth <= maxDepth {
		e, ok := p.value(depth)
		if !ok {
			return nil, false
		}
		v.elements = append(v.elements, e)
		if p.space(); p.eat("]") {
			return v, true
		}
		if !p.eat(",") {
			return nil, false
		}
	}
	return nil, false
}

func (p *parser) object(depth int) (*value, bool) {
	v := &value{kind: anObject}
	if p.space(); p.eat("}") {
		return v, depth <= maxDepth
	}
	for depth <= maxDepth {
		if p.space(); !p.eat(`"`) {
			return nil, false
		}
		name, ok := p.str()
		if !ok {
			return nil, false
		}
		if p.space(); !p.eat(":") {
			return nil, false
		}
		of, ok := p.value(depth)
		if !ok {
			return nil, false
		}
		v.members = append(v.members, member{name, of})
		if p.space(); p.eat("}") {
			return v, true
		}
		if !p.eat(",") {
			return nil, false
		}
	}
	return nil, false
}

// str reads a string whose opening quote is read. A lone surrogate is U+FFFD.
func (p *parser) str() (string, bool) {
	var out strings.Builder
	for p.s != "" {
		r, n := utf8.DecodeRuneInString(p.s)
		p.s = p.s[n:]
		switch {
		case r == '"':
			return out.String(), true
		case r < ' ':
			return "", false
		case r != '\\':
			out.WriteRune(r)
			continue
		}
		if p.s == "" {
			return "", false
		}
		c := p.s[0]
		p.s = p.s[1:]
		if c == 'u' {
			r, ok := p.escape()
			if !ok {
				return "", false
			}
			out.WriteRune(r)
			continue
		}
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 {
			return "", false
		}
		out.WriteByte("\"\\/\b\f\n\r\t"[i])
	}
	return "", false
}

// escape reads what follows \u, and the second half of a pair.
func (p *parser) escape() (rune, bool) {
	first, ok := p.hex()
	if !ok || !utf16.IsSurrogate(first) {
		return first, ok
	}
	rest := p.s
	if p.eat(`\u`) {
		if second, ok := p.hex(); ok {
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, true
			}
		}
	}
	p.s = rest
	return utf8.RuneError, true
}

func (p *parser) hex() (rune, bool) {
	if len(p.s) < 4 || strings.ContainsAny(p.s[:4], "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[:4], 16, 16)
	p.s = p.s[4:]
	return rune(n), err == nil
}
