package consume

import (
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

// isolateChunk is how many records share a transaction when each has a savepoint: the server keeps 64
// subtransactions per session at hand, and every reader pays for more.
const isolateChunk = 50

const insertOne = `INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, flags,
	facets_version, source, id, type, subject, time_text, dataschema, datacontenttype, attributes, tags, facets,
	lexemes, trace_id, record_key, headers, data)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
ON CONFLICT (occurred_at, source, id) DO NOTHING`

// insertAlone stores the rows one by one, each in a savepoint, in the same order as a whole batch. A
// row that PostgreSQL refuses for its own sake is rejected and the others stay. Constraints that wait
// for COMMIT are checked at each row, so that the right one is blamed.
func (a *attempt) insertAlone(ctx context.Context, conn *pgxpool.Conn) error {
	a.rejected = map[int]*pgconn.PgError{}
	for _, i := range a.b.sorted() {
		if a.winner[a.b.head(i)] >= 0 {
			continue // an earlier row of the same identity is in: judge compares them
		}
		inserted, err := a.insertRow(ctx, conn, &a.b.rows[i])
		var pg *pgconn.PgError
		switch {
		case err == nil && inserted:
			a.stored[i], a.winner[a.b.head(i)] = true, i
		case err == nil: // the identity is taken: judge compares
		case classify(err) == recordCaused && errors.As(err, &pg):
			a.rejected[i] = pg
		default:
			return err
		}
		a.c.metrics.isolated.Inc()
		failpoint.Hit("con.isolated_one")
	}
	return nil
}

func (a *attempt) insertRow(ctx context.Context, conn *pgxpool.Conn, r *row) (inserted bool, err error) {
	e := r.event
	var severity *int16
	if r.severity != 0 {
		severity = &r.severity
	}
	var batch pgx.Batch
	batch.Queue("SAVEPOINT one")
	batch.Queue(insertOne, time.UnixMicro(r.micros).UTC(), a.pos.log, a.pos.part, r.record.Offset, a.commit,
		kafkaTime(r.record), r.digest, severity, int16(r.flags), a.c.derived.version, e.Source, e.ID, e.Type,
		optional(e.Subject), e.TimeText, optional(e.DataSchema), optional(e.DataContentType), attributes(e), r.tags,
		r.facets, r.lexemes, r.trace, r.record.Key, flatHeaders(r.headers), e.Data)
	batch.Queue("SET CONSTRAINTS ALL IMMEDIATE")
	batch.Queue("RELEASE SAVEPOINT one")
	br := conn.SendBatch(ctx, &batch)
	for n := range batch.Len() {
		tag, execErr := br.Exec()
		if execErr != nil {
			err = execErr
			break
		}
		if n == 1 {
			inserted = tag.RowsAffected() == 1
		}
	}
	if cerr := br.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		return inserted, nil
	}
	err = fmt.Errorf("insert one row: %w", err)
	if classify(err) != recordCaused {
		return false, err
	}
	if _, rerr := conn.Exec(ctx, "ROLLBACK TO SAVEPOINT one"); rerr != nil {
		return false, fmt.Errorf("roll back one row: %w", rerr)
	}
	return false, err
}

// sorted are the candidates and the repeated rows in the order of (occurred_at, source, id, offset).
func (b *batch) sorted() []int {
	all := make([]int, 0, len(b.rows))
	for i := range b.rows {
		if f := b.rows[i].fate; f == candidate || f == repeated {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(x, y int) int {
		if c := compareIdentity(&b.rows[x], &b.rows[y]); c != 0 {
			return c
		}
		return x - y
	})
	return all
}

// split cuts a batch into contiguous ranges small enough to be isolated.
func (b *batch) split() []*batch {
	if len(b.rows) <= isolateChunk {
		return []*batch{b}
	}
	parts := b.cut(isolateChunk)
	for _, part := range parts {
		part.arrange()
		part.stage()
		part.index()
	}
	return parts
}

// cut makes contiguous ranges of at most size records, yet to be arranged and staged.
func (b *batch) cut(size int) []*batch {
	var parts []*batch
	from := b.from
	for rows := range slices.Chunk(b.rows, size) {
		last := rows[len(rows)-1].record
		parts = append(parts, &batch{
			from: from, to: last.Offset + 1, leaderEpoch: last.LeaderEpoch, rows: slices.Clone(rows), panics: b.panics,
		})
		from = last.Offset + 1
	}
	return parts
}
