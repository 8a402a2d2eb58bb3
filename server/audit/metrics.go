package audit

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	entries  *prometheus.CounterVec
	failures *prometheus.CounterVec
	exports  prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		entries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_audit_entries_total",
			Help: "Entries written, by action and outcome; begun is an intent. A done whose transaction then failed is counted too.",
		}, []string{"action", "outcome"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_audit_write_failures_total",
			Help: "Entries that could not be written, by phase. Without its intent an operation is refused; without its outcome it shows as unknown.",
		}, []string{"phase"}),
		exports: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "oriel_audit_exports", Help: "Exports being read.",
		}),
	}
	limits := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "oriel_audit_limit", Help: "What is set: exports at once, entries of a page, seconds of a statement of a list and of an export.",
	}, []string{"limit"})
	for limit, most := range map[string]float64{
		"exports": exportsAtOnce, "page": MaxPageSize, "list_seconds": listFor.Seconds(), "fetch_seconds": fetchFor.Seconds(),
	} {
		limits.WithLabelValues(limit).Set(most)
	}
	for _, action := range Actions() {
		for _, outcome := range []string{begun, Done, Refused, Failed} {
			m.entries.WithLabelValues(action, outcome)
		}
	}
	for _, phase := range []string{phaseIntent, phaseOutcome, phaseEvent} {
		m.failures.WithLabelValues(phase)
	}
	reg.MustRegister(m.entries, m.failures, m.exports, limits)
	return m
}

const begun = "begun" // the label of an intent

func (m *metrics) wrote(action, outcome string) { m.entries.WithLabelValues(action, outcome).Inc() }

func known(action string) bool { return slices.Contains(Actions(), action) }
