package lexicon

import (
	"unicode"
	"unicode/utf8"
)

// Kinds of leaves, a bit set that follows from the leaf's text; firstLeaf and numberLeaf tell where
// it stands and are for the matcher.
const (
	letterLeaf = 1 << iota // holds a letter
	digitLeaf              // holds a digit
	wideLeaf               // not ASCII
	cjkLeaf                // one character of a script that is written without spaces
	numberLeaf             // a JSON number in canonical spelling
	firstLeaf              // begins a value
)

// leaf is one word: a run of letters and digits, or one character of a script without spaces.
type leaf struct {
	text []byte // folded
	kind uint8
}

// maxCluster bounds the code points of one CJK leaf: the character with its vowels and tone marks.
const maxCluster = 8

// splitter folds values and cuts them into leaves. The text of leaves lives in buf, which grows by
// replacement, so a leaf stays valid until reset.
type splitter struct {
	folder
	buf    []byte
	leaves []leaf
	kinds  [256]*[256]uint8 // of the basic plane, as runeKind says, plus one; 0 is not yet asked
}

const keepScratch = 1 << 16 // scratch beyond this is given back after a large event

func (s *splitter) reset() {
	if cap(s.buf) > keepScratch {
		s.buf, s.a, s.b = nil, nil, nil
	}
	if cap(s.leaves) > keepScratch/8 {
		s.leaves = nil
	}
	s.buf, s.leaves = s.buf[:0], s.leaves[:0]
}

// text folds and splits one value, appending to leaves, and returns the folded value.
func (s *splitter) text(v []byte) []byte {
	start, first := len(s.buf), len(s.leaves)
	if cap(s.buf)-start < len(v) {
		s.buf = make([]byte, 0, 2*cap(s.buf)+len(v)+512)
		start = 0
	}
	out := s.buf[start : start+len(v)]
	for i := 0; i < len(v); {
		b := v[i]
		kind := byteKind[b]
		if kind == 0 {
			out[i] = b
			i++
			continue
		}
		begin := i
		for {
			out[i] = lower(b)
			i++
			if i == len(v) {
				break
			}
			b = v[i]
			k := byteKind[b]
			if k == 0 {
				break
			}
			kind |= k
		}
		if kind&wideLeaf != 0 {
			return s.wide(v, begin, start, first)
		}
		s.leaves = append(s.leaves, leaf{out[begin:i:i], kind})
	}
	s.buf = s.buf[:start+len(v)]
	s.open(first)
	return out
}

// wide is text for a value with characters beyond ASCII, the first of them in the segment at v[i]; the
// ASCII before is done. A segment between ASCII separators is folded by itself: nothing that matters
// composes across a separator.
func (s *splitter) wide(v []byte, i, start, first int) []byte {
	s.buf = s.buf[:start+i]
	for i < len(v) {
		if byteKind[v[i]] == 0 {
			s.buf = append(s.buf, v[i])
			i++
			continue
		}
		begin, kind := i, uint8(0)
		for i < len(v) && byteKind[v[i]] != 0 {
			kind |= byteKind[v[i]]
			i++
		}
		from := len(s.buf)
		if kind&wideLeaf == 0 {
			for _, b := range v[begin:i] {
				s.buf = append(s.buf, lower(b))
			}
			s.leaves = append(s.leaves, leaf{s.buf[from:len(s.buf):len(s.buf)], kind})
			continue
		}
		s.buf = s.appendFolded(s.buf, v[begin:i])
		s.runes(s.buf[from:len(s.buf):len(s.buf)])
	}
	s.open(first)
	return s.buf[start:]
}

// open marks the first leaf of a value.
func (s *splitter) open(first int) {
	if first < len(s.leaves) {
		s.leaves[first].kind |= firstLeaf
	}
}

// runes cuts a folded segment.
func (s *splitter) runes(t []byte) {
	begin, kind, size := -1, uint8(0), 0
	flush := func(end int) {
		if begin >= 0 {
			s.leaves = append(s.leaves, leaf{t[begin:end:end], kind})
			begin, kind, size = -1, 0, 0
		}
	}
	for i := 0; i < len(t); {
		r, n := utf8.DecodeRune(t[i:])
		k := s.kindOf(r)
		switch {
		case k == 0:
			flush(i)
		case k == markKind:
			// A mark belongs to the word before it. In a script without spaces it may also stand alone.
			if begin >= 0 && kind&cjkLeaf != 0 {
				if size == maxCluster {
					flush(i)
					begin, kind = i, cjkLeaf|letterLeaf|wideLeaf
				}
				size++
			} else if begin < 0 || kind&letterLeaf == 0 {
				flush(i)
			}
		case k&cjkLeaf != 0:
			flush(i)
			begin, kind, size = i, k, 1
		default:
			if begin >= 0 && kind&cjkLeaf != 0 {
				flush(i)
			}
			if begin < 0 {
				begin = i
			}
			kind |= k
		}
		i += n
	}
	flush(len(t))
}

// kindOf is runeKind, remembered.
func (s *splitter) kindOf(r rune) uint8 {
	if r < utf8.RuneSelf {
		return byteKind[r]
	}
	if r > 0xFFFF {
		return runeKind(r)
	}
	page := s.kinds[r>>8]
	if page == nil {
		page = new([256]uint8)
		s.kinds[r>>8] = page
	}
	k := &page[r&0xFF]
	if *k == 0 {
		*k = runeKind(r) + 1
	}
	return *k - 1
}

// markKind is a combining mark that folding left in place; it is no leaf by itself.
const markKind = 1 << 7

func runeKind(r rune) uint8 {
	switch {
	case r < utf8.RuneSelf:
		return byteKind[r]
	case unicode.Is(unicode.M, r):
		return markKind
	case unicode.IsLetter(r):
		if cjk(r) {
			return letterLeaf | wideLeaf | cjkLeaf
		}
		return letterLeaf | wideLeaf
	case unicode.Is(unicode.Nl, r) && cjk(r): // 〇
		return letterLeaf | wideLeaf | cjkLeaf
	case unicode.IsNumber(r):
		return digitLeaf | wideLeaf
	}
	return 0
}

// cjk tells the scripts written without spaces between words, and Hangul, whose words carry endings.
func cjk(r rune) bool {
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// byteKind is what a byte is to a leaf; one beyond ASCII is wide until decoded. It is a string so that
// it is a constant: 0x00–0x2F, digits, 0x3A–0x40, capitals, 0x5B–0x60, small letters, 0x7B–0x7F, the rest.
const byteKind = zero16 + zero16 + zero16 + "\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02" + "\x00\x00\x00\x00\x00\x00\x00" +
	letters26 + "\x00\x00\x00\x00\x00\x00" + letters26 + "\x00\x00\x00\x00\x00" +
	wide16 + wide16 + wide16 + wide16 + wide16 + wide16 + wide16 + wide16

const (
	zero16    = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	letters26 = "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
	wide16    = "\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04"
)

// lower folds an ASCII byte.
func lower(c byte) byte {
	if c-'A' <= 'Z'-'A' {
		c += 'a' - 'A'
	}
	return c
}
