package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/cloudevents"
)

func ref(n int) string { return fmt.Sprint("ref-", 80_000_000_000+n) }

// spread is n events a minute apart, newest first, each with an identifier of its own and one that all share.
func spread(n int, apart time.Duration) []sample {
	out := make([]sample, n)
	for i := range out {
		out[i] = sample{
			id: fmt.Sprint(i), at: noon().Add(-time.Duration(i) * apart), partition: int32(i % 2), extensions: []string{"common", "string", "id-99999999999"},
			data: jsonOf(map[string]any{"ref": ref(i), "other": ref(i / 10), "n": i, "word": "tea"}),
		}
	}
	return out
}

// walked is the rows that searches examined by a plan.
func (st *store) walked(plan string) float64 {
	return testutil.ToFloat64(st.svc.metrics.rows.WithLabelValues(plan))
}

func TestIdentifiersAreFoundWithoutReadingOtherRows(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(spread(200, time.Hour)...)
	for name, c := range map[string]struct {
		want   string
		most   float64 // rows that are examined
		params []string
	}{
		"a word":                              {"150", 1, []string{"q", ref(150)}},
		"in its parts":                        {"150", 1, []string{"q", "80000000150"}},
		"an absent one":                       {"", 0, []string{"q", ref(9999)}},
		"a value at a path":                   {"150", 1, []string{"data.ref", ref(150)}},
		"the same value at another path":      {"50 51 52 53 54 55 56 57 58 59", 10, []string{"data.other", ref(5)}},
		"two that one event has":              {"50", 1, []string{"q", ref(50) + " " + ref(5)}},
		"two of different events":             {"", 0, []string{"q", ref(50) + " " + ref(7777)}},
		"one beside a word and a field":       {"150", 1, []string{"q", ref(150) + " tea", "type", "test.sample"}},
		"one that another condition excludes": {"", 1, []string{"q", ref(150), "type", "other"}},
		"alternatives":                        {"40 150", 2, []string{"q", ref(40) + " OR " + ref(150)}},
		"alternatives beside a condition":     {"150", 2, []string{"q", "(" + ref(40) + " OR " + ref(150) + ") data.n>100"}},
		"an extension":                        {"150", 1, []string{"ext.common", "id-99999999999", "q", ref(150)}},
		"an identity":                         {"7", 1, []string{"source", "/test", "q", "id:7"}},
		"within a range":                      {"", 0, []string{"q", ref(150), "from", "-2d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *st
			own.t = t
			svc := *st.svc
			svc.metrics = newMetrics(prometheus.NewRegistry(), svc.limits)
			own.svc = &svc
			params := c.params
			if !strings.Contains(strings.Join(params, " "), "from") {
				params = append(params, "from", "-30d")
			}
			own.expect(c.want, params...)
			if n := own.walked(planKeys); n > c.most {
				t.Errorf("%v rows were examined, at most %v are candidates", n, c.most)
			}
			if n := own.walked(planWalk) + own.walked(planOrdered) + own.walked(planDense); n != 0 {
				t.Errorf("%v rows were walked", n)
			}
			own.expect(c.want, append([]string{"pageSize", "1"}, params...)...)
		})
	}
}

// An alternative of words is found by its index, that of identifiers by theirs.
func TestAnAlternativeOfWordsAndIdentifiersIsTheUnion(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	samples := spread(100, time.Hour)
	samples[30].data = jsonOf("kettle")
	samples[90].data = jsonOf("kettle 3.14159")
	st.add(samples...)
	for q, want := range map[string]string{
		"kettle OR " + ref(55):                   "30 55 90",
		"3.14159":                                "90", // a number, or what text has of it
		"(kettle OR " + ref(55) + ") data.ref:*": "55",
		"type:test.sample (kettle OR 3.14159)":   "30 90",
	} {
		st.expect(want, "q", q, "from", "-30d")
	}
	if n := st.walked(planWalk); n != 0 {
		t.Errorf("%v rows were walked", n)
	}
}

// Identifiers that are everywhere are answered by walking, in order, and miss nothing either.
func TestAnIdentifierOfManyEventsPagesInOrder(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	samples := spread(300, time.Hour)
	st.add(samples...)
	st.svc.limits.dayProbe = 2 // 4 are read, and a day has 24
	var want []string
	for i := range samples {
		want = append(want, samples[i].id)
	}
	st.expect(strings.Join(want, " "), "ext.common", "id-99999999999", "from", "-30d", "pageSize", "50")
}

// Rows of builds that wrote no blocks are found by walking their days, and no others'.
func TestDaysWithRowsWithoutBlocksAreWalked(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	old := spread(50, time.Hour)
	for i := range old {
		old[i].at, old[i].id = old[i].at.Add(-5*oneDay), "old-"+old[i].id
	}
	st.bare = true
	st.add(old...)
	st.exec(`INSERT INTO block_gap (log, partition, through_commit) VALUES (1, 0, 1), (1, 1, 1)`)
	st.bare = false
	recent := spread(60, time.Hour)
	for i := range recent {
		recent[i].commit = 2
	}
	st.add(recent...)
	st.expect("40 old-40", "q", ref(40), "from", "-30d")
	if n := testutil.ToFloat64(st.svc.metrics.rows.WithLabelValues(planKeys)); n > 60 {
		t.Errorf("%v rows were examined", n)
	}
	st.exec(`DELETE FROM block_gap`)
	st.expect("40", "q", ref(40), "from", "-30d") // reindexing has removed the row, and here built nothing
}

func TestAnEventIsFoundByItsNameAlone(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	samples := spread(100, time.Hour)
	for i := range 3 {
		samples[20*i+10].id = "again"
	}
	st.add(samples...)
	d, err := st.svc.Get(context.Background(), cloudevents.EscapeName("/test", "again"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !d.OccurredAt.Equal(samples[10].at) || len(d.Others) != 2 || !d.Others[0].Equal(samples[30].at) || !d.Others[1].Equal(samples[50].at) || !d.OthersFrom.IsZero() {
		t.Errorf("got %s and %v from %v", d.OccurredAt, d.Others, d.OthersFrom)
	}
	if n := st.walked(planKeys); n > 3 {
		t.Errorf("%v rows were examined", n)
	}
}
