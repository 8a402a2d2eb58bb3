// Package maintain keeps the tables in shape: day partitions ahead of need and gone after retention,
// the GIN pending list, the hour rollups, the index of identifiers. An advisory lock lets one process work at a time; every job
// is safe to be cut off anywhere and to be run twice. What only the owner of the tables may do, it does
// through functions of the schema. It must not know Kafka or HTTP.
package maintain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"oriel/server/db"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// storeConsumer is whose commits are the clock of the event table.
const storeConsumer = "store"

// How often the jobs run, and how many days are made ahead. One day back is for events that are late
// over midnight; older ones make theirs when they come.
const (
	leadEvery   = 5 * time.Second
	daysEvery   = 10 * time.Minute
	gcEvery     = time.Minute // one that gave way to a long query comes again
	ginEvery    = time.Second
	foldEvery   = 5 * time.Second // searches read the rows that are not folded yet
	trimEvery   = time.Minute
	linksEvery  = 6 * time.Hour
	mergeEvery  = 2 * time.Second
	daysAhead   = 8
	daysBack    = 1
	jobPatience = 5 * time.Minute
)

// Maintainer runs the jobs of one process; an advisory lock lets one replica work at a time.
type Maintainer struct {
	// TrimLog, where set before Start, is called every minute with the lowest offset that any consumer
	// still needs of each partition: an embedded broker bounds its log by it.
	TrimLog func(ctx context.Context, lowest map[int32]int64) error
	// Log names the log that TrimLog cuts, as the broker has it now. A topic that was recreated has
	// another id, and the offsets of the log before are never applied to it. Without it only a database
	// that knows a single topic is trimmed by.
	Log func(ctx context.Context) (topic string, id [16]byte, err error)

	pool      *pgxpool.Pool
	queries   *db.Queries
	retention time.Duration
	log       *slog.Logger
	metrics   metrics
	now       func() time.Time
	written   map[int64]int64 // rows ever written, by index, as of its last cleaning

	mu   sync.Mutex
	stop context.CancelFunc
	done chan struct{}
}

type metrics struct {
	seconds  *prometheus.HistogramVec
	failures *prometheus.CounterVec
	leader   prometheus.Gauge
	blocks   *prometheus.GaugeVec
	behind   prometheus.Gauge
}

// job is one thing that the leader does again and again.
type job struct {
	name  string
	every time.Duration
	run   func(context.Context) error
}

// New makes a maintainer.
func New(pool *pgxpool.Pool, retention time.Duration, log *slog.Logger, reg prometheus.Registerer) *Maintainer {
	m := &Maintainer{
		pool: pool, queries: db.New(pool), retention: retention, log: log, now: time.Now, written: map[int64]int64{},
		metrics: metrics{
			seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
				Name: "oriel_maintain_job_seconds", Help: "Time that a maintenance job took.",
				Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
			}, []string{"job"}),
			failures: prometheus.NewCounterVec(prometheus.CounterOpts{
				Name: "oriel_maintain_failures_total", Help: "Maintenance jobs that failed; they are tried again.",
			}, []string{"job"}),
			leader: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "oriel_maintain_leader", Help: "1 in the process that does the maintenance.",
			}),
			blocks: prometheus.NewGaugeVec(prometheus.GaugeOpts{
				Name: "oriel_blocks", Help: "Blocks of the index of identifiers: small as batches wrote them, open to more, or full.",
			}, []string{"size"}),
			behind: prometheus.NewGauge(prometheus.GaugeOpts{
				Name: "oriel_blocks_behind_seconds", Help: "How long a small block has waited to be merged beyond its minute.",
			}),
		},
	}
	reg.MustRegister(m.metrics.seconds, m.metrics.failures, m.metrics.leader, m.metrics.blocks, m.metrics.behind)
	for _, j := range m.jobs() {
		m.metrics.failures.WithLabelValues(j.name)
	}
	return m
}

func (m *Maintainer) jobs() []job {
	return []job{
		{"days", daysEvery, m.makeDays},
		{"retention", gcEvery, m.dropDays},
		{"pending_list", ginEvery, m.cleanPendingLists},
		{"fold", foldEvery, m.Fold},
		{"merge", mergeEvery, m.Merge},
		{"trim_log", trimEvery, m.trimLog},
		{"share_links", linksEvery, m.dropLinks},
	}
}

// Start begins the jobs. They outlive ctx: Stop ends them.
func (m *Maintainer) Start(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil {
		return errors.New("the maintainer was started before")
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	m.stop, m.done = stop, make(chan struct{})
	go func() {
		defer close(m.done)
		m.lead(run)
	}()
	return nil
}

// Stop ends them after the step in hand. Safe twice.
func (m *Maintainer) Stop(ctx context.Context) error {
	m.mu.Lock()
	stop, done := m.stop, m.done
	m.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the job in hand did not end in time: %w", ctx.Err())
	}
}

// lead works whenever this process holds the lock. The lock is the session's: it is lost with the
// connection, and the jobs with it.
func (m *Maintainer) lead(ctx context.Context) {
	for {
		err := m.leadOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.log.Warn("maintenance is interrupted", "error", err)
		}
		if !sleep(ctx, leadEvery) {
			return
		}
	}
}

func (m *Maintainer) leadOnce(ctx context.Context) error {
	conn, err := m.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("get a connection: %w", err)
	}
	defer conn.Release()
	var mine bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended('oriel.maintain', 0))").Scan(&mine); err != nil {
		return fmt.Errorf("ask for the lock: %w", err)
	}
	if !mine {
		return nil
	}
	m.metrics.leader.Set(1)
	defer m.metrics.leader.Set(0)
	defer func() {
		// A session that cannot give the lock back must end, or it would hold it from inside the pool.
		unlock, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := conn.Exec(unlock, "SELECT pg_advisory_unlock(hashtextextended('oriel.maintain', 0))"); err != nil {
			_ = conn.Conn().Close(unlock) // it is broken already
		}
	}()
	m.log.Info("maintaining the tables")
	jobs, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	for _, j := range m.jobs() {
		running.Go(func() { m.repeat(jobs, j) })
	}
	defer running.Wait()
	defer cancel()
	for sleep(ctx, leadEvery) {
		if err := conn.Ping(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("the session that holds the lock is gone: %w", err)
		}
	}
	return nil
}

// repeat runs one job until ctx ends. A job that is running then is cut off, which is harmless: each
// is one transaction, or a row of them.
func (m *Maintainer) repeat(ctx context.Context, j job) {
	for {
		began := time.Now()
		bounded, cancel := context.WithTimeout(ctx, jobPatience)
		err := j.run(bounded)
		cancel()
		if ctx.Err() != nil {
			return
		}
		m.metrics.seconds.WithLabelValues(j.name).Observe(time.Since(began).Seconds())
		if err != nil {
			m.metrics.failures.WithLabelValues(j.name).Inc()
			m.log.Warn("a maintenance job failed and will be tried again", "job", j.name, "error", err)
		}
		if !sleep(ctx, j.every) {
			return
		}
	}
}

// sleep waits for d; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
