package search

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"oriel/server/query"
)

// Tokens are opaque: base64url without padding of a kind byte, varints and a checksum, which catches a
// token that was cut or mistyped. They are not secrets and grant nothing.
const (
	kindSnapshot = 0x12 // version 2
	kindPage     = 0x22 // version 2
)

// The instants that a time parameter can say, in microseconds: years 0000 to 9999, and a day of slack
// for the day after a last one.
const (
	minMicros = -62_167_219_200_000_000 - 86_400_000_000
	maxMicros = 253_402_300_799_999_999 + 86_400_000_000
)

var errToken = errors.New("malformed token")

type tokenWriter struct{ b []byte }

func newToken(kind byte) *tokenWriter { return &tokenWriter{[]byte{kind}} }

func (w *tokenWriter) int(v int64)   { w.b = binary.AppendVarint(w.b, v) }
func (w *tokenWriter) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *tokenWriter) instant(i query.Instant) {
	if !i.Given {
		w.uint(0)
		return
	}
	w.uint(1)
	w.int(i.Micros)
}

func (w *tokenWriter) bytes(b []byte) {
	w.uint(uint64(len(b)))
	w.b = append(w.b, b...)
}

func (w *tokenWriter) String() string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(w.b, crc32.ChecksumIEEE(w.b)))
}

// tokenReader reads what tokenWriter wrote; the first failure sticks.
type tokenReader struct {
	b   []byte
	bad bool
}

func readToken(kind byte, s string) (*tokenReader, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 5 || b[0] != kind {
		return nil, errToken
	}
	body, sum := b[:len(b)-4], b[len(b)-4:]
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(sum) {
		return nil, errToken
	}
	return &tokenReader{b: body[1:]}, nil
}

func (r *tokenReader) int() int64 {
	v, n := binary.Varint(r.b)
	return take(r, v, n)
}

func (r *tokenReader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	return take(r, v, n)
}

func take[T int64 | uint64](r *tokenReader, v T, n int) T {
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bounded is uint for a count that may not be above limit.
func (r *tokenReader) bounded(limit uint64) int {
	v := r.uint()
	if v > limit {
		r.bad = true
		return 0
	}
	return int(v)
}

// count is uint for a number that is never negative.
func (r *tokenReader) count() int64 {
	v := r.uint()
	if v > math.MaxInt64 {
		r.bad = true
		return 0
	}
	return int64(v)
}

func (r *tokenReader) instant() query.Instant {
	if r.bounded(1) == 0 {
		return query.Instant{}
	}
	return query.Instant{Micros: r.micros(), Given: true}
}

// micros is an instant of the years that events may have.
func (r *tokenReader) micros() int64 {
	v := r.int()
	if v < minMicros || v > maxMicros {
		r.bad = true
		return 0
	}
	return v
}

func (r *tokenReader) bytes() []byte {
	n := r.bounded(uint64(len(r.b)))
	if n > len(r.b) {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// done is the verdict: everything was there, and nothing else.
func (r *tokenReader) done() error {
	if r.bad || len(r.b) > 0 {
		return errToken
	}
	return nil
}
