package consume

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kgo"
)

// errPanic is a panic in our own code, met while a batch was in hand.
var errPanic = errors.New("panic")

// panicPatience is how many panics over one batch are met with backoff. Then its records go one by
// one, and the one that panics becomes a dead letter with its bytes: a fault of ours that one record
// brings out must not block its partition for ever.
const panicPatience = 3

func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	return f()
}

// prepareAfter prepares a batch that has panicked so many times before.
func (p *preparer) prepareAfter(panics int, from int64, records []*kgo.Record) *batch {
	if panics < panicPatience {
		return p.prepare(from, records)
	}
	return p.prepareWith(p.guarded, from, records)
}

// guarded does a record as one does, its part of the stage included, and buries it when that panics.
func (p *preparer) guarded(r *row, oldest time.Time, words *vocabulary) {
	err := guard(func() error {
		p.one(r, oldest, words)
		if r.fate == candidate {
			new(copyWriter).row(0, r)
		}
		return nil
	})
	if err != nil {
		p.analyzer = p.fresh() // its scratch space may be in any state
		*r = row{record: r.record}
		r.bury(fault.ReasonPanic, panicDetail(err))
	}
}

// afterPanic counts a panic over the batch. Once patience has ended it answers what to store in the
// batch's place: its records one by one, or, of a single record, its letter. Otherwise nothing.
func (b *batch) afterPanic(err error) []*batch {
	if !errors.Is(err, errPanic) {
		return nil
	}
	b.panics++
	switch {
	case b.panics < panicPatience:
		return nil
	case len(b.rows) > 1:
		return b.singles()
	case b.rows[0].fate == dead || b.rows[0].fate == control:
		return nil // the fault is not in what the record holds
	default:
		b.buryOnly(err)
		return []*batch{b}
	}
}

// singles are batches of one record each. What panics already while it is staged is buried.
func (b *batch) singles() []*batch {
	parts := b.cut(1)
	for _, part := range parts {
		err := guard(func() error {
			part.arrange()
			part.stage()
			return nil
		})
		if err != nil {
			part.buryOnly(err)
		}
	}
	return parts
}

// buryOnly buries the only record of a batch.
func (b *batch) buryOnly(err error) {
	b.rows[0].bury(fault.ReasonPanic, panicDetail(err))
	b.arrange()
	b.stage()
}

func panicDetail(err error) string { return "Our own code failed over this record: " + err.Error() }
