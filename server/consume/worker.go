package consume

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"oriel/server/lexicon"

	"github.com/twmb/franz-go/pkg/kgo"
)

// worker owns one partition from its takeover until it is revoked, fenced or stopped. Two goroutines
// share the work: one prepares the next batch (decoding, lexicon, missing days and words) while the
// other has the previous one's transaction; at most one transaction is open.
type worker struct {
	c    *Consumer
	log  *slog.Logger
	q    *queue
	prep *preparer
	part int32

	soft     context.Context // ends when no new batch may begin
	stopSoft context.CancelFunc
	hard     context.Context // ends when the transaction in hand must be given up
	stopHard context.CancelFunc
	done     chan struct{} // both goroutines have ended
	fenced   func(*worker) // called once, when the checkpoint is no longer as we know it
	// stick has a partition of this session stopped for an operator, and stores that; it does not wait.
	stick func(part int32, state, reason string)

	caution caution // of the goroutine that writes

	mu      sync.Mutex
	pos     position
	inHand  int // batches that are prepared or written
	retries atomic.Int32
	// redelivery says that most of the last batch was stored before.
	redelivery atomic.Bool
}

// startWorker begins at pos. Records are put into its queue from then on.
func (c *Consumer) startWorker(work context.Context, key lexicon.Key, pos position,
	pause, resume func(), fenced func(*worker), stick func(part int32, state, reason string),
) *worker {
	w := &worker{
		c: c, part: pos.part, pos: pos, fenced: fenced, stick: stick,
		log:  c.log.With("partition", pos.part, "log", pos.log, "epoch", pos.epoch),
		q:    newQueue(c.cfg.BatchRecords, c.cfg.BacklogBatch, c.cfg.BatchBytes, pause, resume),
		prep: newPreparer(c, key), done: make(chan struct{}),
	}
	w.hard, w.stopHard = context.WithCancel(work)
	w.soft, w.stopSoft = context.WithCancel(w.hard)
	prepared := make(chan *batch)
	var both sync.WaitGroup
	both.Add(2)
	go func() { defer both.Done(); defer close(prepared); w.prepareAll(prepared) }()
	go func() { defer both.Done(); defer w.stopSoft(); w.writeAll(prepared) }()
	go func() { both.Wait(); w.q.close(); w.stopHard(); close(w.done) }()
	c.status.forget(w.part)
	c.breaker.forget(w.part)
	c.metrics.setState(w.part, 0)
	return w
}

// drain lets the transaction in hand finish, and no other begin. When ctx ends first it is given up.
func (w *worker) drain(ctx context.Context) {
	w.stopSoft()
	select {
	case <-w.done:
		return
	case <-ctx.Done():
	}
	w.stopHard()
	<-w.done
}

func (w *worker) at() position {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pos
}

// takes says that one more batch is in hand, or, with -1, one less.
func (w *worker) takes(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inHand += n
	w.c.status.works(w.part, w.inHand > 0)
}

// idle says that the worker has nothing to do.
func (w *worker) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inHand == 0 && w.q.empty()
}

// prepareAll turns queued records into batches until no new batch may begin.
func (w *worker) prepareAll(out chan<- *batch) {
	next := w.at().next
	for {
		records := w.q.take(w.soft, w.c.cfg.BatchAge)
		records = fromOffset(records, next)
		if w.soft.Err() != nil {
			return
		}
		if len(records) == 0 {
			continue
		}
		w.takes(1)
		b := w.prepareOne(next, records)
		if b == nil {
			return
		}
		next = b.to
		select {
		case out <- b:
		case <-w.soft.Done():
			return
		}
	}
}

// fromOffset drops records that are accounted for, which a broker may deliver once more.
func fromOffset(rs []*kgo.Record, next int64) []*kgo.Record {
	for len(rs) > 0 && rs[0].Offset < next {
		rs = rs[1:]
	}
	return rs
}

// prepareOne prepares a batch and what it needs in the database, for as long as that takes. nil is
// the end.
func (w *worker) prepareOne(next int64, records []*kgo.Record) *batch {
	var b *batch
	panics := 0
	for n := 0; ; n++ {
		err := guard(func() error {
			if b == nil {
				careful := panics >= panicPatience
				made := w.prep.readAll(careful, next, records)
				if next < w.at().high || w.redelivery.Load() {
					err := w.c.within(w.soft, func(ctx context.Context) error { return w.c.meet(ctx, w.at(), made) })
					if err != nil {
						return err
					}
				}
				w.prep.indexAll(careful, made)
				made.stage()
				made.index()
				b = made
			}
			return w.c.within(w.soft, func(ctx context.Context) error {
				if err := w.c.ensureDays(ctx, b.days); err != nil {
					return err
				}
				return w.c.storeVocabulary(ctx, &b.words)
			})
		})
		if err == nil {
			return b
		}
		if b == nil && errors.Is(err, errPanic) {
			panics++
		}
		if w.soft.Err() != nil || !w.backOff(w.soft, n, classOf(err), err) {
			return nil
		}
	}
}

