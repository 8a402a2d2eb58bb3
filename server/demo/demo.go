// Package demo makes sample traffic for `oriel demo`: a fleet of homes, a shop and the webhook
// payloads of a real service, sent through the public HTTP API as any producer would, and a few
// broken records written to the topic directly. What it sends is valid where it says so and odd where
// that is the point. It knows nothing of how the server works.
package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"oriel/server/cloudevents"

	"github.com/twmb/franz-go/pkg/kgo"
)

// DefaultRate is how many events are sent a second.
const DefaultRate = 5

// How often, in events, something other than the fleets is sent.
const (
	webhookEvery = 25
	oddityEvery  = 300
	poisonEvery  = 3000
)

// Config says where the traffic goes. BaseURL, Token and Marker are required.
type Config struct {
	BaseURL string // of the server, without a path
	Token   string // with scope events:write
	// WebhooksDir is the folder of the npm package @octokit/webhooks-examples; where it cannot be
	// read its events are left out, with a warning.
	WebhooksDir string
	// Marker is a file that remembers the history that was sent once.
	Marker string
	// Poison, where not nil, writes the broken records to Topic. The caller closes it.
	Poison *kgo.Client
	Topic  string

	Rate float64 // events a second; DefaultRate
	Seed uint64
	Now  func() time.Time // time.Now
	Log  *slog.Logger
}

// Run sends the history once, then steady traffic until ctx ends, which is no error. While the server
// refuses or is away it waits and sends the same event again, as a good producer does.
func Run(ctx context.Context, cfg Config) error {
	if cfg.BaseURL == "" || cfg.Token == "" || cfg.Marker == "" || cfg.Log == nil {
		return errors.New("demo traffic: base url, token, marker and log are required")
	}
	if cfg.Rate <= 0 {
		cfg.Rate = DefaultRate
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	hooks, err := loadWebhooks(cfg.WebhooksDir)
	if err != nil {
		cfg.Log.Warn("the webhook payloads are left out of the sample traffic; "+
			"`npm install @octokit/webhooks-examples@7.6.1` brings them", "folder", cfg.WebhooksDir, "error", err)
	}
	d := &driver{cfg: cfg, sender: newSender(cfg), hooks: hooks}
	err = d.history(ctx)
	if err == nil {
		err = d.steady(ctx)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

type driver struct {
	cfg    Config
	sender *sender
	hooks  []webhook
}

// steady is the traffic after the history.
func (d *driver) steady(ctx context.Context) error {
	start := d.cfg.Now()
	// Another start must not repeat the identities of the one before.
	rng := newRand(d.cfg.Seed, uint64(start.UnixNano()))
	homes, shop, odd := newHomes(rng), newShop(rng), newOddities(rng)
	tick := time.NewTicker(time.Duration(float64(time.Second) / d.cfg.Rate))
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := d.cfg.Now()
		var events []*cloudevents.Event
		switch {
		case n%oddityEvery == 0:
			events = odd.next(now)
		case n%webhookEvery == 0 && len(d.hooks) > 0:
			events = []*cloudevents.Event{d.hooks[rng.IntN(len(d.hooks))].event(now, identity(rng))}
		case rng.IntN(5) < 3:
			events = homes.next(now)
		default:
			events = shop.next(now)
		}
		for _, e := range events {
			if err := d.sender.send(ctx, e); err != nil {
				return err
			}
		}
		if n%poisonEvery == 0 {
			p := poisons(now, rng)
			d.poison(ctx, p[n/poisonEvery%len(p):][:1])
		}
	}
}

// poison writes broken records; that the broker refuses them is worth a line and no more.
func (d *driver) poison(ctx context.Context, records []*kgo.Record) {
	if d.cfg.Poison == nil {
		return
	}
	for _, r := range records {
		r.Topic = d.cfg.Topic
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := d.cfg.Poison.ProduceSync(ctx, records...).FirstErr(); err != nil && ctx.Err() == nil {
		d.cfg.Log.Warn("the broken sample records could not be written", "error", err)
	}
}

func newRand(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream))
}

// identity is a random id in the form of a UUID.
func identity(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0x3fff|0x8000, b&0xffffffffffff)
}

// made is an event at an instant, its time written in the zone.
func made(at time.Time, zone *time.Location, source, kind, id string) *cloudevents.Event {
	at = at.Truncate(time.Millisecond)
	return &cloudevents.Event{
		ID: id, Source: source, Type: kind,
		TimeText: at.In(zone).Format("2006-01-02T15:04:05.000Z07:00"), Time: at.UTC(),
	}
}
