package search

import (
	"context"
	"fmt"
	"slices"

	"oriel/server/db"
	"oriel/server/lexicon"
)

// vocabulary is the words of a filter under every live version of the lexicon.
type vocabulary struct {
	words    map[string]term
	reserved []int64 // lexemes of rows over the bound, one a version
}

// term is what a row that matches a word must carry.
type term struct {
	word lexicon.Word
	// groups: the row carries at least one hash of each group. Empty where some live version knows
	// the word as identifiers only: nothing in the row tells then.
	groups [][]int64
	exact  bool // the groups alone decide, but for rows with a reserved lexeme
}

// loadVocabulary compiles the words under the versions that rows may carry now.
func loadVocabulary(ctx context.Context, q db.DBTX, ws []string) (*vocabulary, error) {
	if len(ws) == 0 {
		return &vocabulary{}, nil
	}
	raw, err := db.New(q).LiveLexiconKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("read lexicon versions: %w", err)
	}
	keys := make([]lexicon.Key, len(raw))
	for i, k := range raw {
		copy(keys[i][:], k)
	}
	return newVocabulary(keys, ws), nil
}

func newVocabulary(keys []lexicon.Key, ws []string) *vocabulary {
	v := &vocabulary{words: make(map[string]term, len(ws))}
	for _, k := range keys {
		v.reserved = append(v.reserved, lexicon.Reserved(k))
	}
	for _, w := range ws {
		v.words[w] = newTerm(keys, w)
	}
	return v
}

// newTerm merges a word's conditions over the versions. A row is of one version and hashes of
// different versions are different, so a row that carries one hash of each merged group carries all of
// its own version's, provided that every version has the same number of groups.
func newTerm(keys []lexicon.Key, text string) term {
	t := term{word: lexicon.Compile(lexicon.Key{}, text), exact: true}
	for i, k := range keys {
		groups, exact := groupsOf(lexicon.Compile(k, text))
		if i == 0 {
			t.groups = make([][]int64, len(groups))
		}
		t.exact = t.exact && exact && len(groups) == len(t.groups)
		t.groups = t.groups[:min(len(groups), len(t.groups))]
		for g := range t.groups {
			t.groups[g] = append(t.groups[g], groups[g]...)
		}
	}
	if len(t.groups) == 0 {
		t.exact = false
	}
	for g := range t.groups {
		slices.Sort(t.groups[g])
	}
	return t
}

// groupsOf is a word's conditions as alternatives, each of which a matching row must meet. Identifiers
// are no part of the lexemes and are left to verification.
func groupsOf(w lexicon.Word) (groups [][]int64, exact bool) {
	exact = w.Exact
	for _, c := range w.Conditions {
		if c.Vocabulary {
			groups = append(groups, []int64{c.Hash})
		} else {
			exact = false
		}
	}
	var alternatives []int64
	for _, c := range w.Any {
		if !c.Vocabulary {
			return groups, false
		}
		alternatives = append(alternatives, c.Hash)
	}
	if len(alternatives) > 0 {
		groups = append(groups, alternatives)
	}
	return groups, exact
}
