package maintain

import (
	"time"

	"oriel/server/block"
	"oriel/server/db"
)

// When neighbouring blocks become one. A probe costs the same whatever a block's size, so few are better; each
// merge rewrites its rows, so most are rewritten twice: into a block of some thousand rows, and into a full one.
const (
	smallRows    = 2000
	smallEntries = 200_000
	manyBlocks   = 32      // neighbours: these become one
	maxEntries   = 2 << 20 // of a block: what a merge has in memory is 16 bytes of each
	mergedAtOnce = 1024    // blocks
)

// A block is merged though it is small after mergeAfter, and though there are few after idleAfter.
const (
	mergeAfter = time.Minute
	idleAfter  = time.Hour
)

// Sizes of blocks, the label of a metric.
const (
	sizeSmall = "small"
	sizeOpen  = "open"
	sizeFull  = "full"
)

func sizeOf(b *db.BlocksRow) string {
	switch {
	case b.Rows >= block.MaxRows*3/4 || b.Entries >= maxEntries*3/4:
		return sizeFull
	case b.Rows < smallRows && b.Entries < smallEntries:
		return sizeSmall
	default:
		return sizeOpen
	}
}

// run is neighbours that become one block.
type run []db.BlocksRow

func (r run) rows() (n int) {
	for i := range r {
		n += int(r[i].Rows)
	}
	return n
}

// takes says whether one more fits.
func (r run) takes(b *db.BlocksRow) bool {
	if len(r) == 0 {
		return true
	}
	rows, entries, lowest, highest := int(b.Rows), int(b.Entries), b.BaseOffset, b.LastOffset
	for i := range r {
		rows += int(r[i].Rows)
		entries += int(r[i].Entries)
		lowest, highest = min(lowest, r[i].BaseOffset), max(highest, r[i].LastOffset)
	}
	return rows <= block.MaxRows && entries <= maxEntries && block.Span(lowest, highest) && len(r) < mergedAtOnce
}

func sameSeries(a, b *db.BlocksRow) bool {
	return a.Day.Equal(b.Day) && a.Log == b.Log && a.Partition == b.Partition && a.Version == b.Version
}

// plan is what to merge of all blocks, in the order of Blocks, and how long the oldest small one has waited
// beyond its minute for that.
func plan(blocks []db.BlocksRow) (due []run, behind time.Duration) {
	for len(blocks) > 0 {
		n := 1
		for n < len(blocks) && sameSeries(&blocks[0], &blocks[n]) {
			n++
		}
		for _, r := range planSeries(blocks[:n]) {
			due = append(due, r)
			for i := range r {
				if sizeOf(&r[i]) == sizeSmall {
					behind = max(behind, age(&r[i])-mergeAfter)
				}
			}
		}
		blocks = blocks[n:]
	}
	return due, behind
}

func age(b *db.BlocksRow) time.Duration { return time.Duration(b.Age * float64(time.Second)) }

// planSeries plans the blocks of one day, partition and version.
func planSeries(blocks []db.BlocksRow) (due []run) {
	var r run
	cut := func(full bool) {
		if len(r) > 1 && (full || len(r) >= manyBlocks && r.rows() >= manyBlocks*smallRows/2 || newest(r) >= idleAfter) {
			due = append(due, r)
		} else {
			due = append(due, smallRuns(r)...)
		}
		r = nil
	}
	for i := range blocks {
		b := &blocks[i]
		if sizeOf(b) == sizeFull {
			cut(false)
			continue
		}
		if !r.takes(b) {
			cut(true)
		}
		r = append(r, *b)
	}
	cut(false)
	return due
}

func newest(r run) time.Duration {
	least := age(&r[0])
	for i := range r {
		least = min(least, age(&r[i]))
	}
	return least
}

// smallRuns are the neighbours among some blocks that are small and many enough, or old.
func smallRuns(blocks run) (due []run) {
	for len(blocks) > 0 {
		n := 0
		var oldest time.Duration
		for n < len(blocks) && sizeOf(&blocks[n]) == sizeSmall {
			oldest = max(oldest, age(&blocks[n]))
			n++
		}
		if r := blocks[:n]; n > 1 && (r.rows() >= smallRows || n >= manyBlocks || oldest >= mergeAfter) {
			due = append(due, r)
		}
		blocks = blocks[max(n, 1):]
	}
	return due
}
