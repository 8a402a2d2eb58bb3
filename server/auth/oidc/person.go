package oidc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostName  = 200 // bytes
	mostEmail = 254
)

// clean is text for one line: no control and no invisible formatting characters, which could make one
// person's name look like another's, and no more than most bytes.
func clean(text string, most int) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) {
			return -1
		}
		return r
	}, text))
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return strings.TrimSpace(text[:most])
}

// called is how a person is called by the first of the claims that says it; empty where none does.
func called(all ...claims) string {
	for _, c := range all {
		for _, name := range []string{"name", "preferred_username", "email"} {
			if text, ok := c[name].(string); ok {
				if text = clean(text, mostName); text != "" {
					return text
				}
			}
		}
	}
	return ""
}

func emailOf(all ...claims) string {
	for _, c := range all {
		if text, ok := c["email"].(string); ok {
			if text = clean(text, mostEmail); text != "" {
				return text
			}
		}
	}
	return ""
}
