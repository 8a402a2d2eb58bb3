package search

import (
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"oriel/server/fault"
)

// violationsOf are reason and attribute of everything that was wrong.
func violationsOf(t testing.TB, err error) []string {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("not a public error: %v", err)
	}
	out := make([]string, len(f.Violations))
	for i, v := range f.Violations {
		out[i] = v.Reason + " " + v.Metadata["attribute"]
		if v.Metadata["accepted"] == "" && v.Metadata["limit"] == "" {
			t.Errorf("%s does not say what is accepted", out[i])
		}
	}
	return out
}

func manyWords(n int) string {
	ws := make([]string, n)
	for i := range ws {
		ws[i] = "w" + strconv.Itoa(i)
	}
	return strings.Join(ws, " ")
}

func TestEverythingWrongIsReportedTogether(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	for name, c := range map[string]struct {
		params url.Values
		want   string
	}{
		"unknown parameters":            {values("colour", "red", "Type", "x", "from!", "-1h"), "UNKNOWN_PARAMETER Type, UNKNOWN_PARAMETER colour, UNKNOWN_PARAMETER from!"},
		"a severity":                    {values("severity", "fatal"), "INVALID_PARAMETER severity"},
		"a good and a bad severity":     {values("severity", "error", "severity!", "7"), "INVALID_PARAMETER severity!"},
		"times":                         {values("from", "yesterday", "until", "-1y"), "INVALID_PARAMETER from, INVALID_PARAMETER until"},
		"a version":                     {values("v", "2"), "INVALID_PARAMETER v"},
		"page sizes":                    {values("pageSize", "0"), "INVALID_PARAMETER pageSize"},
		"a page size with a sign":       {values("pageSize", "+5"), "INVALID_PARAMETER pageSize"},
		"a page size too large":         {values("pageSize", "501"), "INVALID_PARAMETER pageSize"},
		"one time given twice":          {values("from", "-1h", "from", "-2h"), "INVALID_PARAMETER from"},
		"a NUL":                         {values("type", "a\x00b"), "INVALID_PARAMETER type"},
		"invalid UTF-8":                 {values("source", "\xff", "q", "\xfe"), "INVALID_PARAMETER source, INVALID_PARAMETER q"},
		"a value that is too long":      {values("subject!", long), "INVALID_PARAMETER subject!"},
		"a query of nothing":            {values("q", " -- ... "), "UNSUPPORTED_QUERY_SYNTAX q"},
		"a query of punctuation":        {values("q", "… / ."), "EMPTY_QUERY q"},
		"a query of spaces":             {values("q!", "  "), "EMPTY_QUERY q!"},
		"every place of query syntax":   {values("q", `"a b" (c) d*`), "UNSUPPORTED_QUERY_SYNTAX q, UNSUPPORTED_QUERY_SYNTAX q, UNSUPPORTED_QUERY_SYNTAX q, UNSUPPORTED_QUERY_SYNTAX q"},
		"too many words":                {values("q", manyWords(65)), "INVALID_PARAMETER q"},
		"tokens beside another mistake": {values("snapshot", "x", "pageToken", "y", "foo", "1"), "UNKNOWN_PARAMETER foo, INVALID_PARAMETER snapshot, INVALID_PAGE_TOKEN pageToken"},
		"many different things at once": {values("x", "1", "severity", "x", "from", "x", "q", "AND", "pageSize", "x"), "UNKNOWN_PARAMETER x, INVALID_PARAMETER severity, UNSUPPORTED_QUERY_SYNTAX q, INVALID_PARAMETER from, INVALID_PARAMETER pageSize"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := Decode(c.params)
			if err == nil {
				t.Fatalf("accepted: %+v", req)
			}
			if got := strings.Join(violationsOf(t, err), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAPlusInATimeIsExplained(t *testing.T) {
	t.Parallel()
	_, err := Decode(values("from", "2026-11-30T12:00:00 01:00"))
	if err == nil || !strings.Contains(err.Error(), "%2B") {
		t.Fatalf("got %v", err)
	}
}

// genParams draws parameters that a search accepts, in any order and with repeats and empties.
func genParams() *rapid.Generator[url.Values] {
	word := rapid.SampledFrom([]string{"tea", "green", "order-77123456", "42", "12:30", "http://x/y?a=b", "Ünïcode", "日本語", "Error:", "a.b/c"})
	value := rapid.SampledFrom([]string{"", "a", "b", "order.paid", "/shop", "ü&=+ %2B", "x!"})
	severity := rapid.SampledFrom([]string{"", "trace", "warn", "WARNING", "error", "emergency"})
	bound := rapid.SampledFrom([]string{"", "now", "-15m", "-7d", "-090s", "2026-11-30T12:00:00Z", "2026-11-30t12:00:00.1234567+01:00"})
	return rapid.Custom(func(t *rapid.T) url.Values {
		v := url.Values{}
		for _, name := range []string{"type", "source", "subject", "type!", "source!", "subject!"} {
			v[name] = rapid.SliceOfN(value, 0, 3).Draw(t, name)
		}
		for _, name := range []string{"severity", "severity!"} {
			v[name] = rapid.SliceOfN(severity, 0, 2).Draw(t, name)
		}
		for _, name := range []string{"q", "q!"} {
			for range rapid.IntRange(0, 2).Draw(t, name) {
				v.Add(name, strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), "  "))
			}
		}
		v.Set("from", bound.Draw(t, "from"))
		v.Set("until", bound.Draw(t, "until"))
		return v
	})
}

func TestAFilterSurvivesItsParameters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		params := genParams().Draw(t, "params")
		req, err := Decode(params)
		if err != nil {
			t.Fatalf("refused %v: %v", params, err)
		}
		encoded, ok := Encode(req.Filter)
		if !ok {
			t.Fatalf("parameters cannot say %#v", req.Filter)
		}
		again, err := Decode(encoded)
		if err != nil {
			t.Fatalf("refused its own parameters %v: %v", encoded, err)
		}
		if !reflect.DeepEqual(again.Filter, req.Filter) {
			t.Fatalf("%v became %#v by way of %v", params, again.Filter, encoded)
		}
		// Order, repeats and empties of values change nothing.
		for _, vs := range params {
			slices.Reverse(vs)
		}
		params.Add("type", "")
		for name, vs := range params {
			if name != "from" && name != "until" {
				params[name] = append(vs, vs...)
			}
		}
		shuffled, err := Decode(params)
		if err != nil {
			t.Fatalf("refused %v: %v", params, err)
		}
		if !reflect.DeepEqual(shuffled.Filter, req.Filter) {
			t.Fatalf("another spelling became another filter:\n%#v\n%#v", shuffled.Filter, req.Filter)
		}
	})
}

