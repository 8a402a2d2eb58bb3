package ingest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var produces = []kmsg.Key{kmsg.Produce}

func TestAWrittenEventWhoseAnswerIsLostIsUnknownInTime(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	const deadline = 500 * time.Millisecond
	p, _ := newPublisher(t, c.ListenAddrs(), setup{Config: Config{Deadline: deadline}})
	f := c.Fault(kfake.Fault{Keys: produces, Err: kerr.RequestTimedOut, Count: -1})
	start := time.Now()
	_, err := p.Publish(t.Context(), structured("a"))
	took := time.Since(start)
	if got := refused(t, err, fault.Unavailable, fault.ReasonOutcomeUnknown); got.RetryAfter <= 0 {
		t.Fatal("no Retry-After")
	}
	if took < deadline || took > deadline+300*time.Millisecond {
		t.Fatalf("answered after %s", took)
	}
	f.Remove()
	eventually(t, "the late acknowledgement", func() bool { return testutil.ToFloat64(p.metrics.lateAck) == 1 })
	if n := testutil.ToFloat64(p.metrics.published); n != 0 {
		t.Fatalf("a late acknowledgement was counted as published (%v)", n)
	}
	accepted(t, p, structured("a")) // as the answer advises
	if got := readBack(t, c.ListenAddrs(), topic); len(got) != 2 || got[0].Offset == got[1].Offset {
		t.Fatalf("%d records", len(got))
	}
}

func TestAClientThatHangsUpLosesNobodysEvent(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p, _ := newPublisher(t, c.ListenAddrs(), setup{})
	f := c.Fault(kfake.Fault{Keys: produces, Err: kerr.RequestTimedOut, Count: -1})
	ctx, hangUp := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := p.Publish(ctx, structured("a"))
		first <- err
	}()
	if err := f.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := p.Publish(t.Context(), structured("b"))
		second <- err
	}()
	eventually(t, "the second event to be sent", func() bool { n, _ := p.queue.depth(); return n == 2 })
	hangUp()
	refused(t, <-first, fault.Unavailable, fault.ReasonOutcomeUnknown)
	f.Remove()
	if err := <-second; err != nil {
		t.Fatalf("the second event: %v", err)
	}
	eventually(t, "both to be settled", func() bool { n, _ := p.queue.depth(); return n == 0 })
	got := readBack(t, c.ListenAddrs(), topic)
	if len(got) != 2 || idOf(t, got[0]) != "a" || idOf(t, got[1]) != "b" {
		t.Fatalf("%d records", len(got))
	}
}

func TestWhatTheBrokerSaysIsToldTruthfully(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err    *kerr.Error
		kind   fault.Kind
		reason string
	}{
		"a record that is too large":    {kerr.MessageTooLarge, fault.TooLarge, fault.ReasonBrokerRefused},
		"a record that is invalid":      {kerr.InvalidRecord, fault.InvalidArgument, fault.ReasonBrokerRefused},
		"a record against a policy":     {kerr.PolicyViolation, fault.InvalidArgument, fault.ReasonBrokerRefused},
		"a record called corrupt":       {kerr.CorruptMessage, fault.InvalidArgument, fault.ReasonBrokerRefused},
		"a topic that we may not write": {kerr.TopicAuthorizationFailed, fault.Unavailable, fault.ReasonBrokerUnavailable},
		"a topic that is gone":          {kerr.UnknownTopicOrPartition, fault.Unavailable, fault.ReasonBrokerUnavailable},
		"an error nobody knows":         {kerr.UnknownServerError, fault.Unavailable, fault.ReasonOutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 1)
			p, _ := newPublisher(t, c.ListenAddrs(), setup{})
			f := c.Fault(kfake.Fault{Keys: produces, Err: tc.err, Count: -1})
			_, err := p.Publish(t.Context(), structured("a"))
			got := refused(t, err, tc.kind, tc.reason)
			if (tc.kind == fault.Unavailable) != (got.RetryAfter > 0) {
				t.Fatalf("Retry-After is %s", got.RetryAfter)
			}
			_, err = p.Publish(t.Context(), batch(element("b"), element("c")))
			if tc.kind == fault.Unavailable { // an outage fails the batch as a whole
				refused(t, err, tc.kind, tc.reason)
			} else if err != nil {
				t.Fatalf("a batch whose elements were refused: %v", err)
			}
			f.Remove()
			if n := c.PartitionInfo(topic, 0).HighWatermark; n != 0 {
				t.Fatalf("%d records were published", n)
			}
			eventually(t, "events to pass again", func() bool {
				_, err := p.Publish(t.Context(), structured("d"))
				return err == nil
			})
		})
	}
}

