package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"oriel/server/db"
	"oriel/server/lexicon"
	"oriel/server/query"
)

const (
	maxSuggestions = 20
	// suggestWithin bounds the search for parts of values: who types does not wait.
	suggestWithin = 25 * time.Millisecond
	// suggestAmong is how many values of a dimension, or paths, are looked through for a part.
	suggestAmong = 4_000
)

// Suggest answers GET /v1/events:suggest: text, position (in characters, at the end by default).
func (s *Service) Suggest(ctx context.Context, params url.Values) (*Suggestions, error) {
	d := newDecoder(params)
	d.unknown(func(name string) bool { return name == "text" || name == "position" }, "text and position, each at most once")
	text := d.Single("text")
	if len(text) > query.MaxQuery {
		d.Invalid("text", text, "at most 4096 bytes", "The parameter text is longer than a query can be.")
	}
	at := d.number("position", 0, query.MaxQuery, query.MaxQuery)
	if err := d.err(); err != nil {
		return nil, err
	}
	c := suggester{schema: s.schema, cursor: query.At(s.schema, text, at), limits: s.limits}
	err := s.run(ctx, "suggest", nil, func(ctx context.Context, ses *session) error {
		c.ses, c.queries = ses, db.New(ses)
		return c.run(ctx)
	})
	if err != nil {
		return nil, err
	}
	items := c.ranked()
	if beginsPart(text, c.cursor.Until) {
		for i, item := range items {
			if !strings.HasSuffix(item.Insert, ":") && !strings.HasSuffix(item.Insert, " ") {
				items[i].Insert += " " // what follows stays apart
			}
		}
	}
	return &Suggestions{From: c.cursor.From, Until: c.cursor.Until, Items: items}, nil
}

// beginsPart says whether a part of a query goes on at a character, so that what is written before it would join it.
func beginsPart(text string, at int) bool {
	rest := []rune(text)[at:]
	return len(rest) > 0 && !unicode.IsSpace(rest[0]) && rest[0] != ')'
}

// suggester collects what may stand at a cursor.
type suggester struct {
	schema  query.Schema
	cursor  query.Cursor
	limits  limits
	ses     *session
	queries *db.Queries
	items   []rankedSuggestion
}

// rankedSuggestion is in the order of group, then of how it fits what is typed, then as it was found.
type rankedSuggestion struct {
	Suggestion
	group, fit int
}

// Groups of suggestions, in the order that they are shown in.
const (
	groupNear = iota // fields, values
	groupFar         // paths, words
	groupJoin        // operators
)

func (c *suggester) run(ctx context.Context) error {
	switch f := c.cursor.Field; {
	case f == nil && c.cursor.Quoted:
		return c.words(ctx)
	case f == nil:
		c.operators()
		return errors.Join(c.fields(ctx), c.words(ctx))
	default:
		return c.values(ctx, *f)
	}
}

// ranked is the best of what was found.
func (c *suggester) ranked() []Suggestion {
	slices.SortStableFunc(c.items, func(a, b rankedSuggestion) int {
		return cmp.Or(cmp.Compare(a.fit, b.fit), cmp.Compare(a.group, b.group))
	})
	var out []Suggestion
	for _, i := range c.items {
		same := func(o Suggestion) bool { return o.Kind == i.Kind && o.Insert == i.Insert }
		if len(out) < maxSuggestions && i.Insert != "" && !slices.ContainsFunc(out, same) {
			out = append(out, i.Suggestion)
		}
	}
	return out
}

// offer adds what begins with the text that is typed, or else has it as a part; without regard to case.
func (c *suggester) offer(group int, typed, name string, s Suggestion) {
	fit := 0
	switch lower := strings.ToLower(name); {
	case strings.HasPrefix(name, typed):
	case strings.HasPrefix(lower, strings.ToLower(typed)):
		fit = 1
	case strings.Contains(lower, strings.ToLower(typed)):
		fit = 2
	default:
		return
	}
	c.items = append(c.items, rankedSuggestion{s, group, fit})
}

