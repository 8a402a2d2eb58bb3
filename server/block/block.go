// Package block is the index of identifiers: for some neighbouring rows of one partition and day, which rows
// hold which key. It is pure: it builds, merges and reads byte strings, and knows no database.
//
// It promises that a probe of a key answers every row that was given with it (never fewer), and few others.
//
// # Layout
//
// A key is the upper 32 bits of an identifier's 64-bit hash. keys is Buckets+1 buckets of 64 bytes; the
// bucket of a key is (key * Buckets) >> 32, and what finds no place there lies in the next one (the last is
// for that alone). A bucket is a byte with the number of its entries, a byte that is 1 where entries spilled
// into the next bucket, two that are 0, and entries in the order of keys. An entry of a wide block is the
// key's 32 bits and the row's ordinal in 16 bits; of a narrow block the lower 16 bits of the key and the
// ordinal. Wide blocks merge without loss; narrow ones are final, and half as large. Rows have at most 65,536
// ordinals a block. places has 9 bytes a row in the order of ordinals: microseconds since the start of the day
// in 5 bytes, and the offset above BaseOffset in 4, big-endian.
package block

// Width of an entry, in bytes.
type Width int16

// The widths.
const (
	Wide   Width = 6
	Narrow Width = 4
)

// Sizes of the layout, in bytes, and the most rows of a block.
const (
	BucketBytes = 64
	PlaceBytes  = 9
	MaxRows     = 1 << 16
)

// Row is one event of a block's day and partition: when in the day, at which offset, and its identifiers.
type Row struct {
	Micros int64 // since the start of the UTC day
	Offset int64
	Keys   []uint64 // identifiers' 64-bit hashes
}

// Block is a built block.
type Block struct {
	Rows, Buckets int
	Width         Width
	BaseOffset    int64
	Keys, Places  []byte
}

// Key is what of a 64-bit hash a block knows.
func Key(hash uint64) uint32 { return uint32(hash >> 32) }

// Bucket is the number of a key's bucket.
func Bucket(key uint32, buckets int) int { return int(uint64(key) * uint64(buckets) >> 32) }

// Build makes a block of at most MaxRows rows, whose offsets lie within 2^32 of the lowest.
func Build(rows []Row, w Width) (*Block, error) { panic("outline") }

// Merge makes one block of wide ones, in the given order of rows, at most MaxRows together.
func Merge(blocks []*Block, w Width) (*Block, error) { panic("outline") }

// Match appends the ordinals of the rows that two neighbouring buckets, as they lie in Keys, hold for a key.
func Match(ordinals []uint16, pair []byte, key uint32, w Width) ([]uint16, error) { panic("outline") }

// Place reads one place.
func Place(place []byte) (micros, offset int64, err error) { panic("outline") }
