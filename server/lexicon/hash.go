package lexicon

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// Hashes are XXH3-64 with a seed drawn from the key and the version. The key's work is to keep an
// outsider from building two words of one hash: hashes leave the process only into the database, a
// seed is never shown, and a collision would add a row to an answer, not hide one. XXH3 costs 3 ns for
// a word, where SipHash-1-3 costs 12: with 1,000 words a webhook that is a sixth of the budget.
//
// The hash of path=value is chained: the path's steps give a seed and the value is hashed under it,
// so that a path is hashed once and remembered, not once a value.
type seeds struct {
	word     uint64 // leaf words, bigrams, pairs, numbers
	path     uint64 // the root of payload paths
	name     uint64 // attribute names
	identity uint64
	reserved int64
}

func (k Key) seeds() seeds {
	var b [18]byte
	copy(b[:], k[:])
	b[16] = Version
	s0 := binary.LittleEndian.Uint64(k[8:])
	draw := func(use byte) uint64 {
		b[17] = use
		return xxh3.HashSeed(b[:], s0)
	}
	return seeds{word: draw(1), path: draw(2), name: draw(3), identity: draw(4), reserved: int64(draw(5))}
}

func keyStep(parent uint64, key []byte) uint64 { return xxh3.HashSeed(key, parent) }

// elementStep is the step [*]: all elements of an array share one path.
func elementStep(parent uint64) uint64 {
	return xxh3.HashSeed([]byte("[*]"), parent^0x9e3779b97f4a7c15)
}

func valueHash(path uint64, folded []byte) uint64 {
	return xxh3.HashSeed(folded, path^0xc2b2ae3d27d4eb4f)
}

// Reserved is the lexeme of events over the bound, under a key.
func Reserved(key Key) int64 { return key.seeds().reserved }

// Identity is the identifier of an event's source and id together, under a key.
func Identity(key Key, source, id string) Condition {
	s := key.seeds()
	return Condition{Hash: int64(s.identify(nil, source, id))}
}

func (s *seeds) identify(scratch []byte, source, id string) uint64 {
	scratch = append(scratch, source...)
	scratch = append(scratch, 0)
	return xxh3.HashSeed(append(scratch, id...), s.identity)
}

// token is the hash of a leaf word, a bigram, a pair or a number.
func (s *seeds) token(t []byte) int64 { return int64(xxh3.HashSeed(t, s.word)) }
