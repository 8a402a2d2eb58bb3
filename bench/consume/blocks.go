package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/block"
	"oriel/server/lexicon"
)

// queueBlocks adds the index of identifiers of the rows: of each day one block.
func queueBlocks(batch *pgx.Batch, log int16, p int32, commit int64, rows []limitRow) error {
	days := map[time.Time][]block.Row{}
	for i := range rows {
		r := &rows[i]
		day := r.event.Time.UTC().Truncate(24 * time.Hour)
		days[day] = append(days[day], block.Row{
			Micros: r.event.Time.Sub(day).Microseconds(), Offset: r.rec.Offset, Keys: r.identifiers,
		})
	}
	var at []time.Time
	var counts, entries, buckets []int32
	var bases, lasts []int64
	var keys, lists, places [][]byte
	for day, of := range days {
		slices.SortFunc(of, func(a, b block.Row) int { return cmp.Compare(a.Offset, b.Offset) })
		b, err := block.Build(of)
		if err != nil {
			return err
		}
		at, counts, entries = append(at, day), append(counts, int32(b.Rows)), append(entries, int32(b.Entries))
		buckets, bases, lasts = append(buckets, int32(b.Buckets)), append(bases, b.BaseOffset), append(lasts, of[len(of)-1].Offset)
		keys, lists, places = append(keys, b.Keys), append(lists, b.Lists), append(places, b.Places)
	}
	batch.Queue(`INSERT INTO event_block (day, log, partition, version, from_commit, through_commit, rows, entries, buckets, base_offset,
		last_offset, keys, lists, places)
		SELECT unnest($1::timestamptz[]), $13, $2, $3, $4, $4, unnest($5::int[]), unnest($6::int[]), unnest($7::int[]), unnest($8::bigint[]),
			unnest($9::bigint[]), unnest($10::bytea[]), unnest($11::bytea[]), unnest($12::bytea[])`,
		at, p, int16(lexicon.Version), commit, counts, entries, buckets, bases, lasts, keys, lists, places, log)
	return nil
}
