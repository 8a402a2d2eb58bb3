package search

import (
	"cmp"
	"slices"
	"strings"

	"oriel/server/lexicon"
	"oriel/server/query"
)

// statistics is the answer of a field: all says that the sample is every event there is.
func (st *fieldStat) statistics(f query.Field, top int, all bool) FieldStatistics {
	out := FieldStatistics{
		Field: f.String(), Kinds: kindNames(st.kinds), Present: st.present, Distinct: int64(len(st.values)), DistinctIs: IsSampled,
		Least: string(st.least), Most: string(st.most), FirstSeen: st.first, LastSeen: st.last,
	}
	switch {
	case st.more:
		out.DistinctIs = IsAtLeast
	case all:
		out.DistinctIs = IsExact
	}
	merged := map[string]*FacetValue{} // a number and a text that read alike are asked for alike
	for _, v := range st.values {
		m := merged[v.shown]
		if m == nil {
			m = &FacetValue{Value: v.shown}
			merged[v.shown] = m
		}
		m.Count += v.n
		m.Errors += v.errors
	}
	for _, v := range merged {
		out.Top = append(out.Top, *v)
	}
	slices.SortFunc(out.Top, func(a, b FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	out.Top = out.Top[:min(len(out.Top), top)]
	return out
}

// kindNames spells a set of kinds. An empty text is a text.
func kindNames(kinds int16) []string {
	var out []string
	for _, k := range []struct {
		bits int16
		name string
	}{
		{lexicon.KindString | lexicon.KindEmptyString, "string"},
		{lexicon.KindNumber, "number"},
		{lexicon.KindBoolean, "boolean"},
		{lexicon.KindNull, "null"},
		{lexicon.KindObject, "object"},
		{lexicon.KindArray, "array"},
	} {
		if kinds&k.bits != 0 {
			out = append(out, k.name)
		}
	}
	return out
}
