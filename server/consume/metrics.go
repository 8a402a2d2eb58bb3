package consume

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// The outcomes a record can have, as labels.
const (
	labelStored    = "stored"
	labelDuplicate = "duplicate"
	labelDead      = "dead"
	labelExpired   = "expired"
)

// metrics are the consumer's numbers. Label sets are closed, but for the partition's number, which
// the topic bounds.
type metrics struct {
	records      *prometheus.CounterVec
	letters      *prometheus.CounterVec
	batchSeconds prometheus.Histogram
	batchRecords prometheus.Histogram
	unknown      *prometheus.CounterVec
	retries      *prometheus.CounterVec
	fenced       prometheus.Counter
	unconfirmed  prometheus.Counter
	isolated     prometheus.Counter
	rebuilds     prometheus.Counter
	offsetErrors *prometheus.CounterVec
	termsSkipped prometheus.Counter
	trips        prometheus.Counter
	lookups      prometheus.Counter
	restaged     prometheus.Counter
	lag          *prometheus.GaugeVec
	state        *prometheus.GaugeVec
}

func newMetrics(reg prometheus.Registerer, cfg Config) *metrics {
	const ns = "oriel_consumer_"
	constant := prometheus.Labels{"consumer": cfg.Consumer}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: ns + name, Help: help, ConstLabels: constant})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: ns + name, Help: help, ConstLabels: constant}, labels)
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: ns + name, Help: help, ConstLabels: constant}, labels)
	}
	m := &metrics{
		records: counters("records_total", "Records by what became of them.", "outcome"),
		letters: counters("dead_letters_total", "Dead letters by reason.", "reason"),
		batchSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: ns + "batch_seconds", Help: "Time from BEGIN to the answer of COMMIT.", ConstLabels: constant,
			Buckets: []float64{.002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 15},
		}),
		batchRecords: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: ns + "batch_records", Help: "Records in a batch.", ConstLabels: constant,
			Buckets: []float64{1, 5, 20, 50, 100, 200, 500, 1000},
		}),
		unknown:      counters("commit_unknown_total", "COMMITs whose answer was lost, by what the checkpoint said.", "resolution"),
		retries:      counters("retries_total", "Batches tried again, by the class of the error.", "class"),
		fenced:       counter("fenced_total", "Batches refused because the checkpoint had moved or changed hands."),
		unconfirmed:  counter("unconfirmed_total", "Times that the group did not confirm a membership, so that a partition was not taken over again."),
		isolated:     counter("isolated_records_total", "Records stored one by one because their batch was rejected."),
		rebuilds:     counter("client_rebuilds_total", "Kafka clients replaced by new ones."),
		offsetErrors: counters("offset_commit_errors_total", "Kafka offset commits that failed, by what became of the offsets; progress does not depend on them.", "fate"),
		termsSkipped: counter("vocabulary_skipped_total", "Words and paths that PostgreSQL refused; they are missing from completion only."),
		trips:        counter("breaker_trips_total", "Partitions stopped because too many of their records became dead letters."),
		lookups:      counter("redelivery_lookups_total", "Batches whose identities were looked up before anything else, as most of them had been stored."),
		restaged:     counter("restaged_total", "Batches that could not be inserted at once, as an identity was taken, and went through the staging table."),
		lag:          gauges("lag_records", "Records of a partition that are not accounted for yet.", "partition"),
		state:        gauges("partition_state", "0 running, 1 retrying, 2 gap, 3 fatal, 4 tripped.", "partition"),
	}
	limits := gauges("limit", "The limits of the consumer.", "limit")
	for name, value := range cfg.limits() {
		limits.WithLabelValues(name).Set(value)
	}
	reg.MustRegister(limits, m.records, m.letters, m.batchSeconds, m.batchRecords, m.unknown, m.retries, m.fenced, m.unconfirmed, m.isolated,
		m.rebuilds, m.offsetErrors, m.termsSkipped, m.trips, m.lookups, m.restaged, m.lag, m.state)
	for _, l := range []string{labelStored, labelDuplicate, labelDead, labelExpired} {
		m.records.WithLabelValues(l)
	}
	for _, r := range deadReasons() {
		m.letters.WithLabelValues(r)
	}
	for _, r := range []resolution{committed, notCommitted, lostOwnership} {
		m.unknown.WithLabelValues(r.String())
	}
	for _, f := range []offsetFate{offsetsAgain, offsetsMaybe, offsetsOther, offsetsRefused} {
		m.offsetErrors.WithLabelValues(f.String())
	}
	for _, c := range []class{environment, recordCaused, skew, unknownOutcome} {
		m.retries.WithLabelValues(c.String())
	}
	return m
}

// count adds what a commit did.
func (m *metrics) count(t tally) {
	m.records.WithLabelValues(labelStored).Add(float64(t.stored))
	m.records.WithLabelValues(labelDuplicate).Add(float64(t.duplicate))
	m.records.WithLabelValues(labelDead).Add(float64(t.dead))
	m.records.WithLabelValues(labelExpired).Add(float64(t.expired))
	if t.dead == 0 {
		return
	}
	for i, reason := range deadReasons() {
		m.letters.WithLabelValues(reason).Add(float64(t.letters[i]))
	}
}

func (m *metrics) setState(partition int32, state float64) {
	m.state.WithLabelValues(strconv.Itoa(int(partition))).Set(state)
}

func (m *metrics) setLag(partition int32, n int64) {
	m.lag.WithLabelValues(strconv.Itoa(int(partition))).Set(float64(n))
}

func (m *metrics) forget(partition int32) {
	p := strconv.Itoa(int(partition))
	m.lag.DeleteLabelValues(p)
	m.state.DeleteLabelValues(p)
}
