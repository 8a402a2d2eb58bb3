package block_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"oriel/server/block"
)

// some are rows of which keys recur as in practice: most are one row's own, some several rows', few all rows'.
func some(rng *rand.Rand, rows, keys int) []block.Row {
	all := make([]block.Row, rows)
	offset := rng.Int64N(1 << 40)
	for i := range all {
		offset += 1 + int64(rng.IntN(3))
		r := block.Row{Micros: rng.Int64N(24 * 3600 * 1e6), Offset: offset}
		for range rng.IntN(keys + 1) {
			switch rng.IntN(8) {
			case 0:
				r.Keys = append(r.Keys, hash(uint64(rng.IntN(10))))
			case 1:
				r.Keys = append(r.Keys, hash(uint64(rng.IntN(1000))))
			default:
				r.Keys = append(r.Keys, rng.Uint64())
			}
		}
		all[i] = r
	}
	return all
}

func hash(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// naive is the ordinals of every key.
func naive(rows []block.Row) map[uint32][]uint16 {
	held := map[uint32][]uint16{}
	for i := range rows {
		for _, k := range rows[i].Keys {
			o := held[block.Key(k)]
			if len(o) == 0 || o[len(o)-1] != uint16(i) {
				held[block.Key(k)] = append(o, uint16(i))
			}
		}
	}
	return held
}

func requireHolds(t *testing.T, b *block.Block, rows []block.Row, rng *rand.Rand) {
	t.Helper()
	must(t, b.Check())
	held := naive(rows)
	entries := 0
	for key, want := range held {
		got, err := b.Probe(key)
		must(t, err)
		if !slices.Equal(want, got) {
			t.Fatalf("key %d is held by %v, answered %v", key, want, got)
		}
		entries += len(want)
	}
	equal(t, entries, b.Entries)
	for range 1000 {
		key := uint32(rng.Uint64N(1 << block.KeyBits))
		got, err := b.Probe(key)
		must(t, err)
		if !slices.Equal(held[key], got) {
			t.Fatalf("key %d is held by %v, answered %v", key, held[key], got)
		}
	}
	for i := range rows {
		micros, above, err := block.Place(b.Places[block.PlaceBytes*i : block.PlaceBytes*(i+1)])
		must(t, err)
		equal(t, [2]int64{rows[i].Micros, rows[i].Offset}, [2]int64{micros, above + b.BaseOffset})
	}
}

func TestABlockAnswersExactlyTheRowsOfEachKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rows, keys int }{
		"one row without keys":       {1, 0},
		"one row":                    {1, 12},
		"rows with few keys":         {500, 3},
		"rows with many keys":        {500, 200},
		"a row with very many":       {1, 20_000},
		"as many rows as there may":  {block.MaxRows, 1},
		"a whole block of pages":     {5000, 40},
		"rows of which most have no": {3000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(4) {
				rng := rand.New(rand.NewPCG(seed, 7))
				rows := some(rng, c.rows, c.keys)
				b, err := block.Build(rows)
				must(t, err)
				requireHolds(t, b, rows, rng)
				if c.rows*c.keys > 200_000 {
					break
				}
			}
		})
	}
}

func TestMergingIsBuildingOfAllRows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := some(rng, 1+rng.IntN(3000), 1+rng.IntN(30))
		want, err := block.Build(rows)
		must(t, err)
		var parts []*block.Block
		for rest := rows; len(rest) > 0; {
			n := 1 + rng.IntN(min(len(rest), 700))
			part, err := block.Build(rest[:n])
			must(t, err)
			parts, rest = append(parts, part), rest[n:]
		}
		// Merging some first makes no difference.
		if n := rng.IntN(len(parts)); n > 0 {
			first, err := block.Merge(parts[:n])
			must(t, err)
			parts = slices.Concat([]*block.Block{first}, parts[n:])
		}
		got, err := block.Merge(parts)
		must(t, err)
		if !reflect.DeepEqual(want, got) {
			t.Fatal("merging made another block")
		}
	}
}

func TestKeysThatManyRowsShareTakeLittleRoom(t *testing.T) {
	t.Parallel()
	rows := make([]block.Row, 10_000)
	for i := range rows {
		rows[i].Offset = int64(i)
		for k := range uint64(50) {
			rows[i].Keys = append(rows[i].Keys, hash(1000*uint64(i%20)+k)) // fifty of one of twenty owners
		}
	}
	b, err := block.Build(rows)
	must(t, err)
	requireHolds(t, b, rows, rand.New(rand.NewPCG(1, 1)))
	if size := len(b.Keys) + len(b.Lists); size > 2*len(rows) {
		t.Fatalf("%d bytes for %d rows", size, len(rows))
	}
}

func TestWhatNoBlockCanHoldIsRefused(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]block.Row{
		"no rows":                  {},
		"too many rows":            make([]block.Row, block.MaxRows+1),
		"a row of the day before":  {{Micros: -1}},
		"a row of the day after":   {{Micros: 24 * 3600 * 1e6}},
		"offsets too far apart":    {{Offset: 1 << 33}, {Offset: 0}},
		"keys that are not hashed": {{Keys: near(2000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := block.Build(rows)
			refused(t, err)
		})
	}
	_, err := block.Merge(nil)
	refused(t, err)
	half, err := block.Build(make([]block.Row, block.MaxRows/2+1))
	must(t, err)
	_, err = block.Merge([]*block.Block{half, half})
	refused(t, err)
	far, err := block.Build([]block.Row{{Offset: 1 << 40}})
	must(t, err)
	_, err = block.Merge([]*block.Block{half, far})
	refused(t, err)
}

func near(n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = uint64(i) << 36
	}
	return keys
}

func TestChangedBytesAreMetWithAnErrorOrAnotherAnswerAndNeverAPanic(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	rows := some(rng, 400, 20)
	whole, err := block.Build(rows)
	must(t, err)
	found := 0
	for range 1000 {
		b := *whole
		b.Keys, b.Lists, b.Places = slices.Clone(b.Keys), slices.Clone(b.Lists), slices.Clone(b.Places)
		part := [][]byte{b.Keys, b.Keys, b.Keys, b.Lists, b.Places}[rng.IntN(5)]
		part[rng.IntN(len(part))] ^= 1 << rng.IntN(8)
		if rng.IntN(4) == 0 {
			b.Keys = b.Keys[:rng.IntN(len(b.Keys))]
		}
		if err := b.Check(); err != nil {
			corrupt(t, err)
			found++
			_, err = block.Merge([]*block.Block{&b})
			refused(t, err)
		}
		for range 50 {
			if _, err := b.Probe(uint32(rng.Uint64N(1 << block.KeyBits))); err != nil {
				corrupt(t, err)
			}
		}
	}
	if found < 150 {
		t.Fatalf("%d changes were noticed", found)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("it was not refused")
	}
}

func corrupt(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, block.ErrCorrupt) {
		t.Fatalf("not said to be corrupt: %v", err)
	}
}

func equal[T comparable](t testing.TB, want, got T) {
	t.Helper()
	if want != got {
		t.Fatalf("want %v, got %v", want, got)
	}
}
