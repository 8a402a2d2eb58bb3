package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/block"
	"oriel/server/query"
)

// blockID names one block of the index of identifiers.
type blockID struct {
	day        time.Time
	log        int16
	partition  int32
	version    int16
	fromCommit int64
}

// blockHits is what one block says of an alternative: of each set of keys, what holds one of them.
type blockHits struct {
	blockID
	baseOffset int64
	rows       int
	sets       []keyHits
}

// keyHits is the rows of a block that hold one key of a set: some at once, and lists that are to be read.
type keyHits struct {
	ordinals []uint16
	lists    []block.List
}

// atMost is about how many rows there are: no more, and seldom less than a quarter.
func (k *keyHits) atMost() int {
	n := len(k.ordinals)
	for _, l := range k.lists {
		n += l.Length
	}
	return n
}

// atMost is about how many rows of the block have a key of every set.
func (b *blockHits) atMost() int {
	n := block.MaxRows
	for i := range b.sets {
		n = min(n, b.sets[i].atMost())
	}
	return n
}

// blocks asks the blocks of whole days for rows that have one key of each set; every set also stands for the
// rows over the lexicon's bound, which carry the reserved key. Blocks beyond the view are left out.
func (ses *session) blocks(ctx context.Context, keys [][]int64, reserved []int64, v *view, w query.Window) ([]*blockHits, error) {
	var flat []int64 // every key once
	number := map[uint32]int{}
	add := func(hash int64) int {
		k := block.Key(uint64(hash))
		if _, ok := number[k]; !ok {
			number[k] = len(flat)
			flat = append(flat, int64(k))
		}
		return number[k]
	}
	sets := make([][]int, len(keys))
	for i, set := range keys {
		for _, hash := range slices.Concat(set, reserved) {
			sets[i] = append(sets[i], add(hash))
		}
	}
	q, err := ses.once(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := q.Query(ctx, `SELECT b.day, b.log, b.partition, b.version, b.from_commit, b.base_offset, b.rows, k.n::integer - 1,
	       substr(b.keys, 1 + 512 * ((k.key * b.buckets) >> 28)::integer, 1024)
	  FROM event_block b CROSS JOIN unnest($1::bigint[]) WITH ORDINALITY AS k (key, n)
	 WHERE b.day >= $2 AND b.day < $3
	 ORDER BY b.day, b.log, b.partition, b.version, b.from_commit`, flat, w.From.Time(), w.Until.Time())
	if err != nil {
		return nil, fmt.Errorf("look into blocks: %w", err)
	}
	var (
		out   []*blockHits
		at    blockHits
		n     int
		pages []byte
		of    blockID // whose hits are at hand
		hits  = make([]block.Hit, len(flat))
	)
	flush := func() {
		if of.day.IsZero() || of.fromCommit > v.upper.of(of.log, of.partition) {
			return
		}
		if b := gather(&at, sets, hits); b != nil {
			out = append(out, b)
		}
	}
	var next blockHits
	_, err = pgx.ForEachRow(rows, []any{
		&next.day, &next.log, &next.partition, &next.version, &next.fromCommit,
		&next.baseOffset, &next.rows, &n, &pages,
	}, func() error {
		if next.blockID != of {
			flush()
			of, at = next.blockID, next
			clear(hits)
		}
		hit, err := block.Match(pages, uint32(flat[n]))
		hits[n] = hit
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look into blocks: %w", err)
	}
	flush()
	return out, nil
}

// gather makes the hits of a block out of those of its keys; nil where some set has none.
func gather(of *blockHits, sets [][]int, hits []block.Hit) *blockHits {
	b := *of
	b.sets = make([]keyHits, len(sets))
	for i, set := range sets {
		k := &b.sets[i]
		for _, n := range set {
			switch h := hits[n]; {
			case !h.Held:
			case h.List == block.List{}:
				k.ordinals = append(k.ordinals, h.Ordinal)
			default:
				k.lists = append(k.lists, h.List)
			}
		}
		if len(k.ordinals)+len(k.lists) == 0 {
			return nil
		}
	}
	return &b
}

// places reads where the rows of some blocks are that have one key of each set.
func (ses *session) places(ctx context.Context, blocks []*blockHits) ([]key, error) {
	for _, b := range blocks {
		b.narrow()
	}
	if err := ses.readLists(ctx, blocks); err != nil {
		return nil, err
	}
	var parts []part
	for _, b := range blocks {
		ordinals := b.together()
		for i := 0; i < len(ordinals); {
			// What lies near is read in one piece: PostgreSQL keeps 2,000 bytes together.
			end := i + 1
			for end < len(ordinals) && int(ordinals[end])-int(ordinals[end-1]) <= 200 {
				end++
			}
			from := int(ordinals[i])
			parts = append(parts, part{b, block.PlaceBytes * from, block.PlaceBytes * (int(ordinals[end-1]) + 1 - from), ordinals[i:end]})
			i = end
		}
	}
	var out []key
	err := ses.readParts(ctx, "places", parts, func(p *part, bytes []byte) error {
		for _, o := range p.ordinals {
			i := block.PlaceBytes * (int(o) - int(p.ordinals[0]))
			if i+block.PlaceBytes > len(bytes) {
				return fmt.Errorf("%w: places", block.ErrCorrupt)
			}
			micros, offset, err := block.Place(bytes[i : i+block.PlaceBytes])
			if err != nil {
				return err
			}
			out = append(out, key{p.block.day.UnixMicro() + micros, p.block.log, p.block.partition, p.block.baseOffset + offset})
		}
		return nil
	})
	return out, err
}

// narrow forgets what is not worth reading: sets of very many rows beside one of few leave out hardly any of those.
func (b *blockHits) narrow() {
	few := b.atMost()
	b.sets = slices.DeleteFunc(b.sets, func(k keyHits) bool { return k.atMost() > 16*few+1_000 })
}

// together is the ordinals that every set has, in order.
func (b *blockHits) together() []uint16 {
	var out []uint16
	for i := range b.sets {
		ordinals := b.sets[i].ordinals
		slices.Sort(ordinals)
		ordinals = slices.Compact(ordinals)
		if i == 0 {
			out = slices.Clone(ordinals)
			continue
		}
		out = slices.DeleteFunc(out, func(o uint16) bool { _, found := slices.BinarySearch(ordinals, o); return !found })
	}
	return out
}

// readLists replaces the lists by the ordinals in them.
func (ses *session) readLists(ctx context.Context, blocks []*blockHits) error {
	var parts []part
	var into []*keyHits
	for _, b := range blocks {
		for i := range b.sets {
			for _, l := range b.sets[i].lists {
				parts = append(parts, part{block: b, from: l.Offset, length: l.Length})
				into = append(into, &b.sets[i])
			}
			b.sets[i].lists = nil
		}
	}
	n := 0
	return ses.readParts(ctx, "lists", parts, func(p *part, bytes []byte) (err error) {
		into[n].ordinals, err = block.Ordinals(into[n].ordinals, bytes, p.block.rows)
		n++
		return err
	})
}

// part is some bytes of a block.
type part struct {
	block        *blockHits
	from, length int
	ordinals     []uint16 // of places
}

// readParts reads parts of one column of blocks, in order.
func (ses *session) readParts(ctx context.Context, column string, parts []part, f func(*part, []byte) error) error {
	if len(parts) == 0 {
		return nil
	}
	n := len(parts)
	days, logs, partitions, versions := make([]time.Time, n), make([]int16, n), make([]int32, n), make([]int16, n)
	commits, from, length := make([]int64, n), make([]int32, n), make([]int32, n)
	for i, p := range parts {
		b := p.block
		days[i], logs[i], partitions[i], versions[i], commits[i] = b.day, b.log, b.partition, b.version, b.fromCommit
		from[i], length[i] = int32(1+p.from), int32(p.length)
	}
	sql := readLists
	if column == "places" {
		sql = readPlaces
	}
	q, err := ses.once(ctx)
	if err != nil {
		return err
	}
	rows, err := q.Query(ctx, sql, days, logs, partitions, versions, commits, from, length)
	if err != nil {
		return fmt.Errorf("read %s of blocks: %w", column, err)
	}
	var i int
	var bytes []byte
	read := 0
	_, err = pgx.ForEachRow(rows, []any{&i, &bytes}, func() error { read++; return f(&parts[i-1], bytes) })
	if err != nil {
		return fmt.Errorf("read %s of blocks: %w", column, err)
	}
	if read != n {
		return fmt.Errorf("read %s of blocks: %d of %d parts are there", column, read, n)
	}
	return nil
}

const (
	partsOfBlocks = ` FROM unnest($1::timestamptz[], $2::smallint[], $3::integer[], $4::smallint[], $5::bigint[], $6::integer[], $7::integer[])
	   WITH ORDINALITY AS p (day, log, partition, version, commit, at, size, n)
	 CROSS JOIN LATERAL (SELECT lists, places FROM event_block
	   WHERE day = p.day AND log = p.log AND partition = p.partition AND version = p.version AND from_commit = p.commit LIMIT 1) b
	 ORDER BY p.n`
	readLists  = "SELECT p.n::integer, substr(b.lists, p.at, p.size)" + partsOfBlocks
	readPlaces = "SELECT p.n::integer, substr(b.places, p.at, p.size)" + partsOfBlocks
)
