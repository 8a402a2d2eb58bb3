package block

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

const (
	headBytes   = 8
	pageBits    = 8 * (PageBytes - headBytes)
	ordinalBits = 16 // of a pair of key and ordinal
	classBits   = 5
	countBits   = 17
	maxShape    = 31 // what the head's five bits hold
)

// entry is a key and its row, or its list.
type entry struct {
	key    uint32
	isList bool
	class  uint8  // a list has no more than 1 << class bytes
	value  uint32 // ordinal, or offset of the list
}

// shape is how a block's entries are written.
type shape struct{ low, ordinal, offset uint }

func (s shape) size(e *entry) int {
	if e.isList {
		return 1 + int(s.offset) + classBits
	}
	return 1 + int(s.ordinal)
}

// gap is the size of an entry's distance to the key before.
func (s shape) gap(distance uint32) int { return int((distance-1)>>s.low) + 1 + int(s.low) }

func shapeOf(entries, rows, lists int) shape {
	s := shape{ordinal: uint(bits.Len(uint(rows - 1))), offset: uint(bits.Len(uint(lists)))}
	// The best number of low bits for gaps of a geometric distribution is about log2 of 0.69 of their mean.
	if mean := (uint64(1) << KeyBits) * 69 / 100 / uint64(max(entries, 1)); mean > 1 {
		s.low = uint(bits.Len64(mean)) - 1
	}
	return s
}

// pack lays entries, in the order of their keys, into pages, with as few buckets as it finds.
func pack(entries []entry, s shape) (keys []byte, buckets int, err error) {
	size := 0
	for i := range entries {
		size += s.size(&entries[i])
		if i > 0 {
			size += s.gap(entries[i].key - entries[i-1].key)
		}
	}
	least := size/pageBits + 1
	// Of pages that are full to 29/30 hardly one in a million has more than the next can take, where keys are
	// hashes; of few pages the last one is what the rest is for.
	for buckets = max(1, least*30/29-1); buckets <= 4*least+16; buckets += 1 + buckets/64 {
		if keys, ok := packInto(entries, s, buckets); ok {
			return keys, buckets, nil
		}
	}
	return nil, 0, fmt.Errorf("the keys of %d entries are no hashes: they do not spread", len(entries))
}

func packInto(entries []entry, s shape, buckets int) (keys []byte, ok bool) {
	w := bitWriter{buf: make([]byte, 0, (buckets+1)*PageBytes)}
	next := 0
	for page := 0; page <= buckets && next < len(entries); page++ {
		head := len(w.buf)
		w.buf = append(w.buf, 0, 0, 0, 0, 0, 0, 0, 0)
		first, used := next, 0
		for ; next < len(entries); next++ {
			e := &entries[next]
			home := Bucket(e.key, buckets)
			if home > page {
				break
			}
			if home < page-1 {
				return nil, false
			}
			used += s.size(e)
			if next > first {
				distance := e.key - entries[next-1].key
				if used += s.gap(distance); used > pageBits {
					break
				}
				w.ones(uint64(distance-1) >> s.low)
				w.write(uint64(distance-1)&(1<<s.low-1), s.low)
			}
			if e.isList {
				w.write(1, 1)
				w.write(uint64(e.value), s.offset)
				w.write(uint64(e.class), classBits)
			} else {
				w.write(uint64(e.value), 1+s.ordinal)
			}
		}
		w.flush()
		if next > first {
			shaped := uint32(s.low)<<27 | uint32(s.ordinal)<<22 | uint32(s.offset)<<17 | uint32(next-first)
			binary.BigEndian.PutUint32(w.buf[head:], shaped)
			binary.BigEndian.PutUint32(w.buf[head+4:], entries[first].key)
		}
		if next < len(entries) {
			w.buf = append(w.buf, make([]byte, head+PageBytes-len(w.buf))...)
		}
	}
	return w.buf, next == len(entries)
}

// pageReader reads the entries of one page.
type pageReader struct {
	shape
	bits  bitReader
	left  int // entries
	key   uint32
	first bool
}

// openPage reads the head of what is at most one page.
func openPage(page []byte) (pageReader, error) {
	if len(page) == 0 {
		return pageReader{}, nil
	}
	if len(page) < headBytes || len(page) > PageBytes {
		return pageReader{}, fmt.Errorf("%w: a page of %d bytes", ErrCorrupt, len(page))
	}
	head := binary.BigEndian.Uint32(page)
	r := pageReader{
		shape: shape{low: uint(head >> 27), ordinal: uint(head >> 22 & maxShape), offset: uint(head >> 17 & maxShape)},
		left:  int(head & (1<<countBits - 1)), key: binary.BigEndian.Uint32(page[4:]), first: true,
		bits: bitReader{buf: page[headBytes:]},
	}
	if r.low > KeyBits || r.ordinal > ordinalBits || r.key>>KeyBits != 0 {
		return pageReader{}, fmt.Errorf("%w: the head of a page", ErrCorrupt)
	}
	return r, nil
}

// next reads one entry; false at the end of the page.
func (r *pageReader) next(e *entry) (bool, error) {
	if r.left == 0 {
		return false, nil
	}
	r.left--
	if r.first {
		r.first = false
	} else {
		q := 0
		for {
			n := bits.LeadingZeros64(^r.bits.peek())
			if q += min(n, 48); n < 48 {
				r.bits.at += n + 1
				break
			}
			if r.bits.at += 48; r.bits.over() {
				return false, fmt.Errorf("%w: a page ends within a gap", ErrCorrupt)
			}
		}
		key := uint64(r.key) + uint64(q)<<r.low + r.bits.read(r.low) + 1
		if key>>KeyBits != 0 {
			return false, fmt.Errorf("%w: a key beyond the last", ErrCorrupt)
		}
		r.key = uint32(key)
	}
	*e = entry{key: r.key}
	if e.isList = r.bits.read(1) == 1; e.isList {
		e.value = uint32(r.bits.read(r.offset))
		e.class = uint8(r.bits.read(classBits))
	} else {
		e.value = uint32(r.bits.read(r.ordinal))
	}
	if r.bits.over() {
		return false, fmt.Errorf("%w: a page ends within an entry", ErrCorrupt)
	}
	return true, nil
}
