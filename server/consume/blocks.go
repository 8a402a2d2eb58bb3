package consume

import (
	"fmt"
	"slices"
	"time"

	"oriel/server/block"
	"oriel/server/lexicon"

	"github.com/jackc/pgx/v5"
)

// addBlocks writes a commit's blocks, of each day one.
const addBlocks = `INSERT INTO event_block (day, log, partition, version, from_commit, through_commit, rows, entries, buckets,
	base_offset, last_offset, keys, lists, places)
SELECT unnest($1::timestamptz[]), $2, $3, $4, $5, $5, unnest($6::integer[]), unnest($7::integer[]), unnest($8::integer[]),
	unnest($9::bigint[]), unnest($10::bigint[]), unnest($11::bytea[]), unnest($12::bytea[]), unnest($13::bytea[])`

// dayBlock is the index of identifiers of a batch's rows of one day.
type dayBlock struct {
	day  int64 // since 1970
	last int64 // offset
	*block.Block
}

// index makes the blocks of all candidates, ahead of the transaction: nearly always all of them go in. What
// fails here fails there, where an error has a place to go.
func (b *batch) index() {
	b.blocks, _ = b.blocksOf(func(i int) bool { return b.rows[i].fate == candidate })
}

// blocksOf makes the blocks of some rows, in the order of days.
func (b *batch) blocksOf(in func(i int) bool) ([]dayBlock, error) {
	of := make([][]block.Row, len(b.days))
	if len(of) == 1 {
		of[0] = make([]block.Row, 0, len(b.order))
	}
	for i := range b.rows {
		if !in(i) {
			continue
		}
		r := &b.rows[i]
		day := floorDiv(r.micros, microsPerDay)
		n, ok := slices.BinarySearch(b.days, day)
		if !ok {
			return nil, fmt.Errorf("index the identifiers of offset %d: its day is none of the batch", r.record.Offset)
		}
		of[n] = append(of[n], block.Row{Micros: r.micros - day*microsPerDay, Offset: r.record.Offset, Keys: r.keys})
	}
	blocks := make([]dayBlock, 0, len(of))
	for n, rows := range of {
		if len(rows) == 0 {
			continue
		}
		made, err := block.Build(rows)
		if err != nil {
			return nil, fmt.Errorf("index the identifiers of offsets %d to %d: %w", b.from, b.to, err)
		}
		blocks = append(blocks, dayBlock{b.days[n], rows[len(rows)-1].Offset, made})
	}
	return blocks, nil
}

// queueBlocks adds the blocks of the rows that went in.
func (a *attempt) queueBlocks(batch *pgx.Batch) error {
	if a.tally.stored == 0 {
		return nil
	}
	blocks := a.b.blocks
	if !a.whole() || len(blocks) == 0 {
		var err error
		if blocks, err = a.b.blocksOf(func(i int) bool { return a.stored[i] }); err != nil {
			return err
		}
	}
	n := len(blocks)
	days := make([]time.Time, n)
	rows, entries, buckets := make([]int32, n), make([]int32, n), make([]int32, n)
	bases, lasts := make([]int64, n), make([]int64, n)
	keys, lists, places := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	for i, b := range blocks {
		days[i] = time.UnixMicro(b.day * microsPerDay).UTC()
		rows[i], entries[i], buckets[i] = int32(b.Rows), int32(b.Entries), int32(b.Buckets)
		bases[i], lasts[i] = b.BaseOffset, b.last
		keys[i], lists[i], places[i] = b.Keys, b.Lists, b.Places
	}
	batch.Queue(addBlocks, days, a.pos.log, a.pos.part, int16(lexicon.Version), a.commit, rows, entries, buckets, bases, lasts,
		keys, lists, places)
	return nil
}

// whole says that all candidates went in, and nothing else.
func (a *attempt) whole() bool {
	if a.tally.stored != len(a.b.order) {
		return false
	}
	for _, i := range a.b.order {
		if !a.stored[i] {
			return false
		}
	}
	return true
}
