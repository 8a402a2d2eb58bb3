package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// contender consumes a topic into the table event of a database.
type contender interface {
	// table is the statements that make its table; none where it makes its own.
	table() string
	form(skewed bool) form
	start(ctx context.Context, s *stage, topic string, d *database) error
	// spent is the processor time of its process so far.
	spent() time.Duration
	// ended is an error where it will not go on.
	ended(ctx context.Context) error
	stop(ctx context.Context) error
}

// turn is one measured run: records a second, processor time in microseconds a record, and their size.
type turn struct{ rate, own, server, bytes float64 }

// wholeRows counts the rows with everything that each event has.
const wholeRows = `SELECT count(*) FROM event WHERE source <> '' AND id <> '' AND type <> '' AND subject <> ''
	AND datacontenttype = 'application/json' AND octet_length(data::text) > 2 AND `

// patience is how long a turn may take.
const patience = 5 * time.Minute

// measure gives a contender a database and returns its rate. The clock starts once a tenth of the records is
// stored, and stops when all are and the index holds them.
func (s *stage) measure(ctx context.Context, b *backlog, c contender) (t turn, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it takes too long"))
	defer cancel()
	d := s.past[c.table()]
	if d == nil {
		if d, err = s.openDatabase(ctx, databaseName, c.table()); err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, d.close(ctx)) }()
	}
	if _, err := d.admin.Exec(ctx, "CHECKPOINT"); err != nil {
		return t, err
	}
	server := postmaster(ctx, d.admin)
	mark := func(now sample) meter { return meter{now, c.spent(), spentTree(server)} }
	counter, err := newCounter(ctx, d, c)
	if err != nil {
		return t, err
	}
	defer counter.conn.Close(context.WithoutCancel(ctx))
	began := time.Now()
	if err := c.start(ctx, s, b.topic, d); err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, c.stop(context.WithoutCancel(ctx))) }()
	from := mark(sample{at: began})
	now, err := counter.wait(ctx, b.n/10)
	if err != nil {
		return t, err
	}
	if now.rows < b.n { // else it was too fast for us
		from = mark(now)
	}
	if _, err := counter.wait(ctx, b.n); err != nil {
		return t, err
	}
	if _, err := d.pool.Exec(ctx, merge); err != nil {
		return t, err
	}
	to := mark(sample{b.n, time.Now()})
	var whole int
	if err := counter.conn.QueryRow(ctx, wholeRows+counter.added).Scan(&whole); err != nil {
		return t, err
	}
	if whole -= counter.before; whole != b.n {
		return t, fmt.Errorf("%d whole rows of %d", whole, b.n)
	}
	n := float64(to.rows - from.rows)
	return turn{
		rate:  n / to.at.Sub(from.at).Seconds(),
		bytes: float64(b.bytes) / float64(b.n),
		own:   (to.own - from.own).Seconds() * 1e6 / n, server: (to.server - from.server).Seconds() * 1e6 / n,
	}, nil
}

// meter is what was stored and spent at an instant.
type meter struct {
	sample
	own, server time.Duration
}

// sample is how many rows there were at an instant.
type sample struct {
	rows int
	at   time.Time
}

// counter counts rows seldom enough not to be in the way.
type counter struct {
	conn   *pgx.Conn
	c      contender
	added  string // the condition of rows that count
	before int    // how many there were before the turn
}

func newCounter(ctx context.Context, d *database, c contender) (*counter, error) {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return nil, err
	}
	k := &counter{conn: conn, c: c, added: d.added}
	// One process counts: the others are the contender's.
	if _, err := conn.Exec(ctx, "SET max_parallel_workers_per_gather = 0"); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	if k.before, err = k.count(ctx); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return k, nil
}

// count counts the rows that contenders have added.
func (k *counter) count(ctx context.Context) (n int, err error) {
	err = k.conn.QueryRow(ctx, "SELECT count(*) FROM event WHERE "+k.added).Scan(&n)
	return n, err
}

// wait returns the first sample of so many rows.
func (k *counter) wait(ctx context.Context, rows int) (sample, error) {
	began, looks := sample{at: time.Now()}, 0
	for {
		now := sample{at: time.Now()}
		n, err := k.count(ctx)
		if err != nil {
			return now, err
		}
		now.rows = n - k.before
		if now.rows >= rows {
			return now, nil
		}
		if looks++; looks == 1 {
			began = now
		}
		if err := k.c.ended(ctx); err != nil {
			return now, fmt.Errorf("%d rows of %d: %w", now.rows, rows, err)
		}
		if err := pause(ctx, until(began, now, rows)); err != nil {
			return now, fmt.Errorf("%d rows of %d: %w", now.rows, rows, err)
		}
	}
}

// until is when to look again: half way to the end as it can be foreseen, in bounds.
func until(began, now sample, rows int) time.Duration {
	gone, took := now.rows-began.rows, now.at.Sub(began.at)
	if gone <= 0 {
		return tick
	}
	left := time.Duration(float64(took) * float64(rows-now.rows) / float64(gone))
	return min(max(left/2, tick), time.Second)
}
