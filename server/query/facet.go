package query

import "slices"

// Counting is what a facet counts over: the conditions without those on its field alone, so that several of its
// values can be picked. Only top-level conditions are taken out, and none that the query says, which hold whatever
// is picked beside them. Of tags all that are picked must be there: one more is counted beside the others.
func Counting(where, query And, f Field) And {
	if f == (Field{Facet, facetTag}) {
		return where
	}
	out := And{}
	for _, n := range where {
		if !about(n, f) {
			out = append(out, n)
		}
	}
	for _, n := range query {
		if about(n, f) {
			out = append(out, n)
		}
	}
	return conjuncts(Normalise(out))
}

// about says whether a condition is on one field alone.
func about(n Node, f Field) bool {
	leaves, alone := 0, true
	Walk(n, func(n Node) {
		switch n := n.(type) {
		case And, Or, Not:
		default:
			leaves++
			alone = alone && unwrappedField(n) == f
		}
	})
	return alone && leaves > 0
}

func unwrappedField(n Node) Field {
	k, _ := unwrapped(n)
	return k.field
}

// Selected is the values of a field that top-level conditions pick, in the order of the canonical
// parameters. A least severity picks all from it on.
func Selected(where And, f Field) []string {
	var out []string
	add := func(v string) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, n := range where {
		alternatives, ok := n.(Or)
		if !ok {
			alternatives = Or{n}
		}
		if !about(alternatives, f) || slices.ContainsFunc(alternatives, func(n Node) bool { return !picks(n) }) {
			continue
		}
		for _, a := range alternatives {
			switch a := a.(type) {
			case Equal:
				add(a.Value)
			case Compare:
				for rank := int16(1); SeverityName(rank) != ""; rank++ {
					if fulfils(rank, a) {
						add(SeverityName(rank))
					}
				}
			}
		}
	}
	return out
}

// picks says whether a condition picks values by naming them.
func picks(n Node) bool {
	switch n := n.(type) {
	case Equal:
		return true
	case Compare:
		return n.Field.Kind == Severity
	default:
		return false
	}
}

// fulfils says whether a severity stands in the comparison.
func fulfils(rank int16, c Compare) bool {
	bound, ok := SeverityRank(c.Value)
	return ok && rank > 0 && c.Op.holds(int(rank)-int(bound))
}

// holds says whether what compares so fulfils the operator.
func (o Op) holds(order int) bool {
	switch o {
	case Less:
		return order < 0
	case AtMost:
		return order <= 0
	case AtLeast:
		return order >= 0
	default:
		return order > 0
	}
}
