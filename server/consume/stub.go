// Package consume takes records from the topic and gives each exactly one outcome in PostgreSQL.
// PostgreSQL's checkpoint is the only truth of progress.
package consume

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Config bounds a consumer.
type Config struct {
	Consumer     string // "store"
	Topic, Group string
	Instance     string // who owns a checkpoint, for people
	Retention    time.Duration
	BatchRecords int               // 500
	BatchBytes   int               // 4 MiB
	BatchAge     time.Duration     // 250 ms
	Facets       map[string]string // facet name → payload path; nil takes the defaults
}

// Consumer is one member of the group.
type Consumer struct{}

// New makes a consumer; wake is called after every commit, never blocking.
func New(cfg Config, pool *pgxpool.Pool, opts []kgo.Opt, log *slog.Logger, reg prometheus.Registerer, wake func()) *Consumer {
	panic("unbuilt")
}

// Start joins the group; it returns once the client runs, not once partitions are assigned.
func (c *Consumer) Start(ctx context.Context) error { panic("unbuilt") }

// Stop drains: the batch in hand commits, offsets are committed, the group is left. Safe twice.
func (c *Consumer) Stop(ctx context.Context) error { panic("unbuilt") }

// Status is the consumer's state and its worst partition, for readiness.
type Status struct {
	State    string // starting, running, paused, draining, stopped, failed, gap, fatal
	Detail   string
	Assigned int
}

// Status never blocks.
func (c *Consumer) Status() Status { panic("unbuilt") }

// AdoptTopic records the operator's decision that the topic as it is now is a new log: checkpoints at 0.
func AdoptTopic(ctx context.Context, pool *pgxpool.Pool, opts []kgo.Opt, consumer, topic, reason, actor string) error {
	panic("unbuilt")
}
