package lexicon

import "bytes"

// The class of a token is a function of its folded text alone, never of where it stands: a lookup
// knows the token and nothing else. Vocabulary is what recurs across events and is worth a place in
// the inverted index, where a unique entry costs ten times a recurring one; the rest are identifiers.
// The bounds were chosen by measuring on varied webhook payloads, see bench/shape.
const (
	maxWordRunes    = 24 // longest word of letters; longer ones are mostly base64 without a digit
	maxDigitWord    = 3  // longest run of digits
	maxMixedWord    = 12 // longest letters with a number behind: room12, sha256
	maxInnerDigits  = 6  // longest letters, one short number, letters: log4j, k8s
	maxValueBytes   = 32 // longest value of a path=value
	maxValueLeaves  = 3
	maxNumberDigits = 3 // 3.14, -5, 0.25
	maxStepBytes    = 64
	maxPathBytes    = 256
)

// leafVocabulary classes one leaf of text.
func leafVocabulary(l *leaf) bool {
	switch {
	case l.kind&cjkLeaf != 0:
		return true
	case l.kind&digitLeaf == 0:
		return len(l.text) <= maxWordRunes || l.kind&wideLeaf != 0 && runesWithin(l.text, maxWordRunes)
	case l.kind&letterLeaf == 0:
		return len(l.text) <= maxDigitWord && (l.text[0] != '0' || len(l.text) == 1)
	}
	return mixedVocabulary(l.text)
}

// mixedVocabulary classes a leaf of letters and digits: letters with a small number behind or inside.
// Four and more characters that read as hexadecimal are a piece of a hash or a UUID.
func mixedVocabulary(t []byte) bool {
	if len(t) > maxMixedWord || isDigit(t[0]) || len(t) > 3 && isHex(t) {
		return false
	}
	head := 0
	for head < len(t) && !isDigit(t[head]) {
		head++
	}
	tail := head
	for tail < len(t) && isDigit(t[tail]) {
		tail++
	}
	if tail == len(t) {
		return tail-head <= maxDigitWord
	}
	if tail-head > 2 || len(t) > maxInnerDigits {
		return false
	}
	for _, c := range t[tail:] {
		if isDigit(c) {
			return false
		}
	}
	return true
}

// numberVocabulary classes the canonical spelling of a number that is not a plain leaf.
func numberVocabulary(t []byte) bool {
	digits := 0
	for _, c := range t {
		switch {
		case isDigit(c):
			digits++
		case c != '-' && c != '.':
			return false
		}
	}
	return digits <= maxNumberDigits
}

// valueVocabulary classes the value of a path=value from its folded text and that text's leaves.
func valueVocabulary(folded []byte, leaves []leaf) bool {
	if len(folded) > maxValueBytes || !storable(folded) {
		return false
	}
	if len(folded) > 0 && (folded[0] == '-' || isDigit(folded[0])) && isNumber(folded) {
		return numberVocabulary(folded)
	}
	n := 0
	for i := range leaves {
		if !leafVocabulary(&leaves[i]) {
			return false
		}
		if leaves[i].kind&cjkLeaf == 0 {
			n++
		}
	}
	return n <= maxValueLeaves && !bytes.Contains(folded, []byte("//"))
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isHex(t []byte) bool {
	for _, c := range t {
		if !isDigit(c) && c-'a' > 5 {
			return false
		}
	}
	return true
}

func runesWithin(t []byte, limit int) bool {
	n := 0
	for _, c := range t {
		if c&0xC0 != 0x80 {
			n++
		}
	}
	return n <= limit
}
