// Package stored gives a database the past that a benchmark begins with: thirty days of short events and of
// webhook payloads, through the consumer's own steps from decoding to COMMIT, in the order of their time as a
// stream brings them, and without a broker. What it makes follows from the numbers and the instant alone.
package stored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"oriel/bench/events"
	"oriel/bench/webhooks"
	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/maintain"
	"oriel/server/schema"
)

// The topics that the past is of, and their partitions.
const (
	TopicEvents = "stored.events"
	TopicHooks  = "stored.webhooks"
	Partitions  = 6
)

// batch is how many records a transaction stores.
const batch = 2000

// Retention is longer than any past.
const Retention = 91 * 24 * time.Hour

// Past is what is to be there: so many of each kind, the youngest just before Until.
type Past struct {
	Events, Hooks int
	Until         time.Time
	// Webhooks is the folder of the payloads.
	Webhooks string
	// Furnish, where given, changes a short event before it is stored, with what follows from the source alone.
	Furnish func(*rand.Rand, *events.Event)
}

// Rows is how many rows that is.
func (p Past) Rows() int { return p.Events + p.Hooks }

// Fill stores it and says how long that took. The schema is there already. What was cut off goes on where it
// was, if it is given the same past.
func Fill(ctx context.Context, pool *pgxpool.Pool, p Past, log *slog.Logger, out io.Writer) (err error) {
	if p.Rows() == 0 {
		return nil
	}
	if err := schema.EnsureDays(ctx, pool, p.Until.Add(-events.Days*24*time.Hour), p.Until); err != nil {
		return err
	}
	keeper := maintain.New(pool, Retention, log, prometheus.NewRegistry())
	if err := keeper.Start(ctx); err != nil {
		return err
	}
	defer func() {
		if serr := keeper.Stop(context.WithoutCancel(ctx)); err == nil {
			err = serr
		}
	}()
	if err := p.fill(ctx, pool, log, out, TopicEvents, p.Events, func(part int32) source {
		rng := rand.New(rand.NewPCG(7, uint64(part)))
		g := events.New(rng, p.Until, 2).Identified()
		return source{rng, func(at time.Time) events.Event {
			e := g.Next()
			e.Time = at
			if p.Furnish != nil {
				p.Furnish(rng, &e)
			}
			return e
		}}
	}); err != nil {
		return err
	}
	if p.Hooks > 0 {
		set, err := webhooks.Load(p.Webhooks)
		if err != nil {
			return err
		}
		if err := p.fill(ctx, pool, log, out, TopicHooks, p.Hooks, func(part int32) source {
			rng := rand.New(rand.NewPCG(8, uint64(part)))
			return source{rng, func(at time.Time) events.Event { return set.Varied(rng, at) }}
		}); err != nil {
			return err
		}
	}
	began := time.Now()
	// A session of its own: those of the pool are the consumer's, which end what takes long.
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// What comes next must not meet what the server would have tidied up long since.
	for _, sql := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	var size string
	if err := conn.QueryRow(ctx, "SELECT pg_size_pretty(pg_database_size(current_database()))").Scan(&size); err != nil {
		return err
	}
	fmt.Fprintf(out, "vacuumed in %.0f s: %s\n", time.Since(began).Seconds(), size)
	return nil
}

// Settle does what maintenance would have done within the hour: blocks merged, hours and days folded, indexes
// and statistics as they are after some quiet.
func Settle(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	keeper := maintain.New(pool, Retention, log, prometheus.NewRegistry())
	if _, err := pool.Exec(ctx, `UPDATE event_block SET made_at = made_at - interval '2 hours'`); err != nil {
		return err
	}
	if err := errors.Join(keeper.Fold(ctx), keeper.Merge(ctx)); err != nil {
		return err
	}
	for _, sql := range []string{
		`SELECT gin_clean_pending_list(inhrelid) FROM pg_inherits WHERE inhparent = 'event_lexemes'::regclass`,
		"VACUUM (ANALYZE) event_block", "VACUUM (ANALYZE) rollup_hour", "VACUUM (ANALYZE) rollup_day", "CHECKPOINT",
	} {
		if _, err := pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// source makes the events of one partition.
type source struct {
	rng  *rand.Rand
	next func(at time.Time) events.Event
}

// fill stores n events of a kind, all partitions at once.
func (p Past) fill(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger, out io.Writer, topic string, n int, open func(part int32) source) error {
	if n == 0 {
		return nil
	}
	began := time.Now()
	c := consume.New(consume.Config{Consumer: "store", Topic: topic, Instance: "fill"}, pool, nil, log, prometheus.NewRegistry(), nil)
	id := [16]byte{15: byte(len(topic))}
	group, ctx := errgroup.WithContext(ctx)
	for part := range int32(Partitions) {
		group.Go(func() error {
			src := open(part)
			mine := n * int(part+1) / Partitions
			mine -= n * int(part) / Partitions
			step := time.Duration(int64(events.Days*24*time.Hour) / int64(max(mine, 1)))
			first := p.Until.Add(-time.Duration(mine) * step)
			return c.Fill(ctx, id, part, func(offset int64) []*kgo.Record {
				recs := make([]*kgo.Record, min(batch, mine-int(offset)))
				for i := range recs {
					o := offset + int64(i)
					at := first.Add(time.Duration(o)*step + time.Duration(src.rng.Int64N(int64(step)))).Truncate(time.Microsecond)
					e := src.next(at)
					recs[i] = Record(&e)
					recs[i].Topic, recs[i].Partition, recs[i].Offset, recs[i].Timestamp = topic, part, o, at.Add(time.Second)
				}
				return recs
			})
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("fill %s: %w", topic, err)
	}
	took := time.Since(began)
	fmt.Fprintf(out, "%s: %d rows over %d days, %.0f rows/s, %.0f s\n", topic, n, events.Days, float64(n)/took.Seconds(), took.Seconds())
	return nil
}

// Record is an event as producers of CloudEvents send it, in binary mode.
func Record(e *events.Event) *kgo.Record {
	enc := cloudevents.EncodeRecord(&cloudevents.Event{
		ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject, DataContentType: "application/json",
		Time: e.Time, TimeText: e.Time.Format(time.RFC3339Nano), Data: e.Data,
	})
	r := &kgo.Record{Key: enc.Key, Value: enc.Value}
	for _, h := range enc.Headers {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return r
}
