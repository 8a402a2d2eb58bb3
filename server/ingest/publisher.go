// Package ingest accepts events and publishes them: it decides what is refused, waits for the
// broker's acknowledgement and says truthfully what became of each event. An event that it refused
// was never published; one it cannot answer for is reported as unknown, never as lost or stored. It
// knows no HTTP framework and no database.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"oriel/server/cloudevents"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Defaults of Config.
const (
	DefaultDeadline           = 10 * time.Second
	DefaultMaxBufferedRecords = 10_000
	DefaultMaxBufferedBytes   = 64 << 20
)

// batchMaxBytes bounds one produce batch: above the largest event that we accept (1 MiB of data and
// 16 KiB of attributes), below the topic's 2 MiB, so that the limit a producer meets is ours.
const batchMaxBytes = 2<<20 - 64<<10

// produceTimeout is how long the broker may wait for its replicas before it answers.
const produceTimeout = 5 * time.Second

// closeGrace bounds the client's own shutdown once everything has its answer.
const closeGrace = 5 * time.Second

// Config bounds the publisher.
type Config struct {
	Topic              string
	Retention          time.Duration
	Deadline           time.Duration // a handler's; 10 s
	MaxBufferedRecords int           // 10,000
	MaxBufferedBytes   int           // 64 MiB, of keys, values and headers
	// Linger is how long a batch waits for company; 0 sends at once. Waiting costs a lone producer
	// that time on every event and gains nothing under load, when batches form behind the requests in
	// flight: at 64 connections 1 ms took a quarter of the throughput (bench/ingest).
	Linger time.Duration

	Now    func() time.Time     // the ingest clock; time.Now
	Tracer trace.TracerProvider // nil: no spans, the caller's trace is still carried on
}

func (c Config) withDefaults() (Config, error) {
	if c.Topic == "" {
		return c, errors.New("ingest: no topic")
	}
	if c.Retention <= day {
		return c, fmt.Errorf("ingest: retention %s leaves no time window; it must be above %s", c.Retention, day)
	}
	if c.Deadline <= 0 {
		c.Deadline = DefaultDeadline
	}
	if c.MaxBufferedRecords <= 0 {
		c.MaxBufferedRecords = DefaultMaxBufferedRecords
	}
	if c.MaxBufferedBytes <= 0 {
		c.MaxBufferedBytes = DefaultMaxBufferedBytes
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Tracer == nil {
		c.Tracer = noop.NewTracerProvider()
	}
	return c, nil
}

// Publisher owns the producing client. Its methods may be called from any goroutine.
type Publisher struct {
	cfg     Config
	log     *slog.Logger
	client  *kgo.Client
	metrics *metrics
	queue   *queue
	tracer  trace.Tracer
	doubts  *doubts

	drain     chan struct{} // closed: whoever still waits is answered "unknown"
	closeOnce sync.Once
	closeErr  error
	purging   sync.Mutex
}

// New makes a publisher with a client of its own; opts say how to reach the brokers. It does not
// connect: a broker that is away is met by the first event.
func New(cfg Config, opts []kgo.Opt, log *slog.Logger, reg prometheus.Registerer) (*Publisher, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Publisher{
		cfg: cfg, log: log, drain: make(chan struct{}), doubts: &doubts{},
		tracer: cfg.Tracer.Tracer("oriel/ingest"),
	}
	p.queue = newQueue(cfg.MaxBufferedRecords, cfg.MaxBufferedBytes)
	p.metrics, err = newMetrics(reg, cfg, p.queue)
	if err != nil {
		return nil, fmt.Errorf("register ingest metrics: %w", err)
	}
	p.client, err = kgo.NewClient(append(append([]kgo.Opt{}, opts...),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(p.queue.partitioner()),
		kgo.ProducerLinger(cfg.Linger),
		kgo.ProducerBatchMaxBytes(batchMaxBytes),
		kgo.ProduceRequestTimeout(produceTimeout),
		kgo.RequestTimeoutOverhead(2*time.Second),
		kgo.MetadataMinAge(250*time.Millisecond),
		// The queue in front decides what is shed, synchronously and for a request as a whole. The
		// client's own bound sits above it and is met only if the two ever disagree.
		kgo.MaxBufferedRecords(cfg.MaxBufferedRecords+cloudevents.MaxBatch),
		kgo.MaxBufferedBytes(cfg.MaxBufferedBytes+2*cloudevents.MaxBody),
		kgo.ProducerOnDataLossDetected(p.sequenceLost),
		kgo.WithHooks(p.doubts),
	)...)
	if err != nil {
		return nil, fmt.Errorf("make producing client: %w", err)
	}
	return p, nil
}

// sequenceLost is told when the broker no longer knows our producer's sequence. The client begins a
// new one and goes on; a record may land twice, which consumers recognise by its identity.
func (p *Publisher) sequenceLost(topic string, partition int32) {
	p.metrics.sequenceResets.Inc()
	p.log.Warn("the broker lost the producer's sequence; a new one was begun",
		"topic", topic, "partition", partition)
}

// forgetTopic makes the client learn the topic anew: one that was deleted and created again has
// another id, and the client would fail every record for it until then.
func (p *Publisher) forgetTopic() {
	if !p.purging.TryLock() {
		return
	}
	go func() { // never inside a promise: purging waits for promises
		defer p.purging.Unlock()
		p.log.Warn("the topic has another id than before; learning it anew", "topic", p.cfg.Topic)
		p.client.PurgeTopicsFromProducing(p.cfg.Topic)
	}()
}

// Close refuses new events, waits until those in flight have their acknowledgement, and closes the
// client. When ctx ends first, whoever still waits is answered at once that the outcome is unknown.
// It may be called again; later calls return the first one's result.
func (p *Publisher) Close(ctx context.Context) error {
	p.closeOnce.Do(func() { p.closeErr = p.close(ctx) })
	return p.closeErr
}

func (p *Publisher) close(ctx context.Context) error {
	idle := p.queue.shut()
	var unfinished error
	select {
	case <-idle:
		// Records whose handlers gave up are still the client's to deliver.
		unfinished = p.client.Flush(ctx)
	case <-ctx.Done():
		unfinished = ctx.Err()
	}
	close(p.drain)
	<-idle // every handler selects on drain, so this is prompt

	left, _ := p.queue.depth()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.client.Close()
	}()
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-closed:
	case <-grace.C:
		return errors.New("close producing client: it did not stop in time")
	}
	if unfinished != nil {
		return fmt.Errorf("flush producing client: %d events have no acknowledgement: %w", left, unfinished)
	}
	return nil
}

// doubts counts the moments after which the client cannot know whether what it had sent was written:
// a produce request whose answer never came.
type doubts struct{ counter }

// OnBrokerE2E is called by the client after every request.
func (d *doubts) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	const produce = 0
	if key == produce && e2e.Err() != nil {
		d.Add(1)
	}
}

var _ kgo.HookBrokerE2E = (*doubts)(nil)

// unknownTopicID is how the broker refuses a topic that was created anew.
func unknownTopicID(err error) bool { return errors.Is(err, kerr.UnknownTopicID) }
