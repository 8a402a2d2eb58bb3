package query

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"oriel/server/fault"
)

// values makes parameters of alternating names and values.
func values(kv ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(kv); i += 2 {
		v.Add(kv[i], kv[i+1])
	}
	return v
}

func times(name, value string, n int) url.Values {
	return url.Values{name: slices.Repeat([]string{value}, n)}
}

func ofCaller(name string) bool { return name == "pageSize" }

// violationsOf are reason and attribute of everything that was wrong.
func violationsOf(t testing.TB, violations []fault.Violation) string {
	t.Helper()
	out := make([]string, len(violations))
	for i, v := range violations {
		out[i] = v.Reason + " " + v.Metadata["attribute"]
		if v.Metadata["accepted"] == "" || v.Message == "" {
			t.Errorf("%s does not say what is accepted", out[i])
		}
	}
	return strings.Join(out, ", ")
}

func TestWhatParametersMean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params url.Values
		want   string // as a query
	}{
		"nothing":                           {values(), "*"},
		"present but empty":                 {values("type", "", "q", "", "data.a", "", "severity", "", "from", ""), "*"},
		"the caller's":                      {values("pageSize", "7"), "*"},
		"one value":                         {values("type", "a"), "type:a"},
		"values are alternatives":           {values("type", "b", "type", "a", "type", "a"), "type:(a OR b)"},
		"but of tags":                       {values("tag", "b", "tag", "a"), "tag:(a b)"},
		"fields must all hold":              {values("type", "a", "room", "b"), "type:a room:b"},
		"values are taken as they are":      {values("source", "*", "subject", `"x"`, "room", "null", "person", "-a OR b"), `source:"*" subject:"\"x\"" person:"-a OR b" room:"null"`},
		"none of the values, or absent":     {values("type!", "a", "type!", "b", "tag!", "x", "tag!", "y"), "-type:(a OR b) -tag:(x OR y)"},
		"severity is at least":              {values("severity", "Error", "severity", "warn"), "severity>=warning"},
		"or below":                          {values("severity!", "error"), "-severity>=error"},
		"values of extensions":              {values("ext.a", "1", "ext.a", `"x y"`, "ext.a", "*"), `ext.a:(1 OR "x y" OR *)`},
		"values of the data":                {values("data.a", "1", "data.a", `"1"`, "data.a", "null", "data.a", `"null"`, "data.a", "pre*"), `data.a:(1 OR "1" OR "null" OR pre* OR null)`},
		"with spaces and marks":             {values("data.a", "green tea (hot)"), `data.a:"green tea (hot)"`},
		"two spellings of a path":           {values(`data."a"[*]`, "1", "data.a[*]", "2"), "data.a[*]:(1 OR 2)"},
		"the data itself, or an element":    {values("data", "1", "data[0]", "2"), "data:1 data[0]:2"},
		"not such a value":                  {values("data.a!", "1", "ext.b!", "*", "ext.b!", "x"), "-data.a:1 -ext.b:(x OR *)"},
		"a query":                           {values("q", "tea -milk"), "-milk tea"},
		"queries are alternatives":          {values("q", "tea milk", "q", "water"), "water OR milk tea"},
		"none of the queries":               {values("q!", "tea milk", "q!", "water"), "-(water OR milk tea)"},
		"a query that says what others say": {values("q", "type:a severity>=error tea", "type", "a"), "tea type:a severity>=error"},
		"everything":                        {values("q", "*"), "*"},
		"nothing ever":                      {values("q!", "*", "type", "a"), "-*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, violations := Decode(testSchema(), c.params, ofCaller, "x")
			if len(violations) > 0 {
				t.Fatal(violations)
			}
			if got := Format(f.Where); got != c.want {
				t.Errorf("%v means %s, not %s", c.params, got, c.want)
			}
		})
	}
}

