package lexicon

import (
	"bytes"
	"errors"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// folder folds text: NFKC, full case folding (ẞ and ß are ss), combining marks removed after Latin,
// Greek and Cyrillic bases only (in other scripts they are vowels). Characters that Unicode calls
// ignorable within words (soft hyphen, joiners, variation selectors) vanish.
type folder struct {
	fold  transform.Transformer
	a, b  []byte
	pages [256]*[256]foldedRune // of the basic plane, filled as its characters turn up
}

// foldedRune remembers what a rune folds to by itself.
type foldedRune struct {
	state uint8 // unknown, alone or inContext
	n     uint8
	b     [6]byte
}

const (
	unknown   = iota
	alone     // what stands around it does not matter, unless a rune inContext follows
	inContext // a mark, a jamo: it may join what precedes it. Or its folding is long
)

// appendFolded folds s, of any bytes, onto dst. What precedes s must not be a letter.
func (f *folder) appendFolded(dst, s []byte) []byte {
	base, done := 0, len(dst) // the last rune that stands alone and leaves something, and dst before it
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			base, done = i, len(dst)
			dst = append(dst, lower(c))
			i++
			continue
		}
		e, n := f.at(s, i)
		if e.state == alone {
			if e.n > 0 {
				base, done = i, len(dst)
				dst = append(dst, e.b[:e.n]...)
			}
			i += n
			continue
		}
		// From the base before to the next rune that stands alone, all are folded together.
		for i += n; i < len(s) && s[i] >= utf8.RuneSelf; i += n {
			if e, n = f.at(s, i); e.state == alone && e.n > 0 {
				break
			}
		}
		dst = f.appendSlowly(dst[:done], s[base:i])
		base, done = i, len(dst)
	}
	return dst
}

// at is what the rune at s[i] folds to, and its length.
func (f *folder) at(s []byte, i int) (foldedRune, int) {
	r, n := utf8.DecodeRune(s[i:])
	if r > 0xFFFF || r == utf8.RuneError {
		return foldedRune{state: inContext}, n
	}
	return f.remembered(r), n
}

func (f *folder) remembered(r rune) foldedRune {
	page := f.pages[r>>8]
	if page == nil {
		page = new([256]foldedRune)
		f.pages[r>>8] = page
	}
	e := &page[r&0xFF]
	if e.state == unknown {
		var s [utf8.UTFMax]byte
		folded := f.appendSlowly(nil, s[:utf8.EncodeRune(s[:], r)])
		e.state = inContext
		// Composition joins a rune only to one that has no boundary before it (UAX 15).
		if len(folded) <= len(e.b) && !unicode.Is(unicode.M, r) && norm.NFKC.Properties(s[:]).BoundaryBefore() &&
			(len(folded) == 0 || norm.NFKC.Properties(folded).BoundaryBefore()) {
			e.state, e.n = alone, uint8(copy(e.b[:], folded))
		}
	}
	return *e
}

func (f *folder) appendSlowly(dst, s []byte) []byte {
	if f.fold == nil {
		f.fold = cases.Fold()
	}
	if !utf8.Valid(s) { // or what remains when something vanishes between two bytes could be a letter
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	f.a = norm.NFKD.Append(f.a[:0], s...)
	f.b = f.caseFolded(f.b[:0], f.a)
	f.a = norm.NFKD.Append(f.a[:0], f.b...)
	f.b = stripped(f.b[:0], f.a)
	f.a = norm.NFC.Append(f.a[:0], f.b...)
	return append(dst, f.a...)
}

func (f *folder) caseFolded(dst, src []byte) []byte {
	f.fold.Reset()
	for {
		if cap(dst)-len(dst) < len(src)+utf8.UTFMax {
			dst = append(make([]byte, 0, 2*cap(dst)+2*len(src)+16), dst...)
		}
		w, r, err := f.fold.Transform(dst[len(dst):cap(dst)], src, true)
		dst, src = dst[:len(dst)+w], src[r:]
		if err == nil {
			return dst
		}
		if !errors.Is(err, transform.ErrShortDst) { // never seen; a byte that cannot be folded stands for itself
			return append(dst, src...)
		}
	}
}

// stripped folds Cherokee, and drops ignorable characters, and marks whose base is Latin, Greek or Cyrillic.
func stripped(dst, src []byte) []byte {
	bare := false // the last base loses its marks
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			bare = c|0x20 >= 'a' && c|0x20 <= 'z'
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case r >= 0xAB70 && r <= 0xABBF, r >= 0x13F8 && r <= 0x13FD:
			// x/text swaps the cases of Cherokee instead of folding them to the capitals.
			dst, bare = utf8.AppendRune(dst, cherokee(r)), false
		case ignorable(r):
		case unicode.Is(unicode.M, r):
			if !bare {
				dst = append(dst, src[i:i+n]...)
			}
		default:
			bare = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
			dst = append(dst, src[i:i+n]...)
		}
		i += n
	}
	return dst
}

func cherokee(r rune) rune {
	if r >= 0xAB70 {
		return r - 0xAB70 + 0x13A0
	}
	return r - 8
}

func ignorable(r rune) bool {
	switch {
	case r == 0x00AD, r == 0x034F, r == 0x200C, r == 0x200D, r == 0x2060, r == 0xFEFF:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r >= 0x180B && r <= 0x180F:
		return true
	}
	return false
}