// writeAll stores one prepared batch after another.
func (w *worker) writeAll(in <-chan *batch) {
	for b := range in {
		if !w.store(b) {
			return
		}
		w.takes(-1)
	}
}

// store brings one batch to an end: true is durable, false that the worker must stop.
func (w *worker) store(b *batch) bool {
	by := w.caution.way()
	for n := 0; ; n++ {
		if n > 0 && w.soft.Err() != nil {
			return false // asked to stop: the next owner takes the batch again
		}
		pos := w.at()
		began := time.Now()
		var t tally
		err := guard(func() error {
			return w.c.within(w.hard, func(ctx context.Context) (err error) {
				t, err = w.c.write(ctx, pos, b, by)
				return err
			})
		})
		var ce *commitError
		if errors.As(err, &ce) && ce.class == unknownOutcome {
			r, ok := w.resolveUnknown(pos, ce)
			if !ok {
				return false
			}
			switch r {
			case committed:
				t, err = ce.tally, nil
			case lostOwnership:
				err = errFenced
			case notCommitted:
			}
		}
		switch {
		case err == nil:
			w.caution.learn(by, t.taken)
			w.advance(b, t, began)
			return !w.trips(b, t)
		case errors.Is(err, errFenced):
			w.c.metrics.fenced.Inc()
			w.log.Warn("the batch was fenced off", "from", b.from, "to", b.to)
			w.fenced(w)
			return false
		case w.hard.Err() != nil:
			return false
		case errors.Is(err, errTaken):
			by = w.caution.taken()
			w.c.metrics.restaged.Inc()
			continue
		}
		if parts := b.afterPanic(err); len(parts) > 0 {
			w.log.Error("a batch panicked again and again: storing its records one by one", "from", b.from, "to", b.to, "error", err)
			w.c.metrics.isolated.Add(float64(len(b.rows)))
			return w.storeParts(parts)
		}
		c := classOf(err)
		if c == recordCaused && by != alone {
			if parts := b.split(); len(parts) > 1 {
				w.log.Warn("a batch was rejected: storing it in parts", "sqlstate", sqlstate(err), "error", err)
				return w.storeParts(parts)
			}
			w.c.metrics.retries.WithLabelValues(c.String()).Inc()
			w.log.Warn("a batch was rejected: storing its records one by one", "sqlstate", sqlstate(err), "error", err)
			by = alone
			continue
		}
		// An error that isolation cannot pin on a record is the environment's, whatever its code.
		by = w.caution.way()
		if noPartition(err) {
			w.c.days.forget()
			err := w.c.within(w.hard, func(ctx context.Context) error { return w.c.ensureDays(ctx, b.days) })
			if err != nil {
				w.log.Warn("cannot make the missing day partitions", "error", err)
			}
		}
		if !w.backOff(w.soft, n, c, err) {
			return false
		}
	}
}

func (w *worker) storeParts(parts []*batch) bool {
	for _, p := range parts {
		if !w.store(p) {
			return false
		}
	}
	return true
}

// advance records a durable batch and tells everyone who waits for one.
func (w *worker) advance(b *batch, t tally, began time.Time) {
	w.mu.Lock()
	w.pos.next = b.to
	w.pos.commits++
	w.mu.Unlock()
	w.redelivery.Store(2*t.duplicate > len(b.rows))
	m := w.c.metrics
	m.count(t)
	m.batchSeconds.Observe(time.Since(began).Seconds())
	m.batchRecords.Observe(float64(len(b.rows)))
	if t.expired > 0 {
		w.log.Info("records older than the retention were not stored", b.listExpired()...)
	}
	if w.retries.Swap(0) > 0 {
		w.c.status.recovered(w.part)
		m.setState(w.part, 0)
		w.log.Info("the partition has recovered")
	}
	w.c.status.progressed(w.part)
	w.c.wake()
	if t.dead > 0 {
		w.c.cfg.Buried()
	}
}

// backOff waits with full jitter before the next attempt and says so; false when ctx ended.
func (w *worker) backOff(ctx context.Context, n int, c class, err error) bool {
	d := jitter(n)
	w.c.metrics.retries.WithLabelValues(c.String()).Inc()
	w.retries.Add(1)
	why := diagnose(err).why
	w.c.status.retry(w.part, fit(why+": "+err.Error(), 300))
	w.c.metrics.setState(w.part, 1)
	level := slog.LevelWarn
	if c == skew {
		level = slog.LevelError // nothing but a person's act helps
	}
	w.log.Log(ctx, level, "the batch will be tried again", "attempt", n+1, "in", d, "class", c.String(), "why", why,
		"sqlstate", sqlstate(err), "error", err)
	return wait(ctx, d)
}
