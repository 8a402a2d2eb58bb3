package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/consume"
	"oriel/server/embedded"
	"oriel/server/kafka"
)

// stage is the broker and the server that both play on.
type stage struct {
	url      string
	brokers  []string
	log      *slog.Logger
	out      io.Writer
	began    time.Time
	closers  []func() error
	profile  io.Writer
	profiled bool
	topics   int
	past     *database // the one that has a past, where one was asked for
}

func (s *stage) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i](); err != nil {
			fmt.Fprintln(os.Stderr, "consume:", err)
		}
	}
}

func setUp(ctx context.Context, o *options, log *slog.Logger, out io.Writer) (_ *stage, err error) {
	s := &stage{url: o.url, log: log, out: out, began: time.Now().UTC()}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	dir, err := os.MkdirTemp("", "oriel-bench-consume-")
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() error { return os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // the server runs as another user
		return nil, err
	}
	if s.url == "" {
		pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir + "/pg", Log: log})
		if err != nil {
			return nil, fmt.Errorf("start PostgreSQL: %w", err)
		}
		s.closers = append(s.closers, func() error { return pg.Stop(context.WithoutCancel(ctx)) })
		s.url = pg.URL("postgres")
	}
	if o.brokers != "" {
		s.brokers = strings.Split(o.brokers, ",")
		return s, nil
	}
	broker, err := kafka.StartEmbedded(dir+"/kafka", 0, nil, log)
	if err != nil {
		return nil, fmt.Errorf("start the broker: %w", err)
	}
	s.closers = append(s.closers, broker.Close)
	s.brokers = broker.Brokers()
	return s, nil
}

// contender consumes n records of a topic into a database. again, where there is one, consumes the same
// records once more. An empty one begins without a past, and setup is what its schema has of its own.
type contender struct {
	empty bool
	setup string
	run   func(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool) error
	again func(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool) error
}

// turn is one measured run: records a second, the same when they are met again, processor time in
// microseconds a record, and their size.
type turn struct{ rate, again, own, server, bytes float64 }

// measure gives a contender a database and returns its rate. What is pending in the index at the end is
// part of the work.
func (s *stage) measure(ctx context.Context, o options, topic string, n int, play contender) (r turn, err error) {
	var d *database
	var release func(context.Context) error
	if play.empty {
		d, err = s.openDatabase(ctx, o, databaseName, play.setup)
		release = d.close
	} else {
		d, release, err = s.database(ctx, o)
	}
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, release(ctx)) }()
	if _, err := d.admin.Exec(ctx, "CHECKPOINT"); err != nil {
		return r, err
	}
	server := postmaster(ctx, d.admin)
	before, began := spent(server), time.Now()
	if err := play.run(ctx, o, topic, n, d.pool); err != nil {
		return r, err
	}
	if _, err := d.pool.Exec(ctx, `SELECT gin_clean_pending_list(inhrelid) FROM pg_inherits WHERE inhparent = 'event_lexemes'::regclass`); err != nil {
		return r, err
	}
	took, used := time.Since(began), spent(server).sub(before)
	if err := expectCount(ctx, d.pool, n, "rows", "SELECT count(*) FROM event WHERE log = "+logOf, topic); err != nil {
		return r, err
	}
	r.rate = float64(n) / took.Seconds()
	r.own, r.server = used.own.Seconds()*1e6/float64(n), used.server.Seconds()*1e6/float64(n)
	if play.again == nil {
		return r, nil
	}
	if _, err := d.pool.Exec(ctx, "UPDATE checkpoint SET next_offset = 0 WHERE log = "+logOf, topic); err != nil {
		return r, err
	}
	began = time.Now()
	if err := play.again(ctx, o, topic, n, d.pool); err != nil {
		return r, err
	}
	r.again = float64(n) / time.Since(began).Seconds()
	return r, expectCount(ctx, d.pool, n, "duplicates", "SELECT sum(duplicate) FROM ledger WHERE log = "+logOf, topic)
}

// logOf is the log of a topic, as SQL.
const logOf = "(SELECT id FROM log WHERE topic = $1)"

// accounted is how many records of a topic the checkpoints account for.
const accounted = "SELECT coalesce(sum(next_offset), 0) FROM checkpoint WHERE log = " + logOf

func expectCount(ctx context.Context, pool *pgxpool.Pool, want int, what, sql string, args ...any) error {
	var got int
	if err := pool.QueryRow(ctx, sql, args...).Scan(&got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%d %s of %d records", got, what, want)
	}
	return nil
}

// product runs the product's consumer with batches of the limit's size.
func (s *stage) product(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool) error {
	defer s.startProfile()()
	return consumeAll(ctx, o.batch, s.brokers, s.log, topic, n, pool)
}

// productAgain is product without its profile.
func (s *stage) productAgain(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool) error {
	return consumeAll(ctx, o.batch, s.brokers, s.log, topic, n, pool)
}

// asItIs is the product with batches of its own size.
func (s *stage) asItIs(ctx context.Context, _ options, topic string, n int, pool *pgxpool.Pool) error {
	return consumeAll(ctx, 0, s.brokers, s.log, topic, n, pool)
}

// consumeAll runs the product's consumer until the checkpoints account for every record.
func consumeAll(ctx context.Context, batch int, brokers []string, log *slog.Logger, topic string, n int, pool *pgxpool.Pool) error {
	woken := make(chan struct{}, 1)
	c := consume.New(consume.Config{
		Consumer: "store", Topic: topic, Group: fmt.Sprintf("bench-%d", time.Now().UnixNano()), Instance: "bench",
		BatchRecords: batch,
	}, pool, []kgo.Opt{kgo.SeedBrokers(brokers...), kgo.MetadataMinAge(250 * time.Millisecond)}, log, prometheus.NewRegistry(), func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
	if err := c.Start(ctx); err != nil {
		return err
	}
	var done int
	for done < n {
		select {
		case <-woken:
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := pool.QueryRow(ctx, accounted, topic).Scan(&done); err != nil {
			return err
		}
	}
	return c.Stop(ctx)
}
