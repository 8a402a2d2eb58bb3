package ingest

import (
	"oriel/server/cloudevents"
	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics watch the promises: what was published, what was refused and why, what is unknown, and how
// full the queue is beside its limits.
type metrics struct {
	published      prometheus.Counter
	unknown        prometheus.Counter
	refused        map[string]prometheus.Counter // by reason; the set is closed
	other          prometheus.Counter
	lateAck        prometheus.Counter
	lateFailure    prometheus.Counter
	sequenceResets prometheus.Counter
	latency        prometheus.Histogram
}

// reasons that ingest itself can give.
func reasons() []string {
	return []string{
		fault.ReasonMissingAttribute, fault.ReasonInvalidAttribute, fault.ReasonAttributeTooLong,
		fault.ReasonAttributesTooLarge, fault.ReasonUnsupportedSpecVersion, fault.ReasonUnsupportedContentMode,
		fault.ReasonUnsupportedEncoding, fault.ReasonMalformedJSON, fault.ReasonInvalidUTF8,
		fault.ReasonDepthExceeded, fault.ReasonDataConflict, fault.ReasonBodyTooLarge, fault.ReasonBatchTooLarge,
		fault.ReasonTimeOutOfWindow, fault.ReasonSourceNotAllowed, fault.ReasonQueueFull,
		fault.ReasonBrokerUnavailable, fault.ReasonBrokerRefused, fault.ReasonShuttingDown,
	}
}

func newMetrics(reg prometheus.Registerer, cfg Config, q *queue) (*metrics, error) {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oriel_ingest_refused_total",
		Help: "Events and requests refused by ingest, of which nothing was published, by reason.",
	}, []string{"reason"})
	late := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oriel_ingest_late_total",
		Help: "Events answered as unknown whose outcome the broker told afterwards.",
	}, []string{"outcome"})
	limits := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "oriel_ingest_limit",
		Help: "The limits of ingest.",
	}, []string{"limit"})
	m := &metrics{
		published: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "oriel_ingest_published_total",
			Help: "Events acknowledged by the broker with acks=all and answered so.",
		}),
		unknown: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "oriel_ingest_unknown_total",
			Help: "Events answered as unknown: sent, and not acknowledged in time.",
		}),
		sequenceResets: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "oriel_ingest_sequence_resets_total",
			Help: "Times that the broker lost the producer's sequence.",
		}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "oriel_ingest_publish_seconds",
			Help:    "Time from handing a request's events to the producer to its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		refused:     make(map[string]prometheus.Counter, len(reasons())),
		other:       refused.WithLabelValues("OTHER"),
		lateAck:     late.WithLabelValues("published"),
		lateFailure: late.WithLabelValues("failed"),
	}
	for _, r := range reasons() {
		m.refused[r] = refused.WithLabelValues(r)
	}
	for name, value := range map[string]float64{
		"queue_events": float64(cfg.MaxBufferedRecords), "queue_bytes": float64(cfg.MaxBufferedBytes),
		"body_bytes": cloudevents.MaxBody, "batch_events": cloudevents.MaxBatch, "json_depth": cloudevents.MaxDepth,
		"attribute_bytes": cloudevents.MaxAttribute, "identity_bytes": cloudevents.MaxIdentity,
		"extension_bytes": cloudevents.MaxExtension, "attributes_bytes": cloudevents.MaxAttributes,
		"deadline_seconds": cfg.Deadline.Seconds(),
		"ahead_seconds":    ahead.Seconds(), "behind_seconds": min(behind, cfg.Retention-day).Seconds(),
	} {
		limits.WithLabelValues(name).Set(value)
	}
	queueGauge := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	}
	for _, c := range []prometheus.Collector{
		m.published, m.unknown, m.sequenceResets, m.latency, refused, late, limits,
		queueGauge("oriel_ingest_queue_events", "Events that wait for the broker.", func() float64 {
			n, _ := q.depth()
			return float64(n)
		}),
		queueGauge("oriel_ingest_queue_bytes", "Bytes of the events that wait for the broker.", func() float64 {
			_, n := q.depth()
			return float64(n)
		}),
	} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) refuse(reason string) {
	c, ok := m.refused[reason]
	if !ok {
		c = m.other
	}
	c.Inc()
}

func (m *metrics) late(err error) {
	if err != nil {
		m.lateFailure.Inc()
		return
	}
	m.lateAck.Inc()
}