func TestConditionsBeyondTheParametersAreNotEncoded(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]And{
		"alternatives of two fields": {Or{Equal{FieldType, "a"}, Equal{FieldSource, "b"}}},
		"twice the same field":       {Equal{FieldType, "a"}, Equal{FieldType, "b"}},
		"a double negation":          {Not{Not{Word{"a"}}}},
		"an empty alternative":       {Or{}},
		"words and alternatives":     {Word{"a"}, Or{Word{"b"}, Word{"c"}}},
	} {
		if params, ok := Encode(Filter{Where: where}); ok {
			t.Errorf("%s became %v", name, params)
		}
	}
}

func FuzzDecodeIsTotal(f *testing.F) {
	f.Add("type=a&q=tea&from=-1h")
	f.Add("q=%22&severity=x&%00=1")
	f.Add("from=-9223372036854775807s&until=9999-12-31T23:59:59.9999999Z")
	f.Fuzz(func(t *testing.T, query string) {
		params, err := url.ParseQuery(query)
		if err != nil {
			t.Skip()
		}
		req, err := Decode(params)
		if err != nil {
			violationsOf(t, err)
			return
		}
		if _, ok := Encode(req.Filter); !ok {
			t.Fatalf("%q cannot be said again", query)
		}
		if _, err := resolveWindow(req.Filter.From, req.Filter.Until, noon()); err != nil {
			return
		}
	})
}
