package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/bench/events"
	"oriel/bench/webhooks"
	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/kafka"
	"oriel/server/maintain"
	"oriel/server/schema"
)

// filling is what the database holds: slices of time, each with its share of both kinds of events.
type filling struct {
	from, until time.Time
	slices      int
	events      int // of a slice
	hooks       int
	set         *webhooks.Set
}

const (
	span       = events.Days * 24 * time.Hour
	late       = 10 * time.Minute // how much older than the newest an event may be when it comes
	topic      = "bench.search"
	partitions = 6
	slice      = 50_000 // events of one slice, at most
	retention  = 91 * 24 * time.Hour
)

// Words that are rare, and one that no event has.
const (
	wordRare   = "leakage"       // one event in 10,000
	wordScarce = "calcification" // one in 500
	wordAbsent = "zanzibar"
)

// fill stores what is missing. Each slice follows from its number alone, and one that was cut off is stored
// again: what is there already is a duplicate.
func (s *stage) fill(ctx context.Context, o options, out io.Writer) (*filling, error) {
	set, err := webhooks.Load(o.webhooks)
	if err != nil {
		return nil, err
	}
	if _, err := s.pool.Exec(ctx, `CREATE TABLE IF NOT EXISTS bench_fill (until timestamptz, slices int, events int, hooks int);
		CREATE TABLE IF NOT EXISTS bench_slice (number int PRIMARY KEY)`); err != nil {
		return nil, err
	}
	f := &filling{set: set}
	f.slices = max(1, o.events/slice)
	f.events, f.hooks = o.events/f.slices, o.hooks/f.slices
	until := time.Now().UTC().Truncate(time.Microsecond)
	if _, err := s.pool.Exec(ctx, `INSERT INTO bench_fill SELECT $1, $2, $3, $4 WHERE NOT EXISTS (SELECT FROM bench_fill)`,
		until, f.slices, f.events, f.hooks); err != nil {
		return nil, err
	}
	if err := s.pool.QueryRow(ctx, `SELECT until, slices, events, hooks FROM bench_fill`).Scan(&f.until, &f.slices, &f.events, &f.hooks); err != nil {
		return nil, err
	}
	f.until = f.until.UTC()
	f.from = f.until.Add(-span)
	var done int
	if err := s.pool.QueryRow(ctx, `SELECT count(*) FROM bench_slice WHERE number >= 0`).Scan(&done); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "%d events and %d webhook payloads from %s to %s, %d of %d slices are there\n",
		f.slices*f.events, f.slices*f.hooks, f.from.Format(time.DateOnly), f.until.Format(time.DateOnly), done, f.slices)
	if done < f.slices {
		if err := s.store(ctx, f, done, out); err != nil {
			return nil, err
		}
	}
	return f, s.settle(ctx, out)
}

// settled is the number of the slice that stands for what follows the last.
const settled = -1

// settle does once what maintenance and autovacuum would have done by the next day.
func (s *stage) settle(ctx context.Context, out io.Writer) error {
	var done bool
	if err := s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM bench_slice WHERE number = $1)`, settled).Scan(&done); err != nil || done {
		return err
	}
	began := time.Now()
	keeper := maintain.New(s.pool, retention, s.log, prometheus.NewRegistry())
	if err := errors.Join(keeper.Fold(ctx), keeper.Merge(ctx)); err != nil {
		return err
	}
	for _, sql := range []string{
		`SELECT gin_clean_pending_list(inhrelid) FROM pg_inherits WHERE inhparent = 'event_lexemes'::regclass`,
		"VACUUM (ANALYZE) event", "ANALYZE", "CHECKPOINT",
	} {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	var blocks, events, index int64
	if err := s.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM event_block), pg_database_size(current_database()),
		(SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 'event_block'::regclass)`).
		Scan(&blocks, &events, &index); err != nil {
		return err
	}
	fmt.Fprintf(out, "settled in %.0f s: %.1f GB in all, of it %.2f GB are %d blocks of identifiers\n",
		time.Since(began).Seconds(), float64(events)/1e9, float64(index)/1e9, blocks)
	_, err := s.pool.Exec(ctx, `INSERT INTO bench_slice VALUES ($1)`, settled)
	return err
}

