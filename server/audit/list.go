package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"oriel/server/fault"
)

// Page sizes of a list.
const (
	DefaultPageSize = 100
	MaxPageSize     = 500
)

// Page is one page, newest first.
type Page struct {
	Entries   []Entry
	NextToken string
}

// List reads a page; the token of another filter is refused with INVALID_PAGE_TOKEN. A size of 0 is the default.
func (l *Log) List(ctx context.Context, f Filter, size int, token string) (*Page, error) {
	if size <= 0 {
		size = DefaultPageSize
	}
	size = min(size, MaxPageSize)
	mark := f.fingerprint()
	var from pageToken
	if token != "" {
		var err error
		if from, err = readToken(token); err != nil || from.filter != mark {
			return nil, fault.New(fault.InvalidArgument, fault.ReasonInvalidPageToken,
				"The page token belongs to another filter or is cut: begin again without one.", "attribute", "pageToken", "accepted", "nextPageToken of a page with the same filter")
		}
		f.From, f.Until = from.from, from.until
	}
	page := &Page{Entries: []Entry{}}
	var last int64
	err := l.reading(ctx, pgx.ReadCommitted, l.listFor, func(tx pgx.Tx) error {
		sql, args := f.selection(from.last, size+1)
		rows, err := query(ctx, tx, sql, args)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if len(page.Entries) == size {
				page.NextToken = pageToken{mark, f.From, f.Until, last}.String()
				break
			}
			var e Entry
			if last, err = scan(rows, &e); err != nil {
				return err
			}
			page.Entries = append(page.Entries, e)
		}
		rows.Close()
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// query has the statement planned for the values it carries, every time.
func query(ctx context.Context, tx pgx.Tx, sql string, args []any) (pgx.Rows, error) {
	rows, err := tx.Query(ctx, sql, append([]any{pgx.QueryExecModeDescribeExec}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read the audit record: %w", err)
	}
	return rows, nil
}

func scan(rows pgx.Rows, e *Entry) (id int64, err error) {
	var operation [16]byte
	var before, after []byte
	if err := rows.Scan(&id, &operation, &e.Intent, &e.Action, &e.Actor.Kind, &e.Actor.Name, &e.Actor.ID, &e.Actor.Roles, &e.Reason,
		&e.RequestID, &e.Address, &e.Target, &e.Detail, &e.Outcome, &before, &after, &e.End); err != nil {
		return 0, fmt.Errorf("read an audit entry: %w", err)
	}
	e.Operation = uuidText(operation)
	var errs [2]error
	e.Before, errs[0] = decodeObject(before)
	e.After, errs[1] = decodeObject(after)
	return id, errors.Join(errs[:]...)
}

// reading does f in a read-only transaction whose statements end after a while, and gives failures of the
// database a public side.
func (l *Log) reading(ctx context.Context, level pgx.TxIsoLevel, most time.Duration, f func(pgx.Tx) error) error {
	tx, err := l.beginReading(ctx, level, most)
	if err == nil {
		err = errors.Join(f(tx), rollback(ctx, tx))
	}
	return readable(err, most)
}

func (l *Log) beginReading(ctx context.Context, level pgx.TxIsoLevel, most time.Duration) (pgx.Tx, error) {
	tx, err := l.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: level, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("begin to read the audit record: %w", err)
	}
	if _, err := tx.Exec(ctx, "SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true), set_config('jit', 'off', true)",
		milliseconds(most), milliseconds(stallFor)); err != nil {
		return nil, errors.Join(fmt.Errorf("bound the reading of the audit record: %w", err), rollback(ctx, tx))
	}
	return tx, nil
}

// rollback ends what was only read, and that even where the caller has left.
func rollback(ctx context.Context, tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeFor)
	defer cancel()
	if err := tx.Rollback(ctx); err != nil && !errors.Is(err, pgx.ErrTxClosed) && !tx.Conn().IsClosed() {
		return fmt.Errorf("end the reading of the audit record: %w", err)
	}
	return nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// readable gives the failures of reading a public side.
func readable(err error, most time.Duration) error {
	var public *fault.Error
	var pg *pgconn.PgError
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case err == nil || errors.As(err, &public) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &pg) && pg.Code == "57014" || errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Unavailable, fault.ReasonQueryTimeout,
			"Reading the audit record took longer than "+most.String()+" and was ended. A filter by actor, action or target is faster than one by text.",
			"limit", most.String())
	case errors.As(err, &pg) && pg.Code[:2] != "08" && pg.Code[:2] != "53" && pg.Code[:2] != "57":
		return err
	case pg != nil || errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, pgconn.ErrConnClosed) ||
		pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		e := fault.Wrap(err, fault.Unavailable, fault.ReasonDatabaseUnavailable, "The database does not answer. Try again.")
		e.RetryAfter = time.Second
		return e
	}
	return err
}