func TestEverythingWrongIsReportedTogether(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	for name, c := range map[string]struct {
		params url.Values
		want   string
	}{
		"unknown parameters":            {values("colour", "red", "Type", "x", "from!", "-1h", "id", "x"), "UNKNOWN_PARAMETER Type, UNKNOWN_PARAMETER colour, UNKNOWN_PARAMETER from!, UNKNOWN_PARAMETER id"},
		"a severity":                    {values("severity", "fatal"), "INVALID_PARAMETER severity"},
		"a good and a bad severity":     {values("severity", "error", "severity!", "7"), "INVALID_PARAMETER severity!"},
		"times":                         {values("from", "yesterday", "until", "-1y", "arrivedFrom", "x", "arrivedUntil", "1"), "INVALID_PARAMETER from, INVALID_PARAMETER until, INVALID_PARAMETER arrivedFrom, INVALID_PARAMETER arrivedUntil"},
		"a version":                     {values("v", "2"), "INVALID_PARAMETER v"},
		"one time given twice":          {values("from", "-1h", "from", "-2h"), "INVALID_PARAMETER from"},
		"a NUL":                         {values("type", "a\x00b"), "INVALID_PARAMETER type"},
		"invalid UTF-8":                 {values("source", "\xff", "q", "\xfe", "data.a", "\xfd"), "INVALID_PARAMETER source, INVALID_PARAMETER data.a, INVALID_PARAMETER q"},
		"a name that is not UTF-8":      {values("data.\"\xff\"", "x", "\xff", "y"), "INVALID_PARAMETER data.\"\ufffd\", UNKNOWN_PARAMETER \ufffd"},
		"a value that is too long":      {values("subject!", long), "INVALID_PARAMETER subject!"},
		"too many values":               {times("type", "x", 101), "INVALID_PARAMETER type"},
		"too many of two spellings":     {url.Values{"data.a": slices.Repeat([]string{"x"}, 60), `data."a"`: slices.Repeat([]string{"y"}, 60)}, `INVALID_PARAMETER data."a"`},
		"paths and extensions":          {values("data.a..b", "x", "ext.A", "y", "data.a[x]!", "z"), "INVALID_PARAMETER data.a..b, INVALID_PARAMETER data.a[x]!, INVALID_PARAMETER ext.A"},
		"values of the data":            {values("data.a", `"x`, "data.b", `"x"y`, "data.c", "a*b", "data.d", ">=5", "ext.e", "null"), "INVALID_PARAMETER data.a, INVALID_PARAMETER data.b, INVALID_PARAMETER data.c, INVALID_PARAMETER data.d, INVALID_PARAMETER ext.e"},
		"a query of punctuation":        {values("q", "… / ."), "EMPTY_QUERY q"},
		"a query of spaces":             {values("q!", "  "), "EMPTY_QUERY q!"},
		"every place of a query":        {values("q", `(c d**`, "q", "x:y"), "INVALID_QUERY q, INVALID_QUERY q, UNKNOWN_FIELD q"},
		"too many words":                {values("q", manyWords(65)), "INVALID_PARAMETER q"},
		"too many words together":       {values("q", manyWords(40), "q!", manyWords(40)), "INVALID_PARAMETER q!"},
		"a long query":                  {values("q", strings.Repeat("x", MaxQuery+1)), "INVALID_PARAMETER q"},
		"many different things at once": {values("x", "1", "severity", "x", "from", "x", "q", "AND"), "UNKNOWN_PARAMETER x, INVALID_PARAMETER severity, INVALID_QUERY q, INVALID_PARAMETER from"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, violations := Decode(testSchema(), c.params, ofCaller, "x")
			if got := violationsOf(t, violations); got != c.want {
				t.Errorf("got  %s\nwant %s\nfor %+v", got, c.want, f)
			}
		})
	}
}

func TestAPlusInATimeIsExplained(t *testing.T) {
	t.Parallel()
	_, violations := Decode(Schema{}, values("from", "2026-11-30T12:00:00 01:00"), nil, "")
	if len(violations) != 1 || !strings.Contains(violations[0].Message, "%2B") {
		t.Fatalf("got %v", violations)
	}
}

