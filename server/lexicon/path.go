package lexicon

import (
	"unicode"
	"unicode/utf8"
)

// A payload path is spelled one way: the names of members joined by dots, [*] for the elements of an
// array whatever their number, a name bare where it consists of letters, digits, _ - $ and @, else in
// quotes with \" and \\. items[*].sku, "a b".c, [*] for the elements of a top-level array, and the
// empty path for the data itself.
// A question may also name one element, [0], which no index knows: there it is any.
type step struct {
	name    []byte
	element bool
	index   int // of the element, counted from 1; 0 is any
}

// parsePath reads a path; besides the canonical spelling it takes quoted names that need no quotes.
func parsePath(p string) ([]step, error) {
	steps, end := scanPath(p)
	if end != len(p) {
		return nil, ErrPath
	}
	return steps, nil
}

// scanPath reads the longest path that p begins with, and says where it ends.
func scanPath(p string) ([]step, int) {
	var steps []step
	for i := 0; ; {
		if i < len(p) && p[i] == '[' {
			st, end, ok := elementOf(p, i)
			if !ok {
				return steps, i
			}
			steps, i = append(steps, st), end
			continue
		}
		from := i
		if len(steps) > 0 {
			if i == len(p) || p[i] != '.' {
				return steps, i
			}
			from++
		}
		name, end, ok := stepName(p, from)
		if !ok {
			return steps, i
		}
		steps, i = append(steps, step{name: name}), end
	}
}

// maxIndex is the most digits of an element's number.
const maxIndex = 9

// elementOf reads [*], or [n] without leading zeros, at p[i].
func elementOf(p string, i int) (step, int, bool) {
	i++
	if i+1 < len(p) && p[i] == '*' && p[i+1] == ']' {
		return step{element: true}, i + 2, true
	}
	from, n := i, 0
	for ; i < len(p) && isDigit(p[i]); i++ {
		if i-from == maxIndex || i > from && n == 0 {
			return step{}, 0, false
		}
		n = n*10 + int(p[i]-'0')
	}
	if i == from || i == len(p) || p[i] != ']' {
		return step{}, 0, false
	}
	return step{element: true, index: n + 1}, i + 1, true
}

func stepName(p string, i int) ([]byte, int, bool) {
	var name []byte
	if i < len(p) && p[i] == '"' {
		for i++; i < len(p); i++ {
			switch p[i] {
			case '"':
				return name, i + 1, true
			case '\\':
				if i++; i == len(p) {
					return nil, 0, false
				}
			}
			name = append(name, p[i])
		}
		return nil, 0, false
	}
	for i < len(p) {
		r, n := utf8.DecodeRuneInString(p[i:])
		if !bare(r) {
			break
		}
		name = append(name, p[i:i+n]...)
		i += n
	}
	return name, i, len(name) > 0
}

func bare(r rune) bool {
	switch {
	case r == '_', r == '-', r == '$', r == '@':
		return true
	case r < utf8.RuneSelf:
		return byteKind[r] != 0
	}
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// appendStep spells one more step of a path.
func appendStep(path []byte, st step) []byte {
	if st.element {
		if st.index > 0 {
			path = append(path, '[')
			return append(appendInt(path, st.index-1), ']')
		}
		return append(path, "[*]"...)
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	quoted := len(st.name) == 0
	for i := 0; i < len(st.name) && !quoted; {
		r, n := utf8.DecodeRune(st.name[i:])
		quoted = !bare(r)
		i += n
	}
	if !quoted {
		return append(path, st.name...)
	}
	path = append(path, '"')
	for _, c := range st.name {
		if c == '"' || c == '\\' {
			path = append(path, '\\')
		}
		path = append(path, c)
	}
	return append(path, '"')
}

// ListedPath reports whether a payload path is of those that are told to Seen and listed by type: a
// path of up to 256 bytes whose names look like vocabulary. Whether another path exists in an event is
// for the verifier to say. It is a function of the path alone.
func ListedPath(path string) bool {
	steps, err := parsePath(path)
	if err != nil {
		return false
	}
	var s splitter
	var spelled []byte
	for _, st := range steps {
		spelled = appendStep(spelled, st)
		if !st.element && !s.nameVocabulary(st.name) {
			return false
		}
	}
	return len(spelled) <= maxPathBytes
}

// nameVocabulary classes one member name. Names are not words, but ids used as names must not make a
// listed path each.
func (s *splitter) nameVocabulary(name []byte) bool {
	if len(name) > maxStepBytes || !storable(name) {
		return false
	}
	s.reset()
	s.text(name)
	for i := range s.leaves {
		if !leafVocabulary(&s.leaves[i]) {
			return false
		}
	}
	return true
}

// storable keeps out of a database what a text column refuses, NUL and broken UTF-8, and other control
// characters.
func storable(t []byte) bool {
	for _, c := range t {
		if c < ' ' || c == 0x7F {
			return false
		}
	}
	return utf8.Valid(t)
}
