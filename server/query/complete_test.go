package query

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestACursorIsFound(t *testing.T) {
	t.Parallel()
	s := Schema{Facets: []string{"device", "room", "person", "tag"}}
	for q, want := range map[string]string{ // | is the cursor
		"|": "[] word", "ov|": "[ov] word", "door ov|": "door [ov] word joins", "door |": "door [] word joins", "door| x": "[door] x word",
		"do|or": "[do·or] word", "-ov|": "-[ov] word", "NOT |": "NOT [] word", "a AND |": "a AND [] word", "a OR|": "a [OR] word joins",
		"ty|": "[ty] word", "ty|pe:x": "[ty·pe:]x word", "type:|": "type:[] type", "type:ho|": "type:[ho] type", "type:ho|me.x": "type:[ho·me.x] type",
		"-type:ho|": "-type:[ho] type", "type!=ho|": "type!=[ho] type", "severity>=w|": "severity>=[w] severity", `room:"Ki|tchen" x`: `room:["Ki·tchen"] x room quoted <Ki>`,
		`room:"Ki|`: `room:["Ki] room quoted <Ki>`, "room:(Hall OR K|": "room:(Hall OR [K] room", "room:(|": "room:([] room", "room:(a |)": "room:(a [] ) room joins",
		"room:(a) |": "room:(a) [] word joins", "(a OR (b |": "(a OR (b [] word joins", `"a b|"`: `["a b·"] word quoted <a b>`, `"a \"b|`: `["a \"b] word quoted <a "b>`,
		"data.it|": "[data.it] word", "data.items[*].sku:r|": "data.items[*].sku:[r] data.items[*].sku", `data."a b":|`: `data."a b":[] data."a b"`,
		"ext.re|": "[ext.re] word", "http://x|": "[http://x] word", "12:3|": "[12:3] word", "nofield:x|": "[nofield:x] word", "type:a |type:b": "type:a [] type:b word joins",
		"ÄÖ ü|": "ÄÖ [ü] word joins", ")|": ")[] word joins", "-|": "[-] word", "type:(-|": "type:([-] type", "a  |": "a  [] word joins",
		`data."a|`: `[data."a] word`, `x data."a b|" y`: `x [data."a b·"] y word joins`, `data."a b".|`: `[data."a b".] word`, `data."a b"| x`: `[data."a b"] x word`,
		`"a b"*| x`: `["a b"*] x word quoted <a b>`, `room:"a"|* x`: `room:["a"·*] x room quoted <a>`, `data.x."a| type:b`: `[data.x."a] type:b word`, `data."a b" t|`: `data."a b" [t] word joins`, "severity>(e|": "severity>([e] word",
		"data.a > |": "data.a > [] data.a", "severity >= w|": "severity >= [w] severity", "severity>= |x": "severity>= [·x] severity", "dat|a.a > 5": "[dat·a.a > ]5 word", "data.a | > 5": "[data.a · > ]5 word", "type > 5 x|": "type > 5 [x] word joins",
	} {
		before, after, _ := strings.Cut(q, "|")
		c := At(s, before+after, utf8.RuneCountInString(before))
		runes := []rune(before + after)
		got := string(runes[:c.From]) + "[" + string(runes[c.From:utf8.RuneCountInString(before)])
		if rest := string(runes[utf8.RuneCountInString(before):c.Until]); rest != "" {
			got += "·" + rest
		}
		got += "]"
		if rest := string(runes[c.Until:]); rest != "" {
			got += rest
		}
		got = strings.TrimSpace(got)
		if c.Field == nil {
			got += " word"
		} else {
			got += " " + c.Field.String()
		}
		if c.Joins {
			got += " joins"
		}
		if c.Quoted {
			got += " quoted <" + c.Text + ">"
		}
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}

func TestACursorKnowsTheOperatorBeforeIt(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"room:": ":", "room!=K": "!=", "severity>=": ">=", "data.a<1": "<", "data.a~x": "~", "data.a:(1 OR ": ":", "-room=(": "=", "tea": "", "room:(a) ": "", "severity>(": "",
	} {
		if c := At(Schema{Facets: []string{"room"}}, q, len(q)); c.Op != want || (c.Field == nil) != (want == "") {
			t.Errorf("%s: %+v, not %s", q, c, want)
		}
	}
}

func FuzzCursor(f *testing.F) {
	s := Schema{Facets: []string{"room", "tag"}}
	for _, q := range []string{"", `room:"a" (b -data.x:(1 OR "2`, "-(((", "type:(a", `"`, `data."`, "severity>=", `room~"x`, `\`, "))(("} {
		f.Add(q, 3)
	}
	f.Fuzz(func(t *testing.T, q string, position int) {
		position = min(max(position, 0), 10_000)
		c := At(s, q, position)
		n := utf8.RuneCountInString(q)
		if c.From < 0 || c.From > c.Until || c.Until > n || c.From > position || c.Until < min(position, n) {
			t.Errorf("%q at %d: %+v", q, position, c)
		}
	})
}
