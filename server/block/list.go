package block

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// lists writes lists of ordinals, each once.
type lists struct {
	buf []byte
	at  map[uint64]int // where the list of a hash is
}

// add is the offset and length of the list of some pairs, two or more, whose low bits are ordinals that rise.
func (l *lists) add(pairs []uint64) (offset, length int) {
	start := len(l.buf)
	l.buf = binary.AppendUvarint(l.buf, uint64(len(pairs)-2))
	next := uint64(0)
	for _, p := range pairs {
		ordinal := p & (MaxRows - 1)
		l.buf = binary.AppendUvarint(l.buf, ordinal-next)
		next = ordinal + 1
	}
	made := l.buf[start:]
	h := xxh3.Hash(made)
	if was, ok := l.at[h]; ok && bytes.HasPrefix(l.buf[was:start], made) {
		l.buf = l.buf[:start]
		return was, len(made)
	}
	if l.at == nil {
		l.at = map[uint64]int{}
	}
	l.at[h] = start
	return start, len(made)
}

// Ordinals appends the ordinals of a list of a block with a number of rows. What follows the list in the bytes
// is not read.
func Ordinals(dst []uint16, list []byte, rows int) ([]uint16, error) {
	n, size := binary.Uvarint(list)
	if size <= 0 || n > MaxRows-2 {
		return dst, fmt.Errorf("%w: the length of a list", ErrCorrupt)
	}
	next := uint64(0)
	for range n + 2 {
		list = list[size:]
		var gap uint64
		if gap, size = binary.Uvarint(list); size <= 0 || gap > MaxRows || int(next+gap) >= rows {
			return dst, fmt.Errorf("%w: an ordinal of a list", ErrCorrupt)
		}
		dst = append(dst, uint16(next+gap))
		next += gap + 1
	}
	return dst, nil
}
