package ingest

import (
	"context"
	"errors"
	"sync"
	"time"

	"oriel/server/failpoint"
	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// flight is one record on its way to the broker. Its fields belong to the voyage's mutex once it left.
type flight struct {
	record *kgo.Record
	ticket ticket
	span   trace.Span
	doubts int64 // the client's count when it left
	landed bool
	err    error
}

// voyage is what one request published. A handler waits for it only so long; acknowledgements that
// come later are counted and change no answer.
type voyage struct {
	p       *Publisher
	started time.Time

	mu       sync.Mutex
	flights  []flight
	left     int
	answered bool
	done     chan struct{}
}

var (
	errDeadline = errors.New("no acknowledgement before the deadline")
	errStopping = errors.New("the server stopped before the acknowledgement")
)

// publish sends the records in order and waits until each has its outcome or the time is up. It
// returns one error per record, nil for an acknowledged one, or an error for all, of which then none
// was handed to the client.
func (p *Publisher) publish(ctx context.Context, flights []flight) ([]error, *fault.Error) {
	if !p.queue.admit(flights) {
		return nil, p.queueFull()
	}
	v := &voyage{p: p, started: time.Now(), flights: flights, left: len(flights), done: make(chan struct{})}
	// Once sent, a record lives as long as the client: neither the caller's context nor its deadline
	// may take it back, since the broker may have it already.
	failpoint.Hit("ing.before_produce")
	for i := range flights {
		f := &flights[i]
		f.doubts = p.doubts.Load()
		p.client.TryProduce(context.Background(), f.record, func(_ *kgo.Record, err error) { v.land(f, err) })
	}
	deadline := time.NewTimer(p.cfg.Deadline)
	defer deadline.Stop()
	select {
	case <-v.done:
		failpoint.Hit("ing.after_ack") // the broker has them, and nobody was told
		return v.answer(nil, ""), nil
	case <-deadline.C:
		return v.answer(errDeadline, "The broker did not answer within "+p.cfg.Deadline.String()), nil
	case <-ctx.Done():
		return v.answer(context.Cause(ctx), "The request ended before the broker answered"), nil
	case <-p.drain:
		return v.answer(errStopping, "This server stopped before the broker answered"), nil
	}
}

// land is called once per record, by the client's one promise goroutine: it must not block.
func (v *voyage) land(f *flight, err error) {
	p := v.p
	p.queue.release(f.ticket)
	if err != nil {
		f.span.SetStatus(codes.Error, err.Error())
	}
	f.span.End()
	if unknownTopicID(err) {
		p.forgetTopic()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	f.landed, f.err = true, err
	v.left--
	if v.answered {
		p.metrics.late(err)
		return
	}
	if v.left == 0 {
		close(v.done)
	}
}

// answer settles what the caller is told. cause says why nothing more is waited for.
func (v *voyage) answer(cause error, why string) []error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answered = true
	took := time.Since(v.started)
	v.p.metrics.latency.Observe(took.Seconds())
	var pending *fault.Error
	errs := make([]error, len(v.flights))
	for i := range v.flights {
		switch f := &v.flights[i]; {
		case !f.landed:
			if pending == nil {
				pending = unknown(cause, why)
			}
			errs[i] = pending
		case f.err != nil:
			// A broker that answers after its own time limit may have written the record before.
			doubtful := f.doubts != v.p.doubts.Load() || took >= produceTimeout
			errs[i] = v.p.classify(f.err, doubtful)
		}
	}
	return errs
}
