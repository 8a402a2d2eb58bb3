package reindex

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/db"
)

// Rollups compares the rollups with the events, and makes them right again, an hour at a time.
//
// It needs no quiet. A batch's rows and what it adds to the rollups become visible together, and so do hours and
// how far they are folded: one statement sees by how much they differ, whatever is being written. A correction
// adds that difference to what a row has by then, so it is right beside batches that end meanwhile. It locks in the
// order of the consumer: minutes, then quarters, of each partition by bucket, dimension and value; the checkpoints
// not at all. The lock of the fold keeps folds and other corrections out, for as long as one hour takes.
type Rollups struct {
	pool    *pgxpool.Pool
	queries *db.Queries
}

// NewRollups works on a database.
func NewRollups(pool *pgxpool.Pool) *Rollups { return &Rollups{pool, db.New(pool)} }

// Difference is a row of a rollup that is not what the events are.
type Difference struct {
	Table            string
	Bucket           time.Time
	Log              int16 // and Partition: of minutes and quarters
	Partition        int32
	Dimension, Value string
	Have, Want       int64 // events
	HaveErrors       int64
	WantErrors       int64
}

func (d Difference) String() string {
	at := d.Bucket.UTC().Format(time.RFC3339)
	if d.Table == "rollup_minute" || d.Table == "rollup_quarter" {
		at += fmt.Sprintf(", log %d, partition %d", d.Log, d.Partition)
	}
	return fmt.Sprintf("%s, %s, %s %q: %d events with %d errors, and there are %d with %d",
		d.Table, at, d.Dimension, d.Value, d.Have, d.HaveErrors, d.Want, d.WantErrors)
}

// RollupProgress is told after each hour.
type RollupProgress struct {
	Hour            time.Time
	DaysDone, Days  int
	Rows, Different int64 // rows of rollups that were compared, and those that differed
}

// RolledUp is what a run has looked at.
type RolledUp struct {
	Rows, Different int64
	Differences     []Difference // the first of them
}

// The rows of a rollup that differ from the events of [$1, $2), and how many there are to compare. (sqlc does not
// know the columns of a function.)
const (
	minutesDiffer = `
WITH w AS (
    SELECT date_trunc('minute', occurred_at, 'UTC') AS bucket, log, partition, coalesce(severity, 0)::smallint AS severity,
           count(*) AS n, count(*) FILTER (WHERE severity >= 6) AS errors
      FROM event WHERE occurred_at >= $1 AND occurred_at < $2 GROUP BY 1, 2, 3, 4
), b AS (
    SELECT bucket, log, partition, 'severity' AS dimension, severity::text AS value, severity,
           coalesce(r.n, 0) AS have, coalesce(r.errors, 0) AS have_errors, coalesce(w.n, 0) AS want, coalesce(w.errors, 0) AS want_errors
      FROM w FULL JOIN (SELECT * FROM rollup_minute WHERE bucket >= $1 AND bucket < $2) r USING (bucket, log, partition, severity)
)`
	quartersDiffer = `
WITH w AS (
    SELECT date_bin('15 minutes', e.occurred_at, '2000-01-01 00:00+00') AS bucket, e.log, e.partition, d.dimension, d.value,
           count(*) AS n, count(*) FILTER (WHERE e.severity >= 6) AS errors
      FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d
     WHERE e.occurred_at >= $1 AND e.occurred_at < $2 GROUP BY 1, 2, 3, 4, 5
), b AS (
    SELECT bucket, log, partition, dimension, value,
           coalesce(r.n, 0) AS have, coalesce(r.errors, 0) AS have_errors, coalesce(w.n, 0) AS want, coalesce(w.errors, 0) AS want_errors
      FROM w FULL JOIN (SELECT * FROM rollup_quarter WHERE bucket >= $1 AND bucket < $2) r USING (bucket, log, partition, dimension, value)
)`
	hoursDiffer = `
WITH w AS (
    SELECT date_trunc('hour', e.occurred_at, 'UTC') AS bucket, d.dimension, d.value,
           count(*) AS n, count(*) FILTER (WHERE e.severity >= 6) AS errors
      FROM event e JOIN rollup_fold f ON f.log = e.log AND f.partition = e.partition AND e.commit <= f.commits,
           event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d
     WHERE e.occurred_at >= $1 AND e.occurred_at < $2 GROUP BY 1, 2, 3
), b AS (
    SELECT bucket, 0::smallint AS log, 0 AS partition, dimension, value,
           coalesce(r.n, 0) AS have, coalesce(r.errors, 0) AS have_errors, coalesce(w.n, 0) AS want, coalesce(w.errors, 0) AS want_errors
      FROM w FULL JOIN (SELECT * FROM rollup_hour WHERE bucket >= $1 AND bucket < $2) r USING (bucket, dimension, value)
)`
	// Days are the sums of their hours, which are folded with them.
	daysDiffer = `
WITH w AS (
    SELECT date_trunc('day', bucket, 'UTC') AS bucket, dimension, value, sum(n)::bigint AS n, sum(errors)::bigint AS errors
      FROM rollup_hour WHERE bucket >= $1 AND bucket < $2 GROUP BY 1, 2, 3
), b AS (
    SELECT bucket, 0::smallint AS log, 0 AS partition, dimension, value,
           coalesce(r.n, 0) AS have, coalesce(r.errors, 0) AS have_errors, coalesce(w.n, 0) AS want, coalesce(w.errors, 0) AS want_errors
      FROM w FULL JOIN (SELECT * FROM rollup_day WHERE bucket >= $1 AND bucket < $2) r USING (bucket, dimension, value)
)`
	whereDifferent = ` FROM b WHERE (have, have_errors) <> (want, want_errors)`
)

