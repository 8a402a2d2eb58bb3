package consume

import (
	"context"
	"fmt"
	"unicode/utf8"

	"oriel/server/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	insertLedger = `INSERT INTO ledger (consumer, log, partition, commit, from_offset, to_offset, stored, duplicate,
	dead, skipped, expired) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10)`
	// A record that is met again after a rewind keeps its first letter.
	insertLetter = `INSERT INTO dead_letter (consumer, log, partition, "offset", commit, reason, detail, sqlstate,
	source, id, type, record_key, record_value, headers, kafka_time)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (consumer, log, partition, "offset") DO NOTHING`
)

// letter is a dead letter to be: the row it buries and why.
type letter struct {
	row                      *row
	reason, detail, sqlstate string
}

// judge gives every record its outcome. A row that was not inserted is a duplicate when the row that
// holds its identity has the same content, or is this very record met again; otherwise it is a dead
// letter with its bytes, and nothing that was sent vanishes.
func (a *attempt) judge(ctx context.Context, conn *pgxpool.Conn) error {
	holders, err := a.holders(ctx, conn)
	if err != nil {
		return err
	}
	for i := range a.b.rows {
		r := &a.b.rows[i]
		switch r.fate {
		case control:
			continue
		case dead:
			a.bury(r, r.reason, r.detail, "")
			continue
		case expired:
			a.tally.expired++
			continue
		case met:
			a.settle(r, *r.holder)
			continue
		case candidate, repeated:
		}
		head := a.b.head(i)
		if a.stored[i] {
			a.tally.stored++
			a.rollup.add(r, a.c.facets.counted)
		} else if pg := a.rejected[i]; pg != nil {
			a.bury(r, fault.ReasonRejected, "PostgreSQL refused the row: "+pg.Message, pg.Code)
		} else if w := a.winner[head]; w >= 0 {
			h := holder{a.b.rows[w].digest, a.pos.log, a.pos.part, a.b.rows[w].record.Offset}
			a.settle(r, h)
		} else {
			a.settle(r, holders[head])
		}
	}
	return nil
}

func (a *attempt) settle(r *row, h holder) {
	if h.is(a.pos, r) || h.digest == r.digest {
		a.tally.duplicate++
		return
	}
	a.bury(r, fault.ReasonConflictingDuplicate, fmt.Sprintf(
		"An event of the same source, id and time but other content is stored from log %d, partition %d, offset %d.",
		h.log, h.part, h.offset), "")
}

func (a *attempt) bury(r *row, reason, detail, sqlstate string) {
	a.tally.dead++
	a.tally.letters[reasonIndex(reason)]++
	a.letters = append(a.letters, letter{r, reason, fit(detail, maxDetail), sqlstate})
}

// head is the first row of the identity of row i in this batch.
func (b *batch) head(i int) int {
	if b.rows[i].fate == repeated {
		return b.rows[i].first
	}
	return i
}

// holders reads the stored rows that refused ours, by the head of each identity.
func (a *attempt) holders(ctx context.Context, conn *pgxpool.Conn) (map[int]holder, error) {
	var ask identities
	for i := range a.b.rows {
		if r := &a.b.rows[i]; r.fate == candidate && a.winner[i] < 0 && a.wanted(i) {
			ask.add(i, r)
		}
	}
	a.tally.taken = len(ask.rows)
	found, err := ask.read(ctx, conn)
	if err != nil {
		return nil, err
	}
	if len(found) != len(ask.rows) {
		return nil, errConflictVanished // its day was dropped meanwhile: the next attempt inserts
	}
	return found, nil
}

// wanted says whether the holder of a head's identity decides anything: not when the only row of it
// was rejected.
func (a *attempt) wanted(head int) bool {
	if a.rejected[head] == nil {
		return true
	}
	for i := range a.b.rows {
		if a.b.rows[i].fate == repeated && a.b.rows[i].first == head && a.rejected[i] == nil {
			return true
		}
	}
	return false
}

// account writes what follows from the outcomes: rollups, the ledger's row and the dead letters.
func (a *attempt) account(ctx context.Context, conn *pgxpool.Conn) error {
	var batch pgx.Batch
	a.rollup.queue(&batch, a.pos)
	if err := a.queueBlocks(&batch); err != nil {
		return err
	}
	batch.Queue(insertLedger, a.c.cfg.Consumer, a.pos.log, a.pos.part, a.commit, a.b.from, a.b.to,
		a.tally.stored, a.tally.duplicate, a.tally.dead, a.tally.expired)
	for i := range a.letters {
		l := &a.letters[i]
		rec := l.row.record
		source, id, kind := l.row.identity()
		headers := make([][]byte, 0, 2*len(rec.Headers))
		for _, h := range rec.Headers {
			headers = append(headers, []byte(h.Key), h.Value)
		}
		args := []any{
			a.c.cfg.Consumer, a.pos.log, a.pos.part, rec.Offset, a.commit, l.reason, l.detail,
			optional(l.sqlstate), source, id, kind, rec.Key, rec.Value, headers, kafkaTime(rec),
		}
		if a.c.cfg.DeadLetterTopic == "" {
			batch.Queue(insertLetter, args...)
		} else if err := a.enqueueCopy(&batch, l, args); err != nil {
			return err
		}
	}
	if err := conn.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("account for the batch: %w", err)
	}
	return nil
}

// identity is what a person finds a dead record by, as far as it can be read.
func (r *row) identity() (source, id, kind *string) {
	if r.event != nil {
		return shownAttribute(r.event.Source), shownAttribute(r.event.ID), shownAttribute(r.event.Type)
	}
	for _, h := range r.record.Headers {
		switch h.Key {
		case "ce_source":
			source = shownAttribute(string(h.Value))
		case "ce_id":
			id = shownAttribute(string(h.Value))
		case "ce_type":
			kind = shownAttribute(string(h.Value))
		}
	}
	return source, id, kind
}

func shownAttribute(s string) *string {
	if s == "" || !utf8.ValidString(s) {
		return nil
	}
	return optional(fit(s, 1024))
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
