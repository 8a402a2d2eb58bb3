// Package outbox publishes what others enqueued in their own transactions. It promises that a message which
// committed is published at least once, in the order of seq within its key, that an outage costs no message
// an attempt, and that a message no broker will take is kept with the reason. It must not know what a message
// says, nor who enqueued it.
//
// A Relay holds leases of shards (lease.go). One goroutine, the loop, has everything else in hand: it reads
// what may go next (read.go), sends it (send.go) and settles what came of it (settle.go); it has no
// transaction open while a message is under way. A message is deleted when the broker has acknowledged it,
// so that a crash between the two repeats it.
package outbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"oriel/server/db"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
)

// shardCount is how many shards the schema has.
const shardCount = 32

// Config bounds a relay. What is zero takes the default.
type Config struct {
	Instance string // names the process to people who read outbox_shard

	TTL           time.Duration // of a lease; 15 s
	PollMin       time.Duration // between looks at the table when there is nothing to do, at first; 200 ms
	PollMax       time.Duration // and at last; 2 s
	Delivery      time.Duration // after which a message that the broker does not take is tried later; 10 s
	BackoffBase   time.Duration // ceiling of the first pause; 1 s
	BackoffCap    time.Duration // ceiling of all; 5 min
	MaxHeld       int           // messages in memory; 1,000
	MaxHeldBytes  int           // and their bytes; 16 MiB. One message may be larger
	MaxMessage    int           // bytes of the largest record that is tried; 4 MiB
	ShardMessages int           // messages read at once of one topic of a shard; 64
}

func (c Config) withDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	count := func(d *int, v int) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&c.TTL, 15*time.Second)
	def(&c.PollMin, 200*time.Millisecond)
	def(&c.PollMax, 2*time.Second)
	def(&c.Delivery, 10*time.Second)
	def(&c.BackoffBase, time.Second)
	def(&c.BackoffCap, 5*time.Minute)
	count(&c.MaxHeld, 1000)
	count(&c.MaxHeldBytes, 16<<20)
	count(&c.MaxMessage, 4<<20)
	count(&c.ShardMessages, 64)
	return c
}

// Relay publishes the messages of the shards that it holds.
type Relay struct {
	cfg     Config
	name    string // of this run: an earlier one of the same process is another holder
	pool    *pgxpool.Pool
	queries *db.Queries
	opts    []kgo.Opt
	log     *slog.Logger
	metrics *metrics
	leases  *leases
	wake    chan struct{}
	turned  atomic.Int64 // when the loop and the leases last went round, in Unix nanoseconds
	beaten  atomic.Int64

	mu      sync.Mutex
	started bool
	stop    context.CancelFunc // nothing new is read or sent
	kill    context.CancelFunc // what is under way is given up
	done    chan struct{}
}

// New makes a relay; opts say how to reach the brokers. It does not connect.
func New(cfg Config, pool *pgxpool.Pool, opts []kgo.Opt, log *slog.Logger, reg prometheus.Registerer) *Relay {
	cfg = cfg.withDefaults()
	suffix := make([]byte, 6)
	if _, err := rand.Read(suffix); err != nil {
		panic("no randomness: " + err.Error()) // crypto/rand never returns one
	}
	name := cfg.Instance + "#" + hex.EncodeToString(suffix)
	r := &Relay{
		cfg: cfg, name: name, pool: pool, queries: db.New(unprepared{pool}), opts: opts,
		log: log.With("relay", name), metrics: newMetrics(reg, cfg), leases: newLeases(),
		wake: make(chan struct{}, 1),
	}
	r.moves()
	return r
}

// moves says that a relay which is yet to start, or starts now, has not stood still.
func (r *Relay) moves() {
	now := time.Now().UnixNano()
	r.turned.Store(now)
	r.beaten.Store(now)
}

// Start begins to publish. The relay outlives ctx: Stop ends it.
func (r *Relay) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return errors.New("the relay was started before")
	}
	client, err := kgo.NewClient(r.clientOptions()...)
	if err != nil {
		return fmt.Errorf("make the relay's kafka client: %w", err)
	}
	work, kill := context.WithCancel(context.WithoutCancel(ctx))
	fetch, stop := context.WithCancel(work)
	r.started, r.stop, r.kill, r.done = true, stop, kill, make(chan struct{})
	r.moves()
	go func() {
		defer close(r.done)
		defer client.Close()
		r.run(fetch, work, client)
	}()
	return nil
}

// run keeps the leases and the loop going until fetch ends, and lets go of everything.
func (r *Relay) run(fetch, work context.Context, client *kgo.Client) {
	beats, endBeats := context.WithCancel(work)
	var beating sync.WaitGroup
	beating.Go(func() { r.keepLeases(fetch, beats) })
	l := newLoop(r, client)
	l.run(fetch, work)
	endBeats()
	beating.Wait()
	l.purging.Wait()
	if work.Err() != nil {
		return // what was given up may still arrive: the leases run out before anybody repeats it
	}
	ctx, cancel := context.WithTimeout(work, r.cfg.PollMax)
	defer cancel()
	r.leave(ctx)
}

func (r *Relay) clientOptions() []kgo.Opt {
	return append(append([]kgo.Opt{}, r.opts...),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.ProducerLinger(0),
		kgo.ProducerBatchMaxBytes(int32(r.cfg.MaxMessage)),
		kgo.ProduceRequestTimeout(5*time.Second),
		// The loop bounds what is under way; the client's own bounds are never met.
		kgo.MaxBufferedRecords(2*r.cfg.MaxHeld),
		kgo.MaxBufferedBytes(2*(r.cfg.MaxHeldBytes+r.cfg.MaxMessage)),
		// A record whose answer does not come is given up and published again: readers tell a repeat, and a
		// broker that went silent must not hold a shard for ever.
		kgo.RecordDeliveryTimeout(r.cfg.Delivery),
		kgo.AllowIdempotentProduceCancellation(),
	)
}

// Wake says that something was enqueued. It never blocks, and losing it costs no more than a poll.
func (r *Relay) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Stop lets what is under way end, and gives the shards back. When ctx ends first, what is under way is
// given up, which loses nothing: another relay publishes it again. Safe twice, and without Start.
func (r *Relay) Stop(ctx context.Context) error {
	r.mu.Lock()
	started := r.started
	r.mu.Unlock()
	if !started {
		return nil
	}
	r.stop()
	select {
	case <-r.done:
		r.kill()
		return nil
	case <-ctx.Done():
	}
	r.kill()
	select {
	case <-r.done:
	case <-time.After(hardStop):
	}
	return fmt.Errorf("the messages under way did not end in time: %w", ctx.Err())
}

// hardStop is how long a killed relay may take to let go of its connections.
const hardStop = 2 * time.Second

// Idle is how long the relay has stood still: neither brokers nor messages can make it, only a database that
// does not answer or a fault of ours.
func (r *Relay) Idle() time.Duration {
	return time.Since(time.Unix(0, min(r.turned.Load(), r.beaten.Load())))
}

// Leases is how many shards the relay holds.
func (r *Relay) Leases() int { return r.leases.count() }
