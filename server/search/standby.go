package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A standby has what the primary had a moment ago. What a token has seen must be there, or pages of one snapshot
// would differ by who answers: the standby is waited for a little, then the primary answers. So it does where
// the standby ends a search for the sake of replaying, or does not answer.

// errBehind says that a standby has not what a token has seen.
var errBehind = errors.New("the standby is behind the snapshot")

// Why the primary answers instead of the standby, a closed set.
const (
	causeBehind      = "behind"
	causeConflict    = "conflict"
	causeUnreachable = "unreachable"
)

// insteadOf is why the primary should answer what a standby failed to; "" where it should not.
func insteadOf(ctx context.Context, err error) string {
	var pg *pgconn.PgError
	switch {
	case err == nil || ctx.Err() != nil || cancelled(err):
		return ""
	case errors.Is(err, errBehind):
		return causeBehind
	case errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01"):
		return causeConflict
	case unreachable(err):
		return causeUnreachable
	}
	return ""
}

// inSession does f in a session of the service's server, or of the primary where that is a standby which cannot
// answer: then f is done again from its beginning.
func (s *Service) inSession(ctx context.Context, ses *session, after vector, f func(context.Context, *session) error) error {
	if s.primary == nil {
		return s.sessionOf(ctx, s.pool, ses, f)
	}
	err := s.sessionOf(ctx, s.pool, ses, f, after...)
	cause := insteadOf(ctx, err)
	if cause == "" {
		return err
	}
	s.metrics.primary.WithLabelValues(cause).Inc()
	*ses = session{plan: planNone}
	return s.sessionOf(ctx, s.primary, ses, f)
}

// catchUp waits until the server has stored what a token has seen, outside of any transaction, in which nothing
// new would be seen.
func (s *Service) catchUp(ctx context.Context, ses *session, after vector) error {
	limit := time.NewTimer(s.limits.catchUp)
	defer limit.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		has, err := storeVector(ctx, ses.prepared())
		if err != nil || has.reaches(after) {
			return err
		}
		select {
		case <-again.C:
		case <-limit.C:
			return errBehind
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ObserveStandby measures how far the standby is behind the primary, for the metrics. It does nothing where the
// service reads from the primary.
func (s *Service) ObserveStandby(ctx context.Context) error {
	if s.primary == nil {
		return nil
	}
	var at string
	if err := s.primary.QueryRow(ctx, `SELECT pg_current_wal_lsn()::text`).Scan(&at); err != nil {
		return fmt.Errorf("ask the primary how far it is: %w", err)
	}
	var behind float64
	err := s.pool.QueryRow(ctx, `SELECT greatest(0, pg_wal_lsn_diff($1::text::pg_lsn, pg_last_wal_replay_lsn()))::float8`, at).Scan(&behind)
	if err != nil {
		s.metrics.standbyUp.Set(0)
		return fmt.Errorf("ask the standby how far it is: %w", err)
	}
	s.metrics.standbyUp.Set(1)
	s.metrics.standbyLag.Set(behind)
	return nil
}

// Standby says whether a pool is of a standby, and refuses one of another server than the primary's.
func Standby(ctx context.Context, pool, primary *pgxpool.Pool) (bool, error) {
	const identity = `SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system()), current_database()::text`
	var standby, other bool
	var of, primaryOf int64
	var name, primaryName string
	if err := pool.QueryRow(ctx, identity).Scan(&standby, &of, &name); err != nil {
		return false, fmt.Errorf("ask whether the database for reading is a standby: %w", err)
	}
	if !standby {
		return false, nil
	}
	if err := primary.QueryRow(ctx, identity).Scan(&other, &primaryOf, &primaryName); err != nil {
		return false, fmt.Errorf("ask the primary who it is: %w", err)
	}
	if of != primaryOf || name != primaryName {
		return false, fmt.Errorf("ORIEL_DATABASE_READ_URL: the server is a standby, but not of the database of ORIEL_DATABASE_URL")
	}
	return true, nil
}