func (s *stage) store(ctx context.Context, f *filling, done int, out io.Writer) (err error) {
	if err := schema.EnsureDays(ctx, s.pool, f.from, f.until); err != nil {
		return err
	}
	broker, err := kafka.StartEmbedded(filepath.Join(s.dir, "kafka"), 0, nil, s.log)
	if err != nil {
		return fmt.Errorf("start the broker: %w", err)
	}
	defer func() { err = errors.Join(err, broker.Close()) }()
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker.Brokers()...), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(20*time.Millisecond),
		kgo.MaxBufferedRecords(5000), kgo.MaxBufferedBytes(64<<20))
	if err != nil {
		return err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	topics, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return err
	}
	if !topics.Has(topic) {
		if _, err := admin.CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
			return err
		}
	}
	keeper := maintain.New(s.pool, retention, s.log, prometheus.NewRegistry())
	if err := keeper.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Stop(context.WithoutCancel(ctx))) }()
	own, err := pgxpool.New(ctx, s.url) // the consumer leaves its settings on its connections
	if err != nil {
		return err
	}
	defer own.Close()
	c := consume.New(consume.Config{Consumer: "store", Topic: topic, Group: "bench-search", Instance: "bench", Retention: retention}, own,
		[]kgo.Opt{kgo.SeedBrokers(broker.Brokers()...), kgo.MetadataMinAge(250 * time.Millisecond)}, s.log, prometheus.NewRegistry(), func() {})
	if err := c.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	began := time.Now()
	for n := done; n < f.slices; n++ {
		if err := f.publish(ctx, cl, n); err != nil {
			return fmt.Errorf("publish slice %d: %w", n, err)
		}
		if err := s.consumed(ctx, admin); err != nil {
			return fmt.Errorf("store slice %d: %w", n, err)
		}
		if _, err := s.pool.Exec(ctx, `INSERT INTO bench_slice VALUES ($1)`, n); err != nil {
			return err
		}
		stored := (n + 1 - done) * (f.events + f.hooks)
		fmt.Fprintf(out, "slice %d of %d, %.0f events/s\n", n+1, f.slices, float64(stored)/time.Since(began).Seconds())
	}
	return nil
}

// publish sends one slice, nearly in the order of time.
func (f *filling) publish(ctx context.Context, cl *kgo.Client, n int) error {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	short := events.New(rng, f.until, 3)
	length := span / time.Duration(f.slices)
	total := f.events + f.hooks
	failed := make(chan error, 1)
	for i := range total {
		at := f.from.Add(time.Duration(n) * length).Add(length / time.Duration(total) * time.Duration(i))
		at = at.Add(-time.Duration(rng.Int64N(int64(late)))).Truncate(time.Microsecond)
		var e events.Event
		if (i+1)*f.hooks/total > i*f.hooks/total {
			e = f.set.Varied(rng, at)
		} else {
			e = short.Next()
			e.Data = furnished(rng, e.Data)
		}
		e.Time = at
		cl.Produce(ctx, record(e), func(_ *kgo.Record, err error) {
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// furnished gives an event's data what real ones have beside words: an order's number, an address, a request's
// id, and rarely a rare word.
func furnished(rng *rand.Rand, data []byte) []byte {
	word := ""
	switch n := rng.IntN(10_000); {
	case n == 0:
		word = " " + wordRare
	case n <= 20:
		word = " " + wordScarce
	}
	return fmt.Appendf(data[:len(data)-2], `%s","order":"ORD-2026-%07d","client":"10.%d.%d.%d","request":"%08x-%04x-4%03x-a%03x-%012x"}`,
		word, rng.IntN(2_000_000), rng.IntN(4), rng.IntN(256), rng.IntN(256),
		rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12), rng.Int64N(1<<48))
}

func record(e events.Event) *kgo.Record {
	enc := cloudevents.EncodeRecord(&cloudevents.Event{
		ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject, DataContentType: "application/json",
		Time: e.Time, TimeText: e.Time.Format(time.RFC3339Nano), Data: e.Data,
	})
	rec := &kgo.Record{Key: enc.Key, Value: enc.Value, Timestamp: e.Time}
	for _, h := range enc.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return rec
}

// consumed waits until the checkpoints have reached the ends of the topic, and deletes what is stored.
func (s *stage) consumed(ctx context.Context, admin *kadm.Client) error {
	ends, err := admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return err
	}
	var want, got int64
	ends.Each(func(e kadm.ListedOffset) { want += e.Offset })
	for got < want {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := s.pool.QueryRow(ctx, `SELECT coalesce(sum(next_offset), 0) FROM checkpoint WHERE consumer = 'store'`).Scan(&got); err != nil {
			return err
		}
	}
	deleted, err := admin.DeleteRecords(ctx, ends.Offsets())
	return errors.Join(err, deleted.Error())
}
