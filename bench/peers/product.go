package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/consume"
	"oriel/server/maintain"
	"oriel/server/schema"
)

// product is a contender: the product's consumer with its own settings, and its maintenance beside it.
type product struct{ consumer *consume.Consumer }

// table is none of the peers': the product brings its schema.
func (*product) table() string { return "" }

func (*product) form(skewed bool) form {
	if skewed {
		return asSkewed
	}
	return asEvents
}

func (p *product) start(ctx context.Context, s *stage, topic string, d *database) error {
	p.consumer = consume.New(consume.Config{
		Consumer: "store", Topic: topic, Group: fmt.Sprintf("bench-%d", time.Now().UnixNano()), Instance: "bench",
	}, d.pool, []kgo.Opt{kgo.SeedBrokers(s.brokers...), kgo.MetadataMinAge(250 * time.Millisecond)}, s.log, prometheus.NewRegistry(), func() {})
	return p.consumer.Start(ctx)
}

// makeSchema makes the product's tables, and has them maintained.
func (d *database) makeSchema(ctx context.Context, s *stage) error {
	if err := schema.Migrate(ctx, d.url); err != nil {
		return err
	}
	now := time.Now()
	if err := schema.EnsureDays(ctx, d.pool, now.Add(-spread), now); err != nil {
		return err
	}
	keeper := maintain.New(d.pool, 91*24*time.Hour, s.log, prometheus.NewRegistry())
	if err := keeper.Start(ctx); err != nil {
		return err
	}
	d.closers = append(d.closers, keeper.Stop)
	return nil
}

func (*product) spent() time.Duration { return self() }

// ended is never: what cannot go on shows as rows that do not come.
func (*product) ended(context.Context) error { return nil }

func (p *product) stop(ctx context.Context) error { return p.consumer.Stop(ctx) }
