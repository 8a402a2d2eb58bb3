package ingest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

const topic = "events"

// limit is how long a test waits for what must happen.
const limit = 20 * time.Second

func newCluster(t *testing.T, partitions int32, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic)}, opts...)...)
	if err != nil {
		t.Fatalf("start kfake: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// setup is what a test changes about its publisher.
type setup struct {
	Config
	opts []kgo.Opt
}

func newPublisher(t *testing.T, brokers []string, s setup) (*Publisher, *prometheus.Registry) {
	t.Helper()
	if s.Topic == "" {
		s.Topic = topic
	}
	if s.Retention == 0 {
		s.Retention = 91 * day
	}
	reg := prometheus.NewRegistry()
	opts := append([]kgo.Opt{
		kgo.SeedBrokers(brokers...),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
	}, s.opts...)
	p, err := New(s.Config, opts, slog.New(slog.DiscardHandler), reg)
	if err != nil {
		t.Fatalf("new publisher: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_ = p.Close(ctx) // a test that cares about it has closed it already
	})
	return p, reg
}

// structured is a request of one event with these members besides the required ones.
func structured(id string, members ...string) *Request {
	return &Request{ContentType: "application/cloudevents+json", Body: []byte(element(id, members...))}
}

func element(id string, members ...string) string {
	all := []string{`"specversion":"1.0"`, fmt.Sprintf("%q:%q", "id", id), `"type":"t"`}
	for name, fallback := range map[string]string{
		"source": `"source":"/s"`, "time": fmt.Sprintf(`"time":%q`, time.Now().UTC().Format(time.RFC3339Nano)),
	} {
		if !slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(m, `"`+name+`":`) }) {
			all = append(all, fallback)
		}
	}
	return "{" + strings.Join(append(all, members...), ",") + "}"
}

func batch(elements ...string) *Request {
	return &Request{
		ContentType: "application/cloudevents-batch+json", Body: []byte("[" + strings.Join(elements, ",") + "]"),
	}
}

// accepted publishes and requires that every element was accepted.
func accepted(t *testing.T, p *Publisher, req *Request) []*Published {
	t.Helper()
	resp, err := p.Publish(t.Context(), req)
	if err != nil {
		t.Fatalf("publish: %v", err)
	}
	var out []*Published
	for i, r := range resp.Results {
		if r.Err != nil {
			t.Fatalf("element %d: %v", i, r.Err)
		}
		out = append(out, r.Published)
	}
	return out
}

// refused requires that err has this kind and first reason.
func refused(t *testing.T, err error, kind fault.Kind, reason string) fault.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want %s", reason)
	}
	f := fault.Of(err)
	if f.Kind != kind || f.Violations[0].Reason != reason {
		t.Fatalf("got %d %s (%v), want %d %s", f.Kind.Code(), f.Violations[0].Reason, err, kind.Code(), reason)
	}
	if f.Unknown != (reason == fault.ReasonOutcomeUnknown) {
		t.Fatalf("unknown is %v for %s", f.Unknown, reason)
	}
	return *f
}

// readBack is everything that the topic holds, by partition and offset.
func readBack(t *testing.T, brokers []string, name string) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(name),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond))
	if err != nil {
		t.Fatalf("new consumer: %v", err)
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, name)
	if err != nil {
		t.Fatalf("list end offsets: %v", err)
	}
	want := 0
	ends.Each(func(o kadm.ListedOffset) { want += int(o.Offset) })
	var out []*kgo.Record
	for len(out) < want {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("read back, %d of %d: %v", len(out), want, err)
		}
		out = append(out, fetches.Records()...)
	}
	slices.SortFunc(out, func(a, b *kgo.Record) int {
		if a.Partition != b.Partition {
			return int(a.Partition - b.Partition)
		}
		return int(a.Offset - b.Offset)
	})
	return out
}

func idOf(t *testing.T, r *kgo.Record) string {
	t.Helper()
	v, _ := header(r, "ce_id")
	return v
}

func header(r *kgo.Record, name string) (string, bool) {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value), true
		}
	}
	return "", false
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("never came: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func binary(headers ...string) []cloudevents.Header {
	var h []cloudevents.Header
	for i := 0; i+1 < len(headers); i += 2 {
		h = append(h, cloudevents.Header{Key: headers[i], Value: []byte(headers[i+1])})
	}
	return h
}

func recordHeadersOf(r *kgo.Record) []cloudevents.Header {
	h := make([]cloudevents.Header, len(r.Headers))
	for i := range r.Headers {
		h[i] = cloudevents.Header{Key: r.Headers[i].Key, Value: r.Headers[i].Value}
	}
	return h
}
