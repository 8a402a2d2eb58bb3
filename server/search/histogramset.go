package search

import (
	"slices"

	"oriel/server/query"
)

// countMatches counts events of the set.
func (h *histogram) countMatches(matches []match) {
	bucket := len(h.edges) - 2
	for i := range h.counts {
		h.counts[i] = bucketCount{split: make([]int64, len(h.split))}
	}
	for i := range matches { // newest first, as buckets are gone through
		m := &matches[i]
		for bucket > 0 && m.key.at < h.edges[bucket].UnixMicro() {
			bucket--
		}
		c := &h.counts[bucket]
		c.n++
		if m.severity >= errorRank {
			c.errors++
		}
		if h.ask.splitBy == nil {
			continue
		}
		rest := true
		m.each(*h.ask.splitBy, func(value string) {
			if at := slices.Index(h.split, value); at >= 0 {
				c.split[at]++
				rest = false
			}
		})
		if rest {
			c.rest++
		}
	}
}

// splitOf chooses the values to split by from events.
func (h *histogram) splitOf(matches []match) {
	if h.ask.splitBy == nil {
		return
	}
	most := map[string]int64{}
	for i := range matches {
		matches[i].each(*h.ask.splitBy, func(value string) { most[value]++ })
	}
	h.split = topOf(*h.ask.splitBy, most)
}

// topOf is the values that are worth a colour of their own: the most frequent, or of severity all there are.
func topOf(f query.Field, n map[string]int64) []string {
	if f.Kind == query.Severity {
		delete(n, "0")
		values := make([]string, 0, len(n))
		for v := range n {
			values = append(values, v)
		}
		slices.Sort(values)
		return values
	}
	values := frequent(n)
	return values[:min(len(values), maxSplit)]
}
