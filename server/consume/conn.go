package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// How long the server lets a statement run, wait for a lock, and a transaction be idle.
const (
	statementTimeout = 15 * time.Second
	lockTimeout      = 2 * time.Second
	idleTimeout      = 10 * time.Second
)

// sessionSettings make the server end whatever hangs, and acknowledge no commit that is not on disk.
func sessionSettings() string {
	return fmt.Sprintf(`SET statement_timeout = %d; SET lock_timeout = %d;
SET idle_in_transaction_session_timeout = %d; SET synchronous_commit = on; SET jit = off`,
		statementTimeout.Milliseconds(), lockTimeout.Milliseconds(), idleTimeout.Milliseconds())
}

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
	for _, sql := range []string{sessionSettings(), stagingTable} {
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
