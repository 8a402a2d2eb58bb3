package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"oriel/bench/goal"
	"oriel/bench/stored"
	"oriel/server/consume"
)

// goalDisturbed is how many times the median batch the slowest in a hundred may take.
const goalDisturbed = 10

// watch times transactions from the outside: from the statement that begins a batch to the end of its
// COMMIT.
type watch struct {
	mu    sync.Mutex
	began map[*pgx.Conn]time.Time
	took  []time.Duration
}

func (w *watch) TraceBatchStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if q := data.Batch.QueuedQueries; len(q) > 0 && q[0].SQL == "BEGIN" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.began[conn] = time.Now()
	}
	return ctx
}

func (w *watch) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (w *watch) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// ofCommit marks the context of a COMMIT.
type ofCommit struct{}

func (w *watch) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if data.SQL == "COMMIT" {
		return context.WithValue(ctx, ofCommit{}, true)
	}
	return ctx
}

func (w *watch) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	if ctx.Value(ofCommit{}) == nil || data.Err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if began, ok := w.began[conn]; ok {
		w.took = append(w.took, time.Since(began))
		delete(w.began, conn)
	}
}

// forget drops what was timed so far.
func (w *watch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took = nil
}

// sorted are the times so far.
func (w *watch) sorted() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(slices.Values(w.took))
}

// disturbed times batches at a steady rate while day partitions are created, the table is vacuumed and an
// analyst asks for something that reads it all.
func disturbed(ctx context.Context, o options, s *stage, out io.Writer, goals *goal.Sheet) (err error) {
	d, release, err := s.database(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(ctx)) }()
	now := time.Now().UTC()
	topic, _, err := s.publish(ctx, o, short(o, now, 5, o.uniques))
	if err != nil {
		return err
	}
	cfg := d.pool.Config()
	w := &watch{began: map[*pgx.Conn]time.Time{}}
	cfg.ConnConfig.Tracer = w
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := consumeAll(ctx, 0, s.brokers, s.log, topic, o.uniques, pool); err != nil { // what the others work on
		return err
	}
	c := consume.New(consume.Config{Consumer: "store", Topic: topic, Group: "bench-" + topic, Instance: "bench"},
		pool, []kgo.Opt{kgo.SeedBrokers(s.brokers...)}, s.log, prometheus.NewRegistry(), nil)
	if err := c.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	w.forget()
	limited, cancel := context.WithTimeout(ctx, o.disturb)
	defer cancel()
	group, limited := errgroup.WithContext(limited)
	var made, vacuumed, asked int
	group.Go(func() error { return s.steady(limited, o, topic) })
	for _, other := range []struct {
		times *int
		limit time.Duration
		sql   string
	}{
		{&made, time.Minute, "SELECT ensure_day('event', '2030-01-01'::date + $1::int), pg_sleep(0.2)"},
		{&vacuumed, time.Hour, "VACUUM event"},
		{&asked, o.query, "SELECT count(DISTINCT md5(convert_from(data, 'UTF8') || n)) FROM event, generate_series(1, 1000) n"},
	} {
		group.Go(func() error { return repeat(limited, d.url, other.limit, other.times, other.sql) })
	}
	if err := group.Wait(); err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	took := w.sorted()
	if len(took) < 20 {
		return fmt.Errorf("only %d batches in %s", len(took), o.disturb)
	}
	median, p99 := took[len(took)/2], took[len(took)*99/100]
	fmt.Fprintf(out, "%d batches at %d events/s in %s, beside %d partitions made, %d vacuums and %d long queries: median %s, p99 %s, longest %s\n",
		len(took), o.rate, o.disturb, made, vacuumed, asked, median, p99, took[len(took)-1])
	goals.Below("disturbed batches: p99 ÷ median", float64(p99)/float64(median), goalDisturbed, "")
	return nil
}

// repeat runs a statement on a connection of its own until ctx ends; $1, where there is one, is the turn. A
// statement that is ended by its own limit counts.
func repeat(ctx context.Context, url string, limit time.Duration, times *int, sql string) error {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	cfg.RuntimeParams["statement_timeout"] = strconv.FormatInt(limit.Milliseconds(), 10)
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is pending on it
	for ; ctx.Err() == nil; *times++ {
		var args []any
		if strings.Contains(sql, "$1") {
			args = append(args, *times)
		}
		_, err := conn.Exec(ctx, sql, args...)
		var ended *pgconn.PgError
		if errors.As(err, &ended) && ended.Code == "57014" {
			continue
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// steady publishes events at the rate until ctx ends.
func (s *stage) steady(ctx context.Context, o options, topic string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers...), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		return err
	}
	defer cl.Close()
	w := short(o, time.Now().UTC(), 5, 0)
	const tick = 20 * time.Millisecond
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		for i := range o.rate * int(tick) / int(time.Second) {
			e := w.next()
			at := time.Now().UTC().Truncate(time.Microsecond)
			e.ID, e.Time = fmt.Sprintf("steady-%d-%d", n, i), at
			cl.Produce(ctx, stored.Record(&e), nil)
		}
	}
}
