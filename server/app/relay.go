package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/config"
	"oriel/server/fault"
	"oriel/server/outbox"
)

// relayConns are for the leases and for the messages, which must not wait for each other, and one to spare.
const relayConns = 3

// relayIdle is how long the relay may stand still before readiness says so. No broker can make it.
const relayIdle = 45 * time.Second

// addRelay adds what publishes the outbox. Built before the consumers, it stops after them, and publishes
// what they enqueue last.
func (a *App) addRelay(ctx context.Context, cfg config.Config, kopts []kgo.Opt, log *slog.Logger, reg *prometheus.Registry) (*outbox.Relay, error) {
	pool, err := openPool(ctx, cfg.Database.URL, relayConns, "oriel-relay", relaySession())
	if err != nil {
		return nil, err
	}
	a.push("relay pool", 5*time.Second, closePool(pool))
	r := outbox.New(outbox.Config{
		Instance: instance(), TTL: cfg.Outbox.Lease, MaxMessage: cfg.Outbox.MessageBytes,
	}, pool, kopts, log, reg)
	a.push("relay", 12*time.Second, r.Stop)
	a.start = append(a.start, r.Start)
	a.health.Register("relay", func(context.Context) error {
		if idle := r.Idle(); idle > relayIdle {
			return fault.New(fault.Unavailable, fault.ReasonRelayNotRunning, "The relay has stood still for "+idle.Round(time.Second).String()+".")
		}
		return nil
	})
	return r, nil
}
