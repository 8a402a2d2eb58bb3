package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"oriel/server/cloudevents"
)

func TestSummariesKeepSpellingsAndHoldNoControlCharacter(t *testing.T) {
	t.Parallel()
	const js, invalid = "application/json", cloudevents.FlagDataInvalid
	for name, c := range map[string]struct {
		contentType   string
		flags         cloudevents.Flags
		data          string
		kind, summary string
	}{
		"numbers as they were spelled":       {js, 0, `{"id":9007199254740993, "neg": -9222742375320771188,"f":1.0,"z":-0,"e":1E2}`, "json", `{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2}`},
		"order and duplicate keys":           {js, 0, "{\n  \"b\": 1,\r\n\t\"a\": 2, \"b\": 3\n}\n", "json", `{"b":1,"a":2,"b":3}`},
		"white space inside of strings":      {js, 0, `{ "a b" : "c  d\" e" }`, "json", `{"a b":"c  d\" e"}`},
		"escapes":                            {js, 0, `{"a":"x\u0000y\ud800\n\\u0000"}`, "json", `{"a":"x\u0000y\ud800\n\\u0000"}`},
		"a scalar":                           {"text/json", 0, ` 12.50 `, "json", `12.50`},
		"structured without a content type":  {"", cloudevents.FlagModeStructured | cloudevents.FlagContentTypeAbsent, `[1, 2]`, "json", `[1,2]`},
		"DEL, C1 and line separators":        {js, 0, "\"\x7f\u0085\u2028\"", "json", "\"␡␦␦\""},
		"text":                               {"text/plain", 0, "\n\n first line\r\nsecond\tline\n", "text", "first line␍␊second␉line␊"},
		"quotes in text are nothing special": {"text/plain", 0, `a "b  c`, "text", `a "b  c`},
		"NUL and ESC in text":                {"text/plain", 0, "a\x00\x1b[1mb", "text", "a␀␛[1mb"},
		"XML as text":                        {"text/xml", 0, "<a>ü</a>", "text", "<a>ü</a>"},
		"XML of an application":              {"application/soap+xml; charset=utf-8", 0, "<a>ü</a>", "text", "<a>ü</a>"},
		"XML in UTF-16":                      {"application/xml", 0, "\xff\xfe<\x00", "binary", "binary, application/xml, 4 bytes, fffe3c00"},
		"YAML":                               {"application/x-yaml", 0, "a: 1\n", "text", "a: 1␊"},
		"a form":                             {"application/x-www-form-urlencoded", 0, "a=1&b=2", "text", "a=1&b=2"},
		"a picture of printable bytes":       {"image/png", 0, "no png", "binary", "binary, image/png, 6 bytes, 6e6f20706e67"},
		"text that nothing declares":         {"", cloudevents.FlagContentTypeAbsent, "plain ü", "text", "plain ü"},
		"malformed JSON":                     {js, invalid, `{"a": "tea`, "invalid", `{"a":"tea`},
		"JSON that is not UTF-8":             {js, invalid, "{\"a\":\"\xff\"}", "invalid", "{\"a\":\"\uFFFD\"}"},
		"a picture":                          {"image/png", 0, "\x89PNG\r\n\x1a\n0123456789abcdef", "binary", "binary, image/png, 24 bytes, 89504e470d0a1a0a3031323334353637…"},
		"bytes of no known type":             {"", cloudevents.FlagContentTypeAbsent, "\x00\x01", "binary", "binary, no content type, 2 bytes, 0001"},
		"nothing but white space":            {"text/plain", 0, " \n\t", "text", "white space only"},
		"empty":                              {js, 0, "", "empty", "empty data"},
	} {
		kind, summary := describe(c.contentType, c.flags, len(c.data), []byte(c.data))
		if kind != c.kind || summary != c.summary {
			t.Errorf("%s: got %s %q, want %s %q", name, kind, summary, c.kind, c.summary)
		}
	}
	if kind, summary := describe(js, 0, -1, nil); kind != "absent" || summary != "no data" {
		t.Errorf("absent: %s %q", kind, summary)
	}
}

func TestSummariesAreCutByCharacters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runes int
		more  bool
	}{"199": {199, false}, "200": {200, false}, "201": {201, true}, "5000": {5000, true}} {
		data := []byte(strings.Repeat("日", c.runes))
		_, summary := describe("text/plain", 0, len(data), data[:min(len(data), previewBytes)])
		want := strings.Repeat("日", min(c.runes, 200))
		if c.more {
			want = strings.Repeat("日", 199) + "…"
		}
		if summary != want {
			t.Errorf("%s characters: %d characters, ends in %q", name, utf8.RuneCountInString(summary), summary[len(summary)-3:])
		}
	}
	// The preview may end within a character, and within white space that says nothing.
	data := append([]byte(strings.Repeat(" ", previewBytes-2)+`"`), "日本"...)
	if kind, summary := describe("application/json", 0, len(data), data[:previewBytes]); kind != "json" || summary != `"…` {
		t.Errorf("cut within a character: %s %q", kind, summary)
	}
}

func TestAnySummaryIsOneShortLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 700).Draw(t, "data")
		size := len(data) + rapid.IntRange(0, 1).Draw(t, "more")
		contentType := rapid.SampledFrom([]string{"", "application/json", "text/plain", "image/png", "x\x01y"}).Draw(t, "type")
		_, summary := describe(contentType, cloudevents.Flags(rapid.IntRange(0, 15).Draw(t, "flags")), size, data)
		if utf8.RuneCountInString(summary) > 200 || !utf8.ValidString(summary) || summary == "" {
			t.Fatalf("%d characters, %q", utf8.RuneCountInString(summary), summary)
		}
		for _, r := range summary {
			if isControl(r) || r == 0x2028 || r == 0x2029 {
				t.Fatalf("holds %U", r)
			}
		}
	})
}
