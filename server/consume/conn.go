package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// sessionSettings make the server end whatever hangs, and acknowledge no commit that is not on disk.
const sessionSettings = `SET statement_timeout = '15s'; SET lock_timeout = '2s';
SET idle_in_transaction_session_timeout = '10s'; SET synchronous_commit = on; SET jit = off`

// sessionMark is the key under which a connection remembers that it was set up.
const sessionMark = "oriel.consume.session"

// acquire takes a connection from the pool, set up once for its lifetime: limits, and the staging
// table.
func (c *Consumer) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("get a connection: %w", err)
	}
	marks := conn.Conn().PgConn().CustomData()
	if marks[sessionMark] != nil {
		return conn, nil
	}
	for _, sql := range []string{sessionSettings, stagingTable} {
		if _, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			conn.Release()
			return nil, fmt.Errorf("set up the session: %w", err)
		}
	}
	marks[sessionMark] = true
	return conn, nil
}

// giveBack ends what is open on a connection and returns it to the pool, which replaces one that was
// closed. Nothing of use is left on such a connection: the server rolls back what was open.
func giveBack(ctx context.Context, conn *pgxpool.Conn) {
	defer conn.Release()
	pg := conn.Conn().PgConn()
	if pg.IsClosed() || (pg.TxStatus() == 'I' && !pg.IsBusy()) {
		return
	}
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishIn)
	defer cancel()
	if !pg.IsBusy() {
		if _, err := conn.Exec(finish, "ROLLBACK"); err == nil {
			return
		}
	}
	hangUp, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Conn().Close(hangUp) // it is given up either way
}
