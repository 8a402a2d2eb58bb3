package consume

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"oriel/server/failpoint"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// position is where a worker is in its partition, as the checkpoint has it.
type position struct {
	log     int16
	part    int32
	epoch   int64 // owner_epoch that we took
	next    int64 // next_offset
	commits int64
	high    int64 // high_offset as it was taken over: records below it were met before
}

// tally is what became of a batch's records; letters are the dead ones by reason.
type tally struct {
	stored, duplicate, dead, expired int
	taken                            int // identities that were asked for as they were taken
	letters                          [reasonCount]int
}

// errFenced says that the checkpoint is not where we left it, or not ours: another owner, an
// operator's rewind, a state that stops the partition. Nothing was written.
var errFenced = errors.New("the checkpoint moved or changed hands")

// errConflictVanished says that a row which refused ours was gone when we looked at it.
var errConflictVanished = errors.New("the row of the same identity is gone")

const (
	casCheckpoint = `UPDATE checkpoint SET next_offset = $1, high_offset = greatest(high_offset, $1), leader_epoch = $2, commits = commits + 1,
	blocks = commits + 1, updated_at = clock_timestamp()
 WHERE consumer = $3 AND log = $4 AND partition = $5 AND next_offset = $6 AND owner_epoch = $7 AND state = 'running'
RETURNING commits`
)

// finishIn bounds COMMIT and ROLLBACK, which must not end with the caller's context: an abandoned
// COMMIT is an unknown outcome made by ourselves.
const finishIn = 10 * time.Second

// attempt is one transaction that tries to store a batch. It leaves the batch as it is, so that the
// next attempt starts from the same.
type attempt struct {
	c        *Consumer
	b        *batch
	pos      position
	commit   int64                   // the batch's commit number
	winner   []int                   // by candidate: the row of its identity that was inserted, or -1
	stored   []bool                  // by row
	rejected map[int]*pgconn.PgError // by row, when rows are inserted alone
	letters  []letter
	rollup   rollups
	tally    tally
}

// way is how a batch's rows get into the event table.
type way uint8

const (
	atOnce way = iota // all or none
	staged            // those whose identity is free
	alone             // one by one
)

// errTaken says that rows cannot all be inserted at once. Nothing was written.
var errTaken = errors.New("the identity of a row is taken")

const uniqueViolation = "23505"

// write stores a batch in one transaction. The error is errFenced, a *commitError, or what a
// statement failed with, after which nothing is written.
func (c *Consumer) write(ctx context.Context, pos position, b *batch, by way) (tally, error) {
	a := &attempt{c: c, b: b, pos: pos, stored: make([]bool, len(b.rows)), winner: make([]int, len(b.rows))}
	for i := range a.winner {
		a.winner[i] = -1
	}
	conn, err := c.acquire(ctx)
	if err != nil {
		return tally{}, err
	}
	defer giveBack(ctx, conn) // also after a panic
	if err := a.run(ctx, conn, by); err != nil {
		return tally{}, err
	}
	return a.tally, nil
}

func (a *attempt) run(ctx context.Context, conn *pgxpool.Conn, by way) error {
	failpoint.Hit("con.before_tx")
	if err := a.begin(ctx, conn); err != nil {
		return err
	}
	if err := failpoint.Error("con.tx_begun"); err != nil {
		return err
	}
	insert := [...]func(context.Context, *pgxpool.Conn) error{a.insertAtOnce, a.insertStaged, a.insertAlone}[by]
	if err := insert(ctx, conn); err != nil {
		return err
	}
	if err := failpoint.Error("con.tx_half"); err != nil {
		return err
	}
	if err := a.judge(ctx, conn); err != nil {
		return err
	}
	if err := a.account(ctx, conn); err != nil {
		return err
	}
	if len(a.letters) > 0 {
		failpoint.Hit("dlq.after_insert")
	}
	failpoint.Hit("con.before_commit")
	if err := a.end(ctx, conn); err != nil {
		return err
	}
	failpoint.Hit("con.after_commit")
	return nil
}

