package search

import (
	"cmp"
	"math"
	"time"

	"github.com/zeebo/xxh3"

	"oriel/server/query"
)

// key is the total order of rows: a search lists by it, descending.
type key struct {
	at        int64 // occurred_at in microseconds
	log       int16
	partition int32
	offset    int64
}

// cut divides all rows in two: those above and those below. It lies just above or just below its key,
// so that no row is ever on it, and two pages that meet at a cut share no row and miss none.
type cut struct {
	key   key
	above bool
}

// cutBelow is the cut under every row of the instant and above every earlier one.
func cutBelow(at int64) cut {
	return cut{key{at, math.MinInt16, math.MinInt32, math.MinInt64}, false}
}

// until is the exclusive end of the time that lies below the cut, from the inclusive start of what
// lies above.
func (c cut) until() int64 {
	if c == cutBelow(c.key.at) {
		return c.key.at
	}
	return c.key.at + 1
}

func (c cut) from() int64 { return c.key.at }

// beyond is SQL for the rows below the cut, or above it. The bound on occurred_at alone lets partitions
// be pruned, which a row comparison does not.
func (s *statement) beyond(c cut, backward bool) string {
	at := s.param(time.UnixMicro(c.key.at).UTC(), "timestamptz")
	row := `(occurred_at, log, partition, "offset")`
	place := " (" + at + ", " + s.param(c.key.log, "smallint") + ", " + s.param(c.key.partition, "integer") +
		", " + s.param(c.key.offset, "bigint") + ")"
	switch {
	case backward && c.above:
		return "occurred_at >= " + at + " AND " + row + " >" + place
	case backward:
		return "occurred_at >= " + at + " AND " + row + " >=" + place
	case c.above:
		return "occurred_at <= " + at + " AND " + row + " <=" + place
	default:
		return "occurred_at <= " + at + " AND " + row + " <" + place
	}
}

// beyond says whether a key lies below the cut, or above it.
func (c cut) beyond(k key, backward bool) bool {
	order := k.compare(c.key)
	if order == 0 {
		return backward != c.above
	}
	return backward == (order > 0)
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.at, o.at), cmp.Compare(k.log, o.log), cmp.Compare(k.partition, o.partition), cmp.Compare(k.offset, o.offset))
}

// pageToken continues a search: where, in which direction, and what it is bound to.
type pageToken struct {
	backward bool
	walk     bool // the planner's choice was too slow before: walk at once
	cut      cut
	filter   uint64
	view     *view
}

func fingerprint(where query.And) uint64 { return xxh3.HashString(query.Canonical(where)) }

func (t pageToken) String() string {
	w := newToken(kindPage)
	flags := uint64(0)
	for i, set := range []bool{t.backward, t.walk, t.cut.above} {
		if set {
			flags |= 1 << i
		}
	}
	w.uint(flags)
	w.int(t.cut.key.at)
	w.int(int64(t.cut.key.log))
	w.int(int64(t.cut.key.partition))
	w.int(t.cut.key.offset)
	w.uint(t.filter)
	t.view.write(w)
	return w.String()
}

func parsePageToken(token string) (*pageToken, error) {
	r, err := readToken(kindPage, token)
	if err != nil {
		return nil, err
	}
	flags := r.bounded(7)
	t := &pageToken{backward: flags&1 != 0, walk: flags&2 != 0}
	t.cut.above = flags&4 != 0
	t.cut.key.at = r.micros()
	t.cut.key.log = within[int16](r, math.MinInt16, math.MaxInt16)
	t.cut.key.partition = within[int32](r, math.MinInt32, math.MaxInt32)
	t.cut.key.offset = r.int()
	t.filter = r.uint()
	t.view = readView(r)
	return t, r.done()
}

func within[T int16 | int32](r *tokenReader, low, high int64) T {
	v := r.int()
	if v < low || v > high {
		r.bad = true
		return 0
	}
	return T(v)
}
