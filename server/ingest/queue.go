package ingest

import (
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
)

type counter = atomic.Int64

// queue bounds what waits for the broker, by events and by bytes, and knows which handlers are still
// waiting. It admits or sheds a whole request in one step, so that a batch is never half published
// for want of room and the elements of one key never overtake each other.
//
// Where the topic has several partitions no single one may fill more than half of the queue: one slow
// partition must not shed the events of the others.
type queue struct {
	maxRecords, maxBytes int

	mu             sync.Mutex
	records, bytes int
	lanes          []lane // by partition
	handlers       int
	closing        bool
	idle           chan struct{}

	partitions atomic.Int32 // 0 until the client has partitioned its first record
	place      kgo.TopicPartitioner
}

type lane struct{ records, bytes int }

// ticket is the room that one record holds.
type ticket struct {
	bytes int
	lane  int // -1: partitions were not known yet
}

func newQueue(maxRecords, maxBytes int) *queue {
	return &queue{
		maxRecords: maxRecords, maxBytes: maxBytes, idle: make(chan struct{}),
		place: kgo.StickyKeyPartitioner(nil).ForTopic(""),
	}
}

// enter says that a handler starts; false once the queue is shut.
func (q *queue) enter() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closing {
		return false
	}
	q.handlers++
	return true
}

func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handlers--
	if q.closing && q.handlers == 0 {
		close(q.idle)
	}
}

// shut refuses new handlers and returns a channel that is closed when none is left.
func (q *queue) shut() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	if q.handlers == 0 {
		close(q.idle)
	}
	return q.idle
}

// admit takes room for all of the flights, or for none.
func (q *queue) admit(flights []flight) bool {
	n := int(q.partitions.Load())
	for i := range flights {
		f := &flights[i]
		f.ticket = ticket{bytes: size(f.record), lane: -1}
		if n > 0 {
			f.ticket.lane = q.place.Partition(f.record, n)
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lanes) < n {
		q.lanes = append(q.lanes, lane{})
	}
	for i := range flights {
		if !q.take(flights[i].ticket, n) {
			for _, f := range flights[:i] {
				q.give(f.ticket)
			}
			return false
		}
	}
	return true
}

func (q *queue) take(t ticket, partitions int) bool {
	if q.records+1 > q.maxRecords || q.bytes+t.bytes > q.maxBytes {
		return false
	}
	if t.lane >= 0 {
		l := &q.lanes[t.lane]
		if partitions > 1 && l.records > 0 && (l.records+1 > q.maxRecords/2 || l.bytes+t.bytes > q.maxBytes/2) {
			return false
		}
		l.records++
		l.bytes += t.bytes
	}
	q.records++
	q.bytes += t.bytes
	return true
}

func (q *queue) give(t ticket) {
	q.records--
	q.bytes -= t.bytes
	if t.lane >= 0 {
		q.lanes[t.lane].records--
		q.lanes[t.lane].bytes -= t.bytes
	}
}

// release gives a record's room back; called when the client has settled it.
func (q *queue) release(t ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.give(t)
}

func (q *queue) depth() (records, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.records, q.bytes
}

// size is what the client counts for a record.
func size(r *kgo.Record) int {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

// partitioner is the client's usual placement by key, which also tells the queue how many partitions
// there are.
func (q *queue) partitioner() kgo.Partitioner { return watcher{kgo.StickyKeyPartitioner(nil), q} }

type watcher struct {
	kgo.Partitioner
	queue *queue
}

func (w watcher) ForTopic(topic string) kgo.TopicPartitioner {
	return topicWatcher{w.Partitioner.ForTopic(topic), w.queue}
}

type topicWatcher struct {
	kgo.TopicPartitioner
	queue *queue
}

func (w topicWatcher) Partition(r *kgo.Record, n int) int {
	if int32(n) != w.queue.partitions.Load() {
		w.queue.partitions.Store(int32(n))
	}
	return w.TopicPartitioner.Partition(r, n)
}