func TestTheCanonicalParameters(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]url.Values{
		"type:b OR type:a":              values("type", "a", "type", "b"),
		"type:a source:b tea":           values("type", "a", "source", "b", "q", "tea"),
		"-room:x tag:a tag:b -tag:c":    values("room!", "x", "tag", "a", "tag", "b", "tag!", "c"),
		"tag:(a OR b)":                  values("q", "tag:(a OR b)"),
		"severity>=error":               values("severity", "error"),
		"severity:error severity<error": values("q", "severity:error severity<error"),
		`data.a:1 data.b:"1" ext.c:*`:   values("data.a", "1", "data.b", `"1"`, "ext.c", "*"),
		`data.a:null -data.a:("" x y*)`: values("data.a", "null", "q", `-data.a:("" x y*)`),
		"data.a>5 id:x":                 values("q", "id:x data.a>5"),
		"type:a type:(b OR c)":          values("type", "b", "type", "c", "q", "type:a"),
		"type:a* room:null":             nil,
		`room:"null" type:"*"`:          values("room", "null", "type", "*"),
		`subject:""`:                    values("q", `subject:""`),
		"type:a OR source:b":            values("q", "type:a OR source:b"),
		"*":                             values(),
		"-*":                            values("q", "-*"),
	} {
		n, violations := Parse(testSchema(), "q", q)
		if len(violations) > 0 {
			if want != nil {
				t.Errorf("%s: %v", q, violations)
			}
			continue
		}
		if got := Encode(Filter{Where: And{n}}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s becomes %v, not %v", q, got, want)
		}
	}
}

// genParams draws parameters that a search accepts, in any order and with repeats and empties.
func genParams() *rapid.Generator[url.Values] {
	word := rapid.SampledFrom([]string{"tea", "green", "order-77123456", "42", "12:30", "http://x/y?a=b", "Ünïcode", "日本語", "Error:", "a.b/c", "type:a", "-x", "tag:(a b)", "data.n>=5", `~"x"`})
	value := rapid.SampledFrom([]string{"", "a", "b", "order.paid", "/shop", "ü&=+ %2B", "x!", "*", "null", `"`})
	written := rapid.SampledFrom([]string{"", "a", "1", `"1"`, "null", "*", "a*", "x y", `"\""`})
	severity := rapid.SampledFrom([]string{"", "trace", "warn", "WARNING", "error", "emergency"})
	return rapid.Custom(func(t *rapid.T) url.Values {
		v := url.Values{}
		for _, name := range []string{"type", "source", "subject!", "room", "tag", "tag!"} {
			v[name] = rapid.SliceOfN(value, 0, 3).Draw(t, name)
		}
		for _, name := range []string{"data.a", `data."a"`, "data.n!", "data[*]"} {
			v[name] = rapid.SliceOfN(written, 0, 2).Draw(t, name)
		}
		for _, name := range []string{"severity", "severity!"} {
			v[name] = rapid.SliceOfN(severity, 0, 2).Draw(t, name)
		}
		for _, name := range []string{"q", "q!"} {
			for range rapid.IntRange(0, 2).Draw(t, name) {
				v.Add(name, strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), rapid.SampledFrom([]string{" ", "  ", " OR "}).Draw(t, "by")))
			}
		}
		return v
	})
}

func TestOrderRepeatsAndEmptiesOfValuesChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		params := genParams().Draw(t, "params")
		f, violations := Decode(testSchema(), params, nil, "")
		if len(violations) > 0 {
			t.Fatalf("refused %v: %v", params, violations)
		}
		encoded := Encode(f)
		if again, violations := Decode(testSchema(), encoded, nil, ""); len(violations) > 0 || !reflect.DeepEqual(again, f) {
			t.Fatalf("%v became %#v by way of %v: %v", params, again, encoded, violations)
		}
		for name, vs := range params {
			slices.Reverse(vs)
			params[name] = append(append(vs, vs...), "")
		}
		if shuffled, violations := Decode(testSchema(), params, nil, ""); len(violations) > 0 || !reflect.DeepEqual(shuffled, f) {
			t.Fatalf("another spelling became another filter:\n%#v\n%#v", shuffled, f)
		}
	})
}

