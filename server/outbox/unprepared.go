package outbox

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// unprepared has each statement planned for its values and for the table as it is now. The outbox is empty one
// moment and full the next: a plan that was made for an empty table, and kept, reads a full one from end to
// end for every message.
type unprepared struct{ pool *pgxpool.Pool }

func planned(args []any) []any {
	return append([]any{pgx.QueryExecModeCacheDescribe}, args...)
}

func (u unprepared) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return u.pool.Exec(ctx, sql, planned(args)...)
}

func (u unprepared) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return u.pool.Query(ctx, sql, planned(args)...)
}

func (u unprepared) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return u.pool.QueryRow(ctx, sql, planned(args)...)
}
