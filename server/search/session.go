package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"oriel/server/db"
	"oriel/server/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// session is one search on one connection: a read-only transaction in REPEATABLE READ, so that all statements
// see the same rows and the same index of identifiers, which maintenance rewrites meanwhile.
type session struct {
	conn     *pgxpool.Conn
	filled   []time.Time // the days that have rows, oldest first
	plan     string
	examined int
	planning string // how the server plans
	// uncounted are the facets that rollups lack; nil: not read yet.
	uncounted []string
}

// Settings of every search. The lock, taken before the rows are
// fixed, keeps days from being dropped: a day that is listed is there to the end.
const opening = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; " + plansOnce + "; " +
	"LOCK TABLE ONLY event IN ACCESS SHARE MODE; SET LOCAL jit = off; SET LOCAL statement_timeout = "

// run does f in a session of a free slot, twice where a standby fails. It is where failures become public. after is
// what the server must have stored: what the request's tokens have seen.
func (s *Service) run(ctx context.Context, kind string, after vector, f func(context.Context, *session) error) error {
	start := time.Now()
	ses := &session{plan: planNone}
	err := s.inSession(ctx, ses, after, f)
	if err == nil {
		s.metrics.answered(kind, ses.plan, time.Since(start), ses.examined)
		return nil
	}
	err = publicError(ctx, err, s.limits)
	reason := "CANCELLED"
	if ctx.Err() == nil {
		reason = fault.Of(err).Violations[0].Reason
	}
	s.metrics.failed.WithLabelValues(kind, reason).Inc()
	return err
}

// sessionOf does f on a connection of a pool, whose server must have stored what after says.
func (s *Service) sessionOf(ctx context.Context, pool *pgxpool.Pool, ses *session, f func(context.Context, *session) error, after ...progress) error {
	conn, free, err := s.acquire(ctx, pool)
	if err != nil {
		return err
	}
	defer free()
	ses.conn = conn
	if len(after) > 0 {
		if err := s.catchUp(ctx, ses, after); err != nil {
			return err
		}
	}
	if err := ses.begin(ctx, s.limits.statement); err != nil {
		return err
	}
	if err := f(ctx, ses); err != nil {
		return errors.Join(err, ses.rollback(ctx))
	}
	return ses.rollback(ctx) // nothing was written
}

// acquire waits for a slot, then for a connection, no longer than the limit for both.
func (s *Service) acquire(ctx context.Context, pool *pgxpool.Pool) (*pgxpool.Conn, func(), error) {
	s.metrics.waiting.Inc()
	defer s.metrics.waiting.Dec()
	wait, cancel := context.WithTimeout(ctx, s.limits.wait)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
	case <-wait.Done():
		return nil, nil, s.busy(ctx)
	}
	conn, err := pool.Acquire(wait)
	if err != nil {
		<-s.slots
		// The pool reports the end of the wait, or why it could not connect in time.
		if connect := new(pgconn.ConnectError); wait.Err() != nil && !errors.As(err, &connect) {
			return nil, nil, s.busy(ctx)
		}
		return nil, nil, fmt.Errorf("acquire connection: %w", err)
	}
	return conn, func() { conn.Release(); <-s.slots }, nil
}

func (s *Service) busy(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := fault.New(fault.Unavailable, fault.ReasonSearchBusy,
		fmt.Sprintf("All %d searches that may run at once are busy, and none ended within %s. Try again.", s.limits.slots, s.limits.wait),
		"limit", strconv.Itoa(s.limits.slots))
	e.RetryAfter = time.Second
	return e
}

func (ses *session) begin(ctx context.Context, timeout time.Duration) error {
	if err := ses.exec(ctx, opening+milliseconds(timeout)); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	ses.planning = plansOnce
	return nil
}

// exec runs fixed statements in one round trip.
func (ses *session) exec(ctx context.Context, sql string) error {
	return ses.conn.Conn().PgConn().Exec(ctx, sql).Close()
}

