package outbox

import (
	"context"
	"time"

	"oriel/server/failpoint"

	"github.com/twmb/franz-go/pkg/kgo"
)

// roomBytes is how much of one topic is under way at once, so that no batch of ours exceeds what the smallest
// usual topic takes (1 MB): a batch that is too large is refused as a whole, whosever fault it is.
const roomBytes = 512 << 10

// traffic is what is under way of one topic.
type traffic struct {
	count, bytes int
	alone        bool                // what is under way tolerates no company
	acks         map[int32]time.Time // the latest of each partition
	refusals     map[int32]streak    // of the partitions that do not take what they get
	warned       time.Time           // when the log last said that it pauses
}

// streak counts failures in a row; those of one wave are one.
type streak struct {
	n    int32
	last time.Time
}

func (l *loop) trafficOf(topic string) *traffic {
	t := l.topics[topic]
	if t == nil {
		t = &traffic{acks: map[int32]time.Time{}, refusals: map[int32]streak{}}
		l.topics[topic] = t
	}
	return t
}

// send gives to the client what may go. Messages of one topic keep their order: one that has to wait until it
// can be alone is not overtaken for ever.
func (l *loop) send(work context.Context) {
	full := map[string]bool{}
	rest := l.queue[:0]
	for _, m := range l.queue {
		switch {
		case l.held[m.id] != m:
		case !l.leases.holds(m.shard, m.token):
			l.drop(m)
		case full[m.topic] || !l.fits(m):
			full[m.topic] = true
			rest = append(rest, m)
		default:
			l.dispatch(work, m)
		}
	}
	clear(l.queue[len(rest):])
	l.queue = rest
	l.metrics.inFlight.Set(float64(l.flights))
}

// fits says whether a message may join what is under way of its topic.
func (l *loop) fits(m *message) bool {
	t := l.trafficOf(m.topic)
	if _, shy := l.shy[m.id]; shy || m.size > roomBytes {
		return t.count == 0
	}
	return !t.alone && (t.count == 0 || t.bytes+m.size <= roomBytes)
}

func (l *loop) dispatch(work context.Context, m *message) {
	t := l.trafficOf(m.topic)
	_, shy := l.shy[m.id]
	m.alone = shy || m.size > roomBytes
	m.state, m.sent = flying, time.Now()
	t.count, t.bytes, t.alone = t.count+1, t.bytes+m.size, m.alone
	l.flights++
	failpoint.Hit("out.before_publish")
	// The promise never blocks: there is room for every message that can be held.
	l.client.Produce(work, m.record, func(_ *kgo.Record, err error) { l.results <- result{m, err} })
}

// landed takes a message off what is under way.
func (l *loop) landed(m *message) *traffic {
	t := l.trafficOf(m.topic)
	t.count, t.bytes = t.count-1, t.bytes-m.size
	if t.count == 0 {
		t.alone = false
	}
	l.flights--
	return t
}

// acked notes that a partition took a message.
func (t *traffic) acked(partition int32) {
	t.acks[partition] = time.Now()
	delete(t.refusals, partition)
}

// tookSince says whether the topic took a message after an instant, in a partition other than one.
func (t *traffic) tookSince(at time.Time, other int32) bool {
	for partition, ack := range t.acks {
		if partition != other && ack.After(at) {
			return true
		}
	}
	return false
}

// refused counts a failure of a partition.
func (t *traffic) refused(m *message) int32 {
	s := t.refusals[m.record.Partition]
	if !s.last.After(m.sent) {
		s.n++
	}
	s.last = time.Now()
	t.refusals[m.record.Partition] = s
	return s.n
}
