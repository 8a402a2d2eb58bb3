package lexicon

import (
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
	fold transform.Transformer
	a, b []byte
}

// appendFolded folds s, of any bytes, onto dst. What precedes s must not be a letter.
func (f *folder) appendFolded(dst, s []byte) []byte {
	if f.fold == nil {
		f.fold = cases.Fold()
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
		if err != transform.ErrShortDst { // never seen; a byte that cannot be folded stands for itself
			return append(dst, src...)
		}
	}
}

// stripped drops ignorable characters, and marks whose base is Latin, Greek or Cyrillic.
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

func ignorable(r rune) bool {
	switch {
	case r == 0x00AD, r == 0x034F, r == 0x200C, r == 0x200D, r == 0x2060, r == 0xFEFF:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF, r >= 0x180B && r <= 0x180F:
		return true
	}
	return false
}
