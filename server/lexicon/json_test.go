package lexicon

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// recorder writes down what the scanner told it.
type recorder struct{ b strings.Builder }

func (r *recorder) open(array bool) {
	if array {
		r.b.WriteString("[")
	} else {
		r.b.WriteString("{")
	}
}
func (r *recorder) close()          { r.b.WriteString("]") }
func (r *recorder) key(n []byte)    { r.b.WriteString(strconv.Quote(string(n))) }
func (r *recorder) text(v []byte)   { r.b.WriteString(strconv.Quote(string(v))) }
func (r *recorder) number(v []byte) { r.b.WriteString("#" + string(v) + " ") }
func (r *recorder) truth(v bool)    { r.b.WriteString(strconv.FormatBool(v)) }
func (r *recorder) null()           { r.b.WriteString("null") }

// reference is what encoding/json tells of the same text.
func reference(data []byte) string {
	var r recorder
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return r.b.String()
		}
		switch v := tok.(type) {
		case json.Delim:
			if v == '[' || v == '{' {
				r.open(v == '[')
			} else {
				r.close()
			}
		case string:
			r.text([]byte(v))
		case json.Number:
			r.number([]byte(v))
		case bool:
			r.truth(v)
		case nil:
			r.null()
		}
	}
}

// deep reports whether valid JSON nests beyond the bound.
func deep(data []byte) bool {
	depth, most, inside := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case !inside && (c == '[' || c == '{'):
			depth++
			most = max(most, depth)
		case !inside && (c == ']' || c == '}'):
			depth--
		}
	}
	return most > MaxDepth
}

// FuzzScan: the scanner accepts what encoding/json accepts, within the depth bound, and reads the same.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":[true,false,null,"x\u0000\ud83d\ude00\ud800"],"a":-0.0e+1}`, `[]`, `{}`, ``, ` `, `1 2`, `01`, `-`, `1.`, `1e`,
		`"\x"`, `"\u12"`, `"\ud800\ud800"`, `"\ud800\u0041"`, "\"\t\"", `[1,]`, `{"a"}`, `{"a":}`, `{,}`, `[}`, `{]`, `nul`, `truex`,
		`"abcdefgh\"ijklmnop\\"`, `"12345678` + "\x1f" + `"`, `"` + strings.Repeat("é", 20) + `"`, "\ufeff1", `1e999999`, "\"\x7f\"",
		strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
		strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1),
		strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) {
			return
		}
		var p scanner
		var r recorder
		got := p.scan(data, &r)
		want := json.Valid(data) && !deep(data)
		if got != want {
			t.Fatalf("%q: accepted %v", data, got)
		}
		if got && r.b.String() != reference(data) {
			t.Fatalf("%q reads as %s, not %s", data, r.b.String(), reference(data))
		}
	})
}
