package consume

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// The states of a consumer. Gap, fatal and StateTripped belong to a partition; the consumer shows its worst.
const (
	StateStarting = "starting"
	StateRunning  = "running"
	StatePaused   = "paused"
	StateDraining = "draining"
	StateStopped  = "stopped"
	StateFailed   = "failed"
	StateGap      = "gap"
	StateFatal    = "fatal"
)

// Status is the consumer's state and its worst partition, for readiness.
type Status struct {
	State    string // starting, running, paused, draining, stopped, failed, gap, fatal, tripped
	Detail   string
	Assigned int
	// Degraded says that a partition waits for the environment (the database, the broker) and retries, or has
	// had work in hand for longer than StallAfter.
	Degraded bool
}

// Ready says whether the consumer does its work.
func (s Status) Ready() bool {
	return (s.State == StateRunning || s.State == StatePaused) && !s.Degraded
}

// partitionStatus is what is wrong with one partition; state "" is a retry.
type partitionStatus struct{ state, detail string }

// statusBoard holds what Status answers, so that it never waits for the work it describes.
type statusBoard struct {
	mu       sync.Mutex
	state    string
	detail   string
	assigned int
	stuck    map[int32]partitionStatus
	retrying map[int32]string
	troubles map[string]string   // what the whole consumer waits for, by its name
	working  map[int32]time.Time // since when a partition has work in hand and makes no progress
	patience time.Duration       // for how long that is ordinary
}

func (b *statusBoard) set(state, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state, b.detail = state, detail
	if state != StateRunning && state != StateDraining {
		b.assigned, b.stuck, b.retrying, b.working = 0, nil, nil, nil
	}
}

// joined says that the group has given us what it gives; n partitions are ours now.
func (b *statusBoard) joined(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.assigned = n
	if b.state == StateStarting {
		b.state, b.detail = StateRunning, ""
	}
}

func (b *statusBoard) stick(partition int32, state, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stuck == nil {
		b.stuck = map[int32]partitionStatus{}
	}
	b.stuck[partition] = partitionStatus{state, detail}
}

func (b *statusBoard) retry(partition int32, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.retrying == nil {
		b.retrying = map[int32]string{}
	}
	b.retrying[partition] = detail
}

func (b *statusBoard) recovered(partition int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.retrying, partition)
}

// forget drops what is known of a partition that is no longer ours, or begins anew.
func (b *statusBoard) forget(partition int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.stuck, partition)
	delete(b.retrying, partition)
	delete(b.working, partition)
}

// works says whether a partition has work in hand: nobody who hangs has to say so himself.
func (b *statusBoard) works(partition int32, has bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !has {
		delete(b.working, partition)
		return
	}
	if b.working == nil {
		b.working = map[int32]time.Time{}
	}
	if _, known := b.working[partition]; !known {
		b.working[partition] = time.Now()
	}
}

// progressed says that a partition has got on, and may have more in hand.
func (b *statusBoard) progressed(partition int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.working[partition]; known {
		b.working[partition] = time.Now()
	}
}

// overdue are the partitions that have worked for longer than is ordinary.
func (b *statusBoard) overdue() map[int32]string {
	late := map[int32]string{}
	for p, since := range b.working {
		if d := time.Since(since); d > b.patience {
			late[p] = fmt.Sprintf("has had work in hand for %s and made no progress", d.Round(time.Second))
		}
	}
	return late
}

// trouble says what the whole consumer waits for; "" is nothing of the kind.
func (b *statusBoard) trouble(what, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if detail == "" {
		delete(b.troubles, what)
		return
	}
	if b.troubles == nil {
		b.troubles = map[string]string{}
	}
	b.troubles[what] = detail
	if b.state == StateStarting {
		b.detail = detail
	}
}

// waiting replaces the detail while no partition is ours yet.
func (b *statusBoard) waiting(detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == StateStarting {
		b.detail = detail
	}
}

func (b *statusBoard) read() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	late := b.overdue()
	s := Status{State: b.state, Detail: b.detail, Assigned: b.assigned, Degraded: len(b.retrying) > 0 || len(b.troubles) > 0 || len(late) > 0}
	if b.state != StateRunning {
		return s
	}
	if len(b.stuck) > 0 {
		p := worst(b.stuck)
		s.State = b.stuck[p].state
		s.Detail = fmt.Sprintf("partition %d: %s", p, b.stuck[p].detail)
		if more := len(b.stuck) - 1; more > 0 {
			s.Detail += fmt.Sprintf(" (and %d more)", more)
		}
		return s
	}
	if len(b.troubles) > 0 {
		for _, what := range slices.Sorted(maps.Keys(b.troubles)) {
			s.Detail = b.troubles[what]
		}
		return s
	}
	if len(b.retrying) > 0 {
		p := lowest(b.retrying)
		s.Detail = fmt.Sprintf("partition %d retries: %s", p, b.retrying[p])
		return s
	}
	if len(late) > 0 {
		p := lowest(late)
		s.Detail = fmt.Sprintf("partition %d %s", p, late[p])
	}
	return s
}

// worst is the fatal partition of the lowest number, else the lowest one with a gap, else one that tripped.
func worst(m map[int32]partitionStatus) int32 {
	ps := make([]int32, 0, len(m))
	for p := range m {
		ps = append(ps, p)
	}
	return slices.MinFunc(ps, func(a, b int32) int {
		rank := func(p int32) int { return slices.Index([]string{StateFatal, StateGap, StateTripped}, m[p].state) }
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
}

func lowest(m map[int32]string) int32 {
	ps := make([]int32, 0, len(m))
	for p := range m {
		ps = append(ps, p)
	}
	return slices.Min(ps)
}

// Status never blocks on the work it describes.
func (c *Consumer) Status() Status { return c.status.read() }
