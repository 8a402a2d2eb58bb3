package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"oriel/server/query"
)

const (
	maxBuckets     = 120
	defaultBuckets = 60
	maxSplit       = 6 // values of a split; what is beyond is the rest
)

// histogramAsk is what is asked for beside the filter.
type histogramAsk struct {
	zone     *time.Location
	interval *interval // nil is the shortest that needs no more than buckets
	buckets  int
	splitBy  *query.Field
}

// errTooManyBuckets says that the window has more than maxBuckets of the interval.
var errTooManyBuckets = errors.New("the window has too many buckets of the interval")

// histogram is one that is being made.
type histogram struct {
	*Service
	ses   *session
	where query.And
	view  *view
	ask   histogramAsk

	window run
	edges  []time.Time
	unit   interval
	split  []string // values as stored: severity as the rank in digits
	counts []bucketCount
	out    *Histogram
}

// bucketCount is what a bucket holds.
type bucketCount struct {
	sums
	split []int64
	rest  int64
}

// run makes the histogram by the first way that can: the rollups, the set of all events that the filter finds,
// the database's count for as long as that may take. What is not counted then is not covered.
func (h *histogram) run(ctx context.Context) error {
	if err := h.choose(ctx); err != nil {
		return err
	}
	ok, err := h.rolled(ctx)
	if err != nil {
		return err
	}
	if ok {
		h.answer(0, IsExact)
		return nil
	}
	found, err := h.set(ctx, h.ses, h.where, h.view)
	if err != nil {
		return err
	}
	if found.relation == IsExact {
		h.splitOf(found.matches)
		h.countMatches(found.matches)
		h.answer(0, IsExact)
		return nil
	}
	return h.partly(ctx, found)
}

// choose finds the window, and its buckets. A window that begins before there can be events is
// taken from there, and one without an end ends with what there is.
func (h *histogram) choose(ctx context.Context) error {
	h.window = run{h.view.window.From.Micros, h.view.window.Until.Micros}
	oldest := h.view.made.Time().Add(-h.retention)
	if h.view.oldest.Given && h.view.oldest.Time().Before(oldest) {
		oldest = h.view.oldest.Time()
	}
	h.window.from = max(h.window.from, oldest.UnixMicro())
	if !h.view.window.Until.Given {
		end, err := h.newest(ctx)
		if err != nil {
			return err
		}
		h.window.until = end
	}
	h.window.until = max(h.window.until, h.window.from+1)
	return h.buckets()
}

// buckets finds the interval and the buckets of the window.
func (h *histogram) buckets() error {
	from, until := time.UnixMicro(h.window.from), time.UnixMicro(h.window.until)
	units := ladder()
	if h.ask.interval != nil {
		units = []interval{*h.ask.interval}
	}
	for i, unit := range units {
		most := h.ask.buckets
		if i == len(units)-1 {
			most = maxBuckets
		}
		if edges, ok := unit.edges(h.ask.zone, from, until, most); ok {
			h.unit, h.edges = unit, edges
			h.counts = make([]bucketCount, len(edges)-1)
			return nil
		}
	}
	return errTooManyBuckets
}

// newest is just after the last event of the view that is stamped later than the view was made, or when it was
// made where there is none.
func (h *histogram) newest(ctx context.Context) (int64, error) {
	s := &statement{}
	var at time.Time
	err := h.ses.QueryRow(ctx, "SELECT coalesce(max(occurred_at), "+s.param(h.view.made.Time(), "timestamptz")+
		") FROM event WHERE occurred_at >= "+s.param(h.view.made.Time(), "timestamptz")+" AND "+s.snapshot(h.view), s.args...).Scan(&at)
	if err != nil {
		return 0, fmt.Errorf("find the newest event: %w", err)
	}
	return at.UnixMicro() + 1, nil
}

// micros are the edges, for statements.
func (h *histogram) micros() []int64 {
	out := make([]int64, len(h.edges))
	for i, e := range h.edges {
		out[i] = e.UnixMicro()
	}
	return out
}

