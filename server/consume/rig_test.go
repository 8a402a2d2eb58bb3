package consume

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/dbtest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, dbtest.IgnoreServers()...)
}

// patience bounds every wait of a test.
const patience = 60 * time.Second

// rig is one consumer's world: a database, a topic, and a producer.
type rig struct {
	t      *testing.T
	pool   *pgxpool.Pool
	url    string
	broker dbtest.Broker
	client *kgo.Client
	admin  *kadm.Client
	name   int
}

func newRig(t *testing.T, b dbtest.Broker) *rig {
	t.Helper()
	database := dbtest.NewURL(t)
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(b.Brokers...), kgo.DefaultProduceTopic(b.Topic), kgo.ProducerLinger(0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100*time.Millisecond),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return &rig{t: t, pool: dbtest.Open(t, database), url: database, broker: b, client: cl, admin: kadm.NewClient(cl)}
}

// member is a consumer of the rig with its own metrics.
type member struct {
	*Consumer
	registry *prometheus.Registry
	woken    chan struct{}
}

// start runs a consumer that ends with the test, as the role that the application has.
func (r *rig) start(mod func(*Config)) *member {
	u, err := url.Parse(dbtest.AppURL(r.t, r.url))
	if err != nil {
		r.t.Fatal(err)
	}
	q := u.Query()
	q.Set("application_name", "consumer")
	u.RawQuery = q.Encode()
	return r.startOn(dbtest.Open(r.t, u.String()), mod)
}

func (r *rig) startOn(pool *pgxpool.Pool, mod func(*Config)) *member {
	r.t.Helper()
	m := r.build(pool, mod)
	r.run(m)
	return m
}

// build makes a consumer that is yet to run.
func (r *rig) build(pool *pgxpool.Pool, mod func(*Config)) *member {
	r.name++
	cfg := Config{
		Consumer: "store", Topic: r.broker.Topic, Group: "store-" + r.broker.Topic,
		Instance: fmt.Sprintf("test/%d", r.name), Retention: 91 * 24 * time.Hour,
		BatchAge: 20 * time.Millisecond, WatchEvery: 50 * time.Millisecond,
	}
	if mod != nil {
		mod(&cfg)
	}
	level := slog.LevelError + 1
	if os.Getenv("ORIEL_TEST_LOG") != "" {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("test", r.t.Name())
	m := &member{registry: prometheus.NewRegistry(), woken: make(chan struct{}, 1)}
	m.Consumer = New(cfg, pool, []kgo.Opt{
		kgo.SeedBrokers(r.broker.Brokers...), kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.SessionTimeout(10 * time.Second), kgo.HeartbeatInterval(200 * time.Millisecond),
	}, log, m.registry, func() {
		select {
		case m.woken <- struct{}{}:
		default:
		}
	})
	return m
}

// run starts a consumer that ends with the test.
func (r *rig) run(m *member) {
	r.t.Helper()
	if err := m.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.halt(m) })
}

// halt stops a member gracefully; safe twice.
func (r *rig) halt(m *member) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		r.t.Errorf("stop the consumer: %v", err)
	}
}

// event is a valid event that a test changes.
func event(id string) *cloudevents.Event {
	at := time.Now().UTC().Truncate(time.Microsecond)
	return &cloudevents.Event{
		ID: id, Source: "/homes/1", Type: "com.example.reading.v1", Subject: "sensor-7",
		DataContentType: "application/json", Time: at, TimeText: at.Format(time.RFC3339Nano),
		Data: []byte(`{"room":"kitchen","value":21.5}`),
	}
}

// at sets the time of an event.
func at(e *cloudevents.Event, when time.Time) *cloudevents.Event {
	e.Time = when.UTC().Truncate(time.Microsecond)
	e.TimeText = e.Time.Format(time.RFC3339Nano)
	return e
}

// record is an event as ingest publishes it, for one partition.
func record(e *cloudevents.Event, partition int32) *kgo.Record {
	enc := cloudevents.EncodeRecord(e)
	rec := &kgo.Record{Key: enc.Key, Value: enc.Value, Partition: partition, Timestamp: time.Now()}
	for _, h := range enc.Headers {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return rec
}

// without drops a header of a record.
func without(rec *kgo.Record, key string) *kgo.Record {
	var hs []kgo.RecordHeader
	for _, h := range rec.Headers {
		if h.Key != key {
			hs = append(hs, h)
		}
	}
	rec.Headers = hs
	return rec
}

// produce publishes records and waits for their acknowledgement.
func (r *rig) produce(recs ...*kgo.Record) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	if err := r.client.ProduceSync(ctx, recs...).FirstErr(); err != nil {
		r.t.Fatalf("produce: %v", err)
	}
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

// one scans one row.
func (r *rig) one(dst any, sql string, args ...any) {
	r.t.Helper()
	if err := r.pool.QueryRow(r.t.Context(), sql, args...).Scan(dst); err != nil {
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

// ends are the ends of the topic's partitions.
func (r *rig) ends() map[int32]int64 {
	r.t.Helper()
	listed, err := r.admin.ListEndOffsets(r.t.Context(), r.broker.Topic)
	if err != nil {
		r.t.Fatal(err)
	}
	ends := map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) {
		if o.Err != nil {
			r.t.Fatal(o.Err)
		}
		ends[o.Partition] = o.Offset
	})
	return ends
}

// deleteRecords moves the start of a partition's log.
func (r *rig) deleteRecords(partition int32, to int64) error {
	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: r.broker.Topic, Partition: partition, At: to})
	resp, err := r.admin.DeleteRecords(r.t.Context(), offsets)
	if err != nil {
		return err
	}
	return resp.Error()
}
