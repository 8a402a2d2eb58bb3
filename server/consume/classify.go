package consume

import (
	"errors"
	"math/rand/v2"
	"strings"
	"time"

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

// classify reads an error of any statement but COMMIT.
//
// SQLSTATEs of class 22 and 23 are about the row, except the two that only look so: 23514 without a
// constraint name is a missing partition, and 25P02 is our own use of an aborted transaction, which
// says nothing of any record. Whatever is not known to be about a record is the environment's.
func classify(err error) class {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return environment // the connection, a deadline, the pool
	}
	switch {
	case strings.HasPrefix(pg.Code, "22"):
		return recordCaused // data exception: encoding, range, format
	case pg.Code == "23514":
		if noPartition(err) {
			return environment
		}
		return recordCaused
	case pg.Code == "23502", pg.Code == "23503", pg.Code == "23505", pg.Code == "23P01", pg.Code == "23001":
		return recordCaused
	case pg.Code == "21000":
		return recordCaused // one row affected twice by one statement
	case pg.Code == "P0001":
		return recordCaused // a validation trigger raised
	case strings.HasPrefix(pg.Code, "54"):
		return recordCaused // program limit: an index row too big
	case pg.Code == "42P01", pg.Code == "42703", pg.Code == "42501", pg.Code == "3F000", pg.Code == "42883", pg.Code == "0A000":
		return skew
	default:
		// 08, 25, 40, 53, 55, 57, 58, XX and all that is not in the table.
		return environment
	}
}

// noPartition tells a row without a day partition, which PostgreSQL reports as a check violation
// without a constraint.
func noPartition(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "23514" && pg.ConstraintName == ""
}

// classifyCommit reads an error of COMMIT. A server that answers with an error of the transaction
// itself has rolled it back; anything else leaves open whether it is durable.
func classifyCommit(err error) class {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return unknownOutcome
	}
	switch pg.Code[:2] {
	case "22", "23", "40", "P0", "54", "21", "25", "42":
		return classify(err)
	default:
		return unknownOutcome // 57P01 may come after the commit record was written
	}
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
