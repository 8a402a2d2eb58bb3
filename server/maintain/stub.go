// Package maintain keeps the tables in shape: day partitions ahead, the GIN pending list, rollup folds.
package maintain

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Maintainer runs the jobs of one process; an advisory lock lets one replica work at a time.
type Maintainer struct{}

// New makes a maintainer.
func New(pool *pgxpool.Pool, retention time.Duration, log *slog.Logger, reg prometheus.Registerer) *Maintainer {
	panic("unbuilt")
}

// Start begins the jobs.
func (m *Maintainer) Start(ctx context.Context) error { panic("unbuilt") }

// Stop ends them after the step in hand. Safe twice.
func (m *Maintainer) Stop(ctx context.Context) error { panic("unbuilt") }
