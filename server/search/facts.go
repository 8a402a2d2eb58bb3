package search

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"oriel/server/db"
	"oriel/server/fault"
	"oriel/server/lexicon"
	"oriel/server/query"
)

// facts is what the indexes know of a filter's conditions, under every live version of the lexicon.
type facts struct {
	keys     []lexicon.Key
	reserved []int64 // lexemes of rows over the bound, one a version
	terms    map[query.Node]term
}

// clause is one thing that a matching row carries: one of the lexemes in the row, or one of the keys in
// the index of identifiers.
type clause struct{ lexemes, keys []int64 }

// term is what a row that fulfils a condition must have.
type term struct {
	clauses []clause
	exact   bool     // the clauses alone decide, but for rows with a reserved lexeme
	types   []string // the row is of one of these types, where narrowed
	narrow  bool
}

// loadFacts asks the database what the conditions compile to.
func (s *Service) loadFacts(ctx context.Context, q db.DBTX, where query.Node) (*facts, error) {
	f := &facts{terms: map[query.Node]term{}}
	var leaves []query.Node
	query.Walk(where, func(n query.Node) {
		switch n.(type) {
		case query.And, query.Or, query.Not:
		default:
			if _, ok := f.terms[n]; !ok {
				f.terms[n] = term{}
				leaves = append(leaves, n)
			}
		}
	})
	if len(leaves) == 0 {
		return f, nil
	}
	raw, err := db.New(q).LiveLexiconKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read lexicon versions: %w", err)
	}
	keys := make([]lexicon.Key, len(raw))
	for i, k := range raw {
		copy(keys[i][:], k)
	}
	f.compile(keys, leaves)
	for _, n := range leaves {
		t := f.terms[n]
		if err := s.narrow(ctx, q, n, &t); err != nil {
			return nil, err
		}
		if p, ok := n.(query.Prefix); ok && p.Field.Kind == query.AnyField {
			if err := s.expand(ctx, q, p, &t); err != nil {
				return nil, err
			}
		}
		f.terms[n] = t
	}
	return f, nil
}

// compile fills in what the lexicon alone knows.
func (f *facts) compile(keys []lexicon.Key, leaves []query.Node) {
	f.keys = keys
	for _, k := range keys {
		f.reserved = append(f.reserved, lexicon.Reserved(k))
	}
	for _, n := range leaves {
		f.terms[n] = f.merge(func(k lexicon.Key) ([]clause, bool) { return clausesOf(k, n) })
	}
}

// worded says whether words alone decide a condition: of rows over the bound they do not.
func (f *facts) worded() bool {
	for _, t := range f.terms {
		if t.exact {
			return true
		}
	}
	return false
}

// merge makes one condition of those of the versions. A row is of one version and hashes of different
// versions are different, so a row that fulfils each merged clause fulfils all of its own version's,
// provided that every version has the same number of clauses.
func (f *facts) merge(of func(lexicon.Key) ([]clause, bool)) term {
	t := term{exact: true}
	for i, k := range f.keys {
		clauses, exact := of(k)
		if i == 0 {
			t.clauses = make([]clause, len(clauses))
		}
		t.exact = t.exact && exact && len(clauses) == len(t.clauses)
		t.clauses = t.clauses[:min(len(clauses), len(t.clauses))]
		for c := range t.clauses {
			t.clauses[c].lexemes = append(t.clauses[c].lexemes, clauses[c].lexemes...)
			t.clauses[c].keys = append(t.clauses[c].keys, clauses[c].keys...)
		}
	}
	t.exact = t.exact && len(t.clauses) > 0
	for _, c := range t.clauses {
		slices.Sort(c.lexemes)
		slices.Sort(c.keys)
	}
	return t
}

// clausesOf is what the lexicon knows of a condition under one key; exact is about words alone.
func clausesOf(k lexicon.Key, n query.Node) (clauses []clause, exact bool) {
	switch n := n.(type) {
	case query.Word:
		return wordClauses(k, n.Text)
	case query.Prefix:
		if n.Field.Kind == query.AnyField {
			for _, c := range lexicon.CompileWhole(k, n.Text) {
				clauses = append(clauses, clauseOf(c))
			}
		}
	case query.Equal:
		switch f := n.Field; {
		case n.Value == "":
		case f.Kind == query.Facet, f == idField(): // a value of the event, whose words it has
			clauses, _ = wordClauses(k, n.Value)
		case f.Kind == query.Extension && !isCore(f.Name):
			return []clause{clauseOf(lexicon.CompileAttribute(k, f.Name, n.Value))}, false
		case f.Kind == query.Trace:
			return []clause{clauseOf(lexicon.CompileAttribute(k, "trace", n.Value))}, false
		case f.Kind == query.Data:
			either, err := lexicon.CompileValue(k, f.Name, n.Value)
			if err == nil && len(either) > 0 {
				return []clause{clauseOf(either...)}, false
			}
		}
	}
	return clauses, false
}

