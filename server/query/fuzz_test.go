package query

import (
	"net/url"
	"reflect"
	"testing"
	"unicode/utf8"
)

// queries that fuzzing starts from.
func seeds() []string {
	return []string{
		"tea -milk OR (type:a source!=b)", `"a \" b\\" ~"x" pre* "pre fix"*`, `data."a.b"[*].c[0]>=1e5 data.x:(null OR "" OR -5)`,
		"data.a >= 5 -ext.b< 1 type > x", "data.a:>5 room: x room : y a–b – c", "severity>=warn tag:(a b) trace:4bf9* ext.n:*", "http://x:1/ a:b c=d 12:30 <5 ) (", "* -* NOT NOT", "日本 OR\u00a0é", "\xff\x00\"", "data.", `data."`,
		"!a –b - c status:500 x-1:80", `a || b&& == "||" (tag:(!x "!y" "[1" TO 5]))`, `room : hall "room" ":x" data."a" == 5`, "“a b” type:„x“ 5” -“", "data.n:[1 TO 5} ext.a:{* TO *]", "type:(", "~\"",
	}
}

func FuzzParse(f *testing.F) {
	for _, q := range seeds() {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		n, leaves, violations := parse(testSchema(), "q", q)
		told(t, q, violations)
		if (n == nil) != (len(violations) > 0) {
			t.Fatalf("%q: %#v with %v", q, n, violations)
		}
		if n == nil {
			replaced(t, q, violations)
			return
		}
		printed := Format(n)
		if len(printed) > MaxQuery || leaves > MaxConditions {
			return
		}
		again, violations := Parse(testSchema(), "q", printed)
		if len(violations) > 0 || !reflect.DeepEqual(again, n) || Format(again) != printed {
			t.Fatalf("%q is printed as %q, which means %#v, not %#v: %v", q, printed, again, n, violations)
		}
		NewVerifier(n).Match(sample(`{"a":1}`))
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("type=a&q=tea&from=-1h&tag=x&tag=y&room!=z")
	f.Add("q=%22&severity=x&%00=1&data.a=%22x%22*&ext.b!=*")
	f.Add("from=-9223372036854775807s&until=9999-12-31T23:59:59.9999999Z&arrivedFrom=now")
	for _, q := range seeds() {
		f.Add(url.Values{"q": {q}, "q!": {q}, "data." + q: {q}, "type": {q}}.Encode())
	}
	f.Fuzz(func(t *testing.T, raw string) {
		params, err := url.ParseQuery(raw)
		if err != nil {
			t.Skip()
		}
		filter, violations := Decode(testSchema(), params, nil, "x")
		if len(violations) > 0 {
			violationsOf(t, violations)
			return
		}
		encoded := Encode(filter)
		again, violations := Decode(testSchema(), encoded, nil, "x")
		if len(violations) > 0 || !reflect.DeepEqual(again, filter) || !reflect.DeepEqual(Encode(again), encoded) {
			t.Fatalf("%q became %#v by way of %v, not %#v: %v", raw, again, encoded, filter, violations)
		}
		if Canonical(again.Where) != Canonical(filter.Where) {
			t.Fatalf("%q has two canonical texts", raw)
		}
	})
}

func FuzzVerifier(f *testing.F) {
	for _, q := range seeds() {
		f.Add(q, []byte(`{"a":[1,{"b":"x"}],"a":null,"n":1e999999999999999999999999}`), "application/json")
		f.Add(q, []byte("tea \xff"), "text/plain")
	}
	f.Add(`data.a:1 -data[*].b>0 ~"x"`, []byte(`[{"b":1}`), "application/json")
	f.Fuzz(func(t *testing.T, q string, data []byte, contentType string) {
		n, violations := Parse(testSchema(), "q", q)
		if len(violations) > 0 {
			t.Skip()
		}
		e := sample("")
		e.Data, e.ContentType = data, contentType
		v := NewVerifier(n)
		got := v.Match(e)
		// Judging another event in between changes nothing, nor does negation but the answer.
		v.Match(sample(`{"other":[{"b":"tea"}]}`))
		if v.Match(e) != got || NewVerifier(Not{n}).Match(e) == got || NewVerifier(And{n, Or{n, Or{}}}).Match(e) != got {
			t.Fatalf("%q of %q is judged in two ways", q, data)
		}
		if !utf8.Valid(data) && NewVerifier(Exists{Field{Kind: Data}}).Match(e) {
			t.Fatalf("%q has paths", data)
		}
	})
}
