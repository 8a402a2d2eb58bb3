package search

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/dbtest"
	"oriel/server/maintain"
	"oriel/server/search/reference"
	"oriel/server/search/reference/draw"
)

// ages is a retention that no event of these tests is beyond.
const ages = 100 * 365 * 24 * time.Hour

// autumn is the moment that random events lie around: a day of 25 hours in much of Europe.
func autumn() time.Time { return time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC) }

// world is events that the product's consumer has stored, and the same events as the reference takes them.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	draw   *draw.Draw
	pool   *pgxpool.Pool
	wide   *Service // with the limits of an installation
	narrow *Service // with limits so low that these few events are beyond them
	keeper *maintain.Maintainer
	sent   []*cloudevents.Event
	events []*reference.Event
	sizes  map[string]int64 // records by topic
}

// shop is the random events of a seed.
func shop(seed uint64, n int) (*draw.Draw, []*cloudevents.Event) {
	d := draw.New(seed, autumn())
	var events []*cloudevents.Event
	taken := map[string]bool{}
	for len(events) < n {
		e := d.Event()
		if len(events) == 3 && seed%4 == 0 {
			e = d.Huge()
		}
		identity := fmt.Sprint(e.Time.UnixMicro(), e.Source, " ", e.ID)
		if taken[identity] || len(cloudevents.Validate(e)) > 0 {
			continue
		}
		taken[identity] = true
		events = append(events, e)
	}
	return d, events
}

// newWorld stores events, in more than one log and several partitions, some of them twice. Half of them are
// what maintenance has come by already: their blocks are few, their hours folded; and one partition has
// commits from before there were blocks.
func newWorld(t *testing.T, seed uint64, d *draw.Draw, events []*cloudevents.Event) *world {
	t.Helper()
	url := dbtest.NewURL(t)
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 77)), draw: d, pool: dbtest.Open(t, url), sent: events, sizes: map[string]int64{},
	}
	w.keeper = maintainerOf(w)
	broker := dbtest.NewKfake(t, 3)
	half := len(events) / 2
	w.store(url, broker, 0, 0, half)
	w.maintained()
	topics := int32(1)
	if seed%3 == 0 {
		broker.Topic += ".next"
		w.makeTopic(broker)
		topics = 2
	}
	w.store(url, broker, topics-1, half, len(events))
	if seed%2 == 0 {
		w.before()
	}
	w.read()
	reader := dbtest.Open(t, dbtest.ReadURL(t, url))
	w.wide, w.narrow = w.service(reader), w.service(reader)
	narrowed(&w.narrow.limits)
	return w
}

func (w *world) makeTopic(b dbtest.Broker) {
	w.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...))
	if err != nil {
		w.t.Fatal(err)
	}
	defer cl.Close()
	if resp, err := kadm.NewClient(cl).CreateTopic(w.t.Context(), 2, 1, nil, b.Topic); err != nil || resp.Err != nil {
		w.t.Fatal(err, resp.Err)
	}
}

// store sends the events [from, until) to a topic and consumes it to its end.
func (w *world) store(url string, b dbtest.Broker, topic int32, from, until int) {
	w.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.DefaultProduceTopic(b.Topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer cl.Close()
	var records []*kgo.Record
	for i := from; i < until; i++ {
		p := int32(w.rng.IntN(3))
		if topic > 0 || w.rng.IntN(2) == 0 {
			p = int32(w.rng.IntN(2))
		}
		for range 1 + w.rng.IntN(8)/7 { // one of eight is redelivered
			records = append(records, sentTo(w.sent[i], p))
		}
	}
	if err := cl.ProduceSync(w.t.Context(), records...).FirstErr(); err != nil {
		w.t.Fatalf("produce: %v", err)
	}
	w.sizes[b.Topic] += int64(len(records))
	app := dbtest.Open(w.t, dbtest.AppURL(w.t, url))
	c := consume.New(consume.Config{
		Consumer: "store", Topic: b.Topic, Group: "store-" + b.Topic, Instance: "test", Retention: ages,
		BatchRecords: 5 + w.rng.IntN(40), BatchAge: 5 * time.Millisecond, WatchEvery: 50 * time.Millisecond, BreakerRatio: 1,
	}, app, []kgo.Opt{
		kgo.SeedBrokers(b.Brokers...), kgo.MetadataMinAge(100 * time.Millisecond), kgo.HeartbeatInterval(200 * time.Millisecond),
	}, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), func() {})
	if err := c.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			w.t.Errorf("stop the consumer: %v", err)
		}
	}()
	deadline := time.Now().Add(2 * time.Minute)
	for done := int64(0); done < w.sizes[b.Topic]; {
		if time.Now().After(deadline) {
			w.t.Fatalf("the consumer has taken %d of %d records", done, w.sizes[b.Topic])
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-w.t.Context().Done():
			w.t.Fatal("the test ended while events were stored")
		}
		w.one(&done, `SELECT coalesce(sum(next_offset), 0) FROM checkpoint c JOIN log l ON l.id = c.log WHERE l.topic = $1`, b.Topic)
	}
}

