package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/fault"
	"oriel/server/query"
)

// facet asks for one field.
func (st *store) facet(t testing.TB, params ...string) *FacetCounts {
	t.Helper()
	f, err := st.svc.Facets(t.Context(), values(params...))
	if err != nil {
		t.Fatalf("facets %v: %v", params, err)
	}
	if len(f.Facets) != 1 || f.Snapshot == "" {
		t.Fatalf("facets %v: %d fields", params, len(f.Facets))
	}
	return &f.Facets[0]
}

func facetLine(f *FacetCounts) string {
	var out []string
	for _, v := range f.Values {
		s := fmt.Sprintf("%s=%d", v.Value, v.Count)
		if v.Selected {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestFacetsAreCutAndSaySo(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	var samples []sample
	for i := range 20 {
		for range 20 - i {
			samples = append(samples, sample{kind: fmt.Sprintf("Type.%02d", i), subject: fmt.Sprintf("sübject %d", i%5), severity: int16(1 + i%8)})
		}
	}
	st.add(samples...)
	st.rollUp()
	for name, c := range map[string]struct {
		params []string
		want   string
		more   bool
	}{
		"the most frequent":            {[]string{"field", "type", "limit", "2"}, "Type.00=20 Type.01=19", true},
		"what is selected stays":       {[]string{"field", "type", "limit", "1", "type", "Type.05", "type", "none"}, "Type.00=20 Type.05=15! none=0!", true},
		"a part of the values":         {[]string{"field", "type", "limit", "2", "contains", "tYPE.1"}, "Type.10=10 Type.11=9", true},
		"a part, and what is selected": {[]string{"field", "type", "contains", "19", "type", "Type.02"}, "Type.02=18! Type.19=1", false},
		"a part of few":                {[]string{"field", "type", "contains", ".19"}, "Type.19=1", false},
		"a part that none has":         {[]string{"field", "type", "contains", "x"}, "", false},
		"accents do not count":         {[]string{"field", "subject", "contains", "SUB", "limit", "1"}, "sübject 0=50", true},
		"severities by name":           {[]string{"field", "severity", "limit", "1", "severity", "critical"}, "trace=36 critical=20! emergency=18!", true},
	} {
		f := st.facet(t, c.params...)
		if got := facetLine(f); got != c.want || f.More != c.more || f.Relation != IsExact {
			t.Errorf("%s: %s, more %v, %s; want %s, %v", name, got, f.More, f.Relation, c.want, c.more)
		}
	}
}

func TestFacetsOverTheBoundAreASample(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.mixed(rand.New(rand.NewPCG(5, 5)), 400, 2)
	st.svc.limits.set = 100
	f := st.facet(t, "field", "subject", "from", "-3d", "limit", "100")
	sum := f.Missing
	for _, v := range f.Values {
		sum += v.Count
	}
	if f.Relation != IsSampled || f.Sample != 100 || sum != 100 {
		t.Errorf("%s of %d, %d counted", f.Relation, f.Sample, sum)
	}
	if at := st.number(`SELECT count(*) FROM event WHERE occurred_at > '` + f.Covered.From.Format(time.RFC3339Nano) + `'`); at > 100 || !f.Covered.From.After(noon().AddDate(0, 0, -2)) {
		t.Errorf("the sample says it covers from %s on, where %d are", f.Covered.From, at)
	}
	if f = st.facet(t, "field", "type", "from", "-3d"); f.Relation != IsExact {
		t.Errorf("a dimension is %s", f.Relation)
	}
	if f = st.facet(t, "field", "type", "from", "-3d", "room", "1", "person", "p=1"); f.Relation != IsExact {
		t.Errorf("few events are %s", f.Relation)
	}
}

func TestAHistogramThatIsNotWholeSaysWhatItCovers(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.mixed(rand.New(rand.NewPCG(6, 6)), 2000, 4)
	st.svc.limits.set = 300
	// What SQL cannot judge alone: the newest 300 of 2,000 or so.
	h := st.histogram("from", "-5d", "until", "now", "interval", "6h", "q", `~"word"`)
	if h.Total.Relation != IsExact || h.Total.Value != 0 {
		t.Errorf("keys are no values: %d %s", h.Total.Value, h.Total.Relation)
	}
	h = st.histogram("from", "-5d", "until", "now", "interval", "6h", "q", `data.word~"w"`)
	if h.Total.Relation != IsAtLeast || h.Total.Value == 0 || h.Total.Value > 300 || len(h.Buckets) > 4 || h.Total.Value != st.stamped(h.Total.Covered) {
		t.Errorf("%d, %s in %d buckets from %s, covered from %s", h.Total.Value, h.Total.Relation, len(h.Buckets), h.Buckets[0].From, h.Total.Covered.From)
	}
	for _, b := range h.Buckets {
		if b.From.Before(h.Total.Covered.From) {
			b.From = h.Total.Covered.From
		}
		want := st.number(fmt.Sprintf(`SELECT count(*) FROM event WHERE occurred_at >= '%s' AND occurred_at < '%s'`, b.From.Format(time.RFC3339Nano), b.Until.Format(time.RFC3339Nano)))
		if b.Count != want {
			t.Errorf("the bucket of %s has %d of %d", b.From, b.Count, want)
		}
	}
	// Less than a bucket: shorter ones, unless the interval was asked for.
	st.svc.limits.set, st.svc.sets = 50, newSets(1<<20)
	h = st.histogram("from", "-5d", "until", "now", "buckets", "4", "q", `data.word~"w"`)
	if h.Interval == "7d" || h.Interval == "1d" || len(h.Buckets) < 2 || h.Total.Relation != IsAtLeast || h.Total.Value < 45 {
		t.Errorf("%d buckets of %s with %d, %s", len(h.Buckets), h.Interval, h.Total.Value, h.Total.Relation)
	}
	h = st.histogram("from", "-5d", "until", "now", "interval", "7d", "q", `data.word~"w"`)
	if h.Interval != "7d" || len(h.Buckets) != 1 || h.Total.Relation != IsAtLeast || h.Total.Value < 45 {
		t.Errorf("%d buckets of %s with %d, %s", len(h.Buckets), h.Interval, h.Total.Value, h.Total.Relation)
	}
	// A count by the database that has no time is none.
	st.svc.limits.counting = time.Nanosecond
	if h = st.histogram("from", "-5d", "until", "now", "person!", "p=1"); h.Total.Relation != IsAtLeast || h.Total.Value < 45 || h.Total.Value > 50 {
		t.Errorf("%d, %s", h.Total.Value, h.Total.Relation)
	}
}

func TestAHistogramWithoutAnEndShowsWhatIsStampedLater(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{at: noon().Add(-30 * time.Minute)}, sample{at: noon().Add(3 * time.Hour)})
	st.rollUp()
	for _, filter := range []string{"", "data.none!=x"} {
		h := st.histogram("from", "-1h", "interval", "1h", "q", filter)
		if got := bucketsOf(h, "15:04"); got != "11:00=1 12:00=0 13:00=0 14:00=0 15:00=1" || !h.Total.Covered.Until.IsZero() {
			t.Errorf("%s, until %s", got, h.Total.Covered.Until)
		}
	}
	snapshot := st.histogram("from", "-1h", "interval", "1h").Snapshot
	st.add(sample{at: noon().Add(5 * time.Hour), commit: 2}, sample{at: noon().Add(-10 * time.Minute), commit: 2})
	for _, filter := range []string{"", "data.none!=x"} {
		if got := bucketsOf(st.histogram("snapshot", snapshot, "interval", "1h", "q", filter), "15:04"); got != "11:00=1 12:00=0 13:00=0 14:00=0 15:00=1" && filter != "" {
			t.Errorf("what came later shows: %s", got)
		}
	}
	// Longer than anything is kept: it begins where there can be events.
	if h := st.histogram("from", "1971-01-01T00:00:00Z"); len(h.Buckets) > 60 || h.Total.Value == 0 {
		t.Errorf("%d buckets of %s with %d", len(h.Buckets), h.Interval, h.Total.Value)
	}
}

func TestMistakesOfAggregatesAreToldTogether(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for name, c := range map[string]struct {
		ask  func(params ...string) error
		want string
	}{
		"facets": {func(...string) error {
			_, err := st.svc.Facets(t.Context(), values("field", "id", "field", "nosuch", "limit", "0", "contains", "x", "other", "1", "from", "x"))
			return err
		}, "field field from limit other"},
		"a part of two fields": {func(...string) error {
			_, err := st.svc.Facets(t.Context(), values("field", "type", "field", "source", "contains", "x"))
			return err
		}, "contains"},
		"histogram": {func(...string) error {
			_, err := st.svc.Histogram(t.Context(), values("zone", "Mars/Base", "interval", "2h", "buckets", "121", "splitBy", "data.x", "q", "a:("))
			return err
		}, "buckets interval q splitBy zone"},
		"too many buckets": {func(...string) error {
			_, err := st.svc.Histogram(t.Context(), values("interval", "1s", "from", "-1h"))
			return err
		}, "interval"},
		"the server's zone": {func(...string) error {
			_, err := st.svc.Histogram(t.Context(), values("zone", "Local"))
			return err
		}, "zone"},
		"fields": {func(...string) error {
			_, err := st.svc.Fields(t.Context(), values("field", "data..x", "limit", "1001"))
			return err
		}, "field limit"},
	} {
		err := c.ask()
		var blamed []string
		if err != nil {
			for _, v := range fault.Of(err).Violations {
				blamed = append(blamed, v.Metadata["attribute"])
			}
		}
		slices.Sort(blamed)
		if got := strings.Join(slices.Compact(blamed), " "); got != strings.Join(slices.Compact(strings.Fields(c.want)), " ") {
			t.Errorf("%s: blamed %s, want %s (%v)", name, got, c.want, err)
		}
	}
}

func TestFiltersThatRollupsAnswer(t *testing.T) {
	t.Parallel()
	schema := query.Schema{Facets: []string{"device", "room", "person", "tag"}}
	for params, want := range map[string]string{
		"": "any", "type=a": "type a", "type=a&type=b": "type a,b", "type!=a": "type without a", "source=x&severity=error": "source x errors",
		"severity=warning": "severity 5,6,7,8", "severity!=error": "severity 0,1,2,3,4,5", "q=severity:info": "severity 3", "q=-severity:*": "severity 0",
		"room=1": "room 1", "room=1&room=2": "room 1,2", "tag=a": "tag a", "severity=error": "severity 6,7,8",
		"room!=1": "", "device=d": "device d", "subject=s": "", "type=a&source=b": "", "tag=a&tag=b": "", "type=a&severity=warning": "", "q=word": "", "type=a&type!=b": "",
		"q=type:a OR source:b": "", "q=type:a*": "", "data.x=1": "", "q=type:*": "",
	} {
		f, violations := query.Decode(schema, pairs(params), nil, "")
		if len(violations) > 0 {
			t.Fatalf("%s: %v", params, violations)
		}
		r, ok := rolledBy(f.Where)
		got := ""
		switch {
		case !ok:
		case r.dimension == "":
			got = "any"
		case r.without:
			got = r.dimension + " without " + strings.Join(r.values, ",")
		default:
			got = r.dimension + " " + strings.Join(r.values, ",")
		}
		if r.errors {
			got += " errors"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", params, got, want)
		}
	}
}

func TestFacetsThatTakeTooLongAreASample(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.mixed(rand.New(rand.NewPCG(7, 7)), 100, 1)
	// The rollups cannot be read while somebody has them for himself.
	tx, err := st.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // nothing was written
	if _, err := tx.Exec(t.Context(), "LOCK TABLE rollup_day"); err != nil {
		t.Fatal(err)
	}
	st.svc.limits.counting, st.svc.limits.set = 50*time.Millisecond, 40
	f := st.facet(t, "field", "type", "from", "-3d")
	if f.Relation != IsSampled || f.Sample != 40 {
		t.Errorf("%s of %d", f.Relation, f.Sample)
	}
}

func TestFacetsOfAWindowBeforeAllEventsHaveNothing(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.hourly("2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z")
	for _, window := range [][]string{
		{"from", "2020-01-01T00:00:00Z", "until", "2020-01-02T00:00:00Z"},
		{"from", "2026-11-29T05:00:00.000001Z", "until", "2026-11-29T05:00:00.000002Z"},
	} {
		for _, field := range []string{"type", "severity", "tag", "subject"} {
			if f := st.facet(t, append([]string{"field", field}, window...)...); len(f.Values) != 0 || f.Missing != 0 || f.Relation != IsExact {
				t.Errorf("%s in %v: %s, %d without, %s", field, window, facetLine(f), f.Missing, f.Relation)
			}
		}
	}
}
