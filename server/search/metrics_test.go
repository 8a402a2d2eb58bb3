package search

import (
	"reflect"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/query"
)

func TestEveryLimitOfASearchIsASeries(t *testing.T) {
	t.Parallel()
	l := defaultLimits(9)
	reg := prometheus.NewRegistry()
	newMetrics(reg, l)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "oriel_search_limit" {
			for _, m := range f.GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	for limit, want := range map[string]float64{
		"slots": 8, "walk_rows": 20_000, "walk_seconds": .25, "statement_seconds": 8, "wait_seconds": 2,
		"query_conditions": query.MaxConditions, "query_bytes": query.MaxQuery, "parameter_values": query.MaxValues,
		"page_size": MaxPageSize, "snapshot_seconds": 3600, "snapshot_newer_rows": 20_000,
	} {
		if got[limit] != want {
			t.Errorf("%s is told as %v, want %v", limit, got[limit], want)
		}
	}
	// Each field of limits is a series, and the constants are others: a new field needs its own.
	const constants = 15
	if fields := reflect.TypeFor[limits]().NumField(); len(got) != fields+constants {
		t.Errorf("%d series of %d fields and %d constants", len(got), fields, constants)
	}
}
