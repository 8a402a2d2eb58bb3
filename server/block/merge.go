package block

import (
	"fmt"
	"math/bits"
	"slices"
)

// Merge makes one block of several, whose rows follow one another: what Build would have made of all of them.
func Merge(blocks []*Block) (*Block, error) {
	if len(blocks) == 0 {
		return nil, fmt.Errorf("a block of no blocks")
	}
	rows, entries, base := 0, 0, blocks[0].BaseOffset
	for n, b := range blocks {
		if b.Rows < 1 || b.Rows > MaxRows || b.Entries < 0 {
			return nil, fmt.Errorf("block %d: %w: %d rows, %d entries", n, ErrCorrupt, b.Rows, b.Entries)
		}
		rows += b.Rows
		entries += b.Entries
		base = min(base, b.BaseOffset)
	}
	if rows > MaxRows {
		return nil, fmt.Errorf("a block has 1 to %d rows, not %d", MaxRows, rows)
	}
	whole := &Block{Rows: rows, BaseOffset: base, Places: make([]byte, 0, PlaceBytes*rows)}
	pairs := make([]uint64, 0, min(entries, 1<<21))
	at := 0
	for n, b := range blocks {
		var err error
		if pairs, err = b.pairs(pairs, uint64(at)); err != nil {
			return nil, fmt.Errorf("block %d: %w", n, err)
		}
		if whole.Places, err = b.rebase(whole.Places, base); err != nil {
			return nil, fmt.Errorf("block %d: %w", n, err)
		}
		at += b.Rows
	}
	return whole, whole.fill(pairs)
}

// Check reads a block whole.
func (b *Block) Check() error {
	_, err := b.pairs(nil, 0)
	if err == nil {
		_, err = b.rebase(nil, b.BaseOffset)
	}
	return err
}

// pairs appends every key with every ordinal of it, above a number of rows before.
func (b *Block) pairs(dst []uint64, above uint64) ([]uint64, error) {
	if b.Rows < 1 || b.Rows > MaxRows || b.Buckets < 1 || len(b.Keys) > (b.Buckets+1)*PageBytes {
		return dst, fmt.Errorf("%w: %d rows, %d buckets, %d bytes of keys", ErrCorrupt, b.Rows, b.Buckets, len(b.Keys))
	}
	most := len(dst) + b.Entries
	last := int64(-1)
	var ordinals []uint16
	number := 0
	for page := range slices.Chunk(b.Keys, PageBytes) {
		r, err := openPage(page)
		if err != nil {
			return dst, err
		}
		for {
			var e entry
			ok, err := r.next(&e)
			if err != nil {
				return dst, err
			}
			if !ok {
				break
			}
			if home := Bucket(e.key, b.Buckets); int64(e.key) <= last || home != number && home != number-1 {
				return dst, fmt.Errorf("%w: a key out of its place", ErrCorrupt)
			}
			last = int64(e.key)
			key := uint64(e.key) << ordinalBits
			if !e.isList {
				if int(e.value) >= b.Rows {
					return dst, fmt.Errorf("%w: an ordinal beyond the rows", ErrCorrupt)
				}
				dst = append(dst, key|(above+uint64(e.value)))
				continue
			}
			from := int(e.value)
			if from >= len(b.Lists) {
				return dst, fmt.Errorf("%w: a list beyond the lists", ErrCorrupt)
			}
			if ordinals, err = Ordinals(ordinals[:0], b.Lists[from:min(from+1<<e.class, len(b.Lists))], b.Rows); err != nil {
				return dst, err
			}
			for _, o := range ordinals {
				dst = append(dst, key|(above+uint64(o)))
			}
			if len(dst) > most { // bytes that are no block may name one list again and again
				return dst, fmt.Errorf("%w: more than %d entries", ErrCorrupt, b.Entries)
			}
		}
		number++
	}
	if len(dst) != most {
		return dst, fmt.Errorf("%w: not %d entries", ErrCorrupt, b.Entries)
	}
	return dst, nil
}

// rebase appends the places with offsets above another base.
func (b *Block) rebase(dst []byte, base int64) ([]byte, error) {
	if len(b.Places) != PlaceBytes*b.Rows {
		return dst, fmt.Errorf("%w: %d bytes of places for %d rows", ErrCorrupt, len(b.Places), b.Rows)
	}
	for place := range slices.Chunk(b.Places, PlaceBytes) {
		micros, offset, err := Place(place)
		if err != nil {
			return dst, err
		}
		if offset += b.BaseOffset; !Span(base, offset) {
			return dst, fmt.Errorf("offset %d is far above %d", offset, base)
		}
		dst = appendPlace(dst, micros, offset-base)
	}
	return dst, nil
}

// fill makes keys and lists of pairs, which come in the order of ordinals.
func (b *Block) fill(pairs []uint64) error {
	pairs = slices.Compact(byKey(pairs))
	b.Entries = len(pairs)
	entries := make([]entry, 0, len(pairs))
	var ls lists
	for i := 0; i < len(pairs); {
		key := pairs[i] >> ordinalBits
		j := i + 1
		for j < len(pairs) && pairs[j]>>ordinalBits == key {
			j++
		}
		e := entry{key: uint32(key), value: uint32(pairs[i] & (MaxRows - 1))}
		if j > i+1 {
			offset, length := ls.add(pairs[i:j])
			e.isList, e.value, e.class = true, uint32(offset), uint8(bits.Len(uint(length-1)))
		}
		entries = append(entries, e)
		i = j
	}
	b.Lists = append([]byte{}, ls.buf...)
	s := shapeOf(len(entries), b.Rows, len(b.Lists))
	if s.offset > maxShape {
		return fmt.Errorf("%d bytes of lists", len(b.Lists))
	}
	var err error
	b.Keys, b.Buckets, err = pack(entries, s)
	return err
}

// byKey sorts pairs that are in the order of ordinals by key first: stable counting sorts of the key's bits
// alone.
func byKey(pairs []uint64) []uint64 {
	if len(pairs) < 256 {
		slices.Sort(pairs)
		return pairs
	}
	const digit = 10 // three times 10 bits are enough for a key
	other := make([]uint64, len(pairs))
	var counts [1 << digit]int
	for shift := ordinalBits; shift < ordinalBits+KeyBits; shift += digit {
		clear(counts[:])
		for _, p := range pairs {
			counts[p>>shift&(1<<digit-1)]++
		}
		at := 0
		for i, n := range counts {
			counts[i] = at
			at += n
		}
		for _, p := range pairs {
			d := p >> shift & (1<<digit - 1)
			other[counts[d]] = p
			counts[d]++
		}
		pairs, other = other, pairs
	}
	return pairs
}
