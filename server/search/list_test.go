package search

import (
	"testing"
	"time"
)

func TestFiltersFindTheirEvents(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	at := func(minutes int) time.Time { return noon().Add(-time.Duration(minutes) * time.Minute) }
	st.add(
		sample{id: "a", at: at(1), kind: "order.paid", source: "/shop", subject: "o-1", severity: 3, data: jsonOf(map[string]any{"note": "Green tea, hot"})},
		sample{id: "b", at: at(2), kind: "order.lost", source: "/shop", severity: 6, data: jsonOf(map[string]any{"note": "green apples", "n": 42})},
		sample{id: "c", at: at(3), kind: "door.open", source: "/home", subject: "d-1", severity: 8, data: jsonOf(map[string]any{"ref": "order-77123456"})},
		sample{id: "d", at: at(4), kind: "door.open", source: "/home", subject: "d-2", data: []byte("plain tea words"), contentType: "text/plain"},
		sample{id: "e", at: at(5), kind: "blob", source: "/home", contentType: "image/png", data: []byte{0x89, 'P', 'N', 'G', 0}},
		sample{id: "f", at: at(60 * 30), kind: "order.paid", source: "/shop", data: jsonOf(map[string]any{"note": "yesterday's tea"})},
	)
	for name, c := range map[string]struct {
		want   string
		params []string
	}{
		"no filter is the last 24 hours":            {"a b c d e", nil},
		"one type":                                  {"c d", []string{"type", "door.open"}},
		"types are alternatives":                    {"b c d", []string{"type", "door.open", "type", "order.lost"}},
		"fields are ANDed":                          {"d", []string{"type", "door.open", "subject", "d-2"}},
		"an empty parameter is absent":              {"a b c d e", []string{"type", "", "q", ""}},
		"a negated type":                            {"a b e", []string{"type!", "door.open"}},
		"a negated subject keeps those without one": {"b d e", []string{"subject!", "o-1", "subject!", "d-1"}},
		"severity is at least":                      {"b c", []string{"severity", "error"}},
		"of several severities the lowest holds":    {"a b c", []string{"severity", "critical", "severity", "trace"}},
		"negated severity is below or none":         {"a d e", []string{"severity!", "error"}},
		"a word in any case":                        {"a d", []string{"q", "TEA"}},
		"words are ANDed":                           {"a", []string{"q", "tea green"}},
		"a number":                                  {"b", []string{"q", "42"}},
		"an identifier, whole":                      {"c", []string{"q", "order-77123456"}},
		"an identifier in its parts":                {"c", []string{"q", "77123456"}},
		"queries are alternatives":                  {"a b c", []string{"q", "green", "q", "77123456"}},
		"a negated word":                            {"b c e", []string{"q!", "tea"}},
		"a negated query is not all of its words":   {"b c d e", []string{"q!", "tea green"}},
		"a word of an attribute":                    {"c d", []string{"q", "door"}},
		"a word and a field":                        {"a", []string{"q", "tea", "source", "/shop"}},
		"an absent word":                            {"", []string{"q", "nowhere"}},
		"a longer window":                           {"a d f", []string{"q", "tea", "from", "-7d"}},
		"from is inclusive, until exclusive":        {"b c", []string{"from", "2026-11-30T11:57:00Z", "until", "2026-11-30T11:59:00Z"}},
		"until now":                                 {"a b", []string{"from", "-2m", "until", "now"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *st
			own.t = t
			own.expect(c.want, c.params...)
			own.expect(c.want, append([]string{"pageSize", "1"}, c.params...)...)
		})
	}
}
