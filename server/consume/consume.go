// Package consume takes records from the topic and gives each exactly one outcome in PostgreSQL:
// stored, duplicate, dead letter or expired. PostgreSQL's checkpoint is the only truth of progress:
// rows, rollups, ledger and checkpoint commit in one transaction, and Kafka's offset commit is a hint
// that follows it. It must not know HTTP, and it never changes what a record holds.
//
// One Consumer is one member of the group. It runs a session per Kafka client (session.go), the
// session a worker per owned partition (worker.go), and a worker one batch at a time (write.go).
package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/facets"
	"oriel/server/lexicon"

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
	BatchRecords int           // 500: so many make a batch at once
	BacklogBatch int           // 1,000: so many at most, where they wait; BatchRecords where that is given alone
	BatchBytes   int           // 4 MiB
	BatchAge     time.Duration // 250 ms
	Facets       facets.Config // zero takes the defaults

	// DeadLetterTopic gets a copy of each dead letter, by the outbox; "" gets none. DeadLetterSource is the
	// copies' source attribute (/consumers/ and the consumer's name). Buried is told after a commit that made
	// dead letters; it must not block.
	DeadLetterTopic, DeadLetterSource string
	Buried                            func()

	// WatchEvery is how often the topic's identity and the checkpoints are looked at (1 s). An
	// operator's decision takes effect within it.
	WatchEvery time.Duration
	// StallAfter is how long a partition may have records and make no progress, with nothing to blame,
	// before the client is rebuilt (60 s). One that has had work in hand for as long is said to be degraded.
	StallAfter time.Duration
	// AttemptIn bounds one try of anything that needs the database (45 s): the server bounds its statements,
	// and says nothing on a line that went dead. A try that is cut short is made again, on a new connection.
	AttemptIn time.Duration

	// The breaker stops a partition where more than BreakerRatio (0.5; 1 is never) of the consumer's last
	// BreakerWindow (1,000) records became dead letters, and at least BreakerLetters (500) of them within
	// BreakerWithin (1 min).
	BreakerRatio   float64
	BreakerWindow  int
	BreakerLetters int
	BreakerWithin  time.Duration
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	if c.BacklogBatch <= 0 {
		c.BacklogBatch = c.BatchRecords
		if c.BatchRecords <= 0 {
			c.BacklogBatch = 1000 // 2,000 cost a tenth less processor time a record, and twice the memory; measured
		}
	}
	if c.BatchRecords <= 0 {
		c.BatchRecords = 500
	}
	c.BacklogBatch = max(c.BacklogBatch, c.BatchRecords)
	if c.BatchBytes <= 0 {
		c.BatchBytes = 4 << 20
	}
	if c.DeadLetterSource == "" {
		c.DeadLetterSource = "/consumers/" + c.Consumer
	}
	if c.Buried == nil {
		c.Buried = func() {}
	}
	def(&c.BatchAge, 250*time.Millisecond)
	def(&c.Retention, 91*24*time.Hour)
	def(&c.WatchEvery, time.Second)
	def(&c.StallAfter, time.Minute)
	def(&c.AttemptIn, 45*time.Second)
	def(&c.BreakerWithin, time.Minute)
	if c.BreakerRatio <= 0 {
		c.BreakerRatio = 0.5
	}
	if c.BreakerWindow <= 0 {
		c.BreakerWindow = 1000
	}
	if c.BreakerLetters <= 0 {
		c.BreakerLetters = 500
	}
	if c.Facets.Severity == "" {
		c.Facets = facets.Default()
	}
	return c
}

// Consumer is one member of the group.
type Consumer struct {
	cfg     Config
	pool    *pgxpool.Pool
	queries *db.Queries
	opts    []kgo.Opt
	log     *slog.Logger
	metrics *metrics
	wake    func()
	facets  facetPlan
	derived derived
	decode  func(cloudevents.Record) (*cloudevents.Event, []cloudevents.Header, error)
	days    *days
	seen    *seen
	breaker *breaker
	// vocabulary holds one token while a worker stores new words.
	vocabulary chan struct{}

	status statusBoard
	stalls map[int32]stall // of the watching goroutine, over all sessions

	mu      sync.Mutex
	started bool
	stop    context.CancelFunc // ends fetching; work in hand goes on
	kill    context.CancelFunc // ends work in hand too
	done    chan struct{}
}

