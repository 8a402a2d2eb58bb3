package auth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/fault"
)

// InTx is work of the caller that commits together with ours, such as its entry in the record; nil: none.
type InTx func(ctx context.Context, tx pgx.Tx) error

// databaseWait bounds what one call may wait for the database.
const databaseWait = 5 * time.Second

// callerError is what work of the caller returned: it is not ours to explain.
type callerError struct{ err error }

func (e callerError) Error() string { return e.err.Error() }
func (e callerError) Unwrap() error { return e.err }

// transact runs work in one transaction and gives failures of the database a public side.
func transact(ctx context.Context, pool *pgxpool.Pool, opts pgx.TxOptions, doing string, work func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	err := pgx.BeginTxFunc(ctx, pool, opts, func(tx pgx.Tx) error { return work(ctx, tx) })
	return databaseError(err, doing)
}

// run is with, where it is not nil.
func (with InTx) run(ctx context.Context, tx pgx.Tx) error {
	if with == nil {
		return nil
	}
	if err := with(ctx, tx); err != nil {
		return callerError{err}
	}
	return nil
}

// databaseError says of a failure that the database does not answer, unless the statement was at fault or
// the error has a public side already.
func databaseError(err error, doing string) error {
	var (
		caller callerError
		public *fault.Error
		pg     *pgconn.PgError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &caller):
		return caller.err
	case errors.As(err, &public):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, pgx.ErrNoRows),
		errors.As(err, &pg) && !passing(pg.Code):
		return fmt.Errorf("%s: %w", doing, err)
	}
	e := fault.Wrap(fmt.Errorf("%s: %w", doing, err), fault.Unavailable, fault.ReasonDatabaseUnavailable,
		"The database does not answer. Try again.")
	e.RetryAfter = 2 * time.Second
	return e
}

// passing says whether a server's error is about its state and not about the statement.
func passing(code string) bool {
	switch code[:2] {
	case "08", "25", "40", "53", "55", "57": // connection, transaction state, conflict, resources, locks, operator
		return true
	}
	return false
}
