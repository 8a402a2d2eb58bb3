package search

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/query"
)

// The plans, a closed set.
const (
	planNone       = "none"
	planOrdered    = "ordered"    // the planner's choice over the window
	planCandidates = "candidates" // all hits of the words, sorted
	planKeys       = "keys"       // the index of identifiers, day by day where there are many
	planDense      = "dense"      // words with many hits: page index, then day by day
	planWalk       = "walk"       // the page index, a bounded number of rows
)

type metrics struct {
	seconds *prometheus.HistogramVec // kind, plan
	failed  *prometheus.CounterVec   // kind, reason
	rows    *prometheus.CounterVec   // plan
	partial prometheus.Counter
	primary *prometheus.CounterVec // cause
	// Of a standby that answers searches.
	standbyUp, standbyLag prometheus.Gauge
	waiting               prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer, l limits) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "oriel_search_seconds", Help: "Time of an answered search by kind and plan.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"kind", "plan"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_search_failures_total", Help: "Searches not answered, by kind and reason.",
		}, []string{"kind", "reason"}),
		rows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_search_rows_walked_total", Help: "Rows that searches examined, by plan.",
		}, []string{"plan"}),
		partial: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "oriel_search_partial_pages_total", Help: "Pages that ended by their budget and say how far they looked.",
		}),
		primary: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_search_primary_answers_total", Help: "Searches that the primary answered instead of the standby, by cause.",
		}, []string{"cause"}),
		standbyUp: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "oriel_search_standby_up", Help: "1 where the standby that searches read from answers, 0 where not or where there is none.",
		}),
		standbyLag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "oriel_search_standby_lag_bytes", Help: "How much of the primary's log the standby has yet to replay.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "oriel_search_waiting", Help: "Searches waiting for a slot or a connection.",
		}),
	}
	bounds := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "oriel_search_limit", Help: "The limits of a search.",
	}, []string{"limit"})
	for name, value := range l.series() {
		bounds.WithLabelValues(name).Set(value)
	}
	for _, cause := range []string{causeBehind, causeConflict, causeUnreachable} {
		m.primary.WithLabelValues(cause)
	}
	reg.MustRegister(m.primary, m.standbyUp, m.standbyLag, bounds, m.seconds, m.failed, m.rows, m.partial, m.waiting)
	return m
}

// series are all that bounds a search, by the names of their series.
func (l *limits) series() map[string]float64 {
	return map[string]float64{
		"slots": float64(l.slots), "wait_seconds": l.wait.Seconds(), "statement_seconds": l.statement.Seconds(),
		"probe_seconds": l.probing.Seconds(), "probe_hits": float64(l.probe), "probe_day_hits": float64(l.dayProbe),
		"walk_seconds": l.budget.Seconds(), "walk_rows": float64(l.walk), "glance_rows": float64(l.glance), "peek_rows": float64(l.peek),
		"chunk_first_rows": float64(l.firstChunk), "chunk_last_rows": float64(l.lastChunk),
		"snapshot_seconds": l.age.Seconds(), "snapshot_newer_rows": float64(l.newer),
		"others_seconds": l.others.Seconds(), "others": MaxOthers,
		"exports": exportsAtOnce, "export_page": exportPage, "export_chunk_bytes": exportChunk, "export_columns": maxColumns,
		"export_patience_seconds": exportPatience.Seconds(), "export_snapshot_seconds": exportAge.Seconds(),
		"page_size": MaxPageSize, "page_size_default": DefaultPageSize, "parameter_values": query.MaxValues, "filter_values": query.MaxFilter,
		"query_bytes": query.MaxQuery, "query_conditions": query.MaxConditions, "preview_bytes": previewBytes,
		"set": float64(l.set), "set_bytes": float64(l.setBytes),
		"set_rounds": float64(l.rounds), "set_pause_seconds": l.pause.Seconds(), "prefix_words": float64(l.expansions), "path_types": float64(l.types), "neighbours": MaxNeighbours,
		"count_rows": float64(l.countRows), "count_seconds": l.counting.Seconds(),
		"standby_wait_seconds": l.catchUp.Seconds(),
	}
}

func (m *metrics) answered(kind, plan string, took time.Duration, rows int) {
	m.seconds.WithLabelValues(kind, plan).Observe(took.Seconds())
	m.rows.WithLabelValues(plan).Add(float64(rows))
}
