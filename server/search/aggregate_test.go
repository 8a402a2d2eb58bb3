package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/query"
)

// hourly stores an event for every hour of a span, as one commit.
func (st *store) hourly(from, until string) (n int64) {
	st.t.Helper()
	var samples []sample
	for at := instant(st.t, from); at.Before(instant(st.t, until)); at = at.Add(time.Hour) {
		samples = append(samples, sample{at: at, severity: int16(1 + len(samples)%8), kind: fmt.Sprintf("t.%d", len(samples)%3)})
	}
	st.add(samples...)
	st.svc.now = func() time.Time { return instant(st.t, until) }
	return int64(len(samples))
}

func (st *store) histogram(params ...string) *Histogram {
	st.t.Helper()
	h, err := st.svc.Histogram(context.Background(), values(params...))
	if err != nil {
		st.t.Fatalf("histogram %v: %v", params, err)
	}
	sum := int64(0)
	for i, b := range h.Buckets {
		sum += b.Count
		split := b.Rest
		for _, n := range b.Split {
			split += n
		}
		if h.SplitBy != "" && h.SplitBy != "tag" && split != b.Count {
			st.t.Errorf("%v: bucket %s has %d, and split %v and %d", params, b.From, b.Count, b.Split, b.Rest)
		}
		if i > 0 && !h.Buckets[i-1].Until.Equal(b.From) {
			st.t.Errorf("%v: a gap before %s", params, b.From)
		}
	}
	if sum != h.Total.Value || len(h.Buckets) > 120 {
		st.t.Errorf("%v: %d buckets with %d, and in all %d", params, len(h.Buckets), sum, h.Total.Value)
	}
	return h
}

// bucketsOf is a histogram in a line: start with offset, and count.
func bucketsOf(h *Histogram, layout string) string {
	var out []string
	for _, b := range h.Buckets {
		out = append(out, fmt.Sprintf("%s=%d", b.From.Format(layout), b.Count))
	}
	return strings.Join(out, " ")
}

func TestHistogramsFollowTheWallClock(t *testing.T) {
	t.Parallel()
	const day, hour = "01-02T15:04Z07:00", "02T15:04Z07:00"
	for name, c := range map[string]struct {
		from, until, zone, interval, layout, want string
	}{
		"spring, days": {
			"2026-03-28T00:00:00+01:00", "2026-03-31T00:00:00+02:00", "Europe/Berlin", "1d", day,
			"03-28T00:00+01:00=24 03-29T00:00+01:00=23 03-30T00:00+02:00=24",
		},
		"autumn, days": {
			"2026-10-24T00:00:00+02:00", "2026-10-27T00:00:00+01:00", "Europe/Berlin", "1d", day,
			"10-24T00:00+02:00=24 10-25T00:00+02:00=25 10-26T00:00+01:00=24",
		},
		"autumn, hours": {
			"2026-10-25T01:00:00+02:00", "2026-10-25T04:00:00+01:00", "Europe/Berlin", "1h", hour,
			"25T01:00+02:00=1 25T02:00+02:00=1 25T02:00+01:00=1 25T03:00+01:00=1",
		},
		"half an hour, days": {
			"2026-04-04T00:00:00+11:00", "2026-04-07T00:00:00+10:30", "Australia/Lord_Howe", "1d", day,
			"04-04T00:00+11:00=24 04-05T00:00+11:00=25 04-06T00:00+10:30=24",
		},
		"half an hour, hours": {
			"2026-04-05T00:00:00+11:00", "2026-04-05T04:00:00+10:30", "Australia/Lord_Howe", "1h", hour,
			"05T00:00+11:00=1 05T01:00+11:00=1 05T01:30+10:30=1 05T02:00+10:30=1 05T03:00+10:30=1",
		},
		"days of a half-hour zone": {
			"2026-11-28T00:00:00+05:30", "2026-11-30T00:00:00+05:30", "Asia/Kolkata", "1d", day,
			"11-28T00:00+05:30=24 11-29T00:00+05:30=24",
		},
		"months": {"2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "UTC", "1M", day, "01-01T00:00Z=744 02-01T00:00Z=672"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStore(t)
			n := st.hourly(c.from, c.until)
			st.rollUp()
			params := []string{"from", c.from, "until", c.until, "zone", c.zone, "interval", c.interval}
			for _, more := range [][]string{nil, {"splitBy", "type"}, {"splitBy", "severity"}, {"q", "data.none!=x"}, {"q", "data.none!=x", "splitBy", "subject"}} {
				h := st.histogram(append(slices.Clone(params), more...)...)
				if got := bucketsOf(h, c.layout); got != c.want {
					t.Errorf("%v: %s, want %s", more, got, c.want)
				}
				if h.Total.Relation != IsExact || h.Total.Value != n {
					t.Errorf("%v: %s %d of %d", more, h.Total.Relation, h.Total.Value, n)
				}
				if h.Zone != c.zone || h.Interval != c.interval {
					t.Errorf("%s %s", h.Zone, h.Interval)
				}
			}
		})
	}
}

