package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"oriel/server/db"
)

// The dimensions of the rollups that every event has; facets are others, under their own names.
const (
	dimensionSeverity = "severity" // the value is the rank in digits, 0 is none
	dimensionType     = "type"
	dimensionSource   = "source"
	dimensionTag      = "tag"
)

// rollupDelta is how many rows may lie between a view and what the rollups hold.
const rollupDelta = 100_000

// More rows than that lie between them: either the view is old, or what is stored was not folded for long.
var (
	errRollupDelta  = errors.New("too many events were stored since the snapshot")
	errRollupBehind = errors.New("too many events are not in the hours yet")
)

// rollupRead is a question to the rollups: the events of a window by bucket and by the values of dimensions.
type rollupRead struct {
	dimensions []string // what to count by
	values     []string // only these, where there is one dimension; nil is all
	window     run
	edges      []int64 // starts of buckets, and the end of the last, which ends the window too; nil: one bucket, 1
	now        int64   // when the view was made
	vector     vector
	most       int // rows between the view and what the rollups hold; 0 is rollupDelta
}

// rollupRow is a number of the answer. Value "" of tags and facets is the events that have any.
type rollupRow struct {
	bucket           int // from 1
	dimension, value string
	n, errors        int64
}

// aligned says whether rollups can tell the buckets apart.
func (q *rollupRead) aligned() bool {
	cell := int64(microsPerQuarter)
	if q.minutes() {
		cell = microsPerMinute
	}
	for _, e := range q.edges {
		if e%cell != 0 {
			return false
		}
	}
	return true
}

// minutes says whether there are rollups by the minute of what is asked.
func (q *rollupRead) minutes() bool {
	return len(q.dimensions) == 1 && q.dimensions[0] == dimensionSeverity
}

func (q *rollupRead) bound() int {
	if q.most > 0 {
		return q.most
	}
	return rollupDelta
}

// readRollups answers the question exactly, as of the view: what the rollups hold, less the rows that came
// after the view, and with those that the hours do not hold yet. It needs a session in which every statement
// sees the same: a batch's rows, its rollups and its commit came together.
func readRollups(ctx context.Context, ses *session, q *rollupRead) ([]rollupRow, error) {
	progress, err := db.New(ses).RollupProgress(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the rollups' progress: %w", err)
	}
	u := units{days: true, hours: true, minutes: q.minutes()}
	rows, err := q.read(ctx, ses, progress, u)
	// Hours that are far behind are passed over where the quarters alone are not too many.
	if errors.Is(err, errRollupBehind) && (q.minutes() || q.window.until-q.window.from <= 3*microsPerDay) {
		u.days, u.hours = false, false
		rows, err = q.read(ctx, ses, progress, u)
	}
	return rows, err
}

func (q *rollupRead) read(ctx context.Context, ses *session, progress []db.RollupProgressRow, u units) ([]rollupRow, error) {
	sql, args := q.compile(progress, u)
	if sql == "" {
		return nil, nil
	}
	rows, err := ses.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read rollups: %w", err)
	}
	defer rows.Close()
	var out []rollupRow
	for rows.Next() {
		var r rollupRow
		if err := rows.Scan(&r.bucket, &r.dimension, &r.value, &r.n, &r.errors); err != nil {
			return nil, fmt.Errorf("read a rollup: %w", err)
		}
		if r.dimension == "" {
			switch {
			case r.n+r.errors <= int64(q.bound()):
			case r.n > 0: // of those that are newer
				return nil, errRollupDelta
			default:
				return nil, errRollupBehind
			}
			continue
		}
		out = append(out, r)
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read rollups: %w", err)
	}
	return out, nil
}

// compile makes the statement: one part for each rollup and each end of the window, and the rows between the
// view and what the rollups hold. Of a window that ends before the oldest event there is nothing to ask.
func (q *rollupRead) compile(progress []db.RollupProgressRow, u units) (sql string, args []any) {
	s := &statement{}
	w := q.window
	if n := len(q.edges); n > 0 {
		w.until = min(w.until, q.edges[n-1])
	}
	c := covering(w, q.edges, q.now, u)
	p := rollupParts{statement: s, q: q}
	const columns = "bucket, dimension, value, n, errors FROM "
	p.rollup(columns+"rollup_day", p.chosen, c.days, microsPerDay)
	p.rollup(columns+"rollup_hour", p.chosen, c.hours, microsPerHour)
	p.rollup(columns+"rollup_quarter", p.chosen, c.quarters, microsPerQuarter)
	p.rollup("bucket, 'severity', severity::text, n, errors FROM rollup_minute", p.severities, c.minutes, microsPerMinute)
	// The hours and days hold what is folded; the shorter rollups what is stored.
	p.delta("folded", merged(c.days, c.hours), q.differences(progress, func(r db.RollupProgressRow) int64 { return r.Folded }))
	p.delta("stored", merged(c.quarters, c.minutes), q.differences(progress, func(r db.RollupProgressRow) int64 { return r.Commits }))
	p.rows(c)
	if len(p.parts) == 0 {
		return "", nil
	}
	sql = "SELECT b, dimension, value, sum(n)::bigint, sum(errors)::bigint FROM (SELECT " + p.bucket("bucket") +
		" AS b, dimension, value, n, errors FROM (" + strings.Join(p.parts, " UNION ALL ") +
		") p (bucket, dimension, value, n, errors)) p GROUP BY b, dimension, value HAVING sum(n) <> 0 OR sum(errors) <> 0"
	if len(p.with) > 0 {
		sql = "WITH " + strings.Join(p.with, ", ") + " " + sql + strings.Join(p.sizes, "")
	}
	return sql, s.args
}

// difference is the commits of a partition that a rollup has beyond the view (weight -1), or lacks (1).
type difference struct {
	log          int16
	partition    int32
	above, until int64
	weight       int32
}

func (q *rollupRead) differences(progress []db.RollupProgressRow, held func(db.RollupProgressRow) int64) []difference {
	var out []difference
	for _, r := range progress {
		seen, has := q.vector.of(r.Log, r.Partition), held(r)
		switch {
		case has < seen:
			out = append(out, difference{r.Log, r.Partition, has, seen, 1})
		case has > seen:
			out = append(out, difference{r.Log, r.Partition, seen, has, -1})
		}
	}
	return out
}

func times(micros []int64) []time.Time {
	out := make([]time.Time, len(micros))
	for i, m := range micros {
		out[i] = time.UnixMicro(m).UTC()
	}
	return out
}
