package search

// The spans of the rollups, in microseconds.
const (
	microsPerMinute  = 60 * 1_000_000
	microsPerQuarter = 15 * microsPerMinute
	microsPerHour    = 60 * microsPerMinute
	microsPerDay     = 24 * microsPerHour
)

// forever stands for the end of a window that has none: a midnight after every event.
const forever = 253_402_214_400_000_000 // 9999-12-31

// run is a span of time, [from, until), in microseconds.
type run struct{ from, until int64 }

// runs are spans in order, none of which touches another.
type runs []run

// add adds a span after all others.
func (r *runs) add(from, until int64) {
	if n := len(*r); n > 0 && (*r)[n-1].until == from {
		(*r)[n-1].until = until
		return
	}
	*r = append(*r, run{from, until})
}

// holes are the spans between the runs.
func (r runs) holes() runs {
	var out runs
	for i := 1; i < len(r); i++ {
		out = append(out, run{r[i-1].until, r[i].from})
	}
	return out
}

// starts are the beginnings of the runs' units.
func (r runs) starts(unit int64) []int64 {
	var out []int64
	for _, x := range r {
		for at := x.from; at < x.until; at += unit {
			out = append(out, at)
		}
	}
	return out
}

// cover is what answers a window: whole units of each rollup, each counted once, the rows that they lack at
// the window's ends, and the rows that they have beyond them.
type cover struct {
	days, hours, quarters, minutes runs
	plus, minus                    runs
}

// units are the spans of the rollups that may be used, the longest first. The last is the cell: whatever
// divides buckets from each other must lie on its bounds.
type units struct{ days, hours, minutes bool }

func (u units) list() []int64 {
	var out []int64
	if u.days {
		out = append(out, microsPerDay)
	}
	if u.hours {
		out = append(out, microsPerHour)
	}
	out = append(out, microsPerQuarter)
	if u.minutes {
		out = append(out, microsPerMinute)
	}
	return out
}

// covering finds the cover of a window whose buckets begin at edges, which are multiples of the cell. The ends
// of the window need not be: there the shorter side of the cell is counted by rows, those after now being few.
func covering(w run, edges []int64, now int64, u units) *cover {
	c := &cover{}
	list := u.list()
	cell := list[len(list)-1]
	first, last := floorDiv(w.from, cell)*cell, w.until
	if w.until < forever {
		last = -floorDiv(-w.until, cell) * cell
	}
	if last-first <= cell && (first < w.from || w.until < last) { // within one
		c.plus.add(w.from, w.until)
		return c
	}
	if first < w.from {
		if expected(first, w.from, now) < expected(w.from, first+cell, now) {
			c.minus.add(first, w.from)
		} else {
			c.plus.add(w.from, first+cell)
			first += cell
		}
	}
	if w.until < last {
		if expected(w.until, last, now) < expected(last-cell, w.until, now) {
			c.minus.add(w.until, last)
		} else {
			c.plus.add(last-cell, w.until)
			last -= cell
		}
	}
	for _, edge := range edges {
		if edge > first && edge < last {
			c.split(first, edge, list)
			first = edge
		}
	}
	if first < last {
		c.split(first, last, list)
	}
	return c
}

// expected is in which time the events of a span came: hardly any lie in the future.
func expected(from, until, now int64) int64 {
	return max(0, min(until, now)-from) + max(0, until-max(from, now))/1024
}

// split covers [from, until) by the longest of the units that fit, and its ends by the shorter.
func (c *cover) split(from, until int64, list []int64) {
	unit := list[0]
	first, last := -floorDiv(-from, unit)*unit, floorDiv(until, unit)*unit
	if first >= last {
		c.split(from, until, list[1:])
		return
	}
	if from < first {
		c.split(from, first, list[1:])
	}
	c.of(unit).add(first, last)
	if last < until {
		c.split(last, until, list[1:])
	}
}

func (c *cover) of(unit int64) *runs {
	switch unit {
	case microsPerDay:
		return &c.days
	case microsPerHour:
		return &c.hours
	case microsPerQuarter:
		return &c.quarters
	default:
		return &c.minutes
	}
}

// merged are the spans of two sorted lists as one.
func merged(a, b runs) runs {
	var out runs
	for len(a) > 0 || len(b) > 0 {
		next := &a
		if len(a) == 0 || len(b) > 0 && b[0].from < a[0].from {
			next = &b
		}
		out.add((*next)[0].from, (*next)[0].until)
		*next = (*next)[1:]
	}
	return out
}
