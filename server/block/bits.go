package block

import "encoding/binary"

// bitWriter appends bits, the most significant first.
type bitWriter struct {
	buf  []byte
	held uint64 // the last n bits, not yet in buf
	n    uint
}

// write appends the lowest bits of v, of which no others are set; 32 at most.
func (w *bitWriter) write(v uint64, bits uint) {
	w.held = w.held<<bits | v
	for w.n += bits; w.n >= 8; w.n -= 8 {
		w.buf = append(w.buf, byte(w.held>>(w.n-8)))
	}
}

// ones appends q ones and a zero.
func (w *bitWriter) ones(q uint64) {
	for ; q >= 24; q -= 24 {
		w.write(1<<24-1, 24)
	}
	w.write(1<<(q+1)-2, uint(q)+1)
}

// flush fills the last byte with zeros.
func (w *bitWriter) flush() {
	if w.n > 0 {
		w.buf = append(w.buf, byte(w.held<<(8-w.n)))
		w.held, w.n = 0, 0
	}
}

// bitReader reads what a bitWriter wrote. Reading beyond the end gives zeros and is told by over.
type bitReader struct {
	buf []byte
	at  int // in bits
}

// peek is the next 57 bits or more, at the top of a word.
func (r *bitReader) peek() uint64 {
	i := r.at >> 3
	var v uint64
	if i+8 <= len(r.buf) {
		v = binary.BigEndian.Uint64(r.buf[i:])
	} else {
		var tail [8]byte
		if i < len(r.buf) {
			copy(tail[:], r.buf[i:])
		}
		v = binary.BigEndian.Uint64(tail[:])
	}
	return v << (r.at & 7)
}

// read reads up to 32 bits.
func (r *bitReader) read(bits uint) uint64 {
	v := r.peek() >> (64 - bits) // a shift by 64 gives 0
	r.at += int(bits)
	return v
}

func (r *bitReader) over() bool { return r.at > 8*len(r.buf) }
