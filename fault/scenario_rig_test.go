package fault

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/server/apptest"
	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/dbtest"
)

// eachRig runs f with an installation on kfake, and on Apache Kafka where its lane runs.
func eachRig(t *testing.T, partitions int, f func(t *testing.T, r *rig)) {
	t.Helper()
	t.Run("kfake", func(t *testing.T) {
		t.Parallel()
		b, cluster := newCluster(t, partitions)
		f(t, newRig(t, b, cluster))
	})
	dbtest.OnApache(t, partitions, func(t *testing.T, b dbtest.Broker) { f(t, newRig(t, b, nil)) })
}

// member is a consumer in this process, as the program runs it, with a name that the witness knows.
type member struct {
	*consume.Consumer
	t        *testing.T
	name     string
	registry *prometheus.Registry
	said     *said
	traffic  *traffic
}

// What members do in a scenario: batches are small, so that few events fill a queue.
const (
	batchOfMember   = 10
	sessionOfMember = 6 * time.Second
	beatOfMember    = 200 * time.Millisecond
)

// join starts a member that ends with the test.
func (r *rig) join(name string, opts ...kgo.Opt) *member {
	r.t.Helper()
	return r.joinThrough(name, dbtest.AppURL(r.t, r.direct), opts...)
}

// joinThrough is join with a way of its own to the database.
func (r *rig) joinThrough(name, database string, opts ...kgo.Opt) *member {
	r.t.Helper()
	m := &member{t: r.t, name: name, registry: prometheus.NewRegistry(), said: &said{times: map[string]int{}}, traffic: &traffic{read: map[int16]int{}}}
	m.Consumer = consume.New(consume.Config{
		Consumer: "store", Topic: r.broker.Topic, Group: r.group, Instance: name,
		BatchRecords: batchOfMember, BatchAge: 20 * time.Millisecond, WatchEvery: 50 * time.Millisecond,
	}, dbtest.Open(r.t, named(r.t, as(r.t, database, name), name)), append([]kgo.Opt{
		kgo.SeedBrokers(r.broker.Brokers...), kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.SessionTimeout(sessionOfMember), kgo.HeartbeatInterval(beatOfMember), kgo.WithHooks(m.traffic),
	}, opts...), slog.New(m.said), m.registry, nil)
	if err := m.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		m.leave()
		if r.t.Failed() {
			r.t.Logf("%s said:\n%s", name, m.said)
		}
	})
	return m
}

// leave stops a member gracefully; safe twice.
func (m *member) leave() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		m.t.Errorf("%s does not stop: %v", m.name, err)
	}
}

// count sums a metric up, over all of its labels or those whose value is given.
func (m *member) count(name string, label ...string) float64 {
	m.t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		m.t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, s := range f.GetMetric() {
			var values []string
			for _, l := range s.GetLabel() {
				values = append(values, l.GetValue())
			}
			if len(label) == 0 || slices.Contains(values, label[0]) {
				sum += s.GetCounter().GetValue() + s.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// owns waits until a member holds so many partitions.
func (m *member) owns(n int) {
	m.t.Helper()
	apptest.Eventually(m.t, time.Minute, func() bool { return m.Status().Assigned == n },
		func() string { return fmt.Sprintf("%s has %+v, want %d partitions", m.name, m.Status(), n) })
}

// said is a log that counts its lines by their message.
type said struct {
	mu    sync.Mutex
	times map[string]int
	lines []string
}

func (s *said) Enabled(context.Context, slog.Level) bool { return true }
func (s *said) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s *said) WithGroup(string) slog.Handler            { return s }

func (s *said) Handle(_ context.Context, rec slog.Record) error {
	var line strings.Builder
	fmt.Fprintf(&line, "%s %s", rec.Time.Format("15:04:05.000"), rec.Message)
	rec.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&line, " %s", a); return true })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times[rec.Message]++
	s.lines = append(s.lines, line.String())
	return nil
}

func (s *said) count(message string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.times[message]
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines[max(0, len(s.lines)-60):], "\n")
}

// traffic counts the answers that a member's client has read, by the kind of request.
type traffic struct {
	mu   sync.Mutex
	read map[int16]int
}

func (tr *traffic) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if err == nil {
		tr.read[key]++
	}
}

func (tr *traffic) count(key kmsg.Key) int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.read[int16(key)]
}

// named marks the sessions of a database's URL for pg_stat_activity.
func named(t *testing.T, database, name string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("application_name", name)
	q.Set("pool_max_conns", "16") // as the program has it
	u.RawQuery = q.Encode()
	return u.String()
}

// script is a producer past the API that a test leads step by step: what it says was acknowledged is on the
// log, where the test wants it. Each partition has a key of its own.
type script struct {
	r      *rig
	client *kgo.Client
	next   map[int32]int
}

func (r *rig) script() *script {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...), kgo.DefaultProduceTopic(r.broker.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100*time.Millisecond), kgo.ProducerLinger(0))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(client.Close)
	return &script{r: r, client: client, next: map[int32]int{}}
}

// write appends n events to each of the partitions and waits for their acknowledgements.
func (s *script) write(n int, partitions ...int32) {
	s.r.t.Helper()
	var attempts, acks strings.Builder
	var records []*kgo.Record
	at := time.Now().UTC().Truncate(time.Microsecond)
	for range n {
		for _, p := range partitions {
			key := fmt.Sprintf("part%d", p)
			e := &cloudevents.Event{
				ID: eventID(key, s.next[p]), Source: "/load/" + key, Type: goodType, Subject: key,
				Time: at, TimeText: at.Format(time.RFC3339Nano), DataContentType: "application/json", Data: []byte(`{"from":"a script"}`),
			}
			fmt.Fprintln(&attempts, noteAttempt, key, s.next[p])
			fmt.Fprintln(&acks, noteAck, key, s.next[p])
			s.next[p]++
			coded := cloudevents.EncodeRecord(e)
			record := &kgo.Record{Key: coded.Key, Value: coded.Value, Partition: p, Timestamp: at}
			for _, h := range coded.Headers {
				record.Headers = append(record.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
			}
			records = append(records, record)
		}
	}
	s.r.journal.writeText(attempts.String())
	ctx, cancel := context.WithTimeout(s.r.t.Context(), time.Minute)
	defer cancel()
	if err := s.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		s.r.t.Fatalf("a script's events: %v", err)
	}
	s.r.journal.writeText(acks.String())
}

// writeText notes many lines at once.
func (j *journal) writeText(lines string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.WriteString(lines); err != nil && j.err == nil {
		j.err = err
	}
	if err := j.file.Sync(); err != nil && j.err == nil {
		j.err = err
	}
}

// serve starts a replica of the program as users have it, and does not wait for it.
func (r *rig) serve(addr, database string, extra ...string) *apptest.Child {
	r.t.Helper()
	env := r.env(database, append([]string{"ORIEL_ADDR=" + addr, "ORIEL_PUBLIC_URL=http://" + addr}, extra...)...)
	c := apptest.Start(r.t, env, "serve")
	r.children = append(r.children, c)
	return c
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	if _, err := r.pool.Exec(r.t.Context(), sql, args...); err != nil {
		r.t.Fatalf("%s: %v", sql, err)
	}
}
