package ingest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestABrokerThatStopsAnsweringFillsTheQueueAndNoMore(t *testing.T) {
	t.Parallel()
	const (
		room     = 50
		callers  = 200
		deadline = 400 * time.Millisecond
	)
	c := newCluster(t, 1)
	hole := &stall{}
	p, _ := newPublisher(t, c.ListenAddrs(), setup{
		Config: Config{Deadline: deadline, MaxBufferedRecords: room}, opts: []kgo.Opt{kgo.Dialer(hole.dial)},
	})
	accepted(t, p, structured("before"))
	hole.hold()
	t.Cleanup(hole.release)

	var wg sync.WaitGroup
	answers := make(chan error, callers)
	for i := range callers {
		wg.Go(func() {
			_, err := p.Publish(t.Context(), structured(fmt.Sprint(i)))
			answers <- err
		})
	}
	start := time.Now()
	wg.Wait()
	if took := time.Since(start); took > deadline+2*time.Second {
		t.Fatalf("the answers took %s", took)
	}
	close(answers)
	got := map[string]int{}
	for err := range answers {
		f := fault.Of(err)
		if f.Kind != fault.Unavailable || f.RetryAfter <= 0 {
			t.Fatalf("answered %v", err)
		}
		got[f.Violations[0].Reason]++
	}
	if got[fault.ReasonOutcomeUnknown] != room || got[fault.ReasonQueueFull] != callers-room {
		t.Fatalf("answered %v", got)
	}
	if n, _ := p.queue.depth(); n != room || p.client.BufferedProduceRecords() != room {
		t.Fatalf("the queue holds %d, the client %d", n, p.client.BufferedProduceRecords())
	}
	if n := testutil.ToFloat64(p.metrics.refused[fault.ReasonQueueFull]); n != callers-room {
		t.Fatalf("%v are counted as shed", n)
	}

	hole.release()
	eventually(t, "what was sent to be settled", func() bool { n, b := p.queue.depth(); return n == 0 && b == 0 })
	accepted(t, p, structured("after"))
	if records := readBack(t, c.ListenAddrs(), topic); len(records) != room+2 {
		t.Fatalf("%d records: what was shed must not be there, what was unknown must", len(records))
	}
}

func TestAFullQueueShedsARequestAsAWhole(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p, _ := newPublisher(t, c.ListenAddrs(), setup{Config: Config{MaxBufferedRecords: 3}})
	_, err := p.Publish(t.Context(), batch(element("1"), element("2"), element("3"), element("4")))
	f := refused(t, err, fault.Unavailable, fault.ReasonQueueFull)
	if limit := f.Violations[0].Metadata["limit"]; limit != fmt.Sprintf("3 events, %d bytes", DefaultMaxBufferedBytes) {
		t.Fatalf("the limit is stated as %q", limit)
	}
	if n := c.PartitionInfo(topic, 0).HighWatermark; n != 0 {
		t.Fatalf("%d records were published", n)
	}
	accepted(t, p, batch(element("1"), element("2"), element("3")))

	p, _ = newPublisher(t, c.ListenAddrs(), setup{Config: Config{MaxBufferedBytes: 200}})
	_, err = p.Publish(t.Context(), structured("big", fmt.Sprintf(`"data":"%0300d"`, 0)))
	refused(t, err, fault.Unavailable, fault.ReasonQueueFull)
}

func TestOneSlowPartitionLeavesRoomForTheOthers(t *testing.T) {
	t.Parallel()
	q := newQueue(10, 1000)
	q.partitions.Store(2)
	at := func(partition int) []flight {
		for i := 0; ; i++ {
			r := &kgo.Record{Key: fmt.Appendf(nil, "k%d", i), Value: make([]byte, 10)}
			if q.place.Partition(r, 2) == partition {
				return []flight{{record: r}}
			}
		}
	}
	var slow [][]flight
	for f := at(0); q.admit(f); f = at(0) {
		slow = append(slow, f)
	}
	if len(slow) != 5 {
		t.Fatalf("one partition took %d of 10", len(slow))
	}
	for range 5 {
		if !q.admit(at(1)) {
			t.Fatal("the other partition was shed")
		}
	}
	if q.admit(at(1)) {
		t.Fatal("the queue took more than it may")
	}
	q.release(slow[0][0].ticket)
	if !q.admit(at(0)) {
		t.Fatal("room that was given back cannot be taken")
	}
	both := append(at(0), at(1)...)
	before, _ := q.depth()
	if q.admit(both) {
		t.Fatal("a request without room was admitted")
	}
	if after, _ := q.depth(); after != before {
		t.Fatalf("a request that was shed kept room: %d, before %d", after, before)
	}
}

func TestAPartitionOfItsOwnMayFillTheQueue(t *testing.T) {
	t.Parallel()
	q := newQueue(4, 1000)
	q.partitions.Store(1)
	for i := range 4 {
		if !q.admit([]flight{{record: &kgo.Record{Key: []byte("k")}}}) {
			t.Fatalf("the only partition was shed at %d of 4", i)
		}
	}
}
