package consume

import (
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// seen remembers which words and paths the database has already, so that a batch names only new
// ones. It is bounded, shared by all workers and lock-free: a set of 64-bit words in buckets of eight,
// where a full bucket forgets one. Forgetting costs a row that is there already; remembering what was
// never committed would lose it, so entries are made after the commit alone.
type seen struct {
	terms  table
	paths  table
	values table                    // for completion
	full   atomic.Pointer[[]string] // dimensions that take no more
}

// 2^17 buckets of 8 are 1,048,576 terms in 8 MiB; paths and values are far fewer.
func newSeen() *seen {
	return &seen{terms: newTable(1 << 17), paths: newTable(1 << 14), values: newTable(1 << 15)}
}

type bucket [8]atomic.Uint64

type table struct {
	buckets []bucket
	victim  *atomic.Uint32
}

func newTable(buckets int) table {
	return table{buckets: make([]bucket, buckets), victim: new(atomic.Uint32)}
}

func (t *table) at(h uint64) *bucket { return &t.buckets[(h>>20)&uint64(len(t.buckets)-1)] }

// term says whether a word's hash is known to the database.
func (s *seen) term(hash int64) bool {
	h := uint64(hash)
	b := s.terms.at(h)
	for i := range b {
		if b[i].Load() == h {
			return h != 0
		}
	}
	return false
}

func (s *seen) addTerm(hash int64) {
	if h := uint64(hash); h != 0 && !s.term(hash) {
		s.terms.put(h)
	}
}

func (t *table) put(h uint64) {
	b := t.at(h)
	for i := range b {
		if b[i].CompareAndSwap(0, h) {
			return
		}
	}
	b[t.victim.Add(1)%uint32(len(b))].Store(h)
}

// A path's entry is its hash with the low seven bits replaced by the kinds that the database has.
const kindBits = 1<<7 - 1

func typeHash(eventType string) uint64 { return xxh3.HashString(eventType) * 0x9E3779B97F4A7C15 }

func pathHash(typeHash uint64, path string) uint64 {
	h := xxh3.HashString(path) ^ typeHash
	return (h ^ h>>32*0xD6E8FEB86659FD93) &^ kindBits
}

// path says whether a path of a type, by its hash, is known to the database with these kinds of values.
func (s *seen) path(typeHash uint64, path string, kinds int16) bool {
	h := pathHash(typeHash, path)
	b := s.paths.at(h)
	for i := range b {
		if v := b[i].Load(); v&^kindBits == h && v != 0 {
			return uint64(kinds)&^(v&kindBits) == 0
		}
	}
	return false
}

func (s *seen) addPath(eventType, path string, kinds int16) {
	h := pathHash(typeHash(eventType), path)
	b := s.paths.at(h)
	for i := range b {
		for {
			v := b[i].Load()
			if v == 0 || v&^kindBits != h {
				break
			}
			if b[i].CompareAndSwap(v, v|uint64(kinds)&kindBits) {
				return
			}
		}
	}
	s.paths.put(h | uint64(kinds)&kindBits)
}