func TestALeaderThatMovesCostsNoDeadline(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, kfake.NumBrokers(3))
	p, _ := newPublisher(t, c.ListenAddrs(), setup{})
	accepted(t, p, structured("before"))
	for round := range 3 {
		leader := c.PartitionInfo(topic, 0).Leader
		if err := c.MoveTopicPartition(topic, 0, (leader+1)%3); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		accepted(t, p, structured(fmt.Sprint(round)))
		if took := time.Since(start); took > 3*time.Second {
			t.Fatalf("took %s", took)
		}
	}
	if got := readBack(t, c.ListenAddrs(), topic); len(got) != 4 {
		t.Fatalf("%d records", len(got))
	}
}

func TestATopicCreatedAnewIsLearntAnew(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p, _ := newPublisher(t, c.ListenAddrs(), setup{Config: Config{Deadline: 2 * time.Second}})
	accepted(t, p, structured("old"))
	if err := errors.Join(c.DeleteTopic(topic), c.CreateTopic(topic, 1, nil)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an event in the new topic", func() bool {
		_, err := p.Publish(t.Context(), structured("new"))
		return err == nil
	})
	got := readBack(t, c.ListenAddrs(), topic)
	if len(got) == 0 || idOf(t, got[len(got)-1]) != "new" {
		t.Fatalf("%d records", len(got))
	}
}

func TestWhoeverWaitsAtTheStopGetsATrueAnswer(t *testing.T) {
	t.Parallel()
	const waiting = 100
	for name, tc := range map[string]struct {
		release bool // the acknowledgements come within the grace
		grace   time.Duration
	}{
		"acknowledged where the acknowledgements come in time": {true, limit},
		"unknown where they do not":                            {false, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 2)
			acks := &stall{}
			p, _ := newPublisher(t, c.ListenAddrs(), setup{opts: []kgo.Opt{kgo.Dialer(acks.dial)}})
			accepted(t, p, structured("warm"))
			acks.hold()
			t.Cleanup(acks.release)
			answers := make(chan error, waiting)
			for i := range waiting {
				go func() {
					_, err := p.Publish(context.Background(), structured(fmt.Sprint(i), fmt.Sprintf(`"subject":"%d"`, i)))
					answers <- err
				}()
			}
			eventually(t, "all to be sent", func() bool { n, _ := p.queue.depth(); return n == waiting })
			ctx, cancel := context.WithTimeout(t.Context(), tc.grace)
			defer cancel()
			closed := make(chan error, 1)
			go func() { closed <- p.Close(ctx) }()
			eventually(t, "the stop to begin", func() bool {
				if p.queue.enter() {
					p.queue.leave()
					return false
				}
				return true
			})
			_, err := p.Publish(t.Context(), structured("new"))
			refused(t, err, fault.Unavailable, fault.ReasonShuttingDown)
			if tc.release {
				acks.release()
			}
			start := time.Now()
			for range waiting {
				err := <-answers
				if tc.release && err != nil {
					t.Fatalf("answered %v", err)
				}
				if !tc.release {
					refused(t, err, fault.Unavailable, fault.ReasonOutcomeUnknown)
				}
			}
			if took := time.Since(start); !tc.release && took > tc.grace+2*time.Second {
				t.Fatalf("the answers took %s", took)
			}
			if err := <-closed; (err == nil) != tc.release {
				t.Fatalf("close: %v", err)
			}
			if got := readBack(t, c.ListenAddrs(), topic); tc.release && len(got) != waiting+1 {
				t.Fatalf("%d records", len(got))
			}
		})
	}
}
