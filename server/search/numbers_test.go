package search

import (
	"fmt"
	"testing"
	"time"
)

// stamped is what of the store lies in a range that an answer covers.
func (st *store) stamped(c Covered) int64 {
	return st.number(fmt.Sprintf(`SELECT count(*) FROM event WHERE occurred_at >= '%s'`, c.From.Format(time.RFC3339Nano)))
}

// Wherever a set ends, within an instant or between two, by its size or by its budget: the count is of all that its
// range has, and the histogram and the facets are of the same events.
func TestNumbersOfASetThatEndedEarlyAgree(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	samples := make([]sample, 60)
	for i := range samples { // seven of an instant
		samples[i].data, samples[i].at = []byte(`{"n":1}`), noon().Add(-time.Duration(1+i/7)*17*time.Minute)
	}
	st.add(samples...)
	st.svc.limits.firstChunk, st.svc.limits.lastChunk = 5, 5
	for size := 1; size < len(samples); size++ {
		for _, c := range []struct{ set, walk int }{{size, 1000}, {1000, size}} {
			st.svc.limits.set, st.svc.limits.walk, st.svc.sets = c.set, c.walk, newSets(1<<20)
			params := []string{"q", "data.n:*"}
			count, err := st.svc.Count(t.Context(), values(params...))
			if err != nil {
				t.Fatal(err)
			}
			params = append(params, "snapshot", count.Snapshot)
			if in := st.stamped(count.Covered); count.Relation != IsAtLeast || count.Value != in || in < int64(size-7) {
				t.Errorf("%+v: %s %d, and from %s on there are %d", c, count.Relation, count.Value, count.Covered.From, in)
			}
			for _, interval := range []string{"", "15m", "1h", "1d"} {
				h := st.histogram(append([]string{"interval", interval}, params...)...)
				if h.Total.Value != count.Value || h.Total.Relation != IsAtLeast || !h.Total.Covered.From.Equal(count.Covered.From) {
					t.Errorf("%+v by %q: %s %d from %s on, the count is %d from %s on", c, interval, h.Total.Relation, h.Total.Value, h.Total.Covered.From, count.Value, count.Covered.From)
				}
				if len(h.Buckets) > 0 && (h.Buckets[0].From.After(count.Covered.From) || !h.Buckets[0].Until.After(count.Covered.From)) {
					t.Errorf("%+v by %q: the first bucket is from %s until %s, covered is from %s on", c, interval, h.Buckets[0].From, h.Buckets[0].Until, count.Covered.From)
				}
			}
			f := st.facet(t, append([]string{"field", "type"}, params...)...)
			if count.Value > 0 && (f.Sample != count.Value || !f.Covered.From.Equal(count.Covered.From)) {
				t.Errorf("%+v: facets of %d from %s on, the count is %d from %s on", c, f.Sample, f.Covered.From, count.Value, count.Covered.From)
			}
			// Of an instant that has more than the set the facets have a sample, which says of what.
			if count.Value == 0 && (f.Sample == 0 || f.Sample > st.stamped(f.Covered)) {
				t.Errorf("%+v: facets of %d from %s on, where %d are", c, f.Sample, f.Covered.From, st.stamped(f.Covered))
			}
		}
	}
}

// What a budget ended goes on with the next request, until it is whole, as often as it may and no sooner than it may.
// Of the instant in which it ended there may be more.
func TestASetThatItsBudgetEndedGoesOn(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(spread(40, time.Minute)...)
	st.svc.limits.walk, st.svc.limits.firstChunk, st.svc.limits.lastChunk, st.svc.limits.pause = 10, 5, 5, 0
	count := func() string {
		t.Helper()
		c, err := st.svc.Count(t.Context(), values("q", "data.n:*"))
		if err != nil {
			t.Fatal(err)
		}
		if c.Value != st.stamped(c.Covered) {
			t.Errorf("%s %d, and from %s on there are %d", c.Relation, c.Value, c.Covered.From, st.stamped(c.Covered))
		}
		return fmt.Sprint(c.Value)
	}
	for i, want := range []string{"9", "19", "29", "39", "40"} {
		if got := count(); got != want {
			t.Errorf("request %d counts %s, want %s", i+1, got, want)
		}
	}
	if all := st.svc.sets; all.recent.Len() != 1 || all.bytes != all.recent.Front().Value.(*kept).bytes {
		t.Errorf("%d sets of %d bytes are kept", all.recent.Len(), all.bytes)
	}
	st.svc.limits.rounds, st.svc.sets = 3, newSets(1<<20)
	for i, want := range []string{"9", "19", "29", "29", "29"} {
		if got := count(); got != want {
			t.Errorf("of three budgets: request %d counts %s, want %s", i+1, got, want)
		}
	}
	st.svc.limits.pause, st.svc.sets = time.Hour, newSets(1<<20)
	for i, want := range []string{"9", "9", "9"} {
		if got := count(); got != want {
			t.Errorf("at once: request %d counts %s, want %s", i+1, got, want)
		}
	}
}
