package consume

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"oriel/server/db"

	"github.com/zeebo/xxh3"
)

// Names of dimensions beside those of the facets, which have their own.
const (
	dimensionSubject   = "subject"
	dimensionExtension = "extension" // whose values are the names of extensions
)

// maxDimension is how many values of a dimension are kept for completion: the first that were seen.
const maxDimension = 100_000

// maxDimensionEntry bounds name and value together, so that a row fits an index entry.
const maxDimensionEntry = 2048

// dimensionValue is one value for completion.
type dimensionValue struct{ dimension, value string }

func (d dimensionValue) hash() uint64 {
	return xxh3.HashStringSeed(d.value, xxh3.HashString(d.dimension)) | 1
}

// offer notes the values of a row that the database may not have. A dimension that is full costs no more
// than the look.
func (v *vocabulary) offer(r *row) {
	v.value(dimensionType, r.event.Type)
	v.value(dimensionSource, r.event.Source)
	if r.event.Subject != "" {
		v.value(dimensionSubject, r.event.Subject)
	}
	for i := range r.event.Extensions {
		v.value(dimensionExtension, r.event.Extensions[i].Name)
	}
	for _, t := range r.tags {
		v.value(dimensionTag, t)
	}
	for _, f := range r.facets {
		name, value, _ := strings.Cut(f, "=")
		v.value(name, value)
	}
}

func (v *vocabulary) value(dimension, value string) {
	d := dimensionValue{dimension, value}
	h := d.hash()
	if v.near.value(h) {
		return
	}
	if v.global.value(h) || v.global.isFull(dimension) {
		v.near.addValue(h)
		return
	}
	v.values[d] = struct{}{}
}

// value says whether a value's hash is known to the database.
func (s *seen) value(h uint64) bool {
	b := s.values.at(h)
	for i := range b {
		if b[i].Load() == h {
			return true
		}
	}
	return false
}

func (s *seen) addValue(h uint64) {
	if !s.value(h) {
		s.values.put(h)
	}
}

// isFull says that a dimension takes no more values.
func (s *seen) isFull(dimension string) bool {
	full := s.full.Load()
	return full != nil && slices.Contains(*full, dimension)
}

func (s *seen) fill(dimension string) {
	for {
		was := s.full.Load()
		var now []string
		if was != nil {
			if slices.Contains(*was, dimension) {
				return
			}
			now = slices.Clone(*was)
		}
		if now = append(now, dimension); s.full.CompareAndSwap(was, &now) {
			return
		}
	}
}

// unseenValues are the values that nobody has stored meanwhile and that can be stored, sorted.
func (c *Consumer) unseenValues(v *vocabulary) []dimensionValue {
	values := make([]dimensionValue, 0, len(v.values))
	for d := range v.values {
		if !c.seen.value(d.hash()) && !c.seen.isFull(d.dimension) && storable(maxDimensionEntry, d.dimension, d.value) {
			values = append(values, d)
		}
	}
	slices.SortFunc(values, func(a, b dimensionValue) int {
		return cmp.Or(strings.Compare(a.dimension, b.dimension), strings.Compare(a.value, b.value))
	})
	return values
}

// insertValues adds sorted values to their dimensions, and names those that are full thereafter. Whoever does
// so waits for the others: then a dimension has no more values than it may.
func insertValues(ctx context.Context, q *db.Queries, values []dimensionValue) (full []string, err error) {
	if len(values) == 0 {
		return nil, nil
	}
	if err := q.LockDimensions(ctx); err != nil {
		return nil, fmt.Errorf("wait for another's values for completion: %w", err)
	}
	for len(values) > 0 {
		name := values[0].dimension
		var texts []string
		for len(values) > 0 && values[0].dimension == name {
			texts, values = append(texts, values[0].value), values[1:]
		}
		n, err := q.CountDimension(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("count the values for completion: %w", err)
		}
		texts = texts[:min(len(texts), max(0, maxDimension-int(n)))]
		added, err := q.InsertDimensionValues(ctx, db.InsertDimensionValuesParams{Dimension: name, Texts: texts})
		if err != nil {
			return nil, fmt.Errorf("insert values for completion: %w", err)
		}
		if n+added >= maxDimension {
			full = append(full, name)
		}
	}
	return full, nil
}
