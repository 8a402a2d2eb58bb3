package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"oriel/server/db"
	"oriel/server/failpoint"

	"github.com/twmb/franz-go/pkg/kerr"
)

// warnEvery keeps 32 shards from saying the same.
const warnEvery = time.Minute

// marks are what has to be written about failures.
type marks struct {
	bury    db.OutboxBuryParams
	delay   db.OutboxDelayParams
	shrink  db.OutboxShrinkParams
	backOff map[lane]db.OutboxBackOffParams
	forget  []string // topics that the client has to learn anew
}

// settle takes what came back. Acknowledgements come first: what they say about a topic is evidence for the
// failures beside them.
func (l *loop) settle(work context.Context, results []result) {
	var resume []lane
	for _, res := range results {
		if res.err != nil {
			continue
		}
		failpoint.Hit("out.after_ack")
		m := res.m
		l.landed(m).acked(m.record.Partition)
		l.metrics.published.Inc()
		m.state = finished
		m.record = nil
		l.finished = append(l.finished, m.id)
		delete(l.shy, m.id)
		if next := l.followed[m.key]; next != nil {
			delete(l.followed, m.key)
			next.state = ready
			l.queue = append(l.queue, next)
		}
		if _, paused := l.paused[m.lane()]; paused {
			delete(l.paused, m.lane())
			resume = append(resume, m.lane())
		}
	}
	failed := marks{backOff: map[lane]db.OutboxBackOffParams{}}
	for _, res := range results {
		if res.err != nil {
			l.fail(&failed, res.m, res.err)
		}
	}
	l.clear(work)
	if len(resume) > 0 {
		l.resume(work, resume)
	}
	l.write(work, &failed)
	l.metrics.inFlight.Set(float64(l.flights))
}

// clear deletes what is acknowledged. Until that succeeds it stays in hand, so that we do not repeat it.
func (l *loop) clear(work context.Context) {
	if len(l.finished) == 0 {
		return
	}
	slices.Sort(l.finished)
	failpoint.Hit("out.before_mark")
	ctx, cancel := l.statement(work)
	defer cancel()
	if err := l.queries.OutboxDelete(ctx, l.finished); err != nil {
		l.trouble(work, "delete what is published", err)
		return
	}
	failpoint.Hit("out.after_mark")
	for _, id := range l.finished {
		if m := l.held[id]; m != nil {
			delete(l.held, id)
			delete(l.byPlace, m.key)
			l.bytes -= m.size
		}
	}
	l.finished = l.finished[:0]
}

// resume ends the pauses of lanes whose topic took a message, and reads them at once.
func (l *loop) resume(work context.Context, lanes []lane) {
	var p db.OutboxResumeParams
	for _, x := range lanes {
		p.Shards, p.Topics = append(p.Shards, x.shard), append(p.Topics, x.topic)
	}
	ctx, cancel := l.statement(work)
	defer cancel()
	if err := l.queries.OutboxResume(ctx, p); err != nil {
		for _, x := range lanes {
			l.paused[x] = time.Time{} // the next acknowledgement tries again
		}
		l.trouble(work, "end a pause", err)
		return
	}
	for _, x := range lanes {
		if t := l.trafficOf(x.topic); !t.warned.IsZero() {
			t.warned = time.Time{}
			l.log.Info("a topic of the outbox takes messages again", "topic", x.topic)
		}
	}
	l.pause, l.nextRead = l.cfg.PollMin, time.Now()
}

// fail decides what a failure means. The rest of its key is let go: the first failure stops a key.
func (l *loop) fail(to *marks, m *message, err error) {
	t, v := l.landed(m), classify(err)
	l.drop(m)
	if v.class == recordCaused || v.class == suspect {
		if l.blame(to, m, t, v, err) {
			return
		}
	}
	if errors.Is(v.err, kerr.UnknownTopicID) || errors.Is(v.err, kerr.InconsistentTopicID) {
		to.forget = append(to.forget, m.topic)
	}
	l.metrics.retries.WithLabelValues(v.class.String()).Inc()
	// The message is put off too, so that the next try is another one: what stands in the way may be its
	// partition, or the message.
	if m.record.Partition >= 0 && t.tookSince(m.sent, m.record.Partition) {
		l.delay(to, m, 0, t.refused(m)) // the topic takes others: there is no need for it to pause
		return
	}
	l.delay(to, m, 0, m.fails+1)
	if since, paused := l.paused[m.lane()]; paused && since.After(m.sent) {
		return // the same trouble, reckoned before
	}
	l.paused[m.lane()] = time.Now()
	to.backOff[m.lane()] = db.OutboxBackOffParams{
		Shard: m.shard, Topic: m.topic, Owner: l.name, Token: m.token, Class: v.class.String(), Detail: shorten(err),
		BaseSeconds: l.cfg.BackoffBase.Seconds(), CapSeconds: l.cfg.BackoffCap.Seconds(),
	}
}