// rolled counts from the rollups.
func (h *histogram) rolled(ctx context.Context) (bool, error) {
	f, ok, err := h.ses.rolledIn(ctx, h.view, h.where)
	if !ok {
		return false, err
	}
	read := h.rolledView(h.view)
	read.edges = h.micros()
	if f.dimension == "" || f.dimension == dimensionSeverity {
		read.dimensions = []string{dimensionSeverity}
	} else {
		read.dimensions = []string{f.dimension}
	}
	if !read.aligned() {
		return false, nil
	}
	if h.ask.splitBy != nil {
		d := dimensionOf(*h.ask.splitBy)
		if d == "" || f.dimension != "" && f.dimension != d {
			return false, nil
		}
		if ok, err := h.ses.counted(ctx, d); !ok {
			return false, err
		}
		read.dimensions = []string{d}
		if !read.aligned() {
			return false, nil
		}
		if ok, err := servedByRollups(h.view, h.rolledSplit(ctx, *read, f, d)); !ok {
			return false, err
		}
	}
	counts, err := rolledCounts(ctx, h.ses, *read, f)
	if ok, err := servedByRollups(h.view, err); !ok {
		return false, err
	}
	for b, c := range counts {
		h.counts[b-1].sums = c
		h.counts[b-1].rest = c.n
	}
	if h.ask.splitBy != nil {
		for i := range h.counts {
			for _, n := range h.counts[i].split {
				h.counts[i].rest -= n
			}
		}
	}
	return true, nil
}

// rolledSplit finds the values to split by and their numbers.
func (h *histogram) rolledSplit(ctx context.Context, read rollupRead, f rolled, dimension string) error {
	whole := read
	whole.edges = nil
	rows, err := readRollups(ctx, h.ses, &whole)
	if err != nil {
		return err
	}
	if !single(dimension) && overlapping(rows) {
		return errRollupOverlap // what the values leave over cannot be told from their sum
	}
	most := map[string]int64{}
	for _, r := range rows {
		if r.value == "" && !single(dimension) || f.dimension != "" && slices.Contains(f.values, r.value) == f.without {
			continue
		}
		if f.errors {
			r.n = r.errors
		}
		most[r.value] = r.n
	}
	h.split = topOf(*h.ask.splitBy, most)
	read.values = h.split
	if rows, err = readRollups(ctx, h.ses, &read); err != nil {
		return err
	}
	for i := range h.counts {
		h.counts[i].split = make([]int64, len(h.split))
	}
	for _, r := range rows {
		if f.errors {
			r.n = r.errors
		}
		h.counts[r.bucket-1].split[slices.Index(h.split, r.value)] = r.n
	}
	return nil
}

// answer makes the answer of the buckets from the first on.
func (h *histogram) answer(first int, relation Relation) {
	covered := Covered{From: h.view.window.From.Time(), Until: h.view.window.Until.Time()}
	if first > 0 {
		covered.From = h.edges[first].UTC()
	}
	h.out = &Histogram{Interval: h.unit.name, Zone: h.ask.zone.String(), Snapshot: h.view.token()}
	if h.ask.splitBy != nil {
		h.out.SplitBy = h.ask.splitBy.String()
		for _, v := range h.split {
			h.out.Split = append(h.out.Split, shownValue(*h.ask.splitBy, v))
		}
	}
	var total int64
	for i := first; i < len(h.counts); i++ {
		c := h.counts[i]
		b := Bucket{From: h.edges[i], Until: h.edges[i+1], Count: c.n, Errors: c.errors}
		if h.ask.splitBy != nil {
			b.Split, b.Rest = c.split, c.rest
			if b.Split == nil {
				b.Split = make([]int64, len(h.split))
			}
		}
		total += c.n
		h.out.Buckets = append(h.out.Buckets, b)
	}
	h.out.Total = Count{Value: total, Relation: relation, Covered: covered, Snapshot: h.out.Snapshot}
}
