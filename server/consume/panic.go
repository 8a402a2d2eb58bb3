package consume

import (
	"errors"
	"fmt"
	"runtime/debug"

	"oriel/server/fault"
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

// do takes a step with a record. A careful one buries the record when it panics.
func (p *preparer) do(careful bool, r *row, step func(*row)) {
	if !careful {
		step(r)
		return
	}
	if err := guard(func() error { step(r); return nil }); err != nil {
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
