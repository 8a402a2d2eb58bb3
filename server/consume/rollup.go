package consume

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The upserts of the fine rollups. Arrays come sorted by key: writers that meet on a page of an index
// meet in one order.
const (
	addMinutes = `INSERT INTO rollup_minute AS r (bucket, log, partition, severity, n, errors)
SELECT unnest($1::timestamptz[]), $2, $3, unnest($4::smallint[]), unnest($5::bigint[]), unnest($6::bigint[])
ON CONFLICT (bucket, log, partition, severity) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`
	addQuarters = `INSERT INTO rollup_quarter AS r (bucket, log, partition, dimension, value, n, errors)
SELECT unnest($1::timestamptz[]), $2, $3, unnest($4::text[]), unnest($5::text[]), unnest($6::bigint[]), unnest($7::bigint[])
ON CONFLICT (bucket, log, partition, dimension, value) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`
)

const (
	microsPerMinute  = 60 * 1_000_000
	microsPerQuarter = 15 * microsPerMinute
)

// Dimensions that every event has; facets add theirs under their own names.
const (
	dimensionType     = "type"
	dimensionSource   = "source"
	dimensionTag      = "tag"
	dimensionSeverity = "severity" // its value is the rank in digits, 0 is none
)

type minuteKey struct {
	bucket   int64
	severity int16
}

type quarterKey struct {
	bucket           int64
	dimension, value string
}

type counts struct{ n, errors int64 }

// rollups sums the rows that were really inserted. Its zero value is empty.
type rollups struct {
	minutes  map[minuteKey]counts
	quarters map[quarterKey]counts
}

// add counts a row; counted are the facet fields that are dimensions.
func (s *rollups) add(r *row, counted []string) {
	if s.minutes == nil {
		s.minutes, s.quarters = map[minuteKey]counts{}, map[quarterKey]counts{}
	}
	one := counts{n: 1}
	if r.severity >= rankError {
		one.errors = 1
	}
	m := minuteKey{floorDiv(r.micros, microsPerMinute) * microsPerMinute, r.severity}
	s.minutes[m] = s.minutes[m].plus(one)
	bucket := floorDiv(r.micros, microsPerQuarter) * microsPerQuarter
	quarter := func(dimension, value string) {
		k := quarterKey{bucket, dimension, value}
		s.quarters[k] = s.quarters[k].plus(one)
	}
	// What follows is what the function event_dimensions of the database says of the stored row.
	quarter(dimensionSeverity, strconv.Itoa(int(r.severity)))
	quarter(dimensionType, r.event.Type)
	quarter(dimensionSource, r.event.Source)
	if len(r.tags) > 0 {
		quarter(dimensionTag, "")
	}
	for _, t := range r.tags {
		quarter(dimensionTag, t)
	}
	last := ""
	for _, f := range r.facets {
		name, value, _ := strings.Cut(f, "=")
		if !slices.Contains(counted, name) {
			continue
		}
		if name != last { // a field's values lie together
			quarter(name, "")
			last = name
		}
		quarter(name, value)
	}
}

func (c counts) plus(o counts) counts { return counts{c.n + o.n, c.errors + o.errors} }

// queue adds the upserts to a batch of statements.
func (s *rollups) queue(batch *pgx.Batch, pos position) {
	if len(s.minutes) == 0 {
		return
	}
	mins := make([]minuteKey, 0, len(s.minutes))
	for k := range s.minutes {
		mins = append(mins, k)
	}
	slices.SortFunc(mins, func(a, b minuteKey) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.severity, b.severity))
	})
	buckets, n, errs := columns(len(mins))
	severities := make([]int16, len(mins))
	for i, k := range mins {
		c := s.minutes[k]
		buckets[i], severities[i], n[i], errs[i] = time.UnixMicro(k.bucket).UTC(), k.severity, c.n, c.errors
	}
	batch.Queue(addMinutes, buckets, pos.log, pos.part, severities, n, errs)

	quarters := make([]quarterKey, 0, len(s.quarters))
	for k := range s.quarters {
		quarters = append(quarters, k)
	}
	slices.SortFunc(quarters, func(a, b quarterKey) int {
		return cmp.Or(cmp.Compare(a.bucket, b.bucket), strings.Compare(a.dimension, b.dimension), strings.Compare(a.value, b.value))
	})
	buckets, n, errs = columns(len(quarters))
	dimensions, values := make([]string, len(quarters)), make([]string, len(quarters))
	for i, k := range quarters {
		c := s.quarters[k]
		buckets[i], dimensions[i], values[i] = time.UnixMicro(k.bucket).UTC(), k.dimension, k.value
		n[i], errs[i] = c.n, c.errors
	}
	batch.Queue(addQuarters, buckets, pos.log, pos.part, dimensions, values, n, errs)
}

func columns(n int) (buckets []time.Time, sums, errors []int64) {
	return make([]time.Time, n), make([]int64, n), make([]int64, n)
}
