package consume

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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

// lookIn bounds a look at the checkpoints, which must not keep the watch from the rest.
const lookIn = 10 * time.Second

// How the server learns that we are gone where nothing says so: until then it holds our locks, and where it
// waits for the rows of a COPY no timeout of its own ends that.
const (
	keepaliveIdle     = 10 * time.Second
	keepaliveInterval = 5 * time.Second
	keepaliveCount    = 3
	unackedTimeout    = 30 * time.Second
)

// Session are the settings of every session of a consumer: the server ends whatever hangs, and
// acknowledges no commit that is not on disk. Rows are sorted where nothing else serves and never to spare an index
// that gives their order, which readHolders relies on. A pool that carries them from the start has them in sessions
// that the consumer only borrows for a statement, too.
func Session() map[string]string {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	return map[string]string{
		"statement_timeout": ms(statementTimeout), "lock_timeout": ms(lockTimeout),
		"idle_in_transaction_session_timeout": ms(idleTimeout), "synchronous_commit": "on", "jit": "off",
		"enable_sort": "off", "enable_incremental_sort": "off",
		"tcp_keepalives_idle":     strconv.Itoa(int(keepaliveIdle.Seconds())),
		"tcp_keepalives_interval": strconv.Itoa(int(keepaliveInterval.Seconds())),
		"tcp_keepalives_count":    strconv.Itoa(keepaliveCount), "tcp_user_timeout": ms(unackedTimeout),
	}
}

// within makes one try of something that needs the database.
func (c *Consumer) within(ctx context.Context, try func(context.Context) error) error {
	return c.inTime(ctx, c.cfg.AttemptIn, try)
}

// inTime is within, by a limit of its own. Where one line went dead so have its neighbours, most likely, and
// whoever takes one from the pool would wait as long again: the next tries begin on new ones.
func (c *Consumer) inTime(ctx context.Context, limit time.Duration, try func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := try(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		c.pool.Reset()
		return fmt.Errorf("gave up after %s: %w", limit, err)
	}
	return err
}

// settings is Session for a connection of whichever pool.
func settings() string {
	var sql strings.Builder
	for name, value := range Session() {
		fmt.Fprintf(&sql, "SET %s = %s;", name, value)
	}
	return sql.String()
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
	for _, sql := range []string{settings(), stagingTable} {
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
