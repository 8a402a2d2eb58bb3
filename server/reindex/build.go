package reindex

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/block"
	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/lexicon"
)

// readAtOnce is how many rows one statement reads.
const readAtOnce = 500

// maxEntries bounds what a block has, and what this has in memory: about 16 bytes of each.
const maxEntries = 2 << 20

const selectRows = `SELECT commit, "offset", occurred_at, source, id, type, coalesce(subject, ''), coalesce(datacontenttype, ''),
	attributes, trace_id, flags, data
  FROM event
 WHERE occurred_at >= $1 AND occurred_at < $2 AND log = $3 AND partition = $4 AND commit >= $5 AND commit <= $6
   AND (commit, "offset") > ($5, $7)
 ORDER BY commit, "offset" LIMIT $8`

// stored is what of an event its identifiers follow from.
type stored struct {
	commit, offset                         int64
	at                                     time.Time
	source, id, eventType, subject, dataAs string
	attributes                             []string // name, type, value, …
	trace                                  []byte
	flags                                  int16
	data                                   []byte
}

// identifiers are what the consumer derived when it stored the event.
func (x *Indexer) identifiers(e *stored) []uint64 {
	in := lexicon.Input{Type: e.eventType, Source: e.source, ID: e.id, Data: e.data}
	in.JSON, in.Text = cloudevents.Claims(e.dataAs, cloudevents.Flags(e.flags))
	in.Attributes = append(in.Attributes, "type", e.eventType, "source", e.source)
	if e.subject != "" {
		in.Attributes = append(in.Attributes, "subject", e.subject)
	}
	for i := 0; i+2 < len(e.attributes); i += 3 {
		in.Attributes = append(in.Attributes, e.attributes[i], e.attributes[i+2])
	}
	if len(e.trace) > 0 {
		in.TraceID = hex.EncodeToString(e.trace)
	}
	out := x.analyzer.Analyze(&in, nothingNew{})
	return append(make([]uint64, 0, len(out.Identifiers)), out.Identifiers...)
}

// nothingNew is a lexicon.Seen that needs no word spelled out.
type nothingNew struct{}

func (nothingNew) Term(int64) bool                 { return true }
func (nothingNew) Path(string, string, int16) bool { return true }

// read calls back with the rows of commits from one through another, in the order of (commit, offset).
func (x *Indexer) read(ctx context.Context, s series, first, last int64, each func(*stored) error) error {
	after := int64(-1)
	for {
		rows, err := x.pool.Query(ctx, selectRows, s.day, s.end(), s.log, s.part, first, last, after, readAtOnce)
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		var e stored
		n := 0
		_, err = pgx.ForEachRow(rows, []any{
			&e.commit, &e.offset, &e.at, &e.source, &e.id, &e.eventType, &e.subject, &e.dataAs, &e.attributes, &e.trace, &e.flags, &e.data,
		}, func() error {
			n++
			first, after = e.commit, e.offset
			return each(&e)
		})
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if n < readAtOnce {
			return nil
		}
	}
}

// made is a block of whole commits.
type made struct {
	from, through, last int64 // commits; the highest offset
	*block.Block
}

// builder makes blocks of rows, each of as many whole commits as it can hold.
type builder struct {
	rows            []block.Row
	commits         []int64 // of rows
	entries, mark   int     // mark: where the last commit begins
	lowest, highest int64
	emit            func(made) error
}

func (b *builder) add(commit int64, r block.Row) error {
	if n := len(b.rows); n > 0 && b.commits[n-1] != commit {
		b.mark = n
	}
	if len(b.rows) > 0 && (len(b.rows) == block.MaxRows || b.entries+len(r.Keys) > maxEntries ||
		!block.Span(min(b.lowest, r.Offset), max(b.highest, r.Offset))) {
		if b.mark == 0 {
			return fmt.Errorf("commit %d has more than a block holds", commit)
		}
		if err := b.flush(b.mark); err != nil {
			return err
		}
	}
	b.rows, b.commits = append(b.rows, r), append(b.commits, commit)
	b.measure()
	return nil
}

// measure brings entries and offsets up to date with the last row.
func (b *builder) measure() {
	r := &b.rows[len(b.rows)-1]
	if len(b.rows) == 1 {
		b.entries, b.lowest, b.highest = 0, r.Offset, r.Offset
	}
	b.entries += len(r.Keys)
	b.lowest, b.highest = min(b.lowest, r.Offset), max(b.highest, r.Offset)
}

// flush makes a block of the first n rows.
func (b *builder) flush(n int) error {
	if n == 0 {
		return nil
	}
	whole, err := block.Build(b.rows[:n])
	if err != nil {
		return err
	}
	m := made{from: b.commits[0], through: b.commits[n-1], Block: whole}
	for i := range b.rows[:n] {
		m.last = max(m.last, b.rows[i].Offset)
	}
	rest, commits := b.rows[n:], b.commits[n:]
	b.rows, b.commits, b.mark = nil, nil, 0
	for i := range rest {
		b.rows, b.commits = append(b.rows, rest[i]), append(b.commits, commits[i])
		b.measure()
	}
	return b.emit(m)
}

