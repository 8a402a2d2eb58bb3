package search

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"oriel/server/fault"
	"oriel/server/query"
)

// suggested is the suggestions in a line: kind:insert.
func (st *store) suggested(t *testing.T, text string, params ...string) (line string, s *Suggestions) {
	t.Helper()
	s, err := st.svc.Suggest(context.Background(), values(append([]string{"text", text}, params...)...))
	if err != nil {
		t.Fatalf("suggest %q: %v", text, err)
	}
	var out []string
	for _, i := range s.Items {
		out = append(out, i.Kind+"<"+i.Insert+">")
	}
	if len(out) > 20 {
		t.Errorf("%q: %d suggestions", text, len(out))
	}
	return strings.Join(out, " "), s
}

func TestWhatIsTypedIsCompleted(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.exec(`INSERT INTO dimension_value (dimension, value) VALUES ('type', 'home.alert'), ('type', 'home.Alarm'), ('type', 'shop.order'),
		('source', '/kitchen/oven'), ('room', 'Living Room'), ('room', 'Kitchen'), ('room', 'null'), ('tag', 'a"b'), ('subject', 'oven-2'),
		('extension', 'region'), ('extension', 'retry')`)
	st.exec(`INSERT INTO type_path (type, path, kinds) VALUES ('a', 'order.id', 1), ('b', 'order.id', 2), ('a', 'items[*].sku', 1), ('a', 'open', 12),
		('a', '"unit price"', 2), ('a', '*', 0)`)
	st.exec(`INSERT INTO term (word, version, hash) VALUES ('oven', 1, 1), ('over', 1, 2), ('open', 1, 3), ('data.open=true', 1, 4), ('uber', 1, 5)`)
	for text, want := range map[string]string{
		"typ":                "field<type:> field<datacontenttype:>",
		"type:":              "value<home.Alarm> value<home.alert> value<shop.order> value<*>",
		"type:home.a":        "value<home.alert> value<home.Alarm>",
		"type:ORDER":         "value<shop.order>",
		"-type:shop":         "value<shop.order>",
		"room:(Kitchen OR l": `value<"Living Room"> value<"null">`,
		`room:"l`:            `value<"Living Room"> value<"null">`,
		"room:nu":            `value<"null">`,
		"tag:a":              `value<"a\"b">`,
		"source=/ki":         "value</kitchen/oven>",
		"subject:oven":       "value<oven-2>",
		"severity>=err":      "value<error>",
		"sev":                "field<severity:>",
		"ext.re":             "field<ext.region:> field<ext.retry:>",
		"region":             "field<ext.region:>",
		"data.o":             "path<data.open:> path<data.order.id:>",
		"data.sku":           "path<data.items[*].sku:>",
		"sku":                "path<data.items[*].sku:>",
		"data.open:":         "value<false> value<null> value<true> value<*>",
		"data.open:t":        "value<true>",
		"ov":                 "word<oven> word<over>",
		"Üb":                 "word<uber>",
		`"ov`:                `word<"oven"> word<"over">`,
		"oven ":              "",
		"oven A":             "",
		"zzz":                "",
		"severity>":          "value<trace> value<debug> value<info> value<notice> value<warning> value<error> value<critical> value<emergency>",
		`severity>"err`:      "value<error>",
		`severity~`:          "",
		"data.open>":         "",
		"data.open >= ":      "",
		"severity >= err":    "value<error>",
		"data.open~":         "",
		"room<":              "",
		"room~nu":            `value<"null">`,
		`data."o`:            "path<data.open:> path<data.order.id:>",
		`data."u`:            `path<data."unit price":> path<data.items[*].sku:>`,
		`data."unit pr`:      `path<data."unit price":>`,
		`data.items[*]."s`:   "path<data.items[*].sku:>",
	} {
		got, s := st.suggested(t, text)
		if text == "oven " || text == "oven A" {
			if !strings.Contains(got, "operator<AND >") {
				t.Errorf("%s: no operator among %s", text, got)
			}
			continue
		}
		gotSet, wantSet := strings.Fields(strings.ReplaceAll(got, "> ", ">\n")), strings.Fields(strings.ReplaceAll(want, "> ", ">\n"))
		if got != want && (len(gotSet) != len(wantSet) || !strings.HasPrefix(text, "data.open") && got != want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if s.Until != len([]rune(text)) {
			t.Errorf("%s: replaces [%d, %d)", text, s.From, s.Until)
		}
	}
	if got, s := st.suggested(t, "type:ho AND x", "position", "7"); !strings.HasPrefix(got, "value<home.Alarm>") || s.From != 5 || s.Until != 7 {
		t.Errorf("in the middle: %s at %d to %d", got, s.From, s.Until)
	}
	// Every completion of a value is what the language reads again.
	for _, field := range []string{"type", "room", "tag", "severity"} {
		_, s := st.suggested(t, field+":")
		for _, i := range s.Items {
			if _, err := st.svc.List(t.Context(), values("q", field+":"+i.Insert)); err != nil {
				t.Errorf("%s:%s is not read: %v", field, i.Insert, err)
			}
		}
	}
	if _, err := st.svc.Suggest(t.Context(), values("text", "x", "position", "-1", "other", "y")); err == nil || len(fault.Of(err).Violations) != 2 {
		t.Errorf("two mistakes: %v", err)
	}
}

// Nothing that is stored has a U+0000, so that nothing stored is suggested where one is typed.
func TestWhatCannotBeStoredIsCompletedByNothingStored(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.exec(`INSERT INTO dimension_value (dimension, value) VALUES ('type', 'x'), ('room', 'x'), ('extension', 'x')`)
	for _, text := range []string{"\x00", "x\x00", "type:x\x00", "room:\x00", "data.\x00", "data.x\x00", "ext.\x00", "data.\"\x00\":", "data.\"\x00", "\"\x00", "\"x\x00", "type:\"\x00", "severity:\x00", "trace:\x00"} {
		got, _ := st.suggested(t, text)
		if got != "" && got != "value<*>" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// Queries are typed, and changed in their middle: whatever is taken of the suggestions, no mistake is where it stands.
func TestEverySuggestionIsReadWhereItIsInserted(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.exec(`INSERT INTO dimension_value (dimension, value) VALUES ('type', 'home.alert'), ('type', '!home'), ('type', 'h||'), ('source', '/h'), ('room', 'Hall 1'), ('room', 'null'),
		('room', '“h”'), ('room', '-h'), ('tag', 'a"b'), ('tag', '[1'), ('tag', 'a*'), ('subject', ''), ('extension', 'n')`)
	st.exec(`INSERT INTO type_path (type, path, kinds) VALUES ('a', 'n', 15), ('a', 'open', 12), ('a', '"a b"', 1), ('a', 'a[*]."h.n"', 3), ('a', '"a\"b"', 0)`)
	st.exec(`INSERT INTO term (word, version, hash) VALUES ('hall', 1, 1), ('and', 1, 2), ('n', 1, 3), ('open', 1, 4)`)
	tried := 0
	for _, text := range []string{
		"hall open OR NOT n AND -and", `type:home.alert -room:"Hall 1" tag:(a OR "a b" -x) room!=(null)`, "severity>=error severity:(info OR warn)", "data.n>5 data.n:null data.open:(true OR null)",
		`data."a b":x data.a[*]."h.n"<=7 -data."a\"b":*`, `ext.n>1 ext.n:x source=/h subject:""`, `type~home room~"all" ~"part" data.n~"1"`, `"hall op" (n OR (type:h room:n)) trace:4bf9*`, `room:h* "an"* op*`, "data.n >= 5 -severity <err ext.n> 7",
	} {
		runes := []rune(text)
		for at := range len(runes) + 1 {
			for _, whole := range []string{string(runes[:at]), text} {
				_, s := st.suggested(t, whole, "position", strconv.Itoa(at))
				for _, i := range s.Items {
					tried++
					readWhereItStands(t, st, whole, s, i)
				}
			}
		}
	}
	if tried < 2000 {
		t.Errorf("only %d suggestions were tried", tried)
	}
}

func readWhereItStands(t *testing.T, st *store, text string, s *Suggestions, i Suggestion) {
	t.Helper()
	runes := []rune(text)
	insert, rest := i.Insert, string(runes[s.Until:])
	switch {
	case strings.HasSuffix(insert, ":"): // it is to be gone on with
		insert, rest = insert+"*", ""
	case i.Kind == "operator":
		insert += "x "
	}
	completed := string(runes[:s.From]) + insert + rest
	_, violations := query.Parse(st.svc.schema, "q", completed)
	for _, v := range violations {
		at, err := strconv.Atoi(v.Metadata["position"])
		length, errLength := strconv.Atoi(v.Metadata["length"])
		if err != nil || errLength != nil {
			t.Fatalf("%s: %+v", completed, v)
		}
		if at-1 < s.From+len([]rune(insert)) && s.From < at-1+length && v.Message != "" && !opens(v, at-1, s.From) {
			t.Errorf("%s at %d is completed by %s: %s, which is refused: %s", text, s.From, i.Insert, completed, v.Message)
		}
	}
}

// opens says whether a mistake is a quote or parenthesis before a place that is not closed yet.
func opens(v fault.Violation, at, place int) bool {
	return at < place && strings.Contains(v.Message, "not closed")
}

func TestCompletionIsQuickAmongManyValues(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.exec(`INSERT INTO dimension_value SELECT 'subject', 'subject-' || i FROM generate_series(1, 30000) i`)
	st.exec(`INSERT INTO type_path SELECT 'type.' || t, 'a' || p || '.b', 1 FROM generate_series(1, 50) t, generate_series(1, 300) p`)
	st.exec(`VACUUM ANALYZE dimension_value, type_path`)
	for _, text := range []string{"subject:", "subject:subject-9", "subject:999", "subject:nothing", "data.", "data.a3", "b", "qqq"} {
		got, _ := st.suggested(t, text)
		if text == "data." && strings.Count(got, "path<") != 20 {
			t.Errorf("%s: %s", text, got)
		}
	}
	for name, c := range map[string]struct {
		sql, index string
		args       []any
	}{
		"values": {`SELECT value FROM dimension_value WHERE dimension = $1 AND value >= $2 AND value < $3 ORDER BY value LIMIT 20`, "dimension_value_pkey", []any{"subject", "s", "s" + lastRune}},
		"paths":  {`SELECT path FROM type_path WHERE path >= $1 AND path < $2 ORDER BY path LIMIT 1`, "type_path_path", []any{"a", "a" + lastRune}},
		"words":  {`SELECT DISTINCT word FROM term WHERE word >= $1 AND word < $2 ORDER BY word LIMIT 20`, "term_pkey", []any{"a", "a" + lastRune}},
	} {
		st.exec(`INSERT INTO term SELECT md5(i::text), 1, i FROM generate_series(1, 5000) i ON CONFLICT DO NOTHING`)
		if name == "words" {
			st.exec("ANALYZE term")
		}
		if plan := st.planned(t, c.sql, c.args); !strings.Contains(plan, c.index) {
			t.Errorf("%s: not by %s:\n%s", name, c.index, plan)
		}
	}
}

func BenchmarkSuggest(b *testing.B) {
	st := newStore(b)
	st.exec(`INSERT INTO dimension_value SELECT 'subject', 'subject-' || i FROM generate_series(1, 100000) i`)
	st.exec(`INSERT INTO type_path SELECT 'type.' || t, 'a' || p || '.b', 1 FROM generate_series(1, 300) t, generate_series(1, 300) p`)
	st.exec(`INSERT INTO term SELECT md5(i::text), 1, i FROM generate_series(1, 200000) i ON CONFLICT DO NOTHING`)
	st.exec(`VACUUM ANALYZE dimension_value, type_path, term`)
	for _, text := range []string{"subject:subject-9", "subject:nothing", "data.a3", "qqq", "a"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				if _, err := st.svc.Suggest(b.Context(), values("text", text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
