package maintain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/server/db"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// foldBound is how many commits of a partition one transaction folds: a first fold of millions of
// events becomes many short transactions, not one long one.
const foldBound = 200

// foldSpan adds one partition's commits to hours and days: every dimension of the fine rollups. (sqlc does not
// know the columns of a function.) Events are grouped by each column first, and what a group counts under is
// asked once: to ask it of every event costs four times as much, which is a sixth of the write path.
const foldSpan = `
WITH g AS MATERIALIZED (
    SELECT date_bin('1 hour', occurred_at, '2000-01-01 00:00+00') AS bucket, severity, type, source, tags, facets, facets_version,
           grouping(severity, type, source, tags, facets) AS but, count(*) AS n, count(*) FILTER (WHERE severity >= 6) AS errors
      FROM event
     WHERE log = $1 AND partition = $2 AND commit > $3 AND commit <= $4
     GROUP BY 1, GROUPING SETS (severity, type, source, tags, (facets, facets_version))
), d AS MATERIALIZED (
    SELECT g.bucket, d.dimension, d.value, sum(g.n) AS n, sum(g.errors) AS errors
      FROM g, event_dimensions(g.severity, g.type, g.source, g.tags, g.facets, g.facets_version) d
     WHERE g.but = CASE d.dimension WHEN 'severity' THEN b'01111'::integer WHEN 'type' THEN b'10111'::integer
                                    WHEN 'source' THEN b'11011'::integer WHEN 'tag' THEN b'11101'::integer ELSE b'11110'::integer END
     GROUP BY 1, 2, 3
), days AS (
    INSERT INTO rollup_day AS r (bucket, dimension, value, n, errors)
    SELECT date_trunc('day', bucket, 'UTC'), dimension, value, sum(n), sum(errors) FROM d GROUP BY 1, 2, 3
    ON CONFLICT (bucket, dimension, value) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors
)
INSERT INTO rollup_hour AS r (bucket, dimension, value, n, errors)
SELECT bucket, dimension, value, n, errors FROM d
ON CONFLICT (bucket, dimension, value) DO UPDATE SET n = r.n + EXCLUDED.n, errors = r.errors + EXCLUDED.errors`

// Fold brings the hours and days up to the commits of now. A reader adds or subtracts the rows between the
// commits it stores and its own snapshot.
func (m *Maintainer) Fold(ctx context.Context) error {
	for tries := 10; ; {
		if err := m.ensureHours(ctx); err != nil {
			return err
		}
		more, err := m.foldOnce(ctx)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == "23514" && refused.ConstraintName == "" && tries > 0 {
			tries-- // a day that came since: its hours are made, and the fold begins again
			continue
		}
		if err != nil {
			return fmt.Errorf("fold the hours: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// foldOnce folds the next commits of every partition in one transaction with the commits it reaches.
func (m *Maintainer) foldOnce(ctx context.Context) (more bool, err error) {
	err = pgx.BeginFunc(ctx, m.pool, func(tx pgx.Tx) error {
		// A leader that lost its lock may still be at its last fold.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('oriel.fold', 0))"); err != nil {
			return err
		}
		q := m.queries.WithTx(tx)
		spans, err := q.UnfoldedSpans(ctx, db.UnfoldedSpansParams{Consumer: storeConsumer, Bound: foldBound})
		if err != nil {
			return err
		}
		for _, s := range spans {
			if _, err := tx.Exec(ctx, foldSpan, s.Log, s.Partition, s.Above, s.Through); err != nil {
				return fmt.Errorf("log %d, partition %d, commits %d to %d: %w", s.Log, s.Partition, s.Above, s.Through, err)
			}
			if err := q.StoreFold(ctx, db.StoreFoldParams{Log: s.Log, Partition: s.Partition, Commits: s.Through}); err != nil {
				return err
			}
			more = more || s.Through-s.Above == foldBound
		}
		return nil
	})
	return more, err
}

// ensureHours makes the hour partition of every day that has events: the consumer makes those of events
// for whatever time they carry, and the hours follow.
func (m *Maintainer) ensureHours(ctx context.Context) error {
	days, err := m.queries.DaysWithoutHours(ctx)
	if err != nil {
		return fmt.Errorf("list days without hours: %w", err)
	}
	for _, d := range days {
		if _, err := m.pool.Exec(ctx, "SELECT ensure_day('rollup_hour', $1::date)", d); err != nil {
			return fmt.Errorf("make the hours of %s: %w", d.Format(time.DateOnly), err)
		}
	}
	return nil
}