func TestNothingIsCountedBeforeTheOldestEvent(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.mixed(rand.New(rand.NewPCG(1, 2)), 100, 2)
	oldest := time.UnixMicro(st.number("SELECT floor(extract(epoch FROM date_trunc('day', min(occurred_at), 'UTC')) * 1000000)::bigint FROM event")).UTC().Format(time.RFC3339)
	for name, window := range map[string][2]string{
		"days long before": {"2026-09-10T00:00:00Z", "2026-09-11T00:00:00Z"},
		"minutes":          {"2026-10-10T01:30:00Z", "2026-10-10T02:00:00Z"},
		"up to its day":    {"2026-11-01T00:00:00Z", oldest},
	} {
		for _, filter := range []string{"", "type:t.1", "tag:a", "absentword"} {
			params := values("from", window[0], "until", window[1])
			if filter != "" {
				params.Set("q", filter)
			}
			n, err := st.svc.Count(t.Context(), params)
			if err != nil || n.Value != 0 || n.Relation != IsExact {
				t.Errorf("%s, %q: counted %+v, %v", name, filter, n, err)
			}
			h, err := st.svc.Histogram(t.Context(), params)
			if err != nil || h.Total.Value != 0 || h.Total.Relation != IsExact {
				t.Errorf("%s, %q: histogram of %+v, %v", name, filter, h, err)
			}
			f, err := st.svc.Facets(t.Context(), params)
			if err != nil {
				t.Fatalf("%s, %q: facets: %v", name, filter, err)
			}
			for _, c := range f.Facets {
				if c.Relation != IsExact || c.Missing != 0 || slices.ContainsFunc(c.Values, func(v FacetValue) bool { return v.Count != 0 }) {
					t.Errorf("%s, %q: facet %+v", name, filter, c)
				}
			}
		}
	}
}

func TestFacetsCountTheEventsWithoutTheirOwnField(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.mixed(rand.New(rand.NewPCG(1, 2)), 3000, 4)
	for name, parts := range questions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := asked(parts)
			p.Set("limit", "100")
			got, err := st.svc.Facets(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			filter, violations := query.Decode(st.svc.schema, asked(parts), nil, "")
			if len(violations) > 0 {
				t.Fatal(violations)
			}
			if len(got.Facets) != 8 {
				t.Fatalf("%d fields", len(got.Facets))
			}
			for _, f := range got.Facets {
				field, err := query.FieldOf(st.svc.schema, f.Field)
				if err != nil {
					t.Fatal(err)
				}
				own := sqlOf(parts, f.Field)
				if f.Relation != IsExact {
					t.Errorf("%s is %s", f.Field, f.Relation)
				}
				want := map[string]int64{}
				rows, err := st.pool.Query(t.Context(), "SELECT v, count(*) FROM event, LATERAL ("+valueSQL(field)+") x (v) WHERE "+own+" GROUP BY v")
				if err != nil {
					t.Fatal(err)
				}
				var value string
				var n int64
				if _, err := pgx.ForEachRow(rows, []any{&value, &n}, func() error { want[value] = n; return nil }); err != nil {
					t.Fatal(err)
				}
				for _, s := range query.Selected(filter.Where, field) {
					want[s] += 0
				}
				have := map[string]int64{}
				for _, v := range f.Values {
					have[v.Value] = v.Count
				}
				if fmt.Sprint(have) != fmt.Sprint(want) {
					t.Errorf("%s: %v, want %v", f.Field, have, want)
				}
				missing := "SELECT count(*) FROM event WHERE " + own + " AND NOT EXISTS (" + valueSQL(field) + ")"
				if m := st.number(missing); f.Missing != m {
					t.Errorf("%s: %d without, want %d", f.Field, f.Missing, m)
				}
			}
		})
	}
}

func TestHistogramsOfAllKindsCountTheSame(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.mixed(rand.New(rand.NewPCG(3, 4)), 3000, 4)
	small := *st.svc // whose sets are full at once: what is exact comes from the database
	small.limits.set, small.sets, small.limits.counting = 20, newSets(1), time.Minute
	for name, parts := range questions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sql := sqlOf(parts, "none")
			total := st.number("SELECT count(*) FROM event WHERE " + sql)
			errs := st.number("SELECT count(*) FROM event WHERE severity >= 6 AND " + sql)
			for _, split := range []string{"", "type", "severity", "tag", "room", "subject", "device"} {
				for _, interval := range []string{"", "1d", "30m"} {
					if split != "" && interval == "30m" {
						continue
					}
					own := *st
					own.t = t
					p := asked(parts)
					p.Set("splitBy", split)
					p.Set("interval", interval)
					p.Set("zone", "Asia/Kolkata")
					if interval == "30m" {
						p.Set("from", "2026-11-28T13:07:21.5Z")
					}
					for i, svc := range []*Service{st.svc, &small} {
						own.svc = svc
						h := own.histogram(flat(p)...)
						if i == 1 && h.Total.Relation != IsExact {
							if !strings.Contains(name, "data") {
								t.Errorf("by %q in %q: only from %s on", split, interval, h.Total.Covered.From)
							}
							continue
						}
						var sum int64
						for _, b := range h.Buckets {
							sum += b.Errors
						}
						if interval != "30m" && (h.Total.Value != total || sum != errs) {
							t.Errorf("by %q in %q: %d with %d errors, want %d with %d", split, interval, h.Total.Value, sum, total, errs)
						}
						for i, value := range h.Split {
							f, _ := query.FieldOf(st.svc.schema, split)
							var of int64
							for _, b := range h.Buckets {
								of += b.Split[i]
							}
							want := st.number("SELECT count(*) FROM event WHERE '" + value + "' IN (" + valueSQL(f) + ") AND " + sql)
							if interval != "30m" && of != want {
								t.Errorf("by %q in %q: %s has %d, want %d", split, interval, value, of, want)
							}
						}
					}
				}
			}
		})
	}
}

func flat(v url.Values) (out []string) {
	for name, vs := range v {
		for _, x := range vs {
			out = append(out, name, x)
		}
	}
	return out
}