// try does f with another limit of a statement's time. Where that fails, the transaction is as it was before.
func (ses *session) try(ctx context.Context, timeout, after time.Duration, f func() error) error {
	planning := ses.planning
	if err := ses.exec(ctx, "SAVEPOINT try; SET LOCAL statement_timeout = "+milliseconds(timeout)); err != nil {
		return fmt.Errorf("set statement timeout: %w", err)
	}
	err := f()
	if err == nil {
		if err = ses.exec(ctx, "SET LOCAL statement_timeout = "+milliseconds(after)); err == nil {
			return nil
		}
	}
	if ctx.Err() != nil {
		return err // the connection is closed with it
	}
	undo := ses.exec(ctx, "ROLLBACK TO try")
	for cancelled(undo) && ctx.Err() == nil { // by the very limit that it takes back
		undo = ses.exec(ctx, "ROLLBACK TO try")
	}
	ses.planning = planning
	return errors.Join(err, undo)
}

func (ses *session) rollback(ctx context.Context) error {
	if ses.conn.Conn().IsClosed() {
		return nil // the server ends the transaction
	}
	if err := ses.exec(ctx, "ROLLBACK"); err != nil {
		return fmt.Errorf("rollback: %w", err)
	}
	return nil
}

// Query runs a statement that is planned for the values it carries: a filter's cost depends on them, and a plan
// made without them may be a thousand times worse.
func (ses *session) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := ses.plans(ctx, plansOfValues); err != nil {
		return nil, err
	}
	return ses.conn.Query(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

// QueryRow is Query for one row.
func (ses *session) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := ses.plans(ctx, plansOfValues); err != nil {
		return failedRow{err}
	}
	return ses.conn.QueryRow(ctx, sql, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
}

type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// How statements are planned. PostgreSQL plans those without a name for their values, unless it is told otherwise.
// A plan that is kept may meet days that were empty when it was made: it must use their indexes all the same.
const (
	plansOnce     = "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off"
	plansOfValues = "SET LOCAL plan_cache_mode = auto; SET LOCAL enable_seqscan = on"
)

func (ses *session) plans(ctx context.Context, how string) error {
	if ses.planning == how {
		return nil
	}
	if err := ses.exec(ctx, how); err != nil {
		return fmt.Errorf("choose how to plan: %w", err)
	}
	ses.planning = how
	return nil
}

// prepared runs statements whose plan is good for all values: PostgreSQL keeps it.
func (ses *session) prepared() db.DBTX { return ses.conn }

// once is prepared for statements over all days, of which planning takes longer than what is asked: they are
// planned once a connection.
func (ses *session) once(ctx context.Context) (db.DBTX, error) {
	return ses.conn, ses.plans(ctx, plansOnce)
}

// Exec completes what generated queries ask of a connection; searches write nothing.
func (ses *session) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return ses.conn.Exec(ctx, sql, args...)
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(max(1, d.Milliseconds()), 10)
}

// cancelled says whether the server ended a statement that took too long.
func cancelled(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "57014"
}

// publicError gives the failures of the database a public side; others keep theirs.
func publicError(ctx context.Context, err error, l limits) error {
	var public *fault.Error
	if errors.As(err, &public) {
		return public
	}
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("search cancelled: %w", ctx.Err())
	}
	if cancelled(err) || errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(err, fault.Unavailable, fault.ReasonQueryTimeout,
			fmt.Sprintf("The search took longer than %s and was ended. A shorter time range or a more selective filter is faster.", l.statement),
			"limit", l.statement.String())
	}
	if unreachable(err) {
		e := fault.Wrap(err, fault.Unavailable, fault.ReasonDatabaseUnavailable, "The database does not answer. Try again.")
		e.RetryAfter = time.Second
		return e
	}
	return err
}

// unreachable says whether err is the connection's, not the statement's.
func unreachable(err error) bool {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return true
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		var network net.Error
		return pgconn.SafeToRetry(err) || errors.Is(err, pgconn.ErrConnClosed) || errors.As(err, &network) ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	}
	switch pg.Code[:2] {
	case "08", "53", "57": // connection, resources, operator intervention
		return true
	default:
		return false
	}
}
