package reindex

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/block"
	"oriel/server/db"
	"oriel/server/lexicon"
)

// Checked is what a check has looked at.
type Checked struct {
	Blocks, Rows, Samples, Keys int
	// Waiting are rows of commits that are in block_gap, which have none yet.
	Waiting int
	Bytes   int // of the blocks
	Wrong   []string
}

// mostWrong is how much of what is wrong is told.
const mostWrong = 100

// Check reads every block of the window, compares its rows with the events of its commits, and looks up the
// identifiers of some events of each.
func (x *Indexer) Check(ctx context.Context, w Window, samples int, tell func(Progress)) (Checked, error) {
	var c Checked
	x.tell, x.now, x.done = tell, Progress{}, Done{}
	days, err := x.days(ctx)
	if err != nil {
		return c, err
	}
	days = slices.DeleteFunc(days, func(day time.Time) bool { return !w.holds(day) })
	x.now.Days = len(days)
	for _, day := range days {
		// One snapshot a day: nothing is merged away and nothing new comes meanwhile.
		err := pgx.BeginTxFunc(ctx, x.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			return (&checker{Indexer: x, tx: tx, q: x.queries.WithTx(tx), c: &c, samples: samples}).day(ctx, day)
		})
		if err != nil {
			return c, fmt.Errorf("check %s: %w", day.Format(time.DateOnly), err)
		}
		x.now.DaysDone++
		x.say()
		if len(c.Wrong) >= mostWrong {
			return c, nil
		}
	}
	return c, nil
}

// checker looks at one day.
type checker struct {
	*Indexer
	tx      pgx.Tx
	q       *db.Queries
	c       *Checked
	samples int
}

func (k *checker) wrong(format string, args ...any) {
	if len(k.c.Wrong) < mostWrong {
		k.c.Wrong = append(k.c.Wrong, fmt.Sprintf(format, args...))
	}
}

func (k *checker) day(ctx context.Context, day time.Time) error {
	vector, err := k.q.StoreVector(ctx)
	if err != nil {
		return fmt.Errorf("read the commits: %w", err)
	}
	gaps, err := k.q.BlockGaps(ctx)
	if err != nil {
		return fmt.Errorf("read what has no blocks: %w", err)
	}
	waiting := map[[2]int32]int64{}
	for _, g := range gaps {
		waiting[[2]int32{int32(g.Log), g.Partition}] = g.ThroughCommit
	}
	for _, v := range vector {
		s := series{day, v.Log, v.Partition, v.Commits}
		k.now.Day, k.now.Log, k.now.Partition = day, v.Log, v.Partition
		blocks, err := k.blocks(ctx, k.q, s)
		if err != nil {
			return err
		}
		for _, u := range uncovered(blocks, v.Commits) {
			if err := k.missing(ctx, s, u, waiting[[2]int32{int32(v.Log), v.Partition}]); err != nil {
				return err
			}
		}
		for _, b := range blocks {
			if err := k.block(ctx, s, b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *checker) rows(ctx context.Context, s series, u span) (int, error) {
	if u.above >= u.through {
		return 0, nil
	}
	n, err := k.q.CountRowsOfCommits(ctx, db.CountRowsOfCommitsParams{
		DayFrom: s.day, DayUntil: s.end(), Log: s.log, Partition: s.part, Above: u.above, Through: u.through,
	})
	if err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	return int(n), nil
}

// missing looks for rows of commits that no block covers. Those that are to be reindexed are said to be so.
func (k *checker) missing(ctx context.Context, s series, u span, gap int64) error {
	n, err := k.rows(ctx, s, span{u.above, min(u.through, gap)})
	if err != nil {
		return err
	}
	k.c.Waiting += n
	if n, err = k.rows(ctx, s, span{max(u.above, gap), u.through}); err != nil {
		return err
	}
	if n > 0 {
		k.wrong("%s, commits %d to %d: %d events are in no block", s, max(u.above, gap)+1, u.through, n)
	}
	return nil
}

func (k *checker) block(ctx context.Context, s series, of db.SeriesBlocksRow) error {
	where := fmt.Sprintf("%s, commits %d to %d", s, of.FromCommit, of.ThroughCommit)
	n, err := k.rows(ctx, s, span{of.FromCommit - 1, of.ThroughCommit})
	if err != nil {
		return err
	}
	if n != int(of.Rows) {
		k.wrong("%s: the block has %d rows, and there are %d events", where, of.Rows, n)
	}
	row, err := k.q.ReadBlock(ctx, db.ReadBlockParams{Day: s.day, Log: s.log, Partition: s.part, Version: lexicon.Version, FromCommit: of.FromCommit})
	if err != nil {
		return fmt.Errorf("read a block: %w", err)
	}
	b := &block.Block{
		Rows: int(row.Rows), Buckets: int(row.Buckets), Entries: int(row.Entries), BaseOffset: row.BaseOffset,
		Keys: row.Keys, Lists: row.Lists, Places: row.Places,
	}
	k.c.Blocks++
	k.c.Rows += b.Rows
	k.c.Bytes += len(b.Keys) + len(b.Lists) + len(b.Places)
	if err := b.Check(); err != nil {
		k.wrong("%s: %v", where, err)
		return nil
	}
	for _, ordinal := range rand.Perm(b.Rows)[:min(k.samples, b.Rows)] {
		if err := k.sample(ctx, s, where, b, ordinal); err != nil {
			return err
		}
	}
	k.done.Rows, k.done.Blocks = k.c.Rows, k.c.Blocks
	return nil
}

const selectPlace = `SELECT commit, "offset", occurred_at, source, id, type, coalesce(subject, ''), coalesce(datacontenttype, ''),
	attributes, trace_id, flags, data
  FROM event WHERE occurred_at = $1 AND log = $2 AND partition = $3 AND "offset" = $4`

// sample follows a row's place to its event, and looks the event's identifiers up.
func (k *checker) sample(ctx context.Context, s series, where string, b *block.Block, ordinal int) error {
	micros, above, err := block.Place(b.Places[block.PlaceBytes*ordinal : block.PlaceBytes*(ordinal+1)])
	if err != nil {
		return err // Check has read it
	}
	at, offset := s.day.Add(time.Duration(micros)*time.Microsecond), b.BaseOffset+above
	k.c.Samples++
	var e stored
	err = k.tx.QueryRow(ctx, selectPlace, at, s.log, s.part, offset).Scan(&e.commit, &e.offset, &e.at, &e.source, &e.id, &e.eventType,
		&e.subject, &e.dataAs, &e.attributes, &e.trace, &e.flags, &e.data)
	if errors.Is(err, pgx.ErrNoRows) {
		k.wrong("%s: row %d of the block is no event: %s, offset %d", where, ordinal, at.Format(time.RFC3339Nano), offset)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	for _, key := range k.identifiers(&e) {
		k.c.Keys++
		found, err := b.Probe(block.Key(key))
		if err != nil {
			return err
		}
		if !slices.Contains(found, uint16(ordinal)) {
			k.wrong("%s: an identifier of offset %d is not found", where, offset)
			return nil
		}
	}
	return nil
}
