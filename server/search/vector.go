package search

import (
	"cmp"
	"slices"
)

// maxVector bounds what a token can make us allocate; it is far above any topic's partitions.
const maxVector = 1 << 16

// progress is the commits of one partition of one log.
type progress struct {
	log       int16
	partition int32
	commits   int64
}

// vector is the commits of the consumer "store" by log and partition, sorted: a row is inside iff its
// commit is not above its partition's. A partition that is absent counts as 0.
type vector []progress

// compare orders two of its entries.
func (v vector) compare(i, j int) int {
	return cmp.Or(cmp.Compare(v[i].log, v[j].log), cmp.Compare(v[i].partition, v[j].partition))
}

func (v vector) write(w *tokenWriter) {
	w.uint(uint64(len(v)))
	for _, p := range v {
		w.uint(uint64(p.log))
		w.uint(uint64(p.partition))
		w.uint(uint64(p.commits))
	}
}

func readVector(r *tokenReader) vector {
	n := r.bounded(maxVector)
	var v vector
	for range n {
		v = append(v, progress{
			log:       int16(r.bounded(1<<15 - 1)),
			partition: int32(r.bounded(maxVector)),
			commits:   r.count(),
		})
		if n := len(v); r.bad || n > 1 && v[:n].compare(n-2, n-1) >= 0 {
			r.bad = true
			return nil
		}
	}
	if logs, stride := v.size(); logs*stride > maxVector {
		r.bad = true
		return nil
	}
	return v
}

// size is the number of logs, and of places a log takes in a table.
func (v vector) size() (logs, stride int) {
	for i, p := range v {
		stride = max(stride, int(p.partition)+1)
		if i == 0 || v[i-1].log != p.log {
			logs++
		}
	}
	return logs, stride
}

// table is the vector as two arrays that SQL can index: the logs, and for each log a run of stride
// commits by partition.
func (v vector) table() (logs []int16, commits []int64, stride int) {
	n, stride := v.size()
	logs, commits = make([]int16, 0, n), make([]int64, n*stride)
	for i, p := range v {
		if i == 0 || v[i-1].log != p.log {
			logs = append(logs, p.log)
		}
		commits[(len(logs)-1)*stride+int(p.partition)] = p.commits
	}
	return logs, commits, stride
}

// atMost is the vector with no partition beyond another's.
func (v vector) atMost(other vector) vector {
	out := make(vector, len(v))
	for i, p := range v {
		p.commits = min(p.commits, other.of(p.log, p.partition))
		out[i] = p
	}
	return out
}

// of is the commits of one partition.
func (v vector) of(log int16, partition int32) int64 {
	i, found := slices.BinarySearchFunc(v, progress{log: log, partition: partition}, func(a, b progress) int {
		return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.partition, b.partition))
	})
	if !found {
		return 0
	}
	return v[i].commits
}

// reaches says whether every partition has come as far as another vector's.
func (v vector) reaches(other vector) bool {
	return !slices.ContainsFunc(other, func(p progress) bool { return v.of(p.log, p.partition) < p.commits })
}

// inside is SQL that holds for the rows of the vector and is never NULL.
func (s *statement) inside(v vector) string {
	if len(v) == 0 {
		return never
	}
	logs, commits, stride := v.table()
	width := s.param(stride, "integer")
	return "coalesce(partition < " + width + " AND commit <= (" + s.param(commits, "bigint[]") +
		")[(array_position(" + s.param(logs, "smallint[]") + ", log) - 1) * " + width + " + partition + 1], FALSE)"
}

// arrived is SQL for the rows that did not arrive too early for the view.
func (s *statement) arrived(v *view) string {
	if !v.arrivedOnly || len(v.lower) == 0 {
		return always
	}
	return "NOT " + s.inside(v.lower)
}

// snapshot is SQL for the rows of the view, whatever they occurred at.
func (s *statement) snapshot(v *view) string { return join(s.inside(v.upper), s.arrived(v)) }
