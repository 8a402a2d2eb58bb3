package lexicon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Text that has broken tokenizers, to be joined at random.
var pieces = []string{
	"a", "foo", "Bar", "ERROR", "room12", "k8s", "sha256", "0", "1", "12", "007", "2024", "15t15", "1.0", "-5", "1e3",
	"3.14", "e29b", "41d4", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "MDEwOlJlcG9zaXRvcnk=", "Straße", "ẞ", "é",
	"e\u0301", "\u0301", "Ё", "ᾳ", "ﬁ", "İ", "ı", "ŉ", "½", "②", "Ⅷ", "…", "㎏", "東", "京都", "ー", "々", "〇", "ｶﾞ", "ガ",
	"カ\u3099", "한국", "\u1112\u1161\u11ab", "ไทย", "ที่", "ລາວ", "ខ្មែរ", "မြန်မာ", "किताब", "עברית", "שָׁלוֹם", "عَرَبِيّ",
	"\u00ad", "\u200d", "\u200c", "\ufe0f", "5\ufe0f\u20e3", "😀", "\U00010400", "\ufffd", "\u0000", " ", "  ", "-", "_", ".", ",",
	"/", ":", "=", "@", "'", "\"", "\\", "\n", "٣", "१२",
}

func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 9).Draw(t, "any") == 0 {
			return rapid.String().Draw(t, "string")
		}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), "")
	})
}

var numbers = []string{
	"0", "-0", "0.0", "1", "1.0", "1e0", "10e-1", "1E3", "1000", "1.000e3", "-5", "-5.0", "3.14", "31.4e-1", "0.25", "1e21",
	"12345678901234567890", "1e400", "1e401", "1e-400", "0.1e-400", "1e999999", "0e999999", "1e99999999999999999999", "42",
}

// document is JSON text, now and then with repeated names.
func document(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kinds := 6
		if depth == 0 {
			kinds = 4
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom(numbers).Draw(t, "number")
		case 1:
			return rapid.SampledFrom([]string{"true", "false", "null", `""`, `"\ud800"`, `"x\udc00y"`}).Draw(t, "literal")
		case 2, 3:
			return quote(text().Draw(t, "text"))
		case 4:
			return "[" + strings.Join(rapid.SliceOfN(document(depth-1), 0, 4).Draw(t, "elements"), ",") + "]"
		default:
			members := rapid.SliceOfN(document(depth-1), 0, 4).Draw(t, "values")
			for i := range members {
				members[i] = quote(rapid.SampledFrom([]string{"a", "b", "a.b", "x y", "", "e29b41d4", "\u0000"}).Draw(t, "name")) + ":" + members[i]
			}
			return "{" + strings.Join(members, ",") + "}"
		}
	})
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// values are the spellings of a document's scalars.
func values(doc string) []string {
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var all []string
	for {
		tok, err := d.Token()
		if err != nil {
			return all
		}
		switch v := tok.(type) {
		case string:
			all = append(all, v)
		case json.Number:
			all = append(all, v.String())
		case bool:
			all = append(all, fmt.Sprint(v))
		}
	}
}

// part cuts a piece out of a value at rune boundaries.
func part(t *rapid.T, v string) string {
	r := []rune(v)
	from := rapid.IntRange(0, len(r)).Draw(t, "from")
	return string(r[from:rapid.IntRange(from, len(r)).Draw(t, "to")])
}

func TestMatchAgreesWithConditions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := jsonInput(document(3).Draw(t, "document"))
		in.ID = text().Draw(t, "id")
		in.Attributes = []string{"type", "t", "subject", text().Draw(t, "subject"), "ext", text().Draw(t, "extension")}
		out := New(testKey, nil).Analyze(in, nil)
		if out.Invalid {
			t.Fatalf("%s is valid", in.Data)
		}
		candidates := append(values(string(in.Data)), in.ID, in.Attributes[3], in.Attributes[5])
		var words []string
		for _, v := range candidates {
			words = append(words, v, part(t, v))
		}
		words = append(words, text().Draw(t, "word"), rapid.SampledFrom(numbers).Draw(t, "number"))
		for _, word := range words {
			if !utf8.ValidString(word) {
				continue
			}
			w := Compile(testKey, word)
			matched := Match(in, w)
			if matched && !holds(out, w) {
				t.Fatalf("word %q matches %s but its conditions do not hold", word, in.Data)
			}
			if w.Exact && holds(out, w) && !matched {
				t.Fatalf("exact word %q: its condition holds for %s but it does not match", word, in.Data)
			}
		}
	})
}

func TestEveryValueIsFoundWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := text().Draw(t, "value")
		in := jsonInput(`{"a":` + quote(v) + `}`)
		w := Compile(testKey, v)
		if !w.Empty && !Match(in, w) {
			t.Fatalf("%q does not match itself", v)
		}
	})
}

func TestNormalFormsAreOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := text().Draw(t, "value")
		upper := strings.ToUpper(v)
		in := jsonInput(`[` + quote(v) + `]`)
		for _, same := range []string{nfc(v), nfd(v)} {
			if w := Compile(testKey, same); !w.Empty && !Match(in, w) {
				t.Fatalf("%q is not found as %q", v, same)
			}
		}
		if !strings.EqualFold(upper, v) {
			return // mapping to upper case and back is not folding for every character
		}
		if w := Compile(testKey, upper); !w.Empty && !Match(in, w) {
			t.Fatalf("%q is not found as %q", v, upper)
		}
	})
}

// The class of a token must follow from the token alone: a hash that was vocabulary once is never an
// identifier elsewhere.
func TestClassFollowsFromTheToken(t *testing.T) {
	t.Parallel()
	class := map[int64]bool{}
	note := func(t *rapid.T, h int64, vocabulary bool, doc string) {
		if was, ok := class[h]; ok && was != vocabulary {
			t.Fatalf("a token of %s is vocabulary: %v, and was not elsewhere", doc, vocabulary)
		}
		class[h] = vocabulary
	}
	rapid.Check(t, func(t *rapid.T) {
		in := jsonInput(document(3).Draw(t, "document"))
		a := New(testKey, nil)
		out := a.Analyze(in, nil)
		for _, h := range out.Lexemes {
			note(t, h, true, string(in.Data))
		}
		for _, h := range out.Identifiers {
			note(t, int64(h), false, string(in.Data))
		}
		lean := New(testKey, nil, WithoutIdentifiers())
		if got := lean.Analyze(in, nil); !slices.Equal(got.Lexemes, out.Lexemes) || len(got.Identifiers) != 0 {
			t.Fatalf("vocabulary of %s depends on the identifiers", in.Data)
		}
	})
}

func TestValuesAtPathsAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(rapid.SampledFrom(numbers), rapid.SampledFrom([]string{"true", "false"}),
			rapid.Map(text().Filter(func(s string) bool { return s != "" }), quote)).Draw(t, "value")
		value := values(raw)[0]
		name := rapid.OneOf(text(), rapid.SampledFrom([]string{"a", "a.b", "da39a3ee5e6b4b0d"})).Draw(t, "name")
		if !utf8.ValidString(name) {
			return
		}
		path := appendStep(appendStep(appendStep(nil, step{name: []byte("items")}), step{element: true}), step{name: []byte(name)})
		in := jsonInput(`{"items":[{"x":1},{` + quote(name) + `:` + raw + `}]}`)
		in.Attributes = []string{"ext", value}
		out := New(testKey, nil).Analyze(in, nil)
		either, err := CompileValue(testKey, string(path), value)
		if err != nil {
			t.Fatalf("path %q: %v", path, err)
		}
		if !slices.ContainsFunc(either, func(c Condition) bool { return holds(out, Word{Conditions: []Condition{c}}) }) {
			t.Fatalf("%s at %s is not found", raw, path)
		}
		if !holds(out, Word{Conditions: []Condition{CompileAttribute(testKey, "ext", value)}}) {
			t.Fatalf("extension %q is not found", value)
		}
	})
}

func TestPathsReadAsTheyAreSpelled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var path []byte
		var want []step
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			st := step{element: rapid.Bool().Draw(t, "element")}
			if !st.element {
				st.name = []byte(text().Draw(t, "name"))
			}
			want, path = append(want, st), appendStep(path, st)
		}
		got, err := parsePath(string(path))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %d steps, %v", path, len(got), err)
		}
		for i := range got {
			if got[i].element != want[i].element || string(got[i].name) != string(want[i].name) {
				t.Fatalf("%q: step %d is %q", path, i, got[i].name)
			}
		}
	})
}
