package cloudevents

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// scanner walks a JSON text (RFC 8259, strictly) without copying: it yields the bounds of values, so
// that data can be kept byte for byte. It keeps the open brackets in a slice and follows any depth that a
// body can have, so that what is too deep is refused alone, and told apart from what is no JSON. Whether the text is UTF-8 is for the caller to check before.
type scanner struct {
	b   []byte
	i   int
	max int // the deepest nesting of the value walked last
}

// syntaxError is where the text stops being JSON.
type syntaxError struct {
	at   int
	what string
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) fail(expected string) *syntaxError {
	if s.i >= len(s.b) {
		return &syntaxError{at: s.i, what: "the text ends where " + expected + " was expected"}
	}
	r, _ := utf8.DecodeRune(s.b[s.i:])
	return &syntaxError{at: s.i, what: strconv.QuoteRune(r) + " stands where " + expected + " was expected"}
}

// next is the byte after white space, or 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// value walks one value and gives its text, without the white space around it.
func (s *scanner) value() ([]byte, *syntaxError) {
	s.space()
	s.max = 0
	start := s.i
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.i:s.i], nil
}

func (s *scanner) skip() *syntaxError {
	var shallow [64]byte
	open := shallow[:0] // the bracket of each array and object around the place
	for {
		opened, err := s.begin()
		if err != nil {
			return err
		}
		if opened != 0 {
			open = append(open, opened)
			s.max = max(s.max, len(open))
			if s.next() != closing(opened) {
				if err := s.name(opened); err != nil {
					return err
				}
				continue
			}
		}
		for len(open) > 0 { // a value has ended, or nothing is between the brackets
			around := open[len(open)-1]
			if c := s.next(); c == closing(around) {
				s.i++
				open = open[:len(open)-1]
				continue
			} else if c == ',' {
				s.i++
				if err := s.name(around); err != nil {
					return err
				}
				break
			}
			if around == '{' {
				return s.fail("a comma or the object's end")
			}
			return s.fail("a comma or the array's end")
		}
		if len(open) == 0 {
			return nil
		}
	}
}

// begin walks a scalar, or over the opening bracket of an array or an object, which it then gives.
func (s *scanner) begin() (opened byte, _ *syntaxError) {
	switch c := s.next(); c {
	case '{', '[':
		s.i++
		return c, nil
	case '"':
		return 0, s.str()
	case 't':
		return 0, s.literal("true")
	case 'f':
		return 0, s.literal("false")
	case 'n':
		return 0, s.literal("null")
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return 0, s.number()
		}
		return 0, s.fail("a value")
	}
}

// closing is the bracket that ends what opened begins: two code points on, for both.
func closing(opened byte) byte { return opened + 2 }

// name walks the name and the colon before a member of an object; an element of an array has none.
func (s *scanner) name(around byte) *syntaxError {
	if around == '[' {
		return nil
	}
	if s.next() != '"' {
		return s.fail("a member's name")
	}
	if err := s.str(); err != nil {
		return err
	}
	if s.next() != ':' {
		return s.fail("a colon")
	}
	s.i++
	return nil
}

func (s *scanner) str() *syntaxError {
	b := s.b
	i := s.i + 1
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return nil
		case c == '\\':
			n := escape(b[i:])
			if n == 0 {
				s.i = min(i+1, len(b))
				return s.fail("an escape sequence")
			}
			i += n
		case c < 0x20:
			s.i = i
			return s.fail("a character of a string (control characters are written as \\u escapes)")
		default:
			i++
		}
	}
	s.i = i
	return s.fail("a string's end")
}

// escape is the length of the escape sequence that b begins with, 0 if it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hex(b[2]) >= 0 && hex(b[3]) >= 0 && hex(b[4]) >= 0 && hex(b[5]) >= 0 {
			return 6
		}
	}
	return 0
}

func (s *scanner) literal(word string) *syntaxError {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return s.fail(word)
	}
	s.i += len(word)
	return nil
}

func (s *scanner) number() *syntaxError {
	if s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else if !s.digits() {
		return s.fail("a digit")
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		if s.i++; !s.digits() {
			return s.fail("a digit")
		}
	}
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		if s.i++; s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

// hex is the value of a hexadecimal digit, or -1.
func hex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// DepthExceeded says whether arrays and objects nest deeper than MaxDepth in data. It judges nothing
// else: data that is not JSON at all is not its matter. Brackets within strings do not count.
func DepthExceeded(data []byte) bool {
	if len(data) <= MaxDepth || bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) <= MaxDepth {
		return false
	}
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '[', '{':
			if depth++; depth > MaxDepth {
				return true
			}
		case ']', '}':
			depth = max(0, depth-1)
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}