// rollup is one of the tables: what differs in it, and what adds the differences.
type rollup struct{ table, differ, correct string }

func rollups() []rollup {
	const added = ` DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`
	return []rollup{
		{"rollup_minute", minutesDiffer, `INSERT INTO rollup_minute AS r (bucket, log, partition, severity, n, errors)
SELECT bucket, log, partition, severity, want - have, want_errors - have_errors` + whereDifferent + ` ORDER BY bucket, log, partition, severity
ON CONFLICT (bucket, log, partition, severity)` + added},
		{"rollup_quarter", quartersDiffer, `INSERT INTO rollup_quarter AS r (bucket, log, partition, dimension, value, n, errors)
SELECT bucket, log, partition, dimension, value, want - have, want_errors - have_errors` + whereDifferent + `
 ORDER BY bucket, log, partition, dimension COLLATE "C", value COLLATE "C"
ON CONFLICT (bucket, log, partition, dimension, value)` + added},
		{"rollup_hour", hoursDiffer, `INSERT INTO rollup_hour AS r (bucket, dimension, value, n, errors)
SELECT bucket, dimension, value, want - have, want_errors - have_errors` + whereDifferent + `
ON CONFLICT (bucket, dimension, value)` + added},
	}
}

func days() rollup {
	return rollup{"rollup_day", daysDiffer, `INSERT INTO rollup_day AS r (bucket, dimension, value, n, errors)
SELECT bucket, dimension, value, want - have, want_errors - have_errors` + whereDifferent + `
ON CONFLICT (bucket, dimension, value) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`}
}

// Check compares the rollups of the window's days with their events.
func (x *Rollups) Check(ctx context.Context, w Window, tell func(RollupProgress)) (RolledUp, error) {
	return x.run(ctx, w, false, tell, func(ctx context.Context, rs []rollup, from, until time.Time, out *RolledUp) error {
		for _, r := range rs {
			if err := r.compare(ctx, x.pool, from, until, out); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rebuild makes the rollups of the window's days what their events are.
func (x *Rollups) Rebuild(ctx context.Context, w Window, tell func(RollupProgress)) (RolledUp, error) {
	return x.run(ctx, w, true, tell, func(ctx context.Context, rs []rollup, from, until time.Time, out *RolledUp) error {
		return pgx.BeginFunc(ctx, x.pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('oriel.fold', 0))"); err != nil {
				return fmt.Errorf("wait for the fold: %w", err)
			}
			for _, r := range rs {
				tag, err := tx.Exec(ctx, r.differ+" "+r.correct, from, until)
				if err != nil {
					return fmt.Errorf("correct %s: %w", r.table, err)
				}
				out.Different += tag.RowsAffected()
			}
			return nil
		})
	})
}

// run does f for every hour of the window's days, the newest day first, and then for the day. Partitions that a
// day lacks are made where it is to be written.
func (x *Rollups) run(
	ctx context.Context, w Window, write bool, tell func(RollupProgress),
	f func(context.Context, []rollup, time.Time, time.Time, *RolledUp) error,
) (RolledUp, error) {
	var out RolledUp
	all, err := (&Indexer{queries: x.queries}).days(ctx)
	if err != nil {
		return out, err
	}
	var asked []time.Time
	for _, day := range all {
		if w.holds(day) {
			asked = append(asked, day)
		}
	}
	for i, day := range asked {
		if write {
			for _, r := range rollups() {
				if _, err := x.pool.Exec(ctx, "SELECT ensure_day($1, $2::date)", r.table, day); err != nil {
					return out, fmt.Errorf("make the partition of %s for %s: %w", r.table, day.Format(time.DateOnly), err)
				}
			}
		}
		end := day.Add(24 * time.Hour)
		for hour := day; hour.Before(end); hour = hour.Add(time.Hour) {
			if err := f(ctx, rollups(), hour, hour.Add(time.Hour), &out); err != nil {
				return out, fmt.Errorf("%s: %w", hour.Format(time.RFC3339), err)
			}
			if tell != nil {
				tell(RollupProgress{Hour: hour, DaysDone: i, Days: len(asked), Rows: out.Rows, Different: out.Different})
			}
		}
		if err := f(ctx, []rollup{days()}, day, end, &out); err != nil {
			return out, fmt.Errorf("%s: %w", day.Format(time.DateOnly), err)
		}
	}
	return out, nil
}

// compare counts what differs, and keeps the first of it.
func (r rollup) compare(ctx context.Context, pool *pgxpool.Pool, from, until time.Time, out *RolledUp) error {
	rows, err := pool.Query(ctx, r.differ+` SELECT count(*) OVER (), (SELECT count(*) FROM b), bucket, log, partition, dimension, value, have, want, have_errors, want_errors`+
		whereDifferent+` UNION ALL SELECT 0, (SELECT count(*) FROM b), NULL, 0, 0, '', '', 0, 0, 0, 0 WHERE NOT EXISTS (SELECT`+whereDifferent+`)
 ORDER BY 3, 4, 5, 6, 7 LIMIT $3`, from, until, mostWrong)
	if err != nil {
		return fmt.Errorf("compare %s: %w", r.table, err)
	}
	var different, compared int64
	var bucket *time.Time
	d := Difference{Table: r.table}
	_, err = pgx.ForEachRow(rows, []any{
		&different, &compared, &bucket, &d.Log, &d.Partition, &d.Dimension, &d.Value, &d.Have, &d.Want, &d.HaveErrors, &d.WantErrors,
	}, func() error {
		if bucket != nil && len(out.Differences) < mostWrong {
			d.Bucket = *bucket
			out.Differences = append(out.Differences, d)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("compare %s: %w", r.table, err)
	}
	out.Rows += compared
	out.Different += different
	return nil
}
