package consume

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// queue holds the polled records of one partition. Putting never blocks: above the high mark the
// partition's fetching is paused, below the low mark it is resumed, both under the queue's lock, so
// that the client's view and ours agree.
type queue struct {
	mu      sync.Mutex
	records []*kgo.Record
	bytes   int
	since   time.Time // when the oldest record was put
	paused  bool
	closed  bool
	arrived chan struct{} // signalled on put, never blocking

	enough, maxRecords, maxBytes int
	pause, resume                func()
}

// The marks, in batches.
const (
	highMark = 2
	lowMark  = 1
)

func newQueue(enough, maxRecords, maxBytes int, pause, resume func()) *queue {
	return &queue{
		arrived: make(chan struct{}, 1), enough: enough, maxRecords: maxRecords, maxBytes: maxBytes, pause: pause, resume: resume,
	}
}

// recordOverhead is what a record occupies beside its key and value.
const recordOverhead = 200

func sizeOf(r *kgo.Record) int {
	n := recordOverhead + len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

func (q *queue) put(rs []*kgo.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(rs) == 0 {
		return
	}
	if len(q.records) == 0 {
		q.since = time.Now()
	}
	q.records = append(q.records, rs...)
	for _, r := range rs {
		q.bytes += sizeOf(r)
	}
	if !q.paused && (len(q.records) > highMark*q.maxRecords || q.bytes > highMark*q.maxBytes) {
		q.paused = true
		q.pause()
	}
	select {
	case q.arrived <- struct{}{}:
	default:
	}
}

// take waits for a batch: as many records as the limits allow, once there are enough or the oldest has
// waited for age. A backlog makes larger batches, which cost less a record, and nobody waits for one to
// fill. It returns nil when ctx ends.
func (q *queue) take(ctx context.Context, age time.Duration) []*kgo.Record {
	for {
		batch, due := q.ready(age)
		if batch != nil {
			return batch
		}
		if !q.sleep(ctx, due) {
			return nil
		}
	}
}

// sleep waits for a record, for due (0 is for ever), or for the end of ctx, which it answers false.
func (q *queue) sleep(ctx context.Context, due time.Duration) bool {
	if due == 0 {
		select {
		case <-q.arrived:
			return true
		case <-ctx.Done():
			return false
		}
	}
	t := time.NewTimer(due)
	defer t.Stop()
	select {
	case <-q.arrived:
		return true
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ready cuts a batch off, or says when the records at hand are due.
func (q *queue) ready(age time.Duration) ([]*kgo.Record, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.records) == 0 || q.closed {
		return nil, 0
	}
	n, bytes := 0, 0
	for n < len(q.records) && n < q.maxRecords {
		size := sizeOf(q.records[n])
		if n > 0 && bytes+size > q.maxBytes {
			break
		}
		bytes += size
		n++
	}
	full := n >= q.enough || n < len(q.records)
	if wait := age - time.Since(q.since); !full && wait > 0 {
		return nil, wait
	}
	batch := q.records[:n:n]
	q.records = q.records[n:]
	q.bytes -= bytes
	q.since = time.Now()
	if len(q.records) == 0 {
		q.records = nil // the array goes with its batch
	}
	if q.paused && len(q.records) <= lowMark*q.maxRecords && q.bytes <= lowMark*q.maxBytes {
		q.paused = false
		q.resume()
	}
	return batch, 0
}

// close drops what is queued and leaves the client's pause as it would be without us.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.records, q.bytes = nil, 0
	if q.paused {
		q.paused = false
		q.resume()
	}
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.records) == 0
}
