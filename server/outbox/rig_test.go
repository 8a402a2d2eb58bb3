package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"
	"oriel/server/kafka"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		runChild()
	}
	goleak.VerifyTestMain(m, dbtest.IgnoreServers()...)
}

// patience bounds every wait of a test.
const patience = 60 * time.Second

// rig is one test's database and topics.
type rig struct {
	t       *testing.T
	pool    *pgxpool.Pool // as a superuser, to look and to disturb
	url     string
	brokers []string
	topic   string
	admin   *kadm.Client
	plain   bool // records are not compressed, so that a broker of the test's own can read them
}

func newRig(t *testing.T, brokers []string, topic string) *rig {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	url := dbtest.NewURL(t)
	return &rig{t: t, pool: dbtest.Open(t, url), url: url, brokers: brokers, topic: topic, admin: kadm.NewClient(cl)}
}

// eachBroker runs f with a topic on each kind of broker.
func eachBroker(t *testing.T, partitions int, f func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.EachBroker(t, partitions, func(t *testing.T, b dbtest.Broker) { f(t, newRig(t, b.Brokers, b.Topic)) })
}

// faulty is a cluster of the test's own whose answers it decides.
func faulty(t *testing.T, partitions int32, opts ...kfake.Opt) (*kfake.Cluster, *rig) {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(partitions, "letters")}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, newRig(t, c.ListenAddrs(), "letters")
}

// relay is one of the rig's with its own metrics.
type relay struct {
	*Relay
	registry *prometheus.Registry
}

func quick() Config {
	return Config{
		Instance: "test", TTL: 2 * time.Second, Delivery: time.Second, PollMin: 20 * time.Millisecond,
		PollMax: 200 * time.Millisecond, BackoffBase: 50 * time.Millisecond, BackoffCap: 500 * time.Millisecond,
	}
}

// start runs a relay that ends with the test, as the role that the application has.
func (r *rig) start(mod func(*Config)) *relay {
	r.t.Helper()
	return r.startOn(dbtest.Open(r.t, dbtest.AppURL(r.t, r.url)), mod)
}

// startOn is start with a pool of the test's own.
func (r *rig) startOn(pool *pgxpool.Pool, mod func(*Config)) *relay {
	r.t.Helper()
	rel := r.build(pool, mod)
	if err := rel.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.halt(rel) })
	return rel
}

// build makes a relay that is yet to run.
func (r *rig) build(pool *pgxpool.Pool, mod func(*Config)) *relay {
	cfg := quick()
	if mod != nil {
		mod(&cfg)
	}
	rel := &relay{registry: prometheus.NewRegistry()}
	opts := clientOptions(r.brokers)
	if r.plain {
		opts = append(opts, kgo.ProducerBatchCompression(kgo.NoCompression()))
	}
	rel.Relay = New(cfg, pool, opts, testLog(r.t.Name()), rel.registry)
	return rel
}

func clientOptions(brokers []string) []kgo.Opt {
	opts, err := kafka.Options(kafka.Config{Brokers: brokers}, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	return append(opts, kgo.MetadataMinAge(50*time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }))
}

func testLog(name string) *slog.Logger {
	if os.Getenv("ORIEL_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil)).With("test", name)
}

// halt stops a relay gracefully; safe twice.
func (r *rig) halt(rel *relay) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := rel.Stop(ctx); err != nil {
		r.t.Errorf("stop the relay: %v", err)
	}
}