// fields offers names of fields, of extensions and of paths of the data.
func (c *suggester) fields(ctx context.Context) error {
	for _, f := range c.builtIn() {
		detail := "attribute"
		switch f.Kind {
		case query.Facet:
			detail = "facet"
		case query.Severity:
			detail = "trace to emergency"
		case query.Trace:
			detail = "trace id"
		default:
		}
		c.offer(groupNear, c.cursor.Text, f.String(), Suggestion{Kind: "field", Text: f.String(), Insert: f.String() + ":", Detail: detail})
	}
	name := c.cursor.Text
	if name == "" {
		return nil
	}
	inner := strings.TrimPrefix(name, "ext.")
	extensions, err := c.dimension(ctx, "extension", inner)
	if err != nil {
		return err
	}
	for _, e := range extensions {
		f := query.Field{Kind: query.Extension, Name: e}
		c.offer(groupFar, inner, e, Suggestion{Kind: "field", Text: f.String(), Insert: f.String() + ":", Detail: "extension"})
	}
	if inner = name; strings.HasPrefix(name, "data.") || strings.HasPrefix(name, "data[") {
		inner = strings.TrimPrefix(strings.TrimPrefix(name, "data"), ".")
	}
	inner = lexicon.AnyElement(inner) // as paths are listed
	err = c.offerPaths(ctx, inner)
	if i := strings.LastIndexByte(inner, '"'); i >= 0 && !strings.ContainsAny(inner[i+1:], ` .[]\`) {
		err = errors.Join(err, c.offerPaths(ctx, inner[:i]+inner[i+1:])) // in quotes that it does not need
	}
	return err
}

// offerPaths offers paths of the data that what is typed of one fits.
func (c *suggester) offerPaths(ctx context.Context, typed string) error {
	paths, err := c.paths(ctx, typed)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if f := (query.Field{Kind: query.Data, Name: p.Path}); query.FormatField(f) != "" {
			c.offer(groupFar, typed, p.Path, Suggestion{Kind: "path", Text: f.String(), Insert: f.String() + ":", Detail: strings.Join(kindNames(p.Kinds), ", ")})
		}
	}
	return nil
}

func (c *suggester) builtIn() []query.Field {
	var out []query.Field
	for _, name := range []string{"type", "source", "subject"} {
		out = append(out, query.Field{Kind: query.Attribute, Name: name})
	}
	out = append(out, query.Field{Kind: query.Severity})
	for _, name := range c.schema.Facets {
		out = append(out, query.Field{Kind: query.Facet, Name: name})
	}
	for _, name := range []string{"id", "datacontenttype", "dataschema"} {
		out = append(out, query.Field{Kind: query.Attribute, Name: name})
	}
	return append(out, query.Field{Kind: query.Trace})
}

// operators offers what joins conditions.
func (c *suggester) operators() {
	for _, o := range []struct{ name, detail string }{{"AND", "both hold"}, {"OR", "either holds"}, {"NOT", "it does not hold"}} {
		if c.cursor.Joins || o.name == "NOT" {
			if strings.HasPrefix(o.name, c.cursor.Text) {
				c.items = append(c.items, rankedSuggestion{Suggestion{Kind: "operator", Text: o.name, Insert: o.name + " ", Detail: o.detail}, groupJoin, 0})
			}
		}
	}
}

// words offers words of events that begin so.
func (c *suggester) words(ctx context.Context) error {
	text := seek(c.cursor.Text).text
	if i := strings.LastIndexAny(text, " "); i >= 0 {
		return nil // of a phrase, whose other words are not replaced one by one
	}
	if text == "" || !stored(text) {
		return nil
	}
	words, err := c.queries.WordsFrom(ctx, db.WordsFromParams{First: text, Beyond: text + lastRune, Most: maxSuggestions})
	if err != nil {
		return fmt.Errorf("list words: %w", err)
	}
	for _, w := range words {
		insert := query.FormatWord(w)
		if c.cursor.Quoted {
			insert = `"` + w + `"`
		}
		c.items = append(c.items, rankedSuggestion{Suggestion{Kind: "word", Text: w, Insert: insert}, groupFar, 0})
	}
	return nil
}

// lastRune stands behind all that goes on from a prefix.
const lastRune = "\U0010ffff"

// values offers the values that a field has had.
func (c *suggester) values(ctx context.Context, f query.Field) error {
	compared := strings.HasPrefix(c.cursor.Op, "<") || strings.HasPrefix(c.cursor.Op, ">")
	part := c.cursor.Op == "~"
	if f.Kind == query.Severity && part || f.Kind != query.Severity && compared {
		return nil // a severity has no parts, and numbers are not listed
	}
	value := func(v, detail string) {
		insert := query.FormatValue(f, v)
		if c.cursor.Quoted && !compared && insert[0] != '"' {
			insert = `"` + insert + `"`
		}
		c.offer(groupNear, c.cursor.Text, v, Suggestion{Kind: "value", Text: v, Insert: insert, Detail: detail})
	}
	written := func(text, detail string) {
		if !c.cursor.Quoted && !compared && !part {
			c.offer(groupFar, c.cursor.Text, text, Suggestion{Kind: "value", Text: text, Insert: text, Detail: detail})
		}
	}
	switch {
	case f.Kind == query.Severity:
		for rank := int16(1); query.SeverityName(rank) != ""; rank++ {
			value(query.SeverityName(rank), "")
		}
	case f.Kind == query.Facet, f.Kind == query.Attribute && facetable(f):
		values, err := c.dimension(ctx, f.Name, c.cursor.Text)
		if err != nil {
			return err
		}
		for _, v := range values {
			value(v, "")
		}
	case f.Kind == query.Data && stored(f.Name):
		kinds, err := c.queries.KindsOfPath(ctx, f.Name)
		if err != nil {
			return fmt.Errorf("look up the kinds of a path: %w", err)
		}
		for _, kind := range kindNames(kinds) {
			switch kind {
			case "boolean":
				written("true", kind)
				written("false", kind)
			case "null":
				written("null", "null itself")
			}
		}
	}
	written("*", "any value")
	return nil
}

// stored says whether a text can be part of what is stored: PostgreSQL has no U+0000.
func stored(text string) bool { return !strings.Contains(text, "\x00") }

// dimension is values that begin with the text, and where those are few, values that have it as a part.
func (c *suggester) dimension(ctx context.Context, dimension, text string) ([]string, error) {
	if !stored(text) {
		return nil, nil
	}
	values, err := c.queries.ValuesFrom(ctx, db.ValuesFromParams{Dimension: dimension, First: text, Beyond: text + lastRune, Most: maxSuggestions})
	if err != nil {
		return nil, fmt.Errorf("list values: %w", err)
	}
	if text == "" || len(values) == maxSuggestions {
		return values, nil
	}
	err = c.ses.try(ctx, suggestWithin, c.limits.statement, func() error {
		parts, err := c.queries.ValuesWith(ctx, db.ValuesWithParams{Dimension: dimension, Part: text, Among: suggestAmong, Most: maxSuggestions})
		values = append(values, parts...)
		return err
	})
	if err != nil && !cancelled(err) {
		return nil, fmt.Errorf("look for values: %w", err)
	}
	return values, nil
}

// paths is paths of the data like values are.
func (c *suggester) paths(ctx context.Context, text string) ([]db.PathsFromRow, error) {
	if !stored(text) {
		return nil, nil
	}
	paths, err := c.queries.PathsFrom(ctx, db.PathsFromParams{First: text, Beyond: text + lastRune, Most: maxSuggestions})
	if err != nil {
		return nil, fmt.Errorf("list paths: %w", err)
	}
	if text == "" || len(paths) == maxSuggestions {
		return paths, nil
	}
	err = c.ses.try(ctx, suggestWithin, c.limits.statement, func() error {
		parts, err := c.queries.PathsWith(ctx, db.PathsWithParams{Part: text, Among: suggestAmong, Most: maxSuggestions})
		for _, p := range parts {
			paths = append(paths, db.PathsFromRow(p))
		}
		return err
	})
	if err != nil && !cancelled(err) {
		return nil, fmt.Errorf("look for paths: %w", err)
	}
	return paths, nil
}
