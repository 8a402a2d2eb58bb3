package lexicon

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// What a question needs of the lexicon to be judged by the same rules as an event is indexed by: its
// spelling of paths, its folding, its numbers and its reading of JSON.

// Step is one step of a payload path: the member of a name, or an element of an array.
type Step struct {
	Name    string
	Element bool
	Index   int // of the element, from 0; AnyIndex is any of them
}

// AnyIndex is the Index of the step [*].
const AnyIndex = -1

// ParsePath reads a payload path. Besides the canonical spelling it takes quotes around names that need none.
func ParsePath(path string) ([]Step, error) {
	steps, end := ScanPath(path)
	if end != len(path) {
		return nil, ErrPath
	}
	return steps, nil
}

// ScanPath reads the longest payload path that s begins with, and says where it ends.
func ScanPath(s string) ([]Step, int) {
	read, end := scanPath(s)
	steps := make([]Step, len(read))
	for i, st := range read {
		steps[i] = Step{Name: string(st.name), Element: st.element, Index: st.index - 1}
	}
	return steps, end
}

// AppendPath spells a payload path canonically.
func AppendPath(dst []byte, steps []Step) []byte {
	var path []byte
	for _, st := range steps {
		path = appendStep(path, step{[]byte(st.Name), st.Element, st.Index + 1})
	}
	return append(dst, path...)
}

// AnyElement is a payload path with [*] for each step that names one element: the path as events list it. A
// malformed path stays as it is.
func AnyElement(path string) string {
	steps, err := ParsePath(path)
	if err != nil {
		return path
	}
	for i := range steps {
		steps[i].Index = AnyIndex
	}
	return string(AppendPath(nil, steps))
}

// IsNumber says whether s is a number by JSON's grammar.
func IsNumber(s string) bool { return isNumber([]byte(s)) }

// AppendNumber spells a JSON number canonically: numbers are equal where that is.
func AppendNumber(dst, raw []byte) []byte { return canonical(dst, raw) }

// Folder folds text as words are folded, keeping all that stands between them. One goroutine at a time.
type Folder struct{ folder folder }

// AppendFolded folds one value, of any bytes, onto dst.
func (f *Folder) AppendFolded(dst, value []byte) []byte {
	start := len(dst)
	dst = append(dst, value...)
	if !lowered(dst[start:]) {
		return f.appendWide(dst[:start], value)
	}
	return dst
}

// lowered folds ASCII in place, eight bytes at a time; false where there is a byte that is none.
func lowered(t []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(t); i += 8 {
		w := binary.LittleEndian.Uint64(t[i:])
		if w&highs != 0 {
			return false
		}
		// The high bit of each byte that is at least A, without those beyond Z.
		capital := ((w + ones*(0x80-'A')) &^ (w + ones*(0x7F-'Z'))) & highs
		binary.LittleEndian.PutUint64(t[i:], w|capital>>2)
	}
	for ; i < len(t); i++ {
		if t[i] >= utf8.RuneSelf {
			return false
		}
		t[i] = lower(t[i])
	}
	return true
}

// appendWide is AppendFolded of a value with characters beyond ASCII. As in words, a segment between ASCII
// separators is folded by itself.
func (f *Folder) appendWide(dst, value []byte) []byte {
	for i := 0; i < len(value); {
		begin, kind := i, uint8(0)
		for i < len(value) && byteKind[value[i]] != 0 {
			kind |= byteKind[value[i]]
			i++
		}
		if kind&wideLeaf != 0 {
			dst = f.folder.appendFolded(dst, value[begin:i])
		} else {
			for _, b := range value[begin:i] {
				dst = append(dst, lower(b))
			}
		}
		for i < len(value) && byteKind[value[i]] == 0 {
			dst = append(dst, value[i])
			i++
		}
	}
	return dst
}

// Visitor is told of a JSON text's parts in order. Slices are valid during the call only.
type Visitor interface {
	Open(array bool)
	Close()
	Key(name []byte)   // unescaped
	Text(value []byte) // unescaped; a lone surrogate reads as U+FFFD
	Number(raw []byte)
	Truth(value bool)
	Null()
}

// Reader reads JSON as the lexicon does: every member of a repeated name, numbers as spelled, at most
// MaxDepth levels. One goroutine at a time.
type Reader struct {
	scanner scanner
	v       Visitor
}

// Read reports whether data, valid UTF-8, is one JSON value. Where it is not, the visitor has seen a prefix
// of its parts.
func (r *Reader) Read(data []byte, v Visitor) bool {
	r.v = v
	ok := r.scanner.scan(data, r)
	r.v = nil
	return ok
}

func (r *Reader) open(array bool)   { r.v.Open(array) }
func (r *Reader) close()            { r.v.Close() }
func (r *Reader) key(name []byte)   { r.v.Key(name) }
func (r *Reader) text(value []byte) { r.v.Text(value) }
func (r *Reader) number(raw []byte) { r.v.Number(raw) }
func (r *Reader) truth(value bool)  { r.v.Truth(value) }
func (r *Reader) null()             { r.v.Null() }

// Beginning is a compiled prefix: leaf words, of which the last may go on.
type Beginning struct {
	Leaves []string // folded; the last is what a word begins with, the others are whole
	Whole  bool     // the last is whole too, as something else stands behind it
	Number string   // what the canonical spelling of a number begins with; "" where that is Leaves[0] or none
	Terms  bool     // the last goes on as a word of the vocabulary, not as an identifier: it consists of letters
}

// CompileBeginning reads a prefix. Empty Leaves: there is nothing to look for.
func CompileBeginning(text string) Beginning {
	var sp splitter
	folded := sp.text([]byte(text))
	var b Beginning
	for _, l := range sp.leaves {
		b.Leaves = append(b.Leaves, string(l.text))
	}
	if n := len(b.Leaves); n > 0 {
		b.Whole = !bytes.HasSuffix(folded, sp.leaves[n-1].text)
		b.Terms = !b.Whole && sp.leaves[n-1].kind&(digitLeaf|cjkLeaf) == 0
		if f := string(folded); (isDigit(f[0]) || f[0] == '-') && (n > 1 || f != b.Leaves[0]) {
			b.Number = f
		}
	}
	return b
}

// Begins reports whether the loaded event has the words of a prefix, one after another within one value.
func (m *Matcher) Begins(b Beginning) bool {
	if len(b.Leaves) == 0 {
		return false
	}
	last := b.Leaves[len(b.Leaves)-1]
	whole := b.Leaves[:len(b.Leaves)-1]
	for i := range m.split.leaves {
		l := &m.split.leaves[i]
		if b.Number != "" && l.kind&numberLeaf != 0 && hasPrefix(l.text, b.Number) {
			return true
		}
		if !hasPrefix(l.text, last) || b.Whole && len(l.text) != len(last) || b.Terms && !leafVocabulary(l) {
			continue
		}
		// The words before it are of the same value.
		from := i - len(whole)
		if from < 0 || len(whole) > 0 && l.kind&firstLeaf != 0 {
			continue
		}
		if len(whole) == 0 || string(m.split.leaves[from].text) == whole[0] && m.follows(from+1, whole[1:]) {
			return true
		}
	}
	return false
}

func hasPrefix(t []byte, prefix string) bool {
	return len(t) >= len(prefix) && string(t[:len(prefix)]) == prefix
}
