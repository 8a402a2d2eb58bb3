package oidc

import (
	"context"
	"sync"
	"time"
)

const (
	shortestPause = time.Second
	longestPause  = 10 * time.Second
)

// asker asks the provider one thing for everybody who waits: one question at a time, in a goroutine of its
// own so that a caller who leaves spoils nothing for the others, and after a failure not before a pause
// that doubles.
type asker struct {
	question func(ctx context.Context) error
	now      func() time.Time
	life     context.Context
	end      context.CancelFunc

	mu       sync.Mutex
	running  chan struct{} // closed when the question that runs has its answer; nil: none runs
	began    time.Time     // of the latest question
	ended    time.Time
	failures int // since the latest success
	err      error
}

func newAsker(now func() time.Time, question func(ctx context.Context) error) *asker {
	life, end := context.WithCancel(context.Background())
	return &asker{question: question, now: now, life: life, end: end}
}

// ask joins the question that runs, or begins one; nil where it may not begin yet: within apart of the
// beginning of the latest, or in the pause after a failure.
func (a *asker) ask(apart time.Duration) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running != nil {
		return a.running
	}
	if a.life.Err() != nil || a.waitFor(apart) > 0 {
		return nil
	}
	done := make(chan struct{})
	a.running, a.began = done, a.now()
	go func() {
		ctx, cancel := context.WithTimeout(a.life, callTime)
		err := a.question(ctx)
		cancel()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.running, a.ended, a.err = nil, a.now(), err
		if err == nil {
			a.failures = 0
		} else {
			a.failures++
		}
		close(done)
	}()
	return done
}

// until is how long nobody may ask.
func (a *asker) until(apart time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waitFor(apart)
}

func (a *asker) waitFor(apart time.Duration) time.Duration {
	if a.began.IsZero() {
		return 0
	}
	now := a.now()
	wait := apart - now.Sub(a.began)
	if a.failures > 0 {
		pause := min(shortestPause<<min(a.failures-1, 6), longestPause)
		wait = max(wait, pause-now.Sub(a.ended))
	}
	return wait
}

// failure is why the latest question failed; nil where it did not.
func (a *asker) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// close ends the question that runs and waits for it.
func (a *asker) close() {
	a.end()
	a.mu.Lock()
	running := a.running
	a.mu.Unlock()
	if running != nil {
		<-running
	}
}

// wait is for an answer, as long as the caller does.
func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
