package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/fault"
)

// A fetch holds at most so many entries in memory.
const fetched = 500

// Export is every entry of a filter from one snapshot, newest first. It holds a connection until Close, and few
// entries at a time.
type Export struct {
	log   *Log
	tx    pgx.Tx
	batch []Entry
	next  int
	whole bool // the cursor has no more
	once  sync.Once
	err   error // of Close
}

// OpenExport begins an export and reads its first entries, so that what cannot be read fails here.
func (l *Log) OpenExport(ctx context.Context, f Filter) (*Export, error) {
	select {
	case l.exports <- struct{}{}:
		l.metrics.exports.Inc()
	default:
		e := fault.New(fault.Unavailable, fault.ReasonSearchBusy,
			fmt.Sprintf("All %d exports that may run at once are running. Try again when one has ended.", exportsAtOnce), "limit", strconv.Itoa(exportsAtOnce))
		e.RetryAfter = 5 * time.Second
		return nil, e
	}
	e := &Export{log: l}
	if err := e.open(ctx, f); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	return e, nil
}

func (e *Export) open(ctx context.Context, f Filter) (err error) {
	defer func() { err = readable(err, fetchFor) }()
	if e.tx, err = e.log.beginReading(ctx, pgx.RepeatableRead, fetchFor); err != nil {
		return err
	}
	sql, args := f.selection(0, 0)
	rows, err := query(ctx, e.tx, "DECLARE entries NO SCROLL CURSOR FOR "+sql, args)
	if err != nil {
		return err
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return fmt.Errorf("open the export: %w", err)
	}
	return e.fetch(ctx)
}

func (e *Export) fetch(ctx context.Context) error {
	rows, err := e.tx.Query(ctx, "FETCH FORWARD "+strconv.Itoa(fetched)+" FROM entries")
	if err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	defer rows.Close()
	clear(e.batch[:cap(e.batch)])
	e.batch, e.next = e.batch[:0], 0
	for rows.Next() {
		var entry Entry
		if _, err := scan(rows, &entry); err != nil {
			return err
		}
		e.batch = append(e.batch, entry)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	e.whole = len(e.batch) < fetched
	return nil
}

// Next is the next entry, valid until the one after it; io.EOF after the last.
func (e *Export) Next(ctx context.Context) (*Entry, error) {
	if e.next == len(e.batch) {
		if e.whole {
			return nil, io.EOF
		}
		if err := e.fetch(ctx); err != nil {
			return nil, readable(err, fetchFor)
		}
		if len(e.batch) == 0 {
			return nil, io.EOF
		}
	}
	e.next++
	return &e.batch[e.next-1], nil
}

// Close gives the connection back, even where ctx has ended. Safe twice.
func (e *Export) Close(ctx context.Context) error {
	e.once.Do(func() {
		if e.tx != nil {
			e.err = rollback(ctx, e.tx)
		}
		<-e.log.exports
		e.log.metrics.exports.Dec()
	})
	return e.err
}

// Export streams every entry of a filter from one snapshot to each, newest first, and returns how many. What
// each is given is valid until it returns.
func (l *Log) Export(ctx context.Context, f Filter, each func(*Entry) error) (n int, err error) {
	export, err := l.OpenExport(ctx, f)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, export.Close(ctx)) }()
	for {
		entry, err := export.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
		if err := each(entry); err != nil {
			return n, err
		}
		n++
	}
}
