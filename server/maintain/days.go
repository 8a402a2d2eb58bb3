package maintain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/server/db"
	"oriel/server/schema"
)

// makeDays makes partitions of every day table ahead of need.
func (m *Maintainer) makeDays(ctx context.Context) error {
	today := m.now()
	return schema.EnsureDays(ctx, m.pool, today.AddDate(0, 0, -daysBack), today.AddDate(0, 0, daysAhead))
}

// dropDays drops days that ended before retention began. Where somebody has been at a table for long, such
// as a query of minutes, its days stay until a later turn: readers and writers never queue behind us.
func (m *Maintainer) dropDays(ctx context.Context) error {
	oldest := m.now().Add(-m.retention)
	var errs []error
	left := false
	for _, table := range schema.DayTables() {
		if left && table != "ledger" {
			continue // events that are still there are still found and counted
		}
		err := m.dropDaysOf(ctx, table, oldest)
		left = left || table == "event" && err != nil
		errs = append(errs, err)
	}
	if !left {
		if err := m.queries.DropRollupDays(ctx); err != nil {
			errs = append(errs, fmt.Errorf("drop the rollups of days that are gone: %w", err))
		}
	}
	if err := m.queries.RemoveEmptyBlockGaps(ctx); err != nil {
		errs = append(errs, fmt.Errorf("close gaps in the index of identifiers: %w", err))
	}
	return errors.Join(errs...)
}

// dropDaysOf drops the older first, so that what a failure leaves is in order.
func (m *Maintainer) dropDaysOf(ctx context.Context, table string, oldest time.Time) error {
	days, err := m.queries.DaysOver(ctx, db.DaysOverParams{Parent: table, Instant: oldest})
	if err != nil {
		return fmt.Errorf("list the days of %s: %w", table, err)
	}
	for _, day := range days {
		dropped, err := m.queries.DropDay(ctx, db.DropDayParams{Parent: table, Day: day})
		if err != nil {
			return fmt.Errorf("drop %s_%s: %w", table, day, err)
		}
		if dropped {
			m.log.Info("dropped a day that is older than retention", "partition", table+"_"+day)
		}
	}
	return nil
}
