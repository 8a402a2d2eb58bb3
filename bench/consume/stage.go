package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/embedded"
	"oriel/server/kafka"
	"oriel/server/maintain"
	"oriel/server/schema"
)

// stage is the broker and the server that both play on.
type stage struct {
	url      string
	brokers  []string
	log      *slog.Logger
	closers  []func() error
	profile  io.Writer
	profiled bool
	topics   int
}

func (s *stage) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i](); err != nil {
			fmt.Fprintln(os.Stderr, "consume:", err)
		}
	}
}

func setUp(ctx context.Context, o *options, log *slog.Logger) (_ *stage, err error) {
	s := &stage{url: o.url, log: log}
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

// publish writes a workload to a topic of its own and says how many bytes of data it has.
func (s *stage) publish(ctx context.Context, o options, w workload) (topic string, bytes int, err error) {
	s.topics++
	topic = fmt.Sprintf("bench.consume.%d.%d", time.Now().Unix(), s.topics)
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers...), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(20*time.Millisecond),
		kgo.MaxBufferedRecords(5000), kgo.MaxBufferedBytes(64<<20))
	if err != nil {
		return "", 0, err
	}
	defer cl.Close()
	if resp, err := kadm.NewClient(cl).CreateTopic(ctx, int32(o.partitions), 1, nil, topic); err != nil || resp.Err != nil {
		return "", 0, errors.Join(err, resp.Err)
	}
	failed := make(chan error, 1)
	for range w.n {
		e := w.next()
		bytes += len(e.Data)
		enc := cloudevents.EncodeRecord(&cloudevents.Event{
			ID: e.ID, Source: e.Source, Type: e.Type, Subject: e.Subject, DataContentType: "application/json",
			Time: e.Time, TimeText: e.Time.Format(time.RFC3339Nano), Data: e.Data,
		})
		rec := &kgo.Record{Key: enc.Key, Value: enc.Value}
		for _, h := range enc.Headers {
			rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
		cl.Produce(ctx, rec, func(_ *kgo.Record, err error) {
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return "", 0, err
	}
	select {
	case err := <-failed:
		return "", 0, err
	default:
		return topic, bytes, nil
	}
}

// shares splits n records over the partitions of a topic as its own are split.
func (s *stage) shares(ctx context.Context, topic string, n int) (map[int32]int64, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers...))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, err
	}
	var all, passed, given int64
	ends.Each(func(e kadm.ListedOffset) { all += e.Offset })
	if all < int64(n) {
		return nil, fmt.Errorf("the topic has %d records of %d", all, n)
	}
	counts := map[int32]int64{}
	ends.Each(func(e kadm.ListedOffset) {
		passed += e.Offset
		upTo := passed * int64(n) / all // rounded over the sum, so that the shares add up
		counts[e.Partition] = upTo - given
		given = upTo
	})
	return counts, nil
}

// contender consumes n records of a topic into a database. setup is what its schema has of its own. again,
// where there is one, consumes the same records once more.
type contender struct {
	setup string
	run   func(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool) error
	again func(ctx context.Context, o options, topic string, n int, pool *pgxpool.Pool) error
}

// turn is one measured run: records a second, the same when they are met again, and processor time in
// microseconds a record.
type turn struct{ rate, again, own, server float64 }

// database is a fresh one, which all have maintained alike.
type database struct {
	url    string
	pool   *pgxpool.Pool
	admin  *pgx.Conn
	keeper *maintain.Maintainer
}

const databaseName = "oriel_bench_consume"

func (s *stage) openDatabase(ctx context.Context, o options, setup string) (d *database, err error) {
	d = &database{}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close(ctx))
		}
	}()
	if d.admin, err = pgx.Connect(ctx, s.url); err != nil {
		return nil, err
	}
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + databaseName + " WITH (FORCE)", "CREATE DATABASE " + databaseName} {
		if _, err := d.admin.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + databaseName
	d.url = u.String()
	if err := schema.Migrate(ctx, d.url); err != nil {
		return nil, err
	}
	if d.pool, err = pgxpool.New(ctx, d.url); err != nil {
		return nil, err
	}
	if _, err := d.pool.Exec(ctx, setup); err != nil {
		return nil, err
	}
	now := time.Now()
	if err := schema.EnsureDays(ctx, d.pool, now.Add(-o.spread), now); err != nil {
		return nil, err
	}
	if _, err := d.admin.Exec(ctx, "CHECKPOINT"); err != nil {
		return nil, err
	}
	keeper := maintain.New(d.pool, 91*24*time.Hour, s.log, prometheus.NewRegistry())
	if err := keeper.Start(ctx); err != nil {
		return nil, err
	}
	d.keeper = keeper
	return d, nil
}

func (d *database) close(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx)
	if d.keeper != nil {
		err = d.keeper.Stop(ctx)
	}
	if d.pool != nil {
		d.pool.Close()
	}
	if d.admin != nil {
		_, dropped := d.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+databaseName+" WITH (FORCE)")
		err = errors.Join(err, dropped, d.admin.Close(ctx))
	}
	return err
}

// measure gives a contender a database and returns its rate. What is pending in the index at the end is
// part of the work.
func (s *stage) measure(ctx context.Context, o options, topic string, n int, play contender) (r turn, err error) {
	d, err := s.openDatabase(ctx, o, play.setup)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, d.close(ctx)) }()
	server := postmaster(ctx, d.admin)
	before, began := spent(server), time.Now()
	if err := play.run(ctx, o, topic, n, d.pool); err != nil {
		return r, err
	}
	if _, err := d.pool.Exec(ctx, `SELECT gin_clean_pending_list(inhrelid) FROM pg_inherits WHERE inhparent = 'event_lexemes'::regclass`); err != nil {
		return r, err
	}
	took, used := time.Since(began), spent(server).sub(before)
	if err := expectCount(ctx, d.pool, n, "rows", "SELECT count(*) FROM event"); err != nil {
		return r, err
	}
	r.rate = float64(n) / took.Seconds()
	r.own, r.server = used.own.Seconds()*1e6/float64(n), used.server.Seconds()*1e6/float64(n)
	if play.again == nil {
		return r, nil
	}
	if _, err := d.pool.Exec(ctx, "UPDATE checkpoint SET next_offset = 0"); err != nil {
		return r, err
	}
	began = time.Now()
	if err := play.again(ctx, o, topic, n, d.pool); err != nil {
		return r, err
	}
	r.again = float64(n) / time.Since(began).Seconds()
	return r, expectCount(ctx, d.pool, n, "duplicates", "SELECT sum(duplicate) FROM ledger")
}

func expectCount(ctx context.Context, pool *pgxpool.Pool, want int, what, sql string) error {
	var got int
	if err := pool.QueryRow(ctx, sql).Scan(&got); err != nil {
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
		if err := pool.QueryRow(ctx, "SELECT coalesce(sum(next_offset), 0) FROM checkpoint").Scan(&done); err != nil {
			return err
		}
	}
	return c.Stop(ctx)
}
