package lexicon

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func nfc(s string) string { return norm.NFC.String(s) }
func nfd(s string) string { return norm.NFD.String(s) }

// folding is the digest of what every rune folds to and how it splits. A new Go or x/text that changes
// it changes what rows are found by: that takes a new Version, not a new digest.
const folding = "0d72d48e44de494252e8e7e4c7604dd104ed52ae9e10c33242003368b143aa5b"

func TestFoldingIsPinned(t *testing.T) {
	t.Parallel()
	h := sha256.New()
	var s splitter
	for r := rune(0); r <= utf8.MaxRune; r++ {
		s.reset()
		folded := s.text(append([]byte("e"), string(r)...))
		h.Write(folded)
		for _, l := range s.leaves {
			h.Write([]byte{0, l.kind})
			h.Write(l.text)
			if leafVocabulary(&l) {
				h.Write([]byte{1})
			}
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != folding {
		t.Errorf("folding over all runes is %s under version %d, not %s", got, Version, folding)
	}
}

// Go's own tables say which runes differ in case only.
func TestRunesThatDifferInCaseFoldAlike(t *testing.T) {
	t.Parallel()
	var s, q splitter
	for r := rune(0); r <= utf8.MaxRune; r++ {
		for o := unicode.SimpleFold(r); o > r; o = unicode.SimpleFold(o) {
			s.reset()
			q.reset()
			if x, y := string(s.text([]byte(string(r)))), string(q.text([]byte(string(o)))); x != y {
				t.Errorf("%U folds to %q, %U to %q", r, x, o, y)
			}
		}
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"STRAẞE": "strasse", "Crème": "creme", "e\u0301": "e", "Å": "a", "Ё": "е", "Й": "и", "ΆΣ": "ασ", "ᾳ": "αι",
		"İ": "i", "ı": "ı", "ﬁ": "fi", "Ａ１": "a1", "①": "1", "Ⅷ": "viii", "ｶﾞ": "ガ", "か\u3099": "が",
		"\u1112\u1161\u11ab": "한", "שָׁ": "שָׁ", "किताब": "किताब", "co\u00adop": "coop", "\U00010400": "\U00010428",
		"葛\U000E0100": "葛",
	} {
		var s splitter
		if got := string(s.text([]byte(in))); got != nfc(want) {
			t.Errorf("%q folds to %q, not %q", in, got, want)
		}
	}
}

// FuzzFold: folding twice is folding once, and where a value is cut for folding does not matter.
func FuzzFold(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "=\u0338" + p)
	}
	f.Fuzz(func(t *testing.T, v string) {
		var s, again splitter
		once := string(s.text([]byte(v)))
		if utf8.ValidString(v) {
			var whole folder
			direct := splitter{}
			direct.runes(whole.appendSlowly(nil, []byte(v)))
			if !sameLeaves(direct.leaves, s.leaves) {
				t.Fatalf("%q splits differently in segments", v)
			}
		}
		again.text([]byte(once))
		if !sameLeaves(s.leaves, again.leaves) {
			t.Fatalf("%q folded splits differently from %q folded again", v, once)
		}
	})
}

func sameLeaves(x, y []leaf) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if string(x[i].text) != string(y[i].text) || (x[i].kind^y[i].kind)&^firstLeaf != 0 {
			return false
		}
	}
	return true
}