// build makes the blocks of a series' commits.
func (x *Indexer) build(ctx context.Context, s series, first, last int64, emit func(made) error) error {
	b := builder{emit: emit}
	err := x.read(ctx, s, first, last, func(e *stored) error {
		return b.add(e.commit, block.Row{Micros: e.at.Sub(s.day).Microseconds(), Offset: e.offset, Keys: x.identifiers(e)})
	})
	if err != nil {
		return err
	}
	return b.flush(len(b.rows))
}

// complete builds blocks for rows that have none, each in a transaction of its own.
func (x *Indexer) complete(ctx context.Context, s series) error {
	blocks, err := x.blocks(ctx, x.queries, s)
	if err != nil {
		return err
	}
	for _, u := range uncovered(blocks, s.through) {
		if err := x.build(ctx, s, u.above+1, u.through, func(m made) error { return x.insert(ctx, s, m) }); err != nil {
			return err
		}
	}
	return nil
}

func (x *Indexer) insert(ctx context.Context, s series, m made) error {
	err := pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
		q := x.queries.WithTx(tx)
		if err := q.LockBlocks(ctx); err != nil {
			return err
		}
		blocks, err := x.blocks(ctx, q, s)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if b.FromCommit <= m.through && b.ThroughCommit >= m.from {
				return errTaken
			}
		}
		return put(ctx, q, s, m)
	})
	if err != nil {
		return fmt.Errorf("store a block of commits %d to %d: %w", m.from, m.through, err)
	}
	x.count(m)
	return nil
}

func (x *Indexer) count(m made) {
	x.done.Rows += m.Rows
	x.done.Blocks++
	x.say()
}

func put(ctx context.Context, q *db.Queries, s series, m made) error {
	return q.InsertBlock(ctx, db.InsertBlockParams{
		Day: s.day, Log: s.log, Partition: s.part, Version: lexicon.Version, FromCommit: m.from, ThroughCommit: m.through,
		Rows: int32(m.Rows), Entries: int32(m.Entries), Buckets: int32(m.Buckets), BaseOffset: m.BaseOffset, LastOffset: m.last,
		Keys: m.Keys, Lists: m.Lists, Places: m.Places,
	})
}

// errGone says that a block is no longer there: merging has made it part of another, which is newer than the
// run and comes in the next turn.
var errGone = errors.New("the block was merged")

// replace makes every block of a series again that was there when this began, or was made of such meanwhile.
func (x *Indexer) replace(ctx context.Context, s series) error {
	ours := map[int64]int64{} // from and through commit of what we have made
	for {
		blocks, err := x.blocks(ctx, x.queries, s)
		if err != nil {
			return err
		}
		again := false
		for _, b := range blocks {
			if b.FromCommit > s.through || ours[b.FromCommit] == b.ThroughCommit {
				continue
			}
			all, err := x.replaceOne(ctx, s, b)
			switch {
			case errors.Is(err, errGone):
				again = true
			case err != nil:
				return err
			}
			for _, m := range all {
				ours[m.from] = m.through
			}
		}
		if !again {
			return nil
		}
	}
}

// replaceOne makes one block again: of the rows that its commits have now.
func (x *Indexer) replaceOne(ctx context.Context, s series, b db.SeriesBlocksRow) (all []made, err error) {
	if err := x.build(ctx, s, b.FromCommit, b.ThroughCommit, func(m made) error {
		all = append(all, m)
		return nil
	}); err != nil {
		return nil, err
	}
	if n := len(all); n > 0 {
		all[0].from, all[n-1].through = b.FromCommit, b.ThroughCommit
	}
	err = pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
		q := x.queries.WithTx(tx)
		if err := q.LockBlocks(ctx); err != nil {
			return err
		}
		blocks, err := x.blocks(ctx, q, s)
		if err != nil {
			return err
		}
		found := false
		for _, now := range blocks {
			found = found || now.FromCommit == b.FromCommit && now.ThroughCommit == b.ThroughCommit && now.MadeAt.Equal(b.MadeAt)
		}
		if !found {
			return errGone
		}
		if _, err := q.DeleteBlocks(ctx, db.DeleteBlocksParams{
			Day: s.day, Log: s.log, Partition: s.part, Version: lexicon.Version, First: b.FromCommit, Last: b.FromCommit,
		}); err != nil {
			return err
		}
		for _, m := range all {
			if err := put(ctx, q, s, m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("replace the block of commits %d to %d: %w", b.FromCommit, b.ThroughCommit, err)
	}
	for _, m := range all {
		x.count(m)
	}
	return all, nil
}
