package reference

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold is the text that is compared: NFKC, case folded in full, without combining marks after Latin, Greek and
// Cyrillic letters, and without what is not to be seen.
func fold(s string) string {
	for {
		next := norm.NFKC.String(strip(norm.NFD.String(caseless(visible(norm.NFKC.String(s))))))
		if next == s {
			return s
		}
		s = next
	}
}

// caseless folds case in full. Of Cherokee it is the capitals that stay, which golang.org/x/text turns around.
func caseless(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0xAB70 && r <= 0xABBF:
			return r - 0xAB70 + 0x13A0
		case r >= 0x13F8 && r <= 0x13FD:
			return r - 8
		default:
			return r
		}
	}, cases.Fold().String(s))
}

// visible drops soft hyphens, joiners, variation selectors and their like.
func visible(s string) string {
	var out []rune
	for _, r := range s {
		if !ignorable(r) {
			out = append(out, r)
		}
	}
	return string(out)
}

// ignorable is a soft hyphen, a joiner or a variation selector.
func ignorable(r rune) bool {
	return strings.ContainsRune("\u00ad\u034f\u180e\u200c\u200d\u2060\ufeff", r) || unicode.Is(unicode.Variation_Selector, r)
}

func strip(s string) string {
	var out []rune
	plain := false
	for _, r := range s {
		if unicode.Is(unicode.M, r) {
			if !plain {
				out = append(out, r)
			}
			continue
		}
		plain = unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
		out = append(out, r)
	}
	return string(out)
}

// single says that a character is a leaf by itself.
func single(r rune) bool {
	return (unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)) && (r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// leaves is the words of a text: runs of letters and digits, and single characters of the scripts that are
// written without spaces. Marks belong to words with letters before them; elsewhere they separate.
func leaves(s string) []string {
	var out []string
	open, lettered, alone := false, false, false // the last leaf may go on; it has letters; it is a single character
	for _, r := range fold(s) {
		letter := unicode.IsLetter(r)
		switch {
		case unicode.Is(unicode.M, r):
			if open && lettered {
				out[len(out)-1] += string(r)
			} else {
				open = false
			}
		case single(r):
			out = append(out, string(r))
			open, lettered, alone = true, true, true
		case letter, unicode.IsNumber(r):
			if !open || alone {
				out = append(out, "")
				open, lettered, alone = true, false, false
			}
			out[len(out)-1] += string(r)
			lettered = lettered || letter
		default:
			open = false
		}
	}
	return out
}

// isVocabulary says whether a leaf that begins with a letter is a word of a language or a short code: letters up to
// 24; up to 12 bytes of letters and behind them a number of up to three digits (room12), or within up to six a
// number of up to two (k8s); but nothing of four and more that reads as hexadecimal.
func isVocabulary(leaf string) bool {
	if !strings.ContainsFunc(leaf, unicode.IsNumber) {
		return utf8.RuneCountInString(leaf) <= 24
	}
	const digits = "0123456789"
	if len(leaf) > 12 || len(leaf) > 3 && strings.Trim(leaf, digits+"abcdef") == "" {
		return false
	}
	tail := strings.TrimLeftFunc(leaf, func(r rune) bool { return !strings.ContainsRune(digits, r) })
	rest := strings.TrimLeft(tail, digits)
	number := len(tail) - len(rest)
	return rest == "" && number <= 3 || len(leaf) <= 6 && number <= 2 && !strings.ContainsAny(rest, digits)
}

func validText(data []byte) bool { return utf8.Valid(data) }
