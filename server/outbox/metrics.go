package outbox

import (
	"oriel/server/db"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the relay's numbers. Label sets are closed.
type metrics struct {
	published      prometheus.Counter
	retries        *prometheus.CounterVec
	dead           *prometheus.CounterVec
	shrunk         prometheus.Counter
	fenced         prometheus.Counter
	databaseErrors prometheus.Counter
	inFlight       prometheus.Gauge
	leases         prometheus.Gauge
	oldest         prometheus.Gauge
	deadNow        prometheus.Gauge
	backoffs       *prometheus.GaugeVec
}

func newMetrics(reg prometheus.Registerer, cfg Config) *metrics {
	const ns = "oriel_outbox_"
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: ns + name, Help: help})
	}
	counters := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: ns + name, Help: help}, []string{label})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: ns + name, Help: help})
	}
	m := &metrics{
		published:      counter("published_total", "Messages that the broker acknowledged, repeats included."),
		retries:        counters("retries_total", "Messages that will be tried again, by the class of the error.", "class"),
		dead:           counters("dead_total", "Messages that no broker will take, by reason.", "reason"),
		shrunk:         counter("shrunk_total", "Messages too large for their topic whose smaller value goes instead."),
		fenced:         counter("fenced_total", "Failures that were not written down because another relay holds the shard."),
		databaseErrors: counter("database_errors_total", "Statements of the relay that failed; they are tried again."),
		inFlight:       gauge("in_flight", "Messages that wait for the broker's acknowledgement."),
		leases:         gauge("leases", "Shards that this relay holds, of 32."),
		oldest:         gauge("oldest_pending_seconds", "Age of the oldest message that is not published, over all shards."),
		deadNow:        gauge("dead_messages", "Messages that wait for an operator, over all shards."),
		backoffs: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: ns + "backoffs", Help: "Topics of shards that pause after a failure, over all shards, by its class.",
		}, []string{"class"}),
	}
	limits := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: ns + "limit", Help: "The limits of the relay."}, []string{"limit"})
	for name, value := range map[string]float64{
		"held_messages": float64(cfg.MaxHeld), "held_bytes": float64(cfg.MaxHeldBytes), "message_bytes": float64(cfg.MaxMessage),
		"lease_seconds": cfg.TTL.Seconds(), "statement_seconds": cfg.statementIn().Seconds(), "delivery_seconds": cfg.Delivery.Seconds(), "backoff_seconds": cfg.BackoffCap.Seconds(),
	} {
		limits.WithLabelValues(name).Set(value)
	}
	reg.MustRegister(limits, m.published, m.retries, m.dead, m.shrunk, m.fenced, m.databaseErrors, m.inFlight, m.leases,
		m.oldest, m.deadNow, m.backoffs)
	for _, c := range []class{environment, configuration, unknown, recordCaused, suspect} {
		m.retries.WithLabelValues(c.String())
	}
	for _, reason := range deadReasons() {
		m.dead.WithLabelValues(reason)
	}
	m.observe(db.OutboxStateRow{})
	return m
}

// observe takes over what the table says.
func (m *metrics) observe(s db.OutboxStateRow) {
	m.oldest.Set(s.OldestSeconds)
	m.deadNow.Set(float64(s.Dead))
	n := map[string]float64{}
	for _, c := range s.Backoffs {
		n[c]++
	}
	for _, c := range []class{environment, configuration, unknown, suspect} {
		m.backoffs.WithLabelValues(c.String()).Set(n[c.String()])
	}
}
