package consume

import (
	"fmt"
	"sync"
	"time"
)

// StateTripped is a partition whose dead letters ran away. Nothing is lost there: it waits at its
// checkpoint until an operator has it resumed.
const StateTripped = "tripped"

// breaker watches what share of the records become dead letters, over all partitions of this process, and
// says which partitions are to stop before a fault of a producer, a schema or a build fills the
// dead-letter table. It trips where more than ratio of the last window records are dead and at least
// letters of them were buried within a span; those partitions trip whose own share is above ratio.
type breaker struct {
	ratio   float64
	window  int
	letters int
	within  time.Duration
	now     func() time.Time

	mu            sync.Mutex
	shares        []share // oldest first
	records, dead int     // sums of shares
}

// share is what one commit added.
type share struct {
	part          int32
	records, dead int
	at            time.Time
}

// trip is a partition that is to stop, and why.
type trip struct {
	part   int32
	reason string
}

func newBreaker(cfg Config) *breaker {
	return &breaker{
		ratio: cfg.BreakerRatio, window: cfg.BreakerWindow, letters: cfg.BreakerLetters, within: cfg.BreakerWithin, now: time.Now,
	}
}

// note adds a commit and answers which partitions trip by it. What they added is forgotten: they begin
// anew when they are resumed.
func (b *breaker) note(part int32, records, dead int, consumer string) []trip {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.shares = append(b.shares, share{part, records, dead, now})
	b.records, b.dead = b.records+records, b.dead+dead
	for b.records-b.shares[0].records >= b.window {
		b.records, b.dead = b.records-b.shares[0].records, b.dead-b.shares[0].dead
		b.shares = b.shares[1:]
	}
	if dead == 0 || float64(b.dead) <= b.ratio*float64(b.records) || b.since(now.Add(-b.within)) < b.letters {
		return nil
	}
	own := map[int32]share{}
	for _, s := range b.shares {
		o := own[s.part]
		own[s.part] = share{part: s.part, records: o.records + s.records, dead: o.dead + s.dead}
	}
	var trips []trip
	for p, o := range own {
		if float64(o.dead) > b.ratio*float64(o.records) {
			trips = append(trips, trip{p, fmt.Sprintf(
				"%d of the last %d records of this partition became dead letters (%d of %d of all partitions): see dead_letter for why, mend the cause, then run: oriel consumer resume --consumer %s --reason \"…\"",
				o.dead, o.records, b.dead, b.records, consumer)})
		}
	}
	for _, t := range trips {
		b.drop(t.part)
	}
	return trips
}

// since is how many letters were buried after an instant.
func (b *breaker) since(t time.Time) (dead int) {
	for _, s := range b.shares {
		if s.at.After(t) {
			dead += s.dead
		}
	}
	return dead
}

// forget drops what a partition added, as it is taken over anew.
func (b *breaker) forget(part int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(part)
}

func (b *breaker) drop(part int32) {
	kept := make([]share, 0, len(b.shares))
	for _, s := range b.shares {
		if s.part != part {
			kept = append(kept, s)
			continue
		}
		b.records, b.dead = b.records-s.records, b.dead-s.dead
	}
	b.shares = kept
}

// trips tells the breaker of a commit, and has those partitions stopped that trip by it. It says whether
// the worker's own is one of them.
func (w *worker) trips(b *batch, t tally) bool {
	records := 0
	for i := range b.rows {
		if b.rows[i].fate != control {
			records++
		}
	}
	own := false
	for _, trip := range w.c.breaker.note(w.part, records, t.dead, w.c.cfg.Consumer) {
		w.c.metrics.trips.Inc()
		w.stick(trip.part, StateTripped, trip.reason)
		own = own || trip.part == w.part
	}
	return own
}
