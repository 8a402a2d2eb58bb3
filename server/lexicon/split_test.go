package lexicon

import "testing"

func TestKindsOfBytes(t *testing.T) {
	t.Parallel()
	if len(byteKind) != 256 {
		t.Fatalf("%d kinds", len(byteKind))
	}
	for i := range 256 {
		c, want := byte(i), uint8(0)
		switch {
		case c >= 0x80:
			want = wideLeaf
		case c >= '0' && c <= '9':
			want = digitLeaf
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			want = letterLeaf
		}
		if byteKind[c] != want {
			t.Errorf("byte %#x is %d", c, byteKind[c])
		}
		if got := lower(c); (got != c) != (c >= 'A' && c <= 'Z') || c >= 'A' && c <= 'Z' && got != c-'A'+'a' {
			t.Errorf("byte %#x folds to %#x", c, got)
		}
	}
}
