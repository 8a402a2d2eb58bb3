package maintain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/server/schema"

	"github.com/jackc/pgx/v5"
)

// makeDays makes partitions of every day table ahead of need.
func (m *Maintainer) makeDays(ctx context.Context) error {
	today := m.now()
	return schema.EnsureDays(ctx, m.pool, today.AddDate(0, 0, -daysBack), today.AddDate(0, 0, daysAhead))
}

// partition is one day of a day table.
type partition struct {
	name    string
	day     time.Time
	pending bool // a detach was interrupted
}

// until is the end of its day.
func (p partition) until() time.Time { return p.day.AddDate(0, 0, 1) }

// dropDays drops days that ended before retention began.
func (m *Maintainer) dropDays(ctx context.Context) error {
	oldest := m.now().Add(-m.retention)
	var errs []error
	for _, table := range schema.DayTables() {
		drop := m.detachAndDrop
		if table == ledger {
			drop = m.sumAndDrop
		}
		days, err := m.partitions(ctx, table)
		if err != nil {
			return err
		}
		for _, d := range days {
			if d.until().After(oldest) {
				break
			}
			if err := drop(ctx, table, d); err != nil {
				errs = append(errs, fmt.Errorf("drop %s: %w", d.name, err))
				break // the older first: what is left is in order
			}
			m.log.Info("dropped a day that is older than retention", "partition", d.name)
		}
		if err := m.dropDetached(ctx, table); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// partitions are the days of a table, oldest first. Tables that are no day of ours are not named like one.
func (m *Maintainer) partitions(ctx context.Context, table string) ([]partition, error) {
	rows, err := m.pool.Query(ctx, `
		SELECT c.relname::text, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC', i.inhdetachpending
		  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		 WHERE i.inhparent = $1::text::regclass AND c.relname ~ '_[0-9]{8}$'
		 ORDER BY right(c.relname, 8)`, table)
	if err != nil {
		return nil, fmt.Errorf("list the days of %s: %w", table, err)
	}
	days, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (p partition, err error) {
		return p, r.Scan(&p.name, &p.day, &p.pending)
	})
	if err != nil {
		return nil, fmt.Errorf("list the days of %s: %w", table, err)
	}
	return days, nil
}

// detachAndDrop takes a day away without stopping readers and writers of the others: DETACH …
// CONCURRENTLY waits for whoever uses the table, and DROP touches the detached one alone.
func (m *Maintainer) detachAndDrop(ctx context.Context, table string, d partition) error {
	parent, child := pgx.Identifier{table}.Sanitize(), pgx.Identifier{d.name}.Sanitize()
	mode := "CONCURRENTLY"
	if d.pending {
		mode = "FINALIZE"
	}
	if _, err := m.pool.Exec(ctx, "ALTER TABLE "+parent+" DETACH PARTITION "+child+" "+mode); err != nil {
		return err
	}
	_, err := m.pool.Exec(ctx, "DROP TABLE "+child)
	return err
}

// dropDetached finishes what an interruption between DETACH and DROP left.
func (m *Maintainer) dropDetached(ctx context.Context, table string) error {
	rows, err := m.pool.Query(ctx, `
		SELECT c.relname::text FROM pg_class c
		 WHERE c.relkind = 'r' AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
		   AND c.relname ~ ('^' || $1::text || '_[0-9]{8}$')`, table)
	if err != nil {
		return fmt.Errorf("list detached days of %s: %w", table, err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list detached days of %s: %w", table, err)
	}
	for _, n := range names {
		if _, err := m.pool.Exec(ctx, "DROP TABLE "+pgx.Identifier{n}.Sanitize()); err != nil {
			return fmt.Errorf("drop %s: %w", n, err)
		}
	}
	return nil
}

const ledger = "ledger"

// sumAndDrop adds a ledger day to ledger_total and drops it, in one transaction: the sum over both is
// the same before and after.
func (m *Maintainer) sumAndDrop(ctx context.Context, _ string, d partition) error {
	child := pgx.Identifier{d.name}.Sanitize()
	return pgx.BeginFunc(ctx, m.pool, func(tx pgx.Tx) error {
		// Dropping a partition locks the table that every consumer writes to: not for long, or later.
		if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '500ms'"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "LOCK TABLE ledger IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			INSERT INTO ledger_total AS t (consumer, log, partition, through_commit, stored, duplicate, dead, skipped, expired)
			SELECT consumer, log, partition, max(commit), sum(stored), sum(duplicate), sum(dead), sum(skipped), sum(expired)
			  FROM `+child+` GROUP BY consumer, log, partition ORDER BY consumer, log, partition
			ON CONFLICT (consumer, log, partition) DO UPDATE
			   SET through_commit = greatest(t.through_commit, EXCLUDED.through_commit),
			       stored = t.stored + EXCLUDED.stored, duplicate = t.duplicate + EXCLUDED.duplicate,
			       dead = t.dead + EXCLUDED.dead, skipped = t.skipped + EXCLUDED.skipped,
			       expired = t.expired + EXCLUDED.expired`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "DROP TABLE "+child)
		return err
	})
}