// New makes a consumer; wake is called after every commit, never blocking.
func New(cfg Config, pool *pgxpool.Pool, opts []kgo.Opt, log *slog.Logger, reg prometheus.Registerer, wake func()) *Consumer {
	cfg = cfg.withDefaults()
	if wake == nil {
		wake = func() {}
	}
	return &Consumer{
		cfg: cfg, pool: pool, queries: db.New(pool), opts: opts,
		log:     log.With("consumer", cfg.Consumer),
		metrics: newMetrics(reg, cfg),
		wake:    wake,
		facets:  planFacets(cfg.Facets),
		derived: derived{version: builtInFacets},
		decode:  cloudevents.DecodeRecord,
		days:    newDays(),
		seen:    newSeen(),
		breaker: newBreaker(cfg),
		stalls:  map[int32]stall{},

		vocabulary: make(chan struct{}, 1),
		status:     statusBoard{state: StateStarting, detail: "has not joined the group yet", patience: cfg.StallAfter},
	}
}

// Start joins the group; it returns once the client runs, not once partitions are assigned. The
// consumer outlives ctx: Stop ends it.
func (c *Consumer) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started {
		return errors.New("the consumer was started before")
	}
	var key lexicon.Key
	err := c.within(ctx, func(ctx context.Context) (err error) {
		if key, err = c.lexiconKey(ctx); err != nil {
			return err
		}
		return c.useFacets(ctx)
	})
	if err != nil {
		return err
	}
	base := context.WithoutCancel(ctx)
	work, kill := context.WithCancel(base)
	fetch, stop := context.WithCancel(work)
	first, err := newSession(c, key, work)
	if err != nil {
		kill()
		stop()
		return err
	}
	c.started, c.stop, c.kill, c.done = true, stop, kill, make(chan struct{})
	go c.supervise(fetch, work, first)
	return nil
}

// supervise runs one session after another until fetch ends.
func (c *Consumer) supervise(fetch, work context.Context, s *session) {
	defer close(c.done)
	for {
		began := time.Now()
		why := s.run(fetch)
		if fetch.Err() != nil {
			c.status.set(StateDraining, "finishes the batches in hand")
		} else {
			c.log.Warn("rebuilding the Kafka client", "why", why)
			c.metrics.rebuilds.Inc()
		}
		s.close(work)
		if fetch.Err() != nil {
			c.status.set(StateStopped, "was stopped")
			return
		}
		c.status.set(StateStarting, why)
		// A cause that persists must not become a storm of joins.
		if pause := time.Second - time.Since(began); pause > 0 && !wait(fetch, pause) {
			c.status.set(StateStopped, "was stopped")
			return
		}
		for n := 0; ; n++ {
			next, err := newSession(c, s.key, work)
			if err == nil {
				s = next
				break
			}
			c.status.set(StateFailed, err.Error())
			c.log.Error("cannot build the Kafka client", "error", err)
			if !wait(fetch, jitter(n)) {
				c.status.set(StateStopped, "was stopped")
				return
			}
		}
	}
}

// Stop drains: the batch in hand commits, offsets are committed, the group is left. When ctx ends
// first, what is in hand is rolled back, which loses nothing. Safe twice.
func (c *Consumer) Stop(ctx context.Context) error {
	c.mu.Lock()
	started := c.started
	c.mu.Unlock()
	if !started {
		c.status.set(StateStopped, "was never started")
		return nil
	}
	c.stop()
	select {
	case <-c.done:
		c.kill()
		return nil
	case <-ctx.Done():
	}
	c.kill()
	select {
	case <-c.done:
	case <-time.After(hardStop):
	}
	return fmt.Errorf("the batches in hand did not finish in time: %w", ctx.Err())
}

// hardStop is how long a killed consumer may take to let go of its connections.
const hardStop = 2 * time.Second

// wait sleeps for d; false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
