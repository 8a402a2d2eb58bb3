package lexicon

import "testing"

// Stored rows are found by these numbers: a change takes a new Version.
func TestHashesArePinned(t *testing.T) {
	t.Parallel()
	value, err := CompileValue(testKey, `items[*]."a b"`, "Red")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ got, want int64 }{
		"a word":              {Compile(testKey, "error").Conditions[0].Hash, 1392150253005824997},
		"a bigram":            {Compile(testKey, "東京").Conditions[0].Hash, 5656278287536811068},
		"a pair":              {Compile(testKey, "12-34").Conditions[0].Hash, 7208231102887145264},
		"a number":            {Compile(testKey, "-5").Any[1].Hash, 7158354871454045375},
		"a value at a path":   {value[0].Hash, 1234267633114236598},
		"an extension":        {CompileAttribute(testKey, "region", "North").Hash, 148379324890591564},
		"an identity":         {Identity(testKey, "/s", "i").Hash, -7171344671534067826},
		"the reserved lexeme": {Reserved(testKey), 8126163667632787161},
	} {
		if c.got != c.want {
			t.Errorf("%s hashes to %d, not %d", name, c.got, c.want)
		}
	}
}
