package saved

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"oriel/server/db"
	"oriel/server/fault"
)

// databaseWait bounds a change that the caller does not bound any shorter.
const databaseWait = 5 * time.Second

func (s *Store) transact(ctx context.Context, doing string, work func(context.Context, *db.Queries, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return work(ctx, s.queries.WithTx(tx), tx) })
	return databaseError(err, doing)
}

// databaseError says of a failure that the database does not answer, unless the statement was at fault or
// the error has a public side already.
func databaseError(err error, doing string) error {
	var (
		public *fault.Error
		pg     *pgconn.PgError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &public):
		return err
	case errors.Is(err, context.Canceled), errors.As(err, &pg) && !passing(pg.Code):
		return fmt.Errorf("%s: %w", doing, err)
	}
	e := fault.Wrap(fmt.Errorf("%s: %w", doing, err), fault.Unavailable, fault.ReasonDatabaseUnavailable, "The database does not answer. Try again.")
	e.RetryAfter = 2 * time.Second
	return e
}

// passing are the classes of errors of the connection, of resources and of an operator's intervention.
func passing(code string) bool { return code[:2] == "08" || code[:2] == "53" || code[:2] == "57" }
