// Package textvector is what a text search column of the usual kind holds: every word and every
// path=value of an event, whatever it is, as a tsvector. It is what the benchmarks compare our lexemes
// with, so it is made with care not to be the slow part. It must not know a database.
package textvector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxLexeme keeps lexemes below PostgreSQL's bound of 2 KB.
const maxLexeme = 1000

// Builder makes vectors; it keeps its scratch space. One goroutine at a time.
type Builder struct {
	reader  *bytes.Reader
	decoder *jsontext.Decoder
	folded  []byte // the lexemes, one after another
	spans   []span // where in folded, each lexeme once
	seed    maphash.Seed
	seen    map[uint64]struct{} // hashes of the lexemes: cheaper than sorting what recurs
	path    []byte              // of the value at hand
	open    []level             // its containers
	lexemes [][]byte            // sorted
}

type span struct{ from, to int }

type level struct {
	length int // of the container's own path
	array  bool
	name   bool // an object's next token is a name
}

// New makes a builder.
func New() *Builder {
	r := bytes.NewReader(nil)
	return &Builder{reader: r, decoder: jsontext.NewDecoder(r), seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// Append appends the tsvector of JSON data and attribute values in PostgreSQL's binary format.
func (b *Builder) Append(dst, data []byte, attributes ...string) ([]byte, error) {
	b.folded, b.spans, b.open = b.folded[:0], b.spans[:0], b.open[:0]
	clear(b.seen)
	for _, a := range attributes {
		b.words(b.fold([]byte(a)))
	}
	if err := b.walk(data); err != nil {
		return dst, err
	}
	b.lexemes = b.lexemes[:0]
	for _, s := range b.spans {
		b.lexemes = append(b.lexemes, b.folded[s.from:s.to])
	}
	slices.SortFunc(b.lexemes, bytes.Compare)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(b.lexemes)))
	for _, l := range b.lexemes {
		dst = append(append(dst, l...), 0, 0, 0) // terminated, and no positions
	}
	return dst, nil
}

func (b *Builder) walk(data []byte) error {
	b.reader.Reset(data)
	b.decoder.Reset(b.reader, jsontext.AllowDuplicateNames(true))
	b.path = append(b.path[:0], "data"...)
	var text []byte
	for {
		// The kind is asked for first, as a value's bytes spare the token's string.
		kind := b.decoder.PeekKind()
		switch kind { //nolint:exhaustive // the other kinds are whole values
		case '{', '[':
			if _, err := b.decoder.ReadToken(); err != nil {
				return err
			}
			b.open = append(b.open, level{len(b.path), kind == '[', kind == '{'})
			if kind == '[' {
				b.path = append(b.path, "[*]"...)
			}
			continue
		case '}', ']':
			if _, err := b.decoder.ReadToken(); err != nil {
				return err
			}
			b.path = b.path[:b.open[len(b.open)-1].length]
			b.open = b.open[:len(b.open)-1]
			b.done()
			continue
		}
		value, err := b.decoder.ReadValue()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if kind == '"' {
			if text, err = jsontext.AppendUnquote(text[:0], value); err != nil {
				return err
			}
			value = text
		}
		if n := len(b.open); n > 0 && b.open[n-1].name {
			b.open[n-1].name = false
			b.path = append(append(b.path, '.'), value...)
			continue
		}
		if kind != 'n' {
			b.scalar(value)
		}
		b.done()
	}
}

// done follows a value: its member's name leaves the path.
func (b *Builder) done() {
	if n := len(b.open); n > 0 && !b.open[n-1].array {
		b.open[n-1].name = true
		b.path = b.path[:b.open[n-1].length]
	}
}

func (b *Builder) scalar(value []byte) {
	from := len(b.folded)
	b.folded = append(append(b.folded, b.path...), '=')
	b.folded = appendFolded(b.folded, value)
	if to := len(b.folded); to-from <= maxLexeme {
		b.lexeme(from, to)
	}
	b.words(from+len(b.path)+1, len(b.folded))
}

func (b *Builder) lexeme(from, to int) {
	h := maphash.Bytes(b.seed, b.folded[from:to])
	if _, ok := b.seen[h]; !ok {
		b.seen[h] = struct{}{}
		b.spans = append(b.spans, span{from, to})
	}
}

func (b *Builder) fold(value []byte) (from, to int) {
	from = len(b.folded)
	b.folded = appendFolded(b.folded, value)
	return from, len(b.folded)
}

// words adds the runs of letters and digits in a folded range.
func (b *Builder) words(from, to int) {
	start := -1
	for i := from; i <= to; {
		size, word := 1, false
		if i < to {
			r := rune(b.folded[i])
			if r >= utf8.RuneSelf {
				r, size = utf8.DecodeRune(b.folded[i:to])
				word = unicode.IsLetter(r) || unicode.IsDigit(r)
			} else {
				word = r-'a' < 26 && r >= 'a' || r-'0' < 10 && r >= '0'
			}
		}
		switch {
		case word && start < 0:
			start = i
		case !word && start >= 0:
			b.lexeme(start, start+bounded(b.folded[start:i]))
			start = -1
		}
		i += size
	}
}

// bounded is the length of a word cut at the bound, between two characters.
func bounded(w []byte) int {
	if len(w) <= maxLexeme {
		return len(w)
	}
	n := maxLexeme
	for !utf8.RuneStart(w[n]) {
		n--
	}
	return n
}

// appendFolded appends text in lower case; NUL, which PostgreSQL refuses, becomes a space.
func appendFolded(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[i:])
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
			i += size
			continue
		case c == 0:
			c = ' '
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
		i++
	}
	return dst
}
