package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/fault"
)

// ProbeBounds says how often each check runs and how long it may take.
type ProbeBounds struct {
	Every, Timeout time.Duration
}

// DefaultProbeBounds suits local and remote dependencies.
func DefaultProbeBounds() ProbeBounds {
	return ProbeBounds{Every: 2 * time.Second, Timeout: 2 * time.Second}
}

// CheckState is one check as readiness shows it. Detail is for everybody: the public side of the
// error (package fault), never its cause.
type CheckState struct {
	Name   string    `json:"name"`
	OK     bool      `json:"ok"`
	Detail string    `json:"detail,omitempty"`
	Since  time.Time `json:"since"` // of this state
}

// Readiness is what /health/ready answers.
type Readiness struct {
	Ready    bool         `json:"ready"`
	Draining bool         `json:"draining"`
	Checks   []CheckState `json:"checks"`
}

// Health runs named checks in the background and remembers what they said, so that a probe of the
// process never waits for a dependency.
type Health struct {
	bounds ProbeBounds
	log    *slog.Logger
	up     *prometheus.GaugeVec
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex
	draining bool
	checks   []*check
}

type check struct {
	state CheckState
	seen  time.Time // when the probe last answered
	probe func(context.Context) error
}

// NewHealth makes a health that has no checks and is ready.
func NewHealth(bounds ProbeBounds, log *slog.Logger, reg prometheus.Registerer) *Health {
	h := &Health{bounds: bounds, log: log, up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "oriel_health_check_up", Help: "1 where the named check of readiness passes, else 0.",
	}, []string{"check"})}
	ready := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "oriel_ready", Help: "1 where /health/ready answers 200, else 0.",
	}, func() float64 {
		if h.Readiness().Ready {
			return 1
		}
		return 0
	})
	reg.MustRegister(h.up, ready)
	return h
}

// Register adds a check, before Start. Until its first answer it fails. The text of a *fault.Error
// is shown to everybody; of any other error only that it happened.
func (h *Health) Register(name string, probe func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = append(h.checks, &check{
		state: CheckState{Name: name, Detail: "Not checked yet.", Since: time.Now().UTC()}, seen: time.Now(), probe: probe,
	})
	h.up.WithLabelValues(name).Set(0)
}

// Start runs every check at once and then at its interval, each in its own goroutine: a hanging
// dependency hides no other.
func (h *Health) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	for _, c := range h.checks {
		h.wg.Go(func() {
			tick := time.NewTicker(h.bounds.Every)
			defer tick.Stop()
			for {
				h.run(ctx, c)
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		})
	}
}

func (h *Health) run(ctx context.Context, c *check) {
	ctx, cancel := context.WithTimeout(ctx, h.bounds.Timeout)
	defer cancel()
	err := c.probe(ctx)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return // stopping, which says nothing about the dependency
	}
	h.mu.Lock()
	before := c.state
	c.seen = time.Now()
	c.state.OK, c.state.Detail = err == nil, detailOf(err)
	if before.OK != c.state.OK {
		c.state.Since = c.seen.UTC()
	}
	changed := before.OK != c.state.OK || before.Detail != c.state.Detail
	h.mu.Unlock()
	switch {
	case err == nil && changed:
		h.up.WithLabelValues(c.state.Name).Set(1)
		h.log.InfoContext(ctx, "health check passes", "check", before.Name)
	case err != nil && changed:
		h.up.WithLabelValues(c.state.Name).Set(0)
		h.log.WarnContext(ctx, "health check fails", "check", before.Name, "error", err)
	}
}

func detailOf(err error) string {
	if err == nil {
		return ""
	}
	if public := (*fault.Error)(nil); errors.As(err, &public) {
		return public.Message
	}
	return "Failing. The log has the cause."
}

// Readiness never blocks on a dependency. A check whose probe stopped answering counts as failing.
func (h *Health) Readiness() Readiness {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := Readiness{Ready: !h.draining, Draining: h.draining, Checks: make([]CheckState, 0, len(h.checks))}
	for _, c := range h.checks {
		s := c.state
		if s.OK && time.Since(c.seen) > 3*h.bounds.Every+h.bounds.Timeout {
			s.OK, s.Detail, s.Since = false, "The check does not answer any more.", c.seen.UTC()
		}
		r.Ready = r.Ready && s.OK
		r.Checks = append(r.Checks, s)
	}
	slices.SortFunc(r.Checks, func(a, b CheckState) int { return cmp.Compare(a.Name, b.Name) })
	return r
}

// SetDraining makes readiness say no from now on: the first step of a stop.
func (h *Health) SetDraining() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.draining = true
}

// Stop ends the checks. Safe twice, and without Start.
func (h *Health) Stop() {
	if h.cancel != nil {
		h.cancel()
	}
	h.wg.Wait()
}
