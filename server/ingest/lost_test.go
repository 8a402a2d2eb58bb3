package ingest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/fault"
)

// sentUnanswered publishes one event whose answer the broker has given and the client has not got.
func sentUnanswered(t *testing.T, c *kfake.Cluster, p *Publisher, s *stall) <-chan error {
	t.Helper()
	accepted(t, p, structured("warm"))
	s.hold()
	t.Cleanup(s.release)
	answer := make(chan error, 1)
	go func() {
		_, err := p.Publish(context.Background(), structured("a"))
		answer <- err
	}()
	eventually(t, "the broker to have the event", func() bool { return c.PartitionInfo(topic, 0).HighWatermark == 2 })
	return answer
}

func TestAnAnswerThatIsLostOnTheWayMakesNoSecondRecord(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	s := &stall{}
	p, _ := newPublisher(t, c.ListenAddrs(), setup{opts: []kgo.Opt{kgo.Dialer(s.dial)}})
	answer := sentUnanswered(t, c, p, s)
	s.cut()
	if err := <-answer; err != nil {
		t.Fatalf("answered %v", err)
	}
	if got := readBack(t, c.ListenAddrs(), topic); len(got) != 2 {
		t.Fatalf("%d records", len(got))
	}
}

func TestANoAfterALostAnswerLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	for name, no := range map[string]*kerr.Error{
		"of an outage":   kerr.TopicAuthorizationFailed,
		"to the record":  kerr.InvalidRecord,
		"to its size":    kerr.MessageTooLarge,
		"to its content": kerr.CorruptMessage,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 1)
			s := &stall{}
			p, _ := newPublisher(t, c.ListenAddrs(), setup{opts: []kgo.Opt{kgo.Dialer(s.dial)}})
			answer := sentUnanswered(t, c, p, s)
			c.Fault(kfake.Fault{Keys: produces, Err: no, Count: -1})
			s.cut()
			refused(t, <-answer, fault.Unavailable, fault.ReasonOutcomeUnknown)
		})
	}
}

func TestAnEventWhoseSenderLeftBeforeItWasSentIsStillSent(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	s := &stall{}
	p, _ := newPublisher(t, c.ListenAddrs(), setup{opts: []kgo.Opt{kgo.Dialer(s.dial)}})
	s.hold() // the client cannot even learn where to send it
	t.Cleanup(s.release)
	ctx, leave := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		_, err := p.Publish(ctx, structured("a"))
		answer <- err
	}()
	eventually(t, "the event to wait", func() bool { n, _ := p.queue.depth(); return n == 1 })
	leave()
	refused(t, <-answer, fault.Unavailable, fault.ReasonOutcomeUnknown)
	s.release()
	accepted(t, p, structured("b"))
	got := readBack(t, c.ListenAddrs(), topic)
	if len(got) != 2 || idOf(t, got[0]) != "a" || idOf(t, got[1]) != "b" {
		t.Fatalf("%d records", len(got))
	}
}

func TestAStopStillSendsWhatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	s := &stall{}
	p, _ := newPublisher(t, c.ListenAddrs(), setup{
		Config: Config{Deadline: 50 * time.Millisecond}, opts: []kgo.Opt{kgo.Dialer(s.dial)},
	})
	s.hold()
	t.Cleanup(s.release)
	_, err := p.Publish(t.Context(), structured("a"))
	refused(t, err, fault.Unavailable, fault.ReasonOutcomeUnknown)
	closed := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	go func() { closed <- p.Close(ctx) }()
	s.release()
	if err := <-closed; err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatalf("close again: %v", err)
	}
	if n := c.PartitionInfo(topic, 0).HighWatermark; n != 1 {
		t.Fatalf("%d records", n)
	}
}

func TestABatchThatFailedAltogetherIsUnknownWhereAnyOfItIs(t *testing.T) {
	t.Parallel()
	full := fault.New(fault.Unavailable, fault.ReasonQueueFull, "full")
	wrong := fault.New(fault.InvalidArgument, fault.ReasonInvalidAttribute, "wrong")
	lost := unknown(errDeadline, "late")
	for name, tc := range map[string]struct {
		results []Result
		want    error
	}{
		"the first outage speaks for all":  {[]Result{{Err: wrong}, {Err: full}, {Err: wrong}}, full},
		"an unknown one comes first":       {[]Result{{Err: full}, {Err: lost}, {Err: full}}, lost},
		"one published keeps each its own": {[]Result{{Err: full}, {Published: &Published{}}}, nil},
		"refusals are no outage":           {[]Result{{Err: wrong}, {Err: wrong}}, nil},
		"nothing is no outage":             {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := outage(&Response{Batch: true, Results: tc.results}); !errors.Is(got, tc.want) {
				t.Fatalf("got %v, want %v", got, tc.want)
			}
		})
	}
}
