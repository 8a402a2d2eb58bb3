package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/bench/events"
	"oriel/bench/stored"
)

const span = events.Days * 24 * time.Hour

// Words that are rare, and one that no event has.
const (
	wordRare   = "leakage"       // one event in 10,000
	wordScarce = "calcification" // one in 500
	wordAbsent = "zanzibar"
)

// filling is what the database holds.
type filling struct{ from, until time.Time }

// fill stores what is missing. When the past ends is kept with it, so that one that was cut off goes on.
func (s *stage) fill(ctx context.Context, o options, out io.Writer) (*filling, error) {
	if _, err := s.pool.Exec(ctx, `CREATE TABLE IF NOT EXISTS bench_past (until timestamptz, events int, hooks int, whole bool)`); err != nil {
		return nil, err
	}
	if _, err := s.pool.Exec(ctx, `INSERT INTO bench_past SELECT $1, $2, $3, false WHERE NOT EXISTS (SELECT FROM bench_past)`,
		time.Now().UTC().Truncate(time.Microsecond), o.events, o.hooks); err != nil {
		return nil, err
	}
	past := stored.Past{Webhooks: o.webhooks, Furnish: furnish}
	var whole bool
	if err := s.pool.QueryRow(ctx, `SELECT until, events, hooks, whole FROM bench_past`).Scan(&past.Until, &past.Events, &past.Hooks, &whole); err != nil {
		return nil, err
	}
	past.Until = past.Until.UTC()
	f := &filling{past.Until.Add(-span), past.Until}
	fmt.Fprintf(out, "%d events and %d webhook payloads from %s to %s\n",
		past.Events, past.Hooks, f.from.Format(time.DateOnly), f.until.Format(time.DateOnly))
	if whole {
		return f, nil
	}
	own, err := pgxpool.New(ctx, s.url) // the consumer leaves its settings on its connections
	if err != nil {
		return nil, err
	}
	defer own.Close()
	if err := stored.Fill(ctx, own, past, s.log, out); err != nil {
		return nil, err
	}
	return f, s.settle(ctx, out)
}

// settle leaves it as maintenance would have within the hour, and says how large it is.
func (s *stage) settle(ctx context.Context, out io.Writer) error {
	began := time.Now()
	if err := stored.Settle(ctx, s.pool, s.log); err != nil {
		return err
	}
	var blocks, all, index int64
	if err := s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM event_block), pg_database_size(current_database()),
		(SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 'event_block'::regclass)`).
		Scan(&blocks, &all, &index); err != nil {
		return err
	}
	fmt.Fprintf(out, "settled in %.0f s: %.1f GB in all, of it %.2f GB are %d blocks of identifiers\n",
		time.Since(began).Seconds(), float64(all)/1e9, float64(index)/1e9, blocks)
	_, err := s.pool.Exec(ctx, `UPDATE bench_past SET whole = true`)
	return err
}

// furnish gives few events a rare word.
func furnish(rng *rand.Rand, e *events.Event) {
	switch n := rng.IntN(10_000); {
	case n == 0:
		e.Data = append(e.Data[:len(e.Data)-2], ` `+wordRare+`"}`...)
	case n <= 20:
		e.Data = append(e.Data[:len(e.Data)-2], ` `+wordScarce+`"}`...)
	}
}