// value reads a sample of a relay's metrics; label is "name=value" or "".
func (rel *relay) value(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := rel.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "oriel_outbox_"+name {
			continue
		}
		for _, s := range f.GetMetric() {
			got := ""
			for _, p := range s.GetLabel() {
				got = p.GetName() + "=" + p.GetValue()
			}
			if got == label {
				return s.GetCounter().GetValue() + s.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("there is no sample %s{%s}", name, label)
	return 0
}

// await waits until f holds.
func (r *rig) await(what string, f func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(patience)
	for !f() {
		if time.Now().After(deadline) {
			r.t.Fatalf("waited in vain: %s\n%s", what, r.picture())
		}
		select {
		case <-r.t.Context().Done():
			r.t.Fatalf("the test ended while waiting: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// picture is the outbox, for a failure.
func (r *rig) picture() string {
	var s string
	r.one(&s, `SELECT concat_ws(E'\n',
		(SELECT string_agg(concat_ws(' ', id, shard, order_key, seq, topic, 'attempts', attempts, 'dead', dead, reason, detail,
			next_attempt_at - clock_timestamp()), E'\n') FROM (SELECT * FROM outbox ORDER BY id LIMIT 20) x),
		(SELECT string_agg(concat_ws(' ', shard, topic, until - clock_timestamp(), fails, class, detail), E'\n')
			FROM (SELECT * FROM outbox_backoff LIMIT 5) x),
		(SELECT string_agg(concat_ws(' ', owner, count), E'\n') FROM (SELECT owner, count(*) FROM outbox_shard GROUP BY 1) x))`)
	return s
}

func (r *rig) one(dst any, sql string, args ...any) {
	r.t.Helper()
	if err := r.pool.QueryRow(context.WithoutCancel(r.t.Context()), sql, args...).Scan(dst); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}

func (r *rig) count(sql string, args ...any) int {
	r.t.Helper()
	var n int
	r.one(&n, sql, args...)
	return n
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.pool.Exec(r.t.Context(), sql, args...); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}

// enqueue puts n messages of one key in the outbox, seq from first on; the value says key and seq.
func (r *rig) enqueue(topic, key string, first, n int) {
	r.t.Helper()
	r.exec(`INSERT INTO outbox (order_key, seq, topic, record_key, record_value)
		SELECT $1, i, $2, $1::text::bytea, ($1 || ' ' || i)::bytea FROM generate_series($3::bigint, $3::bigint + $4 - 1) i ORDER BY i`,
		key, topic, first, n)
}

// spread puts n messages in the outbox, each with a key of its own.
func (r *rig) spread(topic, prefix string, n int) {
	r.t.Helper()
	r.exec(`INSERT INTO outbox (order_key, seq, topic, record_key, record_value)
		SELECT $1 || i, 0, $2, ($1 || i)::bytea, ($1 || i || ' 0')::bytea FROM generate_series(0, $3 - 1) i ORDER BY i`, prefix, topic, n)
}

// newTopic makes a topic that goes with the test.
func (r *rig) newTopic(partitions int32, configs map[string]string) string {
	r.t.Helper()
	name := fmt.Sprintf("made.%d", time.Now().UnixNano())
	r.makeTopic(name, partitions, configs)
	return name
}

func (r *rig) makeTopic(name string, partitions int32, configs map[string]string) {
	r.t.Helper()
	values := map[string]*string{}
	for k, v := range configs {
		values[k] = &v
	}
	if _, err := r.admin.CreateTopic(r.t.Context(), partitions, 1, values, name); err != nil {
		r.t.Fatalf("make the topic %s: %v", name, err)
	}
	r.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, _ = r.admin.DeleteTopic(ctx, name) // a broker of the test's own may be gone
	})
}

func (r *rig) pending() int { return r.count("SELECT count(*) FROM outbox WHERE NOT dead") }
func (r *rig) dead() int    { return r.count("SELECT count(*) FROM outbox WHERE dead") }

func (r *rig) drained() {
	r.t.Helper()
	r.await("the outbox is empty", func() bool { return r.pending() == 0 })
}

// published is what a topic holds, in the order of each partition.
func (r *rig) published(topic string) []*kgo.Record {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	ends, err := r.admin.ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	left := 0
	offsets := map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > 0 {
			left += int(o.Offset)
			offsets[o.Partition] = kgo.NewOffset().At(0)
		}
	})
	if left == 0 {
		return nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.brokers...), kgo.FetchMaxWait(50*time.Millisecond),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets}), kgo.FetchMaxPartitionBytes(16<<20))
	if err != nil {
		r.t.Fatal(err)
	}
	defer cl.Close()
	var out []*kgo.Record
	for len(out) < left {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			r.t.Fatalf("read %s: %v after %d of %d", topic, err, len(out), left)
		}
		out = append(out, fetches.Records()...)
	}
	return out
}

// expectAll requires that a topic holds each of the values, and says how many of its records are repeats.
func (r *rig) expectAll(topic string, want []string) (repeats int) {
	r.t.Helper()
	got := map[string]int{}
	for _, rec := range r.published(topic) {
		got[string(rec.Value)]++
	}
	missing := 0
	for _, v := range want {
		if got[v] == 0 {
			if missing++; missing < 5 {
				r.t.Errorf("%q was not published", v)
			}
			continue
		}
		repeats += got[v] - 1
		delete(got, v)
	}
	for v := range got {
		r.t.Errorf("%q was published and never enqueued", v)
	}
	return repeats
}

func itoa(i int) string { return fmt.Sprint(i) }

// values are those of enqueue.
func values(key string, first, n int) (out []string) {
	for i := first; i < first+n; i++ {
		out = append(out, fmt.Sprintf("%s %d", key, i))
	}
	return out
}

// spreadValues are those of spread.
func spreadValues(prefix string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%s%d 0", prefix, i))
	}
	return out
}

// expectOrder requires that the first occurrences of each key's messages are in the order of seq.
func (r *rig) expectOrder(topic string) {
	r.t.Helper()
	next := map[string]int{}
	for _, rec := range r.published(topic) {
		key, number, _ := strings.Cut(string(rec.Value), " ")
		var seq int
		if _, err := fmt.Sscan(number, &seq); err != nil {
			r.t.Fatal(err)
		}
		switch {
		case seq == next[key]:
			next[key]++
		case seq > next[key]:
			r.t.Fatalf("%s: %d came first where %d was due", key, seq, next[key])
		}
	}
}
