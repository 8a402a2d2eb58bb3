package search

import (
	"fmt"
	"testing"
	"time"

	"oriel/server/query"
)

// Counts of a facet are read from rollups only where all of its events are in them, whatever the configuration was
// when they were stored; otherwise they are made of the events, and are the same.
func TestFacetsOfEveryConfigurationAreCounted(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.svc.schema = query.Schema{Facets: []string{"area", "line", "order", "device", "room"}}
	st.exec(`INSERT INTO facet_version (version, config, fields, counted) VALUES
		(2, 'a', '{area,line,order}', '{area}'), (3, 'b', '{area,line,order}', '{area,line}')`)
	var samples []sample
	for i := range 120 {
		s := sample{at: noon().Add(-time.Duration(i) * 10 * time.Minute), kind: fmt.Sprintf("t.%d", i%2), source: "/s"}
		s.facets = []string{fmt.Sprintf("area=%d", i%5), fmt.Sprintf("line=%d", i%4), fmt.Sprintf("order=o-%d", i)}
		if i%3 == 0 { // of the built-in configuration
			s.facets = []string{fmt.Sprintf("device=d%d", i), fmt.Sprintf("room=%d", i%4)}
		}
		s.data = fmt.Appendf(nil, `{"facets":%s}`, jsonOf(facetValues(s.facets)))
		samples = append(samples, s)
	}
	st.add(samples...)
	st.exec(`UPDATE event SET facets_version = CASE WHEN facets[1] NOT LIKE 'area=%' THEN 1 WHEN type = 't.0' THEN 2 ELSE 3 END`)
	st.rollUp()
	st.svc.limits.set = 40 // fewer than there are: what is exact is so by the rollups or by the database
	for _, c := range []struct {
		field, value string
		rolled       bool
	}{{"area", "1", true}, {"room", "1", true}, {"line", "1", false}, {"order", "o-1", false}, {"device", "d3", false}} {
		n, err := st.svc.Count(t.Context(), pairs("from=-3d&"+c.field+"="+c.value))
		if err != nil {
			t.Fatal(err)
		}
		have := st.number("SELECT count(*) FROM event WHERE facets @> '{" + c.field + "=" + c.value + "}'")
		if n.Value != have || n.Relation != IsExact || have == 0 {
			t.Errorf("%s=%s: %d %s, want %d", c.field, c.value, n.Value, n.Relation, have)
		}
		f := st.facet(t, "field", c.field, "from", "-3d", "limit", "100")
		if (f.Relation == IsExact) != c.rolled {
			t.Errorf("%s is counted %s", c.field, f.Relation)
		}
		missing := st.number("SELECT count(*) FROM event e WHERE NOT EXISTS (SELECT FROM unnest(e.facets) f WHERE f LIKE '" + c.field + "=%')")
		if c.rolled && f.Missing != missing {
			t.Errorf("%s: %d without, want %d", c.field, f.Missing, missing)
		}
		h := st.histogram("from", "-3d", "splitBy", c.field)
		if h.Total.Value != 120 || h.Total.Relation != IsExact {
			t.Errorf("the histogram by %s has %d %s", c.field, h.Total.Value, h.Total.Relation)
		}
		of := int64(0)
		for _, b := range h.Buckets {
			for i, v := range h.Split {
				if v == c.value {
					of += b.Split[i]
				}
			}
		}
		if (c.rolled || c.field == "line") && of != have {
			t.Errorf("the histogram has %d of %s=%s, want %d", of, c.field, c.value, have)
		}
	}
}
