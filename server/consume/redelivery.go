package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// readHolders finds stored rows by their identities: one probe of the unique index each. Nothing but that index gives
// the order that is asked for, and sessions of a consumer do not sort (Session): left to its estimates, the planner
// takes the index of (source, occurred_at) for as good, a probe then reads every event of its source and instant, and
// an import that has one time for all of its events hardly gets through a second time.
const readHolders = `SELECT i.n, e.digest, e.log, e.partition, e."offset"
  FROM (SELECT unnest($1::timestamptz[]) AS occurred_at, unnest($2::text[]) AS source, unnest($3::text[]) AS id,
               unnest($4::integer[]) AS n) i
 CROSS JOIN LATERAL (SELECT source, id, digest, log, partition, "offset" FROM event
                      WHERE occurred_at = i.occurred_at AND (source, id) >= (i.source, i.id)
                      ORDER BY source, id LIMIT 1) e
 WHERE e.source = i.source AND e.id = i.id`

// holder is a stored row that has the identity of one of ours.
type holder struct {
	digest int64
	log    int16
	part   int32
	offset int64
}

// identities are rows of a batch whose holders are asked for.
type identities struct {
	times   []time.Time
	sources []string
	ids     []string
	rows    []int32
}

func (s *identities) add(i int, r *row) {
	s.times = append(s.times, time.UnixMicro(r.micros).UTC())
	s.sources, s.ids, s.rows = append(s.sources, r.event.Source), append(s.ids, r.event.ID), append(s.rows, int32(i))
}

// read answers by row; a row whose identity is not stored is missing.
func (s *identities) read(ctx context.Context, conn *pgxpool.Conn) (map[int]holder, error) {
	if len(s.rows) == 0 {
		return nil, nil
	}
	rows, err := conn.Query(ctx, readHolders, s.times, s.sources, s.ids, s.rows)
	if err != nil {
		return nil, fmt.Errorf("read the rows of the same identity: %w", err)
	}
	found := make(map[int]holder, len(s.rows))
	var n int
	var h holder
	if _, err := pgx.ForEachRow(rows, []any{&n, &h.digest, &h.log, &h.part, &h.offset}, func() error { found[n] = h; return nil }); err != nil {
		return nil, fmt.Errorf("read the rows of the same identity: %w", err)
	}
	return found, nil
}

// meet looks up which candidates were stored before, so that a redelivered batch costs neither the lexicon
// nor an insert: rows below the partition's highest offset, and whatever follows a batch that was stored
// before for the most part. Fresh batches do not ask. What is found decides: an identity is stored once and
// its row never changes, so that a duplicate now is one for good.
func (c *Consumer) meet(ctx context.Context, pos position, b *batch) error {
	var ask identities
	for i := range b.rows {
		if r := &b.rows[i]; r.fate == candidate {
			ask.add(i, r)
		}
	}
	if len(ask.rows) == 0 {
		return nil
	}
	c.metrics.lookups.Inc()
	conn, err := c.acquire(ctx)
	if err != nil {
		return err
	}
	defer giveBack(ctx, conn)
	found, err := ask.read(ctx, conn)
	if err != nil {
		return err
	}
	for i, h := range found {
		r := &b.rows[i]
		r.fate, r.holder = met, &h
		if !h.is(pos, r) {
			r.digest = r.event.Digest()
		}
	}
	return nil
}

// is says that the row at hand is the stored one, met again.
func (h holder) is(pos position, r *row) bool {
	return h.log == pos.log && h.part == pos.part && h.offset == r.record.Offset
}