// sentTo is an event as ingest publishes it soon after its time.
func sentTo(e *cloudevents.Event, partition int32) *kgo.Record {
	enc := cloudevents.EncodeRecord(e)
	rec := &kgo.Record{Key: enc.Key, Value: enc.Value, Partition: partition, Timestamp: e.Time.Add(time.Minute)}
	for _, h := range enc.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return rec
}

func (w *world) one(dst any, sql string, args ...any) {
	w.t.Helper()
	if err := w.pool.QueryRow(w.t.Context(), sql, args...).Scan(dst); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.pool.Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

// maintained merges blocks and folds hours as if time had passed.
func (w *world) maintained() {
	w.t.Helper()
	w.exec(`UPDATE event_block SET made_at = made_at - interval '2 hours'`)
	if err := w.keeper.Merge(w.t.Context()); err != nil {
		w.t.Fatalf("merge blocks: %v", err)
	}
	if err := w.keeper.Fold(w.t.Context()); err != nil {
		w.t.Fatalf("fold hours: %v", err)
	}
}

// before takes the blocks of a partition's first commits away, as of rows from before there were blocks.
func (w *world) before() {
	w.exec(`WITH gap AS (SELECT log, partition, through_commit FROM event_block ORDER BY md5(log::text || partition || from_commit) LIMIT 1),
		gone AS (DELETE FROM event_block b USING gap g WHERE b.log = g.log AND b.partition = g.partition AND b.through_commit <= g.through_commit)
		INSERT INTO block_gap (log, partition, through_commit) SELECT log, partition, through_commit FROM gap`)
	// Merged blocks of other days may go on beyond those commits, or begin before them.
	w.exec(`INSERT INTO block_gap AS g SELECT log, partition, max(commit) FROM event e WHERE NOT EXISTS (SELECT FROM event_block b
		WHERE b.day = date_trunc('day', e.occurred_at, 'UTC') AND b.log = e.log AND b.partition = e.partition
		AND e.commit BETWEEN b.from_commit AND b.through_commit) GROUP BY log, partition
		ON CONFLICT (log, partition) DO UPDATE SET through_commit = greatest(g.through_commit, EXCLUDED.through_commit)`)
}

// storedPlaces is where events were stored, and when: an event arrives with its commit.
const storedPlaces = `SELECT e.occurred_at, e.source, e.id, e.log, e.partition, e."offset", e.commit, l.committed_at
	FROM event e JOIN ledger l ON l.consumer = 'store' AND l.log = e.log AND l.partition = e.partition AND l.commit = e.commit`

// read finds where each event was stored. All of them must have been, once.
func (w *world) read() {
	w.t.Helper()
	type identity struct {
		micros     int64
		source, id string
	}
	at := map[identity]*reference.Event{}
	for _, e := range w.sent {
		ref := reference.New(e, nil, reference.DefaultFacets())
		w.events = append(w.events, ref)
		at[identity{ref.Micros, ref.Source, ref.ID}] = ref
	}
	rows, err := w.pool.Query(w.t.Context(), storedPlaces)
	if err != nil {
		w.t.Fatal(err)
	}
	stored := 0
	var when, arrived time.Time
	var place reference.Event
	if _, err := pgx.ForEachRow(rows, []any{&when, &place.Source, &place.ID, &place.Log, &place.Partition, &place.Offset, &place.Commit, &arrived}, func() error {
		ref := at[identity{when.UnixMicro(), place.Source, place.ID}]
		if ref == nil {
			return fmt.Errorf("nobody sent %s %s at %s", place.Source, place.ID, when)
		}
		ref.Log, ref.Partition, ref.Offset, ref.Commit = place.Log, place.Partition, place.Offset, place.Commit
		ref.Arrived = arrived.UnixMicro()
		stored++
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	if stored != len(w.sent) {
		var why []string
		w.one(&why, `SELECT array_agg(reason || ' ' || detail) FROM dead_letter`)
		w.t.Fatalf("%d of %d events are stored: %v", stored, len(w.sent), why)
	}
	reference.Sort(w.events)
}

func (w *world) service(pool *pgxpool.Pool) *Service {
	s := New(pool, Config{Retention: ages}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	l := &s.limits
	l.statement, l.budget, l.others, l.wait, l.probing, l.counting = time.Minute, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute
	return s
}

func maintainerOf(w *world) *maintain.Maintainer {
	return maintain.New(w.pool, ages, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
}