// idField is the attribute that has no index of its own.
func idField() query.Field { return query.Field{Kind: query.Attribute, Name: "id"} }

// isCore tells the attributes that the lexicon has no name=value of.
func isCore(name string) bool {
	switch name {
	case "type", "source", "subject", "id", "time", "datacontenttype", "dataschema", "specversion":
		return true
	default:
		return false
	}
}

func wordClauses(k lexicon.Key, text string) (clauses []clause, exact bool) {
	w := lexicon.Compile(k, text)
	for _, c := range w.Conditions {
		clauses = append(clauses, clauseOf(c))
	}
	if len(w.Any) > 0 {
		clauses = append(clauses, clauseOf(w.Any...))
	}
	return clauses, w.Exact
}

func clauseOf(either ...lexicon.Condition) (c clause) {
	for _, e := range either {
		if e.Vocabulary {
			c.lexemes = append(c.lexemes, e.Hash)
		} else {
			c.keys = append(c.keys, e.Hash)
		}
	}
	return c
}

// identity is the key of a source and id together.
func (f *facts) identity(source, id string) clause {
	var c clause
	for _, k := range f.keys {
		c.keys = append(c.keys, lexicon.Identity(k, source, id).Hash)
	}
	return c
}

// Kinds that a condition on a payload path can hold for.
const (
	anyKind    = lexicon.KindString | lexicon.KindNumber | lexicon.KindBoolean | lexicon.KindNull | lexicon.KindObject | lexicon.KindArray | lexicon.KindEmptyString
	scalarKind = lexicon.KindString | lexicon.KindNumber | lexicon.KindBoolean | lexicon.KindNull
)

// pathOf is the payload path that a condition is about, and the kinds of values there that it may hold for.
func pathOf(n query.Node) (path string, kinds int16) {
	var f query.Field
	switch n := n.(type) {
	case query.Equal:
		if f = n.Field; n.Value == "" {
			kinds = lexicon.KindEmptyString
		}
	case query.Exists:
		f, kinds = n.Field, anyKind
	case query.Null:
		f, kinds = n.Field, lexicon.KindNull
	case query.Compare:
		f, kinds = n.Field, lexicon.KindNumber
	case query.Prefix:
		f, kinds = n.Field, scalarKind
	case query.Contains:
		f, kinds = n.Field, scalarKind
	}
	if f.Kind != query.Data || f.Name == "" { // objects are not noted as values of the data itself
		return "", 0
	}
	return lexicon.AnyElement(f.Name), kinds
}

// narrow finds the types whose events can fulfil a condition on a payload path. Paths that are not listed
// narrow nothing.
func (s *Service) narrow(ctx context.Context, q db.DBTX, n query.Node, t *term) error {
	path, kinds := pathOf(n)
	if kinds == 0 || !lexicon.ListedPath(path) {
		return nil
	}
	types, err := db.New(q).TypesOfPath(ctx, db.TypesOfPathParams{Path: path, Kinds: kinds, Most: int32(s.limits.types + 1)})
	if err != nil {
		return fmt.Errorf("read the types that have a path: %w", err)
	}
	if len(types) > s.limits.types {
		return nil
	}
	t.types, t.narrow = types, true
	return nil
}

// expand finds the words that a prefix stands for.
func (s *Service) expand(ctx context.Context, q db.DBTX, p query.Prefix, t *term) error {
	low, ok := lexicon.CompileBeginning(p.Text).Term()
	if !ok {
		return nil
	}
	hashes, err := db.New(q).TermsWithPrefix(ctx, db.TermsWithPrefixParams{
		Low: low, High: low + "\U0010FFFF", Most: int32(s.limits.expansions + 1),
	})
	if err != nil {
		return fmt.Errorf("read the words of a prefix: %w", err)
	}
	if len(hashes) > s.limits.expansions {
		return tooManyWords(p.Text, s.limits.expansions)
	}
	slices.Sort(hashes)
	t.clauses = append(t.clauses, clause{lexemes: hashes})
	return nil
}

func tooManyWords(prefix string, limit int) error {
	return fault.New(fault.InvalidArgument, fault.ReasonPrefixTooShort,
		fmt.Sprintf("More than %d words begin with %s. Write more of the word.", limit, query.Quote(prefix)),
		"attribute", "q", "value", query.Shown(prefix), "limit", fmt.Sprint(limit))
}

// traceID reads what a trace id is compared with.
func traceID(text string) ([]byte, bool) {
	id, err := hex.DecodeString(text)
	return id, err == nil && len(id) == 16 && strings.ToLower(text) == text
}
