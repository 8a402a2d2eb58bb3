package textvector_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"oriel/bench/textvector"
)

// lexemes reads PostgreSQL's binary format back.
func lexemes(t *testing.T, vector []byte) []string {
	t.Helper()
	n := int(binary.BigEndian.Uint32(vector))
	all := make([]string, 0, n)
	rest := string(vector[4:])
	for range n {
		word, after, ok := strings.Cut(rest, "\x00")
		if !ok || !strings.HasPrefix(after, "\x00\x00") {
			t.Fatalf("%q is no lexeme without positions", rest)
		}
		all, rest = append(all, word), after[2:]
	}
	if rest != "" {
		t.Fatalf("%q follows the last lexeme", rest)
	}
	return all
}

func TestVectorHoldsEveryWordAndEveryPathValue(t *testing.T) {
	t.Parallel()
	b := textvector.New()
	for sentence, c := range map[string]struct {
		data       string
		attributes []string
		want       []string
	}{
		"attributes give their words": {`{}`, []string{"com.Example.Order", "A-1"}, []string{"1", "a", "com", "example", "order"}},
		"an object's members carry their path, and a name ends with its value": {
			`{"a":{"b":"X y"},"c":7}`, nil, []string{"7", "data.a.b=x y", "data.c=7", "x", "y"},
		},
		"elements share their array's path": {
			`{"l":[true,{"k":"v"},["w"]],"m":null}`, nil,
			[]string{"data.l[*].k=v", "data.l[*]=true", "data.l[*][*]=w", "true", "v", "w"},
		},
		"identifiers are words like any":      {`["9f86d081-884c"]`, nil, []string{"884c", "9f86d081", "data[*]=9f86d081-884c"}},
		"escapes are decoded, NUL is a space": {`"\u00c4b\u0000c"`, nil, []string{"c", "data=äb c", "äb"}},
		"what occurs twice is held once":      {`["q","q"]`, nil, []string{"data[*]=q", "q"}},
	} {
		vector, err := b.Append(nil, []byte(c.data), c.attributes...)
		if err != nil {
			t.Fatalf("%s: %v", sentence, err)
		}
		if got := lexemes(t, vector); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", sentence, got, c.want)
		}
	}
}

func TestLongWordsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	vector, err := textvector.New().Append(nil, []byte(`"a`+strings.Repeat("é", 2000)+`"`))
	if err != nil {
		t.Fatal(err)
	}
	all := lexemes(t, vector)
	if len(all) != 1 || len(all[0]) < 998 || len(all[0]) > 1000 || !utf8.ValidString(all[0]) {
		t.Fatalf("%d lexemes, the first of %d bytes", len(all), len(all[0]))
	}
}

func TestInvalidDataIsAnError(t *testing.T) {
	t.Parallel()
	for _, data := range []string{`{"a":`, `{"a"}`, `[1,]`, `x`} {
		if _, err := textvector.New().Append(nil, []byte(data)); err == nil {
			t.Errorf("%s was accepted", data)
		}
	}
}
