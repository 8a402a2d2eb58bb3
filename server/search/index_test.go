package search

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"oriel/server/block"
	"oriel/server/lexicon"
)

// index is what the consumer writes beside the rows of some samples.
type index struct {
	terms  map[lexicon.Term]bool
	paths  map[string]map[string]int16
	blocks map[blockID][]block.Row
}

// indexed notes what the consumer would index of a sample, and answers its lexemes.
func (st *store) indexed(s *sample, out *lexicon.Output) []int64 {
	for _, t := range out.NewTerms {
		st.index.terms[t] = true
	}
	if st.index.paths[s.kind] == nil {
		st.index.paths[s.kind] = map[string]int16{}
	}
	for _, p := range out.NewPaths {
		st.index.paths[s.kind][p.Path] |= p.Kinds
	}
	lexemes, keys := slices.Clone(out.Lexemes), slices.Clone(out.Identifiers)
	if s.over {
		lexemes = []int64{lexicon.Reserved(st.key)}
		keys = []uint64{uint64(lexicon.Reserved(st.key)), uint64(lexicon.Identity(st.key, s.source, s.id).Hash)}
	}
	day := s.at.UTC().Truncate(oneDay)
	id := blockID{day: day, log: s.log, partition: s.partition, version: lexicon.Version, fromCommit: s.commit}
	st.index.blocks[id] = append(st.index.blocks[id], block.Row{Micros: s.at.UnixMicro() - day.UnixMicro(), Offset: s.offset, Keys: keys})
	return lexemes
}

// store writes it. Of a commit that was added before, the new rows become another block.
func (x *index) store(t testing.TB, tx pgx.Tx) {
	t.Helper()
	ctx := context.Background()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := tx.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for term := range x.terms {
		exec(`INSERT INTO term (word, version, hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, term.Word, lexicon.Version, term.Hash)
	}
	for kind, paths := range x.paths {
		for path, kinds := range paths {
			exec(`INSERT INTO type_path AS t (type, path, kinds) VALUES ($1, $2, $3)
				ON CONFLICT (type, path) DO UPDATE SET kinds = t.kinds | excluded.kinds`, kind, path, kinds)
		}
	}
	for id, rows := range x.blocks {
		slices.SortFunc(rows, func(a, b block.Row) int { return int(a.Offset - b.Offset) })
		b, err := block.Build(rows)
		if err != nil {
			t.Fatal(err)
		}
		exec(`INSERT INTO event_block (day, log, partition, version, from_commit, through_commit, rows, entries, buckets, base_offset, last_offset, keys, lists, places)
			VALUES ($1, $2, $3, $4, (SELECT coalesce(min(from_commit) - 1, $5) FROM event_block WHERE day = $1 AND log = $2 AND partition = $3 AND through_commit = $5),
			        $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			id.day, id.log, id.partition, id.version, id.fromCommit, b.Rows, b.Entries, b.Buckets, b.BaseOffset, rows[len(rows)-1].Offset, b.Keys, b.Lists, b.Places)
	}
}