// blame settles a failure that the message itself may have caused; false where it may as well be an outage.
// Brokers refuse whole batches, so what was said to a message in company is nothing: it is sent again alone.
func (l *loop) blame(to *marks, m *message, t *traffic, v verdict, err error) bool {
	before, seen := l.shy[m.id]
	l.shy[m.id] = doubt{m.shard, time.Now()}
	// The topic took others since this one was first refused.
	guilty := v.class == recordCaused || seen && t.tookSince(before.since, -1)
	switch {
	case !m.alone:
		l.metrics.retries.WithLabelValues(v.class.String()).Inc()
	case !guilty:
		return false
	case v.reason == reasonTooLarge && m.smaller:
		delete(l.shy, m.id)
		l.metrics.shrunk.Inc()
		to.shrink.Ids, to.shrink.Tokens = append(to.shrink.Ids, m.id), append(to.shrink.Tokens, m.token)
	case m.attempts+1 >= v.tries:
		delete(l.shy, m.id)
		l.bury(to, m, v, err)
	default:
		l.metrics.retries.WithLabelValues(v.class.String()).Inc()
		l.delay(to, m, 1, m.attempts+1)
	}
	return true
}

func (l *loop) bury(to *marks, m *message, v verdict, err error) {
	p := &to.bury
	p.Ids, p.Tokens = append(p.Ids, m.id), append(p.Tokens, m.token)
	if v.reason == reasonTooLarge {
		err = fmt.Errorf("%w (key and value are %d bytes; the relay sends records of at most %d, and the topic's max.message.bytes may be less)",
			err, m.size, l.cfg.MaxMessage)
	}
	p.Reasons, p.Details = append(p.Reasons, v.reason), append(p.Details, shorten(err))
	l.metrics.dead.WithLabelValues(v.reason).Inc()
	l.log.Error("no broker takes a message of the outbox; it is kept for an operator",
		"id", m.id, "topic", m.topic, "key", m.key.key, "seq", m.key.seq, "reason", v.reason, "error", err)
}

// delay puts one message off with full jitter below a ceiling that doubles with n.
func (l *loop) delay(to *marks, m *message, counted, n int32) {
	ceiling := min(l.cfg.BackoffCap, l.cfg.BackoffBase<<min(n, 20))
	p := &to.delay
	p.Ids, p.Tokens, p.Counted = append(p.Ids, m.id), append(p.Tokens, m.token), append(p.Counted, counted)
	p.Seconds = append(p.Seconds, rand.Float64()*ceiling.Seconds())
}

// write writes the marks. One that cannot be written is no loss: the message is tried again as if nothing
// had been said.
func (l *loop) write(work context.Context, what *marks) {
	said, heard := 0, int64(0)
	note := func(n int, rows int64, err error) {
		if err != nil {
			l.trouble(work, "write down failures", err)
			return
		}
		said, heard = said+n, heard+rows
	}
	ctx, cancel := l.statement(work)
	defer cancel()
	count := len(what.bury.Ids) + len(what.delay.Ids) + len(what.shrink.Ids) + len(what.backOff)
	if count > 0 {
		failpoint.Hit("out.before_note")
	}
	if n := len(what.bury.Ids); n > 0 {
		what.bury.Owner = l.name
		rows, err := l.queries.OutboxBury(ctx, what.bury)
		note(n, rows, err)
	}
	if n := len(what.delay.Ids); n > 0 {
		what.delay.Owner = l.name
		rows, err := l.queries.OutboxDelay(ctx, what.delay)
		note(n, rows, err)
	}
	if n := len(what.shrink.Ids); n > 0 {
		what.shrink.Owner = l.name
		rows, err := l.queries.OutboxShrink(ctx, what.shrink)
		note(n, rows, err)
	}
	if len(what.backOff) > 0 {
		for _, m := range l.queue {
			if _, pauses := what.backOff[m.lane()]; pauses {
				l.drop(m)
			}
		}
	}
	for x, p := range what.backOff {
		if t := l.trafficOf(x.topic); time.Since(t.warned) > warnEvery {
			t.warned = time.Now()
			l.log.Warn("a topic of the outbox pauses after a failure, in one shard or more", "topic", x.topic, "class", p.Class, "error", p.Detail)
		}
		rows, err := l.queries.OutboxBackOff(ctx, p)
		note(1, rows, err)
	}
	if count > 0 {
		failpoint.Hit("out.after_note")
	}
	if missed := int64(said) - heard; missed > 0 {
		l.metrics.fenced.Add(float64(missed))
		l.log.Warn("failures were not written down: another relay holds the shard", "messages", missed)
	}
	if len(what.forget) > 0 {
		slices.Sort(what.forget)
		topics := slices.Compact(what.forget)
		l.log.Warn("topics have other ids than before; learning them anew", "topics", topics)
		l.purging.Go(func() { l.client.PurgeTopicsFromProducing(topics...) }) // waits for promises, which wait for us
	}
}

// shorten cuts an error for a row.
func shorten(err error) string {
	const most = 1000
	s := []rune(err.Error())
	return string(s[:min(len(s), most)])
}
