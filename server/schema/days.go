package schema

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// DayTables are the tables that are partitioned by UTC day.
func DayTables() []string {
	return []string{"event", "event_block", "ledger", "rollup_minute", "rollup_quarter", "rollup_hour"}
}

// querier is a connection or a pool. A transaction would keep its locks until its end and must not be
// given.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// EnsureDays makes the partitions of every day table for the UTC days from..until, both included. Each
// partition is made in a transaction of its own, so no lock outlives its making.
func EnsureDays(ctx context.Context, db querier, from, until time.Time) error {
	for day := utcDay(from); !day.After(utcDay(until)); day = day.AddDate(0, 0, 1) {
		for _, table := range DayTables() {
			var made bool
			if err := db.QueryRow(ctx, "SELECT ensure_day($1, $2::date)", table, day).Scan(&made); err != nil {
				return fmt.Errorf("make the partition of %s for %s: %w", table, day.Format(time.DateOnly), err)
			}
		}
	}
	return nil
}

func utcDay(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
