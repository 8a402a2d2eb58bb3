package search

import (
	"strings"
	"testing"
)

func TestWhatIsAWordAndWhatIsSyntax(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{ // words joined by |, or ! and the places refused
		"tea":                       "tea",
		"  tea \t green\n":          "green|tea",
		"tea tea":                   "tea",
		"order-77123456":            "order-77123456",
		"12:30":                     "12:30",
		"2026-11-30T12:00:00Z":      "2026-11-30T12:00:00Z",
		"http://x.test/a?b=c&d":     "http://x.test/a?b=c&d",
		"https://x.test:8443/y":     "https://x.test:8443/y",
		"urn:uuid:0-1":              "urn:uuid:0-1",
		"mailto:a@b.test":           "mailto:a@b.test",
		"a@b.test":                  "a@b.test",
		"10.0.0.1:9092":             "10.0.0.1:9092",
		"aa:bb:cc:00:11:22":         "aa:bb:cc:00:11:22",
		"fe80::1":                   "fe80::1",
		"std::vector":               "std::vector",
		`C:\logs\x`:                 `C:\logs\x`,
		"/var/log/x.log":            "/var/log/x.log",
		"Error:":                    "Error:",
		":8080":                     ":8080",
		"dGVzdA==":                  "dGVzdA==",
		"1.5":                       "1.5",
		"and or not":                "and|not|or",
		"ANDROID NOTE":              "ANDROID|NOTE",
		"tea - green":               "green|tea",
		"well-known co-op":          "co-op|well-known",
		"日本語":                       "日本語",
		"…":                         "!",
		`"green tea"`:               "!1!11",
		`say "hi"`:                  "!5",
		"(a":                        "!1",
		"f(x)":                      "!2",
		"pre*":                      "!4",
		"*":                         "!1",
		"type:order":                "!5",
		"häuser:x":                  "!7",
		"data.items[0].name:x":      "!19",
		"localhost:8080":            "!10",
		"tea type:order green":      "!9",
		"n>=5":                      "!2",
		"<5":                        "!1",
		"a->b":                      "!3",
		"severity=error":            "!9",
		"type!=x":                   "!6",
		"-tea":                      "!1",
		"--":                        "!1",
		"tea AND green OR NOT blue": "!5!15!18",
		"日本 OR tea":                 "!4",
	} {
		words, violations := parseWords("q", q)
		got := strings.Join(words, "|")
		if len(violations) > 0 {
			got = "!"
			var places []string
			for _, v := range violations {
				if v.Metadata["position"] != "" {
					places = append(places, v.Metadata["position"])
				}
				if v.Message == "" || v.Metadata["accepted"] == "" {
					t.Errorf("%q: the violation explains nothing: %+v", q, v)
				}
			}
			got += strings.Join(places, "!")
		}
		if got != want {
			t.Errorf("%q gave %q, want %q", q, got, want)
		}
	}
}
