package block_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"oriel/server/block"
)

func FuzzMatch(f *testing.F) {
	b, err := block.Build(some(rand.New(rand.NewPCG(1, 1)), 300, 20))
	must(f, err)
	f.Add(b.Keys[:min(len(b.Keys), block.ProbeBytes)], uint32(1))
	f.Fuzz(func(_ *testing.T, pages []byte, key uint32) { _, _ = block.Match(pages, key) })
}

func FuzzOrdinals(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4}, 100)
	f.Fuzz(func(t *testing.T, list []byte, rows int) {
		ordinals, err := block.Ordinals(nil, list, rows)
		for i, o := range ordinals {
			if int(o) >= rows || i > 0 && ordinals[i-1] >= o {
				t.Fatalf("ordinals %v of %d rows", ordinals, rows)
			}
		}
		if err != nil {
			corrupt(t, err)
		}
	})
}

func FuzzPlace(f *testing.F) {
	f.Add(make([]byte, block.PlaceBytes))
	f.Fuzz(func(t *testing.T, place []byte) {
		micros, above, err := block.Place(place)
		if err == nil && (micros < 0 || micros >= 24*3600*1e6 || above < 0 || above >= 1<<32) {
			t.Fatal(micros, above)
		}
	})
}

// FuzzMerge merges bytes that nobody built, and what it makes of them is a block.
func FuzzMerge(f *testing.F) {
	b, err := block.Build(some(rand.New(rand.NewPCG(2, 2)), 50, 20))
	must(f, err)
	f.Add(b.Rows, b.Buckets, b.Entries, b.BaseOffset, b.Keys, b.Lists, b.Places)
	f.Fuzz(func(t *testing.T, rows, buckets, entries int, base int64, keys, lists, places []byte) {
		given := &block.Block{Rows: rows, Buckets: buckets, Entries: entries, BaseOffset: base, Keys: keys, Lists: lists, Places: places}
		merged, err := block.Merge([]*block.Block{given, b})
		if err != nil {
			return
		}
		must(t, given.Check())
		must(t, merged.Check())
		equal(t, rows+b.Rows, merged.Rows)
	})
}

// FuzzBuild reads rows out of bytes: keys that are no hashes are refused or held.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("some bytes that make a few keys, eight of them each"), 3)
	f.Fuzz(func(t *testing.T, raw []byte, each int) {
		var rows []block.Row
		for len(raw) >= 8 && len(rows) < 1000 {
			r := block.Row{Offset: int64(len(rows))}
			for range max(1, each%50) {
				if len(raw) >= 8 {
					r.Keys, raw = append(r.Keys, binary.LittleEndian.Uint64(raw)), raw[8:]
				}
			}
			rows = append(rows, r)
		}
		if b, err := block.Build(rows); err == nil {
			requireHolds(t, b, rows, rand.New(rand.NewPCG(1, 1)))
		}
	})
}
