package query

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"oriel/server/cloudevents"
)

// guide is the part of the guide to searching on the language.
func guide(t *testing.T) string {
	t.Helper()
	whole, err := os.ReadFile(filepath.Join("..", "..", "docs", "query.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, from, ok := strings.Cut(string(whole), "## The query language")
	part, _, okUntil := strings.Cut(from, "\n## ")
	if !ok || !okUntil {
		t.Fatal("the guide has no such part")
	}
	return part
}

// cells are the cells of the tables whose header begins with some text, row by row.
func cells(t *testing.T, text, header string) [][]string {
	t.Helper()
	_, table, ok := strings.Cut(text, "\n"+header)
	if !ok {
		t.Fatalf("there is no table of %s", header)
	}
	var rows [][]string
	for i, line := range strings.Split(table, "\n") {
		if i < 2 {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		var row []string
		for _, c := range strings.Split(strings.Trim(line, "|"), " |") {
			row = append(row, strings.TrimSpace(strings.TrimPrefix(c, "|")))
		}
		rows = append(rows, row)
	}
	return rows
}

func codes(cell string) []string {
	var out []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// guideEvent is the event that the guide's examples are judged against.
func guideEvent(t *testing.T, text string) *Candidate {
	t.Helper()
	_, from, ok := strings.Cut(text, "```json\n")
	body, _, okEnd := strings.Cut(from, "```")
	if !ok || !okEnd {
		t.Fatal("the guide has no event")
	}
	e, err := cloudevents.DecodeStructured("application/cloudevents+json", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	c := &Candidate{
		Source: e.Source, ID: e.ID, Type: e.Type, Subject: e.Subject, ContentType: e.DataContentType, Flags: cloudevents.ModeFlags(e.Mode), Data: e.Data,
		Tags: []string{"hot", "blue tea"}, Facets: []string{"device=oven-2", "room=Kitchen"},
	}
	for _, x := range e.Extensions {
		c.Attributes = append(c.Attributes, x.Name, "", x.Value)
		switch x.Name {
		case "severity":
			c.Severity, _ = SeverityRank(x.Value)
		case "traceparent":
			if c.TraceID, err = hex.DecodeString(strings.Split(x.Value, "-")[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

func TestTheExamplesOfTheGuide(t *testing.T) {
	t.Parallel()
	text := guide(t)
	event := guideEvent(t, text)
	rows := cells(t, text, "| | finds it | does not |")
	if len(rows) < 20 {
		t.Fatalf("only %d rows were read", len(rows))
	}
	for _, row := range rows {
		finds, not := codes(row[1]), codes(row[2])
		if len(row) != 3 || len(finds)+len(not) < 2 {
			t.Errorf("no row of examples: %q", row)
			continue
		}
		for _, q := range finds {
			if !judged(t, q, event) {
				t.Errorf("%s: %s does not find it", row[0], q)
			}
		}
		for _, q := range not {
			if judged(t, q, event) {
				t.Errorf("%s: %s finds it", row[0], q)
			}
		}
	}
}

func TestTheMistakesOfTheGuide(t *testing.T) {
	t.Parallel()
	rows := cells(t, guide(t), "| query | reason | position | suggestions |")
	if len(rows) < 10 {
		t.Fatalf("only %d rows were read", len(rows))
	}
	for _, row := range rows {
		q := codes(row[0])[0]
		_, violations := Parse(testSchema(), "q", q)
		if len(violations) != 1 {
			t.Errorf("%s: %v", q, violations)
			continue
		}
		m := violations[0].Metadata
		if violations[0].Reason != codes(row[1])[0] || m["position"] != row[2] || m["suggestions"] != strings.Join(codes(row[3]), ", ") {
			t.Errorf("%s: %s at %s, suggested %s", q, violations[0].Reason, m["position"], m["suggestions"])
		}
	}
}

func TestWhatTheGuideCallsWordsAreWords(t *testing.T) {
	t.Parallel()
	_, from, _ := strings.Cut(guide(t), "**Words with marks in them**")
	part, _, ok := strings.Cut(from, "What begins with")
	if !ok {
		t.Fatal("the guide has no such part")
	}
	n := 0
	for _, q := range codes(part) {
		if q == "=" || q == "urn:" || q == "mailto:" || q == "tel:" || q == "arn:" {
			continue
		}
		n++
		if got, violations := Parse(testSchema(), "q", q); len(violations) > 0 || got != Node(Word{q}) {
			t.Errorf("%s is %#v: %v", q, got, violations)
		}
	}
	if n < 10 {
		t.Errorf("only %d words were read", n)
	}
}
