// Package reindex builds what is derived from events, the index of identifiers and the rollups, for those that are
// stored already, and compares what there is with the events. It promises to be safe beside a product that is running, to go on where it was cut off,
// and never to leave an event that was found unfound. It must not know Kafka, HTTP or searches.
package reindex

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/db"
	"oriel/server/lexicon"
)

// Window is the UTC days that are looked at, both included; a zero time is an open end.
type Window struct{ From, Until time.Time }

func (w Window) holds(day time.Time) bool {
	return (w.From.IsZero() || !day.Before(utcDay(w.From))) && (w.Until.IsZero() || !day.After(utcDay(w.Until)))
}

func utcDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Options are what of the index is built.
type Options struct {
	Window
	// Rebuild makes blocks again that are there, and those of commits that should have one.
	Rebuild bool
}

// Progress is told after each partition of each day, and after each block.
type Progress struct {
	Day            time.Time
	Log            int16
	Partition      int32
	DaysDone, Days int
	Rows, Blocks   int // so far, of all
}

// Done is what a run has done.
type Done struct {
	Rows, Blocks int
	// Left names the partitions of which some days have rows without a block still.
	Left []string
}

// Indexer works on one database. One goroutine at a time.
type Indexer struct {
	pool     *pgxpool.Pool
	queries  *db.Queries
	analyzer *lexicon.Analyzer
	done     Done
	now      Progress
	tell     func(Progress)
}

// New makes an indexer of the lexicon that new rows carry.
func New(ctx context.Context, pool *pgxpool.Pool) (*Indexer, error) {
	x := &Indexer{pool: pool, queries: db.New(pool)}
	raw, err := x.queries.LexiconKey(ctx, lexicon.Version)
	if err != nil {
		return nil, fmt.Errorf("read the lexicon's key: %w", err)
	}
	var key lexicon.Key
	copy(key[:], raw)
	x.analyzer = lexicon.New(key, nil)
	return x, nil
}

// series is one partition's rows of one day, up to a commit.
type series struct {
	day     time.Time
	log     int16
	part    int32
	through int64
}

func (s series) end() time.Time { return s.day.Add(24 * time.Hour) }

func (s series) String() string {
	return fmt.Sprintf("%s, log %d, partition %d", s.day.Format(time.DateOnly), s.log, s.part)
}

// Run builds what is missing, newest day first, and takes partitions out of block_gap that are whole.
func (x *Indexer) Run(ctx context.Context, o Options, tell func(Progress)) (Done, error) {
	x.done, x.now, x.tell = Done{}, Progress{}, tell
	gaps, err := x.queries.BlockGaps(ctx)
	if err != nil {
		return Done{}, fmt.Errorf("read what has no blocks: %w", err)
	}
	bounds := gaps
	if o.Rebuild {
		if bounds, err = x.commits(ctx); err != nil {
			return Done{}, err
		}
	}
	all, err := x.days(ctx)
	if err != nil {
		return Done{}, err
	}
	days := slices.DeleteFunc(slices.Clone(all), func(day time.Time) bool { return !o.holds(day) })
	x.now.Days = len(days)
	for _, day := range days {
		if err := x.queries.MakeBlockDay(ctx, pgtype.Date{Time: day, Valid: true}); err != nil {
			return x.done, fmt.Errorf("make the day partition of blocks of %s: %w", day.Format(time.DateOnly), err)
		}
		for _, b := range bounds {
			s := series{day, b.Log, b.Partition, b.ThroughCommit}
			x.now.Day, x.now.Log, x.now.Partition = day, b.Log, b.Partition
			if o.Rebuild {
				err = x.replace(ctx, s)
			}
			if err == nil {
				err = x.complete(ctx, s)
			}
			if err != nil {
				return x.done, fmt.Errorf("%s: %w", s, err)
			}
			x.say()
		}
		x.now.DaysDone++
	}
	for _, g := range gaps {
		if err := x.close(ctx, g, all); err != nil {
			return x.done, err
		}
	}
	return x.done, nil
}

func (x *Indexer) say() {
	x.now.Rows, x.now.Blocks = x.done.Rows, x.done.Blocks
	if x.tell != nil {
		x.tell(x.now)
	}
}

// commits are the commits of every partition: each has its blocks, which are visible with it.
func (x *Indexer) commits(ctx context.Context) ([]db.BlockGap, error) {
	vector, err := x.queries.StoreVector(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the commits: %w", err)
	}
	bounds := make([]db.BlockGap, len(vector))
	for i, v := range vector {
		bounds[i] = db.BlockGap{Log: v.Log, Partition: v.Partition, ThroughCommit: v.Commits}
	}
	return bounds, nil
}

// days are those that have a partition, newest first.
func (x *Indexer) days(ctx context.Context) ([]time.Time, error) {
	partitions, err := x.queries.EventPartitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the days: %w", err)
	}
	days := make([]time.Time, 0, len(partitions))
	for _, p := range partitions {
		day, err := time.Parse("20060102", strings.TrimPrefix(p.Name, "event_"))
		if err != nil {
			return nil, fmt.Errorf("the partition %s is not of a day: %w", p.Name, err)
		}
		days = append(days, day)
	}
	slices.Reverse(days)
	return days, nil
}

// span is commits above one and through another.
type span struct{ above, through int64 }

// uncovered are the commits that no block of a series covers. A block covers the commits between its ends that
// have no rows of the day.
func uncovered(blocks []db.SeriesBlocksRow, through int64) (spans []span) {
	at := int64(0)
	for _, b := range blocks {
		if b.FromCommit > through {
			break
		}
		if b.FromCommit > at+1 {
			spans = append(spans, span{at, b.FromCommit - 1})
		}
		at = max(at, b.ThroughCommit)
	}
	if at < through {
		spans = append(spans, span{at, through})
	}
	return spans
}

func (x *Indexer) blocks(ctx context.Context, q *db.Queries, s series) ([]db.SeriesBlocksRow, error) {
	blocks, err := q.SeriesBlocks(ctx, db.SeriesBlocksParams{Day: s.day, Log: s.log, Partition: s.part, Version: lexicon.Version})
	if err != nil {
		return nil, fmt.Errorf("list the blocks: %w", err)
	}
	return blocks, nil
}

// close takes a partition out of block_gap whose rows all have their block, on every day that there is.
func (x *Indexer) close(ctx context.Context, g db.BlockGap, days []time.Time) error {
	for _, day := range days {
		s := series{day, g.Log, g.Partition, g.ThroughCommit}
		blocks, err := x.blocks(ctx, x.queries, s)
		if err != nil {
			return err
		}
		for _, u := range uncovered(blocks, g.ThroughCommit) {
			some, err := x.queries.SomeRowOfCommits(ctx, db.SomeRowOfCommitsParams{
				DayFrom: s.day, DayUntil: s.end(), Log: s.log, Partition: s.part, Above: u.above, Through: u.through,
			})
			if err != nil {
				return fmt.Errorf("look for rows without a block: %w", err)
			}
			if some {
				x.done.Left = append(x.done.Left, fmt.Sprintf("log %d, partition %d", g.Log, g.Partition))
				return nil
			}
		}
	}
	if _, err := x.queries.RemoveBlockGap(ctx, db.RemoveBlockGapParams(g)); err != nil {
		return fmt.Errorf("close the gap of log %d, partition %d: %w", g.Log, g.Partition, err)
	}
	return nil
}

// errTaken says that another indexer has been at the same commits.
var errTaken = errors.New("another run builds the same blocks")