// begin takes the checkpoint first: a fenced owner fails before it does any work, and the row's lock
// keeps owners apart.
func (a *attempt) begin(ctx context.Context, conn *pgxpool.Conn) error {
	var batch pgx.Batch
	batch.Queue("BEGIN")
	batch.Queue(casCheckpoint, a.b.to, a.b.leaderEpoch, a.c.cfg.Consumer, a.pos.log, a.pos.part, a.b.from, a.pos.epoch)
	br := conn.SendBatch(ctx, &batch)
	if _, err := br.Exec(); err != nil {
		_ = br.Close() // says the same again
		return fmt.Errorf("begin: %w", err)
	}
	err := br.QueryRow().Scan(&a.commit)
	if cerr := br.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return errFenced
	}
	if err != nil {
		return fmt.Errorf("advance the checkpoint: %w", err)
	}
	return nil
}

// insertAtOnce fails with errTaken where the identity of a row is taken.
func (a *attempt) insertAtOnce(ctx context.Context, conn *pgxpool.Conn) error {
	if len(a.b.order) == 0 {
		return nil
	}
	a.b.stamp(a.pos, a.commit, a.c.derived.version)
	tag, err := conn.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(a.b.staged), copyEvents)
	switch {
	case sqlstate(err) == uniqueViolation:
		return fmt.Errorf("%w: %w", errTaken, err)
	case err != nil:
		return fmt.Errorf("copy the rows: %w", err)
	case tag.RowsAffected() != int64(len(a.b.order)):
		return fmt.Errorf("%w: %d rows of %d", errTaken, tag.RowsAffected(), len(a.b.order))
	}
	failpoint.Hit("con.copied")
	for _, i := range a.b.order {
		a.stored[i], a.winner[i] = true, i
	}
	return nil
}

func (a *attempt) insertStaged(ctx context.Context, conn *pgxpool.Conn) error {
	if len(a.b.order) == 0 {
		return nil
	}
	a.b.stamp(a.pos, a.commit, a.c.derived.version)
	if _, err := conn.Conn().PgConn().CopyFrom(ctx, bytes.NewReader(a.b.staged), copyStage); err != nil {
		return fmt.Errorf("stage the rows: %w", err)
	}
	failpoint.Hit("con.staged")
	rows, err := conn.Query(ctx, moveStage)
	if err != nil {
		return fmt.Errorf("insert the rows: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var offset int64
		if err := rows.Scan(&offset); err != nil {
			return fmt.Errorf("read the inserted rows: %w", err)
		}
		i, ok := a.b.at(offset)
		if !ok {
			return fmt.Errorf("the database inserted offset %d, which is none of the batch", offset)
		}
		a.stored[i], a.winner[i] = true, i
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("insert the rows: %w", err)
	}
	return nil
}

// at finds the row of an offset; rows are in the order of offsets.
func (b *batch) at(offset int64) (int, bool) {
	return slices.BinarySearchFunc(b.rows, offset, func(r row, o int64) int { return cmp.Compare(r.record.Offset, o) })
}

// end sends COMMIT. Its context does not end with the caller's.
func (a *attempt) end(ctx context.Context, conn *pgxpool.Conn) error {
	finish, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishIn)
	defer cancel()
	tag, err := conn.Exec(finish, "COMMIT")
	if err != nil {
		if finish.Err() != nil {
			a.c.pool.Reset() // as inTime
		}
		return &commitError{commit: a.commit, tally: a.tally, class: classifyCommit(err), err: err}
	}
	if tag.String() != "COMMIT" {
		return &commitError{commit: a.commit, class: environment, err: pgx.ErrTxCommitRollback}
	}
	return nil
}

// commitError is a failed COMMIT. Where its class is unknownOutcome the batch may be durable, and
// tally says what it did then.
type commitError struct {
	commit int64
	tally  tally
	class  class
	err    error
}

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }
