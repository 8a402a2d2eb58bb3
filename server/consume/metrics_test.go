package consume

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus"
)

// labels are the values that a label has in a family, each with its number.
func labels(t *testing.T, reg *prometheus.Registry, family, label string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() != family {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, p := range m.GetLabel() {
				if p.GetName() == label {
					got[p.GetValue()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
				}
			}
		}
	}
	return got
}

func TestEveryLimitOfTheConsumerIsASeries(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	newMetrics(reg, Config{Consumer: "store", BatchRecords: 7, BatchAge: 3 * time.Second}.withDefaults())
	got := labels(t, reg, "oriel_consumer_limit", "limit")
	for limit, want := range map[string]float64{
		"batch_records": 7, "batch_bytes": 4 << 20, "batch_age_seconds": 3, "queue_records": 14,
		"isolation_records": isolateChunk, "panics": panicPatience, "decode_depth": cloudevents.MaxDepth,
		"statement_seconds": 15, "lock_seconds": 2, "backoff_seconds": 30, "retention_seconds": 91 * 24 * 3600,
		"ahead_seconds": 24 * 3600, "behind_seconds": 90 * 24 * 3600, "stall_seconds": 60,
	} {
		if got[limit] != want {
			t.Errorf("%s is told as %v, want %v", limit, got[limit], want)
		}
	}
}

func TestDeadLettersAreCountedByEveryReasonOfAClosedSet(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	m := newMetrics(reg, Config{Consumer: "store"}.withDefaults())
	const family = "oriel_consumer_dead_letters_total"
	reasons := deadReasons()
	if got := labels(t, reg, family, "reason"); len(got) != reasonCount || got[fault.ReasonRejected] != 0 {
		t.Errorf("before any letter: %v", got)
	}
	// What decoding and validation can say is of the set.
	source, err := os.ReadFile("../cloudevents/violation.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\treason\w+ += "([A-Z0-9_]+)"$`).FindAllStringSubmatch(string(source), -1)
	if len(found) < 10 {
		t.Fatalf("%d reasons were found", len(found))
	}
	for _, f := range found {
		if !slices.Contains(reasons[:], f[1]) {
			t.Errorf("%s is not among the reasons of dead letters", f[1])
		}
	}
	var a attempt
	for _, reason := range []string{fault.ReasonUndecodable, fault.ReasonPanic, fault.ReasonPanic, "NEVER_HEARD_OF"} {
		a.bury(&row{}, reason, "", "")
	}
	m.count(a.tally)
	got := labels(t, reg, family, "reason")
	if len(got) != reasonCount || got[fault.ReasonUndecodable] != 1 || got[fault.ReasonPanic] != 2 || got[reasonOther] != 1 || got[fault.ReasonRejected] != 0 {
		t.Errorf("after four letters: %v", got)
	}
}
