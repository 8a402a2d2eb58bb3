package maintain

import (
	"fmt"
	"testing"
	"time"

	"oriel/server/block"
	"oriel/server/db"
)

func TestWhichBlocksBecomeOne(t *testing.T) {
	t.Parallel()
	type b struct {
		rows, entries int32
		age           time.Duration
		part          int32
	}
	many := func(n int, of b) (all []b) {
		for range n {
			all = append(all, of)
		}
		return all
	}
	for name, c := range map[string]struct {
		blocks []b
		want   string // from-to of the plan's runs
		behind time.Duration
	}{
		"nothing":                               {want: "[]"},
		"one alone":                             {blocks: []b{{rows: 1, age: 2 * time.Hour}}, want: "[]"},
		"few fresh small ones wait":             {blocks: many(3, b{rows: 500}), want: "[]"},
		"many rows in small ones":               {blocks: many(4, b{rows: 500}), want: "[0-3]"},
		"small ones of a minute":                {blocks: []b{{rows: 1, age: 70 * time.Second}, {rows: 1}}, want: "[0-1]", behind: 10 * time.Second},
		"of two partitions none":                {blocks: []b{{rows: 1, age: time.Minute}, {rows: 1, age: time.Minute, part: 1}}, want: "[]"},
		"small ones behind a larger one":        {blocks: append([]b{{rows: 9000}}, many(5, b{rows: 500})...), want: "[1-5]"},
		"small ones on both sides of a full":    {blocks: []b{{rows: 1500}, {rows: 1500}, {rows: 60_000}, {rows: 1500}, {rows: 1500}}, want: "[0-1 3-4]"},
		"larger ones wait for more":             {blocks: many(31, b{rows: 2000}), want: "[]"},
		"as many as fill one":                   {blocks: many(33, b{rows: 2000}), want: "[0-31]"},
		"many of some rows":                     {blocks: many(32, b{rows: 1999, entries: 250_000 / 4}), want: "[0-31]"},
		"many entries fill one":                 {blocks: many(12, b{rows: 2000, entries: 200_000}), want: "[0-9]"},
		"a day that is over":                    {blocks: []b{{rows: 9000, age: 3 * time.Hour}, {rows: 9000, age: 2 * time.Hour}}, want: "[0-1]"},
		"a day that is over, with a late event": {blocks: []b{{rows: 9000, age: 3 * time.Hour}, {rows: 1}}, want: "[]"},
		"what does not fit stays":               {blocks: []b{{rows: 40_000, age: 3 * time.Hour}, {rows: 40_000, age: 3 * time.Hour}}, want: "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rows []db.BlocksRow
			for i, x := range c.blocks {
				rows = append(rows, db.BlocksRow{
					FromCommit: int64(i), ThroughCommit: int64(i), Rows: x.rows, Entries: x.entries, Partition: x.part, Age: x.age.Seconds(),
					BaseOffset: int64(i) * 1000, LastOffset: int64(i)*1000 + 999,
				})
			}
			due, behind := plan(rows)
			var got []string
			for _, r := range due {
				got = append(got, fmt.Sprintf("%d-%d", r[0].FromCommit, r[len(r)-1].FromCommit))
				if r.rows() > block.MaxRows {
					t.Errorf("%d rows in one", r.rows())
				}
			}
			if s := fmt.Sprint(got); s != c.want || behind != c.behind {
				t.Errorf("merges %s, %s behind, want %s, %s", s, behind, c.want, c.behind)
			}
		})
	}
}

// Any stream of batches ends in few blocks, and no row is rewritten often.
func TestMergingIsBoundedWork(t *testing.T) {
	t.Parallel()
	var blocks []db.BlocksRow
	written, rewritten := 0, 0
	for commit := range 4000 {
		for i := range blocks {
			blocks[i].Age += 0.25
		}
		rows := int32(1 + commit%700)
		written += int(rows)
		blocks = append(blocks, db.BlocksRow{
			FromCommit: int64(commit), ThroughCommit: int64(commit), Rows: rows, Entries: 11 * rows,
			BaseOffset: int64(written), LastOffset: int64(written) + int64(rows),
		})
		for {
			due, _ := plan(blocks)
			if len(due) == 0 {
				break
			}
			for _, r := range due {
				var after []db.BlocksRow
				for _, b := range blocks {
					switch {
					case b.FromCommit < r[0].FromCommit || b.FromCommit > r[len(r)-1].FromCommit:
						after = append(after, b)
					case b.FromCommit == r[0].FromCommit:
						b.Rows, b.Entries, b.Age = int32(r.rows()), int32(11*r.rows()), 0
						b.ThroughCommit, b.LastOffset = r[len(r)-1].ThroughCommit, r[len(r)-1].LastOffset
						after = append(after, b)
						rewritten += r.rows()
					}
				}
				blocks = after
			}
		}
		if len(blocks) > written/(block.MaxRows*3/4)+manyBlocks+8 {
			t.Fatalf("%d blocks of %d rows", len(blocks), written)
		}
	}
	if rewritten > 3*written {
		t.Errorf("%d rows were rewritten %d times", written, rewritten/written)
	}
}
