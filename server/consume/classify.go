package consume

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// class says who is to blame for a failed transaction, and so what happens next.
type class uint8

const (
	// environment: the database, the network or a neighbour. The whole batch is tried again, with
	// backoff, and no dead letter is made.
	environment class = iota
	// recordCaused: a record of this batch cannot be stored. The batch is isolated.
	recordCaused
	// skew: schema or permissions are not what this build expects. Tried again, never dead letters;
	// a person has to act.
	skew
	// unknownOutcome: COMMIT was sent and its answer never came. The checkpoint says what happened.
	unknownOutcome
)

func (c class) String() string {
	return [...]string{"environment", "record", "skew", "unknown"}[c]
}

// finding is a class and the reason for it, for people.
type finding struct {
	class class
	why   string
}

// sqlRule is one row of the table of what PostgreSQL answers. The first row that fits decides.
type sqlRule struct {
	state string                     // an SQLSTATE, or the two characters of its class
	when  func(*pgconn.PgError) bool // nil is always
	finding
}

func (r sqlRule) fits(e *pgconn.PgError) bool {
	return strings.HasPrefix(e.Code, r.state) && (r.when == nil || r.when(e))
}

// sqlRules is the table. What is in none of its rows is the environment's: a dead letter is made only of
// what is known to be about a record.
func sqlRules() []sqlRule {
	return []sqlRule{
		{"22", nil, finding{recordCaused, "the row's data: encoding, range, length or format"}},
		{"23514", noDayPartition, finding{environment, "the row's day has no partition: it is made and the batch tried again"}},
		{"23", nil, finding{recordCaused, "a constraint that the row breaks"}},
		{"21000", nil, finding{recordCaused, "one statement met the row twice"}},
		{"P0001", nil, finding{recordCaused, "a validation trigger raised"}},
		{"54", nil, finding{recordCaused, "the row is beyond a limit of the server, such as an index entry's size"}},

		{"08", nil, finding{environment, "the connection failed"}},
		{"25006", nil, finding{environment, "the server takes no writes: a standby, or default_transaction_read_only"}},
		{"25P02", nil, finding{environment, "the transaction had failed before: it says nothing of any record"}},
		{"25P03", nil, finding{environment, "the transaction was idle for too long"}},
		{"25", nil, finding{environment, "the transaction is not in the state that it should be in"}},
		{"40", nil, finding{environment, "the transaction was rolled back for another one's sake"}},
		{"53", nil, finding{environment, "the server is out of disk, memory, connections or another resource"}},
		{"55000", nil, finding{environment, "an object is not in the state that it must be in"}},
		{"55P03", nil, finding{environment, "a lock was not to be had in time"}},
		{"55", nil, finding{environment, "an object is in use"}},
		{"57014", nil, finding{environment, "the statement took too long, or somebody cancelled it"}},
		{"57P03", nil, finding{environment, "the server starts, recovers or stops, and takes no sessions"}},
		{"57", nil, finding{environment, "the server or an administrator ended the session"}},
		{"58", nil, finding{environment, "the server's system failed: a disk, a file"}},
		{"XX", nil, finding{environment, "the server met a fault of its own"}},

		{
			"0A000", func(e *pgconn.PgError) bool { return e.Routine == "RevalidateCachedQuery" },
			finding{skew, "a table changed under a prepared statement, which is prepared again"},
		},
		{"0A000", nil, finding{skew, "the server cannot do what this build asks of it"}},
		{"28", nil, finding{skew, "the server does not let this role in"}},
		{"3D000", nil, finding{skew, "there is no such database"}},
		{"3F000", nil, finding{skew, "there is no such schema"}},
		{"42501", nil, finding{skew, "a permission is missing: see the grants in docs/operations.md"}},
		{"42", nil, finding{skew, "the schema is not the one that this build knows"}},
	}
}

// noDayPartition tells a row that has no partition to go to, which PostgreSQL reports as a check violation
// without a constraint's name. A trigger that raises one and names no constraint is about the row.
func noDayPartition(e *pgconn.PgError) bool {
	return e.ConstraintName == "" && e.Routine != "exec_stmt_raise"
}

// condition is one row of the table of failures that PostgreSQL did not answer.
type condition struct {
	is func(error) bool
	finding
}

func conditions() []condition {
	is := func(targets ...error) func(error) bool {
		return func(err error) bool {
			for _, t := range targets {
				if errors.Is(err, t) {
					return true
				}
			}
			return false
		}
	}
	return []condition{
		{is(errConflictVanished), finding{environment, "the row of the same identity was dropped meanwhile"}},
		{is(errPanic), finding{environment, "our own code failed; after some patience its record is buried"}},
		{is(pgx.ErrTxCommitRollback), finding{environment, "COMMIT was answered with ROLLBACK"}},
		{is(context.Canceled), finding{environment, "we gave it up ourselves"}},
		{func(err error) bool {
			return pgconn.Timeout(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
		}, finding{environment, "no answer came in time"}},
		{
			func(err error) bool { var c *pgconn.ConnectError; return errors.As(err, &c) },
			finding{environment, "there is no connection to the server"},
		},
		{func(err error) bool {
			var n net.Error
			return errors.As(err, &n) || is(io.EOF, io.ErrUnexpectedEOF, net.ErrClosed)(err) || strings.Contains(err.Error(), "conn closed")
		}, finding{environment, "the connection was lost"}},
	}
}

// diagnose reads an error of any statement but COMMIT.
func diagnose(err error) finding {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		for _, r := range sqlRules() {
			if r.fits(pg) {
				return r.finding
			}
		}
		return finding{environment, "an error that is not known to be about a record"}
	}
	for _, c := range conditions() {
		if c.is(err) {
			return c.finding
		}
	}
	return finding{environment, "a failure that PostgreSQL did not answer"}
}

// rolledBack are the SQLSTATEs, or classes, that the answer to COMMIT can only have where the transaction
// was rolled back: deferred constraints and triggers, and conflicts with other transactions. Others may come
// after the commit record was written, 57P01 for one.
func rolledBack() []string {
	return []string{"0A", "21", "22", "23", "25", "40", "42", "54", "P0"}
}

// diagnoseCommit reads an error of COMMIT. A server that answers with an error of the transaction itself
// has rolled it back; anything else leaves open whether it is durable.
func diagnoseCommit(err error) finding {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		for _, state := range rolledBack() {
			if strings.HasPrefix(pg.Code, state) {
				return diagnose(err)
			}
		}
	}
	return finding{unknownOutcome, "COMMIT was sent and nothing says whether it took place"}
}

func classify(err error) class       { return diagnose(err).class }
func classifyCommit(err error) class { return diagnoseCommit(err).class }

// classOf is the class of any error of a transaction.
func classOf(err error) class {
	var ce *commitError
	if errors.As(err, &ce) {
		if ce.class == unknownOutcome {
			return environment // resolved: it did not happen
		}
		return ce.class
	}
	return classify(err)
}

// noPartition tells a row without a day partition.
func noPartition(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23514" && noDayPartition(pg)
}

// sqlstate is the code of a PostgreSQL error, or "".
func sqlstate(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// Backoff of whole-batch retries: full jitter between 0 and min(30 s, 100 ms · 2ⁿ).
const (
	backoffBase = 100 * time.Millisecond
	backoffCap  = 30 * time.Second
)

func jitter(n int) time.Duration {
	ceiling := backoffCap
	if n < 9 {
		ceiling = min(backoffBase<<n, backoffCap)
	}
	return time.Duration(rand.Int64N(int64(ceiling))) + time.Millisecond
}
