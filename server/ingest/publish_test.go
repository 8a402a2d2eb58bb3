package ingest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestAnAcknowledgedEventIsInTheTopicWithItsExactBytes(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		now := time.Now().UTC().Add(-time.Minute) // a clock of its own
		p, reg := newPublisher(t, b.Brokers, setup{Config: Config{Topic: b.Topic, Now: func() time.Time { return now }}})
		data := "{ \"a\":1.0, \"a\" : 9007199254740993,\n\"s\":\"\\u0000\" }"
		out := accepted(t, p, &Request{
			ContentType: "application/json",
			Headers: binary("Ce-Specversion", "1.0", "Ce-Id", "a1", "Ce-Source", "/s", "Ce-Type", "t", "Ce-Subject", "Euro%20%E2%82%AC",
				"Ce-Time", now.Format(time.RFC3339Nano), "Content-Type", "application/json",
				"Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Authorization", "Bearer x"),
			Body: []byte(data),
		})
		got := out[0]
		if got.PartitionKey != "/s#Euro €" || got.Topic != b.Topic || got.Offset < 0 {
			t.Fatalf("answered %+v", got)
		}
		records := readBack(t, b.Brokers, b.Topic)
		if len(records) != 1 {
			t.Fatalf("%d records", len(records))
		}
		r := records[0]
		if r.Partition != got.Partition || r.Offset != got.Offset || string(r.Key) != got.PartitionKey {
			t.Fatalf("record %d/%d key %q, answered %+v", r.Partition, r.Offset, r.Key, got)
		}
		if string(r.Value) != data {
			t.Fatalf("data became %q", r.Value)
		}
		if want := now.Truncate(time.Millisecond); !r.Timestamp.Equal(want) {
			t.Fatalf("timestamp %s, want the instant of the check %s", r.Timestamp, want)
		}
		for _, h := range r.Headers {
			if h.Key == "ce_traceparent" || strings.EqualFold(h.Key, "authorization") {
				t.Fatalf("header %s was copied into the event", h.Key)
			}
		}
		if n := testutil.ToFloat64(p.metrics.published); n != 1 {
			t.Fatalf("published counts %v", n)
		}
		if n, err := testutil.GatherAndCount(reg, "oriel_ingest_limit"); err != nil || n < 10 {
			t.Fatalf("%d limits are stated (%v)", n, err)
		}
	})
}

func TestElementsOfOneKeyKeepTheirOrder(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 4, func(t *testing.T, b dbtest.Broker) {
		p, _ := newPublisher(t, b.Brokers, setup{Config: Config{Topic: b.Topic}})
		for round := range 4 {
			var elements []string
			for i := range cloudevents.MaxBatch {
				elements = append(elements, element(fmt.Sprintf("%04d", round*cloudevents.MaxBatch+i), fmt.Sprintf(`"subject":"k%d"`, i%7)))
			}
			out := accepted(t, p, batch(elements...))
			for i, o := range out {
				if want := fmt.Sprintf("%04d", round*cloudevents.MaxBatch+i); o.Event.ID != want {
					t.Fatalf("result %d is of %s", i, o.Event.ID)
				}
			}
		}
		last, home := map[string]string{}, map[string]int32{}
		records := readBack(t, b.Brokers, b.Topic)
		if len(records) != 4*cloudevents.MaxBatch {
			t.Fatalf("%d records", len(records))
		}
		for _, r := range records {
			key, id := string(r.Key), idOf(t, r)
			if id <= last[key] {
				t.Fatalf("key %s: %s after %s", key, id, last[key])
			}
			if at, seen := home[key]; seen && at != r.Partition {
				t.Fatalf("key %s is in partitions %d and %d", key, at, r.Partition)
			}
			last[key], home[key] = id, r.Partition
		}
	})
}

func TestNothingRefusedIsPublished(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		p, _ := newPublisher(t, b.Brokers, setup{Config: Config{Topic: b.Topic}})
		req := batch(element("ok-1"), element("bad-id", `"id2!":1`), element("late", `"time":"1999-01-01T00:00:00Z"`), element("ok-2"),
			element("other", `"source":"/other/x"`), element("ok-1"), `{"specversion":"1.0"}`)
		req.SourcePrefixes = []string{"/s"}
		resp, err := p.Publish(t.Context(), req)
		if err != nil {
			t.Fatalf("publish: %v", err)
		}
		want := []string{"", fault.ReasonInvalidAttribute, fault.ReasonTimeOutOfWindow, "", fault.ReasonSourceNotAllowed, "", fault.ReasonMissingAttribute}
		for i, reason := range want {
			r := resp.Results[i]
			if reason == "" {
				if r.Err != nil || r.Published.Offset < 0 {
					t.Errorf("element %d: %+v", i, r)
				}
				continue
			}
			if r.Published != nil {
				t.Errorf("element %d was published", i)
			}
			if got := fault.Of(r.Err).Violations[0].Reason; got != reason {
				t.Errorf("element %d: %s, want %s", i, got, reason)
			}
		}
		if n := len(fault.Of(resp.Results[6].Err).Violations); n != 4 {
			t.Errorf("%d violations are told together, want id, source, type and time", n)
		}
		var ids []string
		for _, r := range readBack(t, b.Brokers, b.Topic) {
			ids = append(ids, idOf(t, r))
		}
		// The same id twice in one batch is published twice; its consumer recognises it.
		if len(ids) != 3 || strings.Count(strings.Join(ids, " "), "ok-1") != 2 {
			t.Fatalf("the topic holds %v", ids)
		}
	})
}

func TestValidatingPublishesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p, _ := newPublisher(t, c.ListenAddrs(), setup{})
	req := batch(element("a"), element("b", `"time":"1999-01-01T00:00:00Z"`))
	req.ValidateOnly = true
	resp, err := p.Publish(t.Context(), req)
	if err != nil {
		t.Fatalf("validate: %v", err)
	}
	if got := resp.Results[0]; got.Err != nil || got.Published.Offset != -1 || got.Published.PartitionKey != "/s" {
		t.Fatalf("valid element: %+v", got)
	}
	refused(t, resp.Results[1].Err, fault.InvalidArgument, fault.ReasonTimeOutOfWindow)
	if n := c.PartitionInfo(topic, 0).HighWatermark; n != 0 {
		t.Fatalf("%d records were published", n)
	}
}

func TestManyProducersNeverMixTheirBytes(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 4, func(t *testing.T, b dbtest.Broker) {
		const producers, each = 200, 5
		p, _ := newPublisher(t, b.Brokers, setup{Config: Config{Topic: b.Topic}})
		var wg sync.WaitGroup
		for n := range producers {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(n)))
				for i := range each {
					data := make([]byte, 20+rng.IntN(4000))
					for j := range data {
						data[j] = byte(rng.Uint32())
					}
					id := fmt.Sprintf("p%d-%d-%x", n, i, sha256.Sum256(data))
					_, err := p.Publish(t.Context(), &Request{
						ContentType: "application/octet-stream",
						Headers: binary("ce-specversion", "1.0", "ce-id", id, "ce-source", fmt.Sprintf("/p/%d", n), "ce-type", "t",
							"ce-time", time.Now().UTC().Format(time.RFC3339Nano), "content-type", "application/octet-stream"),
						Body: data,
					})
					if err != nil {
						t.Errorf("publish %s: %v", id, err)
					}
				}
			})
		}
		wg.Wait()
		records := readBack(t, b.Brokers, b.Topic)
		if len(records) != producers*each {
			t.Fatalf("%d records", len(records))
		}
		for _, r := range records {
			id := idOf(t, r)
			if !strings.HasSuffix(id, fmt.Sprintf("-%x", sha256.Sum256(r.Value))) {
				t.Fatalf("the data of %s is another's", id)
			}
			source, _ := header(r, "ce_source")
			if string(r.Key) != source || !strings.HasPrefix(id, "p"+strings.TrimPrefix(source, "/p/")+"-") {
				t.Fatalf("id %s, source %s and key %s do not belong together", id, source, r.Key)
			}
		}
	})
}

func TestTheLargestEventPassesAndOneByteMoreDoesNot(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		// What compresses badly, so that the broker's own limit is really tried.
		data := make([]byte, cloudevents.MaxBody)
		rng := rand.NewChaCha8([32]byte{1})
		_, _ = rng.Read(data)
		p, _ := newPublisher(t, b.Brokers, setup{
			Config: Config{Topic: b.Topic}, opts: []kgo.Opt{kgo.ProducerBatchCompression(kgo.NoCompression())},
		})
		headers := binary("ce-specversion", "1.0", "ce-id", "big", "ce-source", "/s", "ce-type", "t", "ce-time", time.Now().UTC().Format(time.RFC3339),
			"ce-a", strings.Repeat("x", cloudevents.MaxExtension), "ce-b", strings.Repeat("y", cloudevents.MaxExtension))
		accepted(t, p, &Request{Headers: headers, Body: data})
		if got := readBack(t, b.Brokers, b.Topic); len(got) != 1 || !bytes.Equal(got[0].Value, data) {
			t.Fatalf("%d records", len(got))
		}
		_, err := p.Publish(t.Context(), &Request{Headers: headers, Body: make([]byte, cloudevents.MaxBody+1)})
		f := refused(t, err, fault.TooLarge, fault.ReasonBodyTooLarge)
		if f.Violations[0].Metadata["limit"] != "1048576" {
			t.Fatalf("the limit is stated as %v", f.Violations[0].Metadata)
		}
	})
}
