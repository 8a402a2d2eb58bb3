package search

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"oriel/server/fault"
	"oriel/server/lexicon"
)

const acceptedQuery = "words separated by spaces, all of which must occur; filter fields by their parameters, such as type=x or severity=error"

// What a chunk must look like to be read as a field before an operator.
var (
	fieldName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_.\-\[\]]*$`)
	hexGroups = regexp.MustCompile(`^[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){2,}$`)
)

// parseWords splits one q into its distinct words, sorted: they are all ANDed. Whatever will mean more
// than words once there is a query language is refused, each place by its character position, so that
// no query silently changes its meaning later. docs/query.md states the rules.
func parseWords(name, q string) ([]string, []fault.Violation) {
	var (
		out        []string
		violations []fault.Violation
	)
	for _, c := range chunks(q) {
		if what, at := syntaxOf(c.text); what != "" {
			position := c.position + utf8.RuneCountInString(c.text[:at])
			violations = append(violations, fault.Violation{
				Reason: fault.ReasonUnsupportedQuery,
				Message: fmt.Sprintf("%s at character %d of %s is query syntax (%s), which is not supported yet.",
					quote(c.text), position, name, what),
				Metadata: fault.Pairs("attribute", name, "value", shown(c.text),
					"position", strconv.Itoa(position), "accepted", acceptedQuery),
			})
			continue
		}
		// Emptiness is a matter of folding, not of the hash key.
		if !lexicon.Compile(lexicon.Key{}, c.text).Empty {
			out = append(out, c.text)
		}
	}
	if len(out) == 0 && len(violations) == 0 {
		violations = append(violations, fault.Violation{
			Reason:   fault.ReasonEmptyQuery,
			Message:  "Nothing is left of " + name + " to look for: " + quote(q) + " has no letters and no digits.",
			Metadata: fault.Pairs("attribute", name, "value", shown(q), "accepted", acceptedQuery),
		})
	}
	slices.Sort(out)
	return slices.Compact(out), violations
}

type chunkOf struct {
	text     string
	position int // of its first character, from 1
}

// chunks splits at white space.
func chunks(q string) []chunkOf {
	var out []chunkOf
	start, at, position := -1, 0, 0
	for i, r := range q {
		position++
		switch {
		case unicode.IsSpace(r):
			if start >= 0 {
				out = append(out, chunkOf{q[start:i], at})
				start = -1
			}
		case start < 0:
			start, at = i, position
		}
	}
	if start >= 0 {
		out = append(out, chunkOf{q[start:], at})
	}
	return out
}

// syntaxOf says what syntax a chunk is, and at which byte; "" where it is a word.
func syntaxOf(chunk string) (what string, at int) {
	switch chunk {
	case "AND", "OR", "NOT":
		return "an operator", 0
	}
	if i := strings.IndexAny(chunk, `"()*<>`); i >= 0 {
		return markSyntax(chunk[i]), i
	}
	if len(chunk) > 1 && chunk[0] == '-' {
		return "an exclusion", 0
	}
	i := strings.IndexAny(chunk, ":=")
	if i <= 0 || i == len(chunk)-1 {
		return "", 0 // no operator, none before it, or none after it, such as "Error:"
	}
	before, after := chunk[:i], chunk[i+1:]
	if chunk[i] == '=' {
		before = strings.TrimSuffix(before, "!")
		if strings.Trim(after, "=") == "" { // base64's padding
			return "", 0
		}
		if fieldName.MatchString(before) {
			return "a comparison", i
		}
		return "", 0
	}
	switch {
	case !fieldName.MatchString(before): // 12:30, 10.0.0.1:9092, /a:b
	case strings.HasPrefix(after, "//"): // a URL
	case strings.HasPrefix(after, ":"): // std::vector
	case strings.HasPrefix(after, `\`): // C:\logs
	case hexGroups.MatchString(chunk): // a MAC or IPv6 address
	case plainURI(before):
	default:
		return "a field and its value", i
	}
	return "", 0
}

func markSyntax(mark byte) string {
	switch mark {
	case '"':
		return "a phrase in quotes"
	case '(', ')':
		return "grouping by parentheses"
	case '*':
		return "a prefix or wildcard"
	default:
		return "a comparison"
	}
}

// plainURI names the schemes whose URIs have no // and that no field will be called.
func plainURI(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "urn", "mailto", "tel", "arn":
		return true
	default:
		return false
	}
}
