package query

import (
	"net/url"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"oriel/server/fault"
	"oriel/server/lexicon"
)

func testSchema() Schema { return Schema{Facets: []string{"device", "person", "room", "tag"}} }

// genText draws texts that have something to look for, with everything in them that the language gives a
// meaning.
func genText() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"a", "tea", "order-77", "AND", "OR", "NOT", "null", "true", "false", "1", "-5", "1.0", "1e3", "9007199254740993",
		" ", "\t", "\n", "\x00", "\u0085", "\u00a0", "\u3000", `"`, `\`, `\\`, `\"`, "(", ")", "*", ":", "=", "!=", ">=", "<", "~", `~"`, "-", ".", "/",
		"日本", "é", "ß", "\u00ad", "\u0301", "\ufffd", "type:x", "data.a", "ext.b", "http://x.test:80/a?b=c&d", "localhost:8080", "12:30", "[*]", "[0]", "!", "–", "—", "−", "&&", "||", "==", "“", "”", "[1", "5]", "TO", "room", "@", "$", "'", "{", "}", "+", "%2B",
	})
	return rapid.Map(rapid.SliceOfN(piece, 1, 4), func(s []string) string {
		out := ""
		for _, p := range s {
			out += p
		}
		return out
	})
}

func worthLookingFor(s string) bool { return !lexicon.Compile(lexicon.Key{}, s).Empty }

func foldsToSomething(s string) bool {
	var f lexicon.Folder
	return len(f.AppendFolded(nil, []byte(s))) > 0
}

func genField() *rapid.Generator[Field] {
	return rapid.Custom(func(t *rapid.T) Field {
		switch Kind(rapid.IntRange(1, 6).Draw(t, "kind")) {
		case Attribute:
			return Field{Attribute, rapid.SampledFrom(attributes()).Draw(t, "attribute")}
		case Facet:
			return Field{Facet, rapid.SampledFrom(testSchema().Facets).Draw(t, "facet")}
		case Extension:
			return Field{Extension, rapid.SampledFrom([]string{"a", "type", "traceparent", "0"}).Draw(t, "extension")}
		case Severity:
			return Field{Kind: Severity}
		case Trace:
			return Field{Kind: Trace}
		default:
			steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) lexicon.Step {
				switch rapid.IntRange(0, 3).Draw(t, "step") {
				case 0:
					return lexicon.Step{Element: true, Index: rapid.IntRange(-1, 12).Draw(t, "index")}
				case 1:
					return lexicon.Step{Index: lexicon.AnyIndex, Name: rapid.SampledFrom([]string{"", "a", "b", "a.b", "items"}).Draw(t, "name")}
				default:
					return lexicon.Step{Index: lexicon.AnyIndex, Name: genText().Draw(t, "name")}
				}
			}), 0, 3).Draw(t, "steps")
			return Field{Data, string(lexicon.AppendPath(nil, steps))}
		}
	})
}

func genNumber() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"0", "-0", "1", "-5", "1.50", "1E2", "100", "9007199254740993", "9007199254740992", "1e999999999"})
}

func genSeverity() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"trace", "warning", "error", "emergency"})
}

const someTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// genLeaf draws conditions that a query can say.
func genLeaf() *rapid.Generator[Node] {
	return rapid.Custom(func(t *rapid.T) Node {
		word := genText().Filter(worthLookingFor)
		part := genText().Filter(foldsToSomething)
		what := rapid.IntRange(0, 8).Draw(t, "what")
		switch what {
		case 0:
			return Word{word.Draw(t, "word")}
		case 1:
			return Prefix{Text: word.Draw(t, "prefix")}
		case 2:
			return Contains{Text: part.Draw(t, "part")}
		}
		f := genField().Draw(t, "field")
		switch {
		case what == 3:
			return Exists{f}
		case f.Kind == Severity && what < 6:
			return Equal{Field: f, Value: genSeverity().Draw(t, "severity")}
		case f.Kind == Severity:
			return Compare{f, Op(rapid.IntRange(0, 3).Draw(t, "op")), genSeverity().Draw(t, "severity")}
		case f.Kind == Trace && what < 6:
			return Equal{Field: f, Value: someTrace}
		case f.Kind == Trace:
			return Prefix{f, someTrace[:what]}
		case what == 4 && (f.Kind == Data || f.Kind == Extension):
			return Compare{f, Op(rapid.IntRange(0, 3).Draw(t, "op")), genNumber().Draw(t, "number")}
		case what == 5 && f.Kind == Data:
			return Null{f}
		case what == 6:
			return Prefix{f, genText().Draw(t, "text")}
		case what == 7:
			return Contains{f, part.Draw(t, "part")}
		}
		value := rapid.OneOf(genText(), rapid.SampledFrom([]string{"", "true", "null", "1", "-5", "1e3", "*", "a*", "-a"})).Draw(t, "value")
		return Equal{f, value, rapid.Bool().Draw(t, "text") || value == ""}
	})
}

func genNode(depth int) *rapid.Generator[Node] {
	if depth == 0 {
		return genLeaf()
	}
	inner := rapid.Deferred(func() *rapid.Generator[Node] { return genNode(depth - 1) })
	return rapid.OneOf(
		genLeaf(),
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(ns []Node) Node { return And(ns) }),
		rapid.Map(rapid.SliceOfN(inner, 0, 4), func(ns []Node) Node { return Or(ns) }),
		rapid.Map(inner, func(n Node) Node { return Not{n} }),
	)
}

func TestWhatIsPrintedReadsAsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := genNode(3).Draw(t, "condition")
		q := Format(n)
		got, leaves, violations := parse(testSchema(), "q", q)
		if leaves > MaxConditions || len(q) > MaxQuery {
			return // which has limits of its own
		}
		if len(violations) > 0 {
			t.Fatalf("%#v is printed as %s, which is refused: %v", n, q, violations)
		}
		if want := Normalise(n); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s reads as\n%#v, not\n%#v", q, got, want)
		}
		if again := Format(got); again != q {
			t.Fatalf("%s is printed as %s", q, again)
		}
	})
}

func TestTheNormalFormIsOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := Normalise(genNode(3).Draw(t, "condition"))
		if again := Normalise(n); !reflect.DeepEqual(n, again) {
			t.Fatalf("%#v becomes %#v", n, again)
		}
		for _, same := range []Node{And{n, n}, Or{n, n}, Not{Not{n}}, And{Or{n}, And{}}, Or{And{n}, Or{}}, And{n, Not{Not{n}}}} {
			if got := Normalise(same); !reflect.DeepEqual(got, n) {
				t.Fatalf("%#v becomes %#v", same, got)
			}
		}
	})
}

func TestAFilterSurvivesItsParameters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := Filter{Where: rapid.Map(rapid.SliceOfN(genNode(2), 0, 4), func(ns []Node) And { return ns }).Draw(t, "where")}
		f.From = drawBound(t, "from")
		f.ArrivedUntil = drawBound(t, "arrivedUntil")
		params := Encode(f)
		long := false
		for _, q := range append(params["q"], params["q!"]...) {
			long = long || len(q) > MaxQuery
		}
		// Parameters cross as text.
		crossed, err := url.ParseQuery(params.Encode())
		if err != nil {
			t.Fatal(err)
		}
		got, violations := Decode(testSchema(), crossed, nil, "")
		if long || tooManyLeaves(violations) {
			return
		}
		if len(violations) > 0 {
			t.Fatalf("%#v becomes %v, which is refused: %v", f, params, violations)
		}
		f.Where = conjuncts(Normalise(f.Where))
		if !reflect.DeepEqual(got, f) {
			t.Fatalf("%v reads as\n%#v, not\n%#v", params, got, f)
		}
		if Canonical(got.Where) != Canonical(f.Where) {
			t.Fatalf("%v has two canonical texts", params)
		}
	})
}

func drawBound(t *rapid.T, name string) Bound {
	s := rapid.SampledFrom([]string{"", "now", "-15m", "-7d", "2026-11-30T12:00:00Z", "2026-11-30t12:00:00.1234567+01:00"}).Draw(t, name)
	if s == "" {
		return Bound{}
	}
	b, err := ParseBound(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func tooManyLeaves(violations []fault.Violation) bool {
	return slices.ContainsFunc(violations, func(v fault.Violation) bool { return v.Metadata["limit"] != "" })
}
