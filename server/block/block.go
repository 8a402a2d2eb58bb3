// Package block is the index of identifiers: for some neighbouring rows of one partition and day, which rows
// hold which key. It is pure: it builds, merges and reads byte strings, and knows no database.
//
// It promises that a probe of a key answers every row that was given with it (never fewer), and few others:
// a key that no row has finds something in a block of n keys with a chance of n in 2^28.
//
// # Layout
//
// A key is the upper 28 bits of an identifier's 64-bit hash. Each key of a block has one entry: the ordinal of
// the row that holds it, or, where several do, where in Lists their ordinals are. Entries are in the order of
// keys, so that only the gap to the key before is written, and lie in pages of 512 bytes. A key's home is the
// page (key * Buckets) >> 28, and its entry is there or in the page behind. So a probe reads two pages,
// 1,024 bytes from 512 * home on, and the one list that they may name. There are Buckets+1 pages at most; the
// last one that holds anything ends with its last entry.
//
// A page is a head of 8 bytes and a string of bits, most significant first. The head is, from the top, 5 bits
// of k, the number of low bits of a gap; 5 bits of o, the bits of an ordinal; 5 bits of p, the bits of a list's
// offset; 17 bits of the number of entries; then 32 bits of the first key. An entry is the gap (of all but the
// first: (gap-1) >> k in ones and a zero, then the k low bits of gap-1), a bit that is 1 for a list, and the
// ordinal in o bits or the list's offset in p bits and 5 bits of n, where the list has no more than 2^n bytes.
// A page of no entries is zero.
//
// A list is the number of its ordinals less two and its ordinals as unsigned varints: the first as it is, each
// next as what lies between. Keys of the same rows share a list, which is most of what makes large payloads'
// blocks small: whatever belongs to one repository or person occurs in the same rows.
//
// Places has 9 bytes a row in the order of ordinals: microseconds since the start of the day in 5 bytes, and
// the offset above BaseOffset in 4, big-endian.
//
// Blocks merge without loss and without the rows.
package block

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of the layout, and the most rows of a block.
const (
	PageBytes  = 512
	ProbeBytes = 2 * PageBytes // what Match reads
	PlaceBytes = 9
	KeyBits    = 28
	MaxRows    = 1 << 16
)

const (
	maxMicros = 24 * 3600 * 1_000_000
	maxSpan   = 1<<32 - 1 // of offsets
)

// ErrCorrupt is wrapped by every error about bytes that no block holds.
var ErrCorrupt = errors.New("no valid block")

// Row is one event of a block's day and partition: when in the day, at which offset, and its identifiers.
type Row struct {
	Micros int64 // since the start of the UTC day
	Offset int64
	Keys   []uint64 // identifiers' 64-bit hashes
}

// Block is a built block.
type Block struct {
	Rows, Buckets int
	Entries       int // pairs of a row and a key
	BaseOffset    int64
	Keys          []byte // pages
	Lists, Places []byte
}

// Key is what of a 64-bit hash a block knows.
func Key(hash uint64) uint32 { return uint32(hash >> (64 - KeyBits)) }

// Bucket is the number of a key's home page.
func Bucket(key uint32, buckets int) int { return int(uint64(key) * uint64(buckets) >> KeyBits) }

// Span says whether rows of these offsets fit one block.
func Span(lowest, highest int64) bool { return highest >= lowest && uint64(highest-lowest) <= maxSpan }

// Build makes a block of at most MaxRows rows, whose offsets lie within 2^32 of the lowest. The order of rows is
// the order of ordinals.
func Build(rows []Row) (*Block, error) {
	if len(rows) == 0 || len(rows) > MaxRows {
		return nil, fmt.Errorf("a block has 1 to %d rows, not %d", MaxRows, len(rows))
	}
	n, base := 0, rows[0].Offset
	for i := range rows {
		n += len(rows[i].Keys)
		base = min(base, rows[i].Offset)
	}
	pairs := make([]uint64, 0, n)
	places := make([]byte, 0, PlaceBytes*len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Micros < 0 || r.Micros >= maxMicros || !Span(base, r.Offset) {
			return nil, fmt.Errorf("row %d is not of the day, or its offset is far above the lowest", i)
		}
		places = appendPlace(places, r.Micros, r.Offset-base)
		for _, k := range r.Keys {
			pairs = append(pairs, uint64(Key(k))<<ordinalBits|uint64(i))
		}
	}
	b := &Block{Rows: len(rows), BaseOffset: base, Places: places}
	return b, b.fill(pairs)
}

func appendPlace(dst []byte, micros, offset int64) []byte {
	dst = append(dst, byte(micros>>32))
	dst = binary.BigEndian.AppendUint32(dst, uint32(micros))
	return binary.BigEndian.AppendUint32(dst, uint32(offset))
}

// Place reads the place of the row with an ordinal, the PlaceBytes bytes at PlaceBytes * ordinal of Places: when
// in the day, and how far above BaseOffset.
func Place(place []byte) (micros, offset int64, err error) {
	if len(place) != PlaceBytes {
		return 0, 0, fmt.Errorf("%w: a place has %d bytes, not %d", ErrCorrupt, PlaceBytes, len(place))
	}
	micros = int64(place[0])<<32 | int64(binary.BigEndian.Uint32(place[1:]))
	if micros >= maxMicros {
		return 0, 0, fmt.Errorf("%w: a place is outside of its day", ErrCorrupt)
	}
	return micros, int64(binary.BigEndian.Uint32(place[5:])), nil
}