func TestLongQueriesAreSaidInParts(t *testing.T) {
	t.Parallel()
	part := func(letter string, n int) string { return `"` + strings.Repeat(letter+" ", n) + `"` }
	for name, params := range map[string]url.Values{
		"alternatives":         values("q", part("a", 1500), "q", part("b", 1500)),
		"none of them":         values("q!", part("a", 1500), "q!", part("b", 1500)),
		"both":                 values("q", part("a", 1500), "q", part("b", 1500), "q!", part("c", 1500), "q!", part("d", 1500)),
		"a query and what not": values("q", part("a", 1900), "q!", part("b", 1900)),
	} {
		f, violations := Decode(testSchema(), params, nil, "")
		if len(violations) > 0 {
			t.Errorf("%s: %s", name, violationsOf(t, violations))
			continue
		}
		again, violations := Decode(testSchema(), Encode(f), nil, "")
		if len(violations) > 0 || !reflect.DeepEqual(again, f) {
			t.Errorf("%s does not survive: %v", name, violations)
		}
	}
	// What cannot be said again is refused at once.
	q := "severity:warn "
	q += part("x", 2040)
	_, violations := Decode(testSchema(), values("q", q), nil, "")
	if got := violationsOf(t, violations); len(q) > MaxQuery || got != "INVALID_PARAMETER q" {
		t.Errorf("%d bytes: %s", len(q), got)
	}
}

func TestWordsThatLookLikeFieldsAreWrittenAsWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`data.a\:`, "data.:x", "ext.A:1", "data[:1", "data.a:1", "room:7", "12:30", "localhost:8080", "a=b", "data.a\\"} {
		written := Format(And{Word{text}})
		n, violations := Parse(Schema{}, "q", written)
		if len(violations) > 0 || Format(And{n}) != written || n != Node(Word{text}) {
			t.Errorf("the word %s is written %s, which is read as %#v, %v", text, written, n, violations)
		}
	}
}

func TestAFacetCountsWithoutItsOwnConditions(t *testing.T) {
	t.Parallel()
	parse := func(q string) And {
		n, violations := Parse(testSchema(), "q", q)
		if len(violations) > 0 {
			t.Fatal(violations)
		}
		return conjuncts(n)
	}
	kind := Field{Attribute, "type"}
	for q, want := range map[string]struct{ without, selected string }{
		"type:a room:b tea":          {"tea room:b", "a"},
		"type:(b OR a) room:b":       {"room:b", "a b"},
		"-type:a room:b":             {"room:b", ""},
		"type:a* type:b":             {"*", "b"},
		"type:* tea":                 {"tea", ""},
		"type:a OR room:b":           {"type:a OR room:b", ""},
		"-(type:a OR type:b) type:c": {"*", "c"},
		"tea":                        {"tea", ""},
	} {
		where := parse(q)
		if got := Format(Counting(where, nil, kind)); got != want.without {
			t.Errorf("%s without its type is %s, not %s", q, got, want.without)
		}
		if got := Format(Counting(where, where, kind)); got != Format(where) {
			t.Errorf("of the query %s a facet counts over %s", q, got)
		}
		if got := strings.Join(Selected(where, kind), " "); got != want.selected {
			t.Errorf("%s selects %s, not %s", q, got, want.selected)
		}
	}
	tagged := parse("tag:a tag:b type:c")
	if got := Format(Counting(tagged, nil, Field{Facet, facetTag})); got != Format(tagged) {
		t.Errorf("another tag is counted over %s", got)
	}
	if got := strings.Join(Selected(parse("severity>=error tea"), Field{Kind: Severity}), " "); got != "error critical emergency" {
		t.Errorf("a least severity selects %s", got)
	}
}
