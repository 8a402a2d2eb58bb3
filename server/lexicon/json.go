package lexicon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// visitor is told of a JSON text's parts in order. Slices are valid during the call only.
type visitor interface {
	open(array bool)
	close()
	key(name []byte)   // decoded
	text(value []byte) // decoded
	number(raw []byte)
	truth(value bool)
	null()
}

// scanner reads JSON (RFC 8259) in one pass: every member of a repeated name, numbers as spelled, at
// most MaxDepth levels. It refuses what the RFC refuses. A lone surrogate escape reads as U+FFFD.
// It is ours because it is the innermost loop and must neither miss a part nor refuse a lone surrogate:
// 9 µs for a webhook of 9.8 KB, where jsontext needs 20 to hand over the same parts (and refuses lone
// surrogates unless it lets broken UTF-8 pass), and goccy's decoder 37 for values that have lost repeated
// names. Fuzzing holds it to encoding/json.
type scanner struct {
	s       []byte
	v       visitor
	scratch []byte
	arrays  [MaxDepth]bool
}

// scan reports whether data, valid UTF-8, is one JSON value. Where it is not, the visitor has seen a
// prefix of its parts.
func (p *scanner) scan(data []byte, v visitor) bool {
	p.s, p.v = data, v
	ok := p.value()
	p.s, p.v = nil, nil
	if cap(p.scratch) > keepScratch {
		p.scratch = nil
	}
	return ok
}

func (p *scanner) value() bool {
	s, v, depth := p.s, p.v, 0
	i := p.space(0)
next:
	if i >= len(s) {
		return false
	}
	switch c := s[i]; c {
	case '"':
		text, end, ok := p.text(i + 1)
		if !ok {
			return false
		}
		v.text(text)
		i = end
	case '{', '[':
		if depth == MaxDepth {
			return false
		}
		array := c == '['
		p.arrays[depth] = array
		depth++
		v.open(array)
		i = p.space(i + 1)
		if i >= len(s) {
			return false
		}
		if s[i] == c+2 { // the closing bracket of both kinds is two above the opening
			goto shut
		}
		if array {
			goto next
		}
		goto member
	case 't':
		if !p.word(i, "true") {
			return false
		}
		v.truth(true)
		i += 4
	case 'f':
		if !p.word(i, "false") {
			return false
		}
		v.truth(false)
		i += 5
	case 'n':
		if !p.word(i, "null") {
			return false
		}
		v.null()
		i += 4
	default:
		end, ok := numberEnd(s, i)
		if !ok {
			return false
		}
		v.number(s[i:end])
		i = end
	}
after:
	i = p.space(i)
	if depth == 0 {
		return i == len(s)
	}
	if i >= len(s) {
		return false
	}
	switch {
	case s[i] == ',':
		i = p.space(i + 1)
		if p.arrays[depth-1] {
			goto next
		}
		goto member
	case s[i] == ']' && p.arrays[depth-1], s[i] == '}' && !p.arrays[depth-1]:
		goto shut
	}
	return false
shut:
	v.close()
	depth--
	i++
	goto after
member:
	if i >= len(s) || s[i] != '"' {
		return false
	}
	{
		name, end, ok := p.text(i + 1)
		if !ok {
			return false
		}
		i = p.space(end)
		if i >= len(s) || s[i] != ':' {
			return false
		}
		v.key(name)
		i = p.space(i + 1)
	}
	goto next
}

func (p *scanner) space(i int) int {
	for i < len(p.s) && (p.s[i] == ' ' || p.s[i] == '\n' || p.s[i] == '\t' || p.s[i] == '\r') {
		i++
	}
	return i
}

func (p *scanner) word(i int, w string) bool {
	return len(p.s)-i >= len(w) && string(p.s[i:i+len(w)]) == w
}

// text reads a string whose first character is s[i] and returns it decoded, and what follows its
// closing quote.
func (p *scanner) text(i int) ([]byte, int, bool) {
	s, start := p.s, i
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for i+8 <= len(s) {
		w := binary.LittleEndian.Uint64(s[i:])
		// The high bit of each byte that is a quote, a backslash or below space; false marks can only
		// stand above a true one, and bytes beyond ASCII are masked out.
		q, b := w^(ones*'"'), w^(ones*'\\')
		hit := ((q - ones) | (b - ones) | (w - ones*' ')) &^ w & highs
		if hit == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(hit) / 8
		break
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[start:i], i + 1, true
		case c == '\\':
			return p.escaped(start, i)
		case c < ' ':
			return nil, 0, false
		}
	}
	return nil, 0, false
}

// escaped is text from its first backslash on.
func (p *scanner) escaped(start, i int) ([]byte, int, bool) {
	s, out := p.s, append(p.scratch[:0], p.s[start:i]...)
	for i < len(s) {
		c := s[i]
		switch {
		case c == '"':
			p.scratch = out
			return out, i + 1, true
		case c < ' ':
			return nil, 0, false
		case c != '\\':
			out = append(out, c)
			i++
			continue
		}
		if i+1 >= len(s) {
			return nil, 0, false
		}
		i += 2
		switch e := s[i-1]; e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(s, i)
			if !ok {
				return nil, 0, false
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low := rune(utf8.RuneError)
				if i+1 < len(s) && s[i] == '\\' && s[i+1] == 'u' {
					if low, ok = hex4(s, i+2); !ok {
						return nil, 0, false
					}
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			return nil, 0, false
		}
	}
	return nil, 0, false
}

func hex4(s []byte, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	var r rune
	for _, c := range s[i : i+4] {
		switch {
		case c-'0' <= 9:
			r = r<<4 | rune(c-'0')
		case c|0x20-'a' <= 5 && c|0x20 >= 'a':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
