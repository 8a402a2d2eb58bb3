package search

import (
	"time"
	_ "time/tzdata" // the machine may have no zones, or old ones
)

// interval is a unit of a histogram: a fixed step of the clock, or days or months of the calendar.
type interval struct {
	name         string
	step         time.Duration // of the wall clock, counted from local midnight; 0 for those of the calendar
	days, months int
}

// ladder is every interval, the shortest first.
func ladder() []interval {
	return []interval{
		{name: "1s", step: time.Second},
		{name: "5s", step: 5 * time.Second},
		{name: "10s", step: 10 * time.Second},
		{name: "30s", step: 30 * time.Second},
		{name: "1m", step: time.Minute},
		{name: "5m", step: 5 * time.Minute},
		{name: "10m", step: 10 * time.Minute},
		{name: "15m", step: 15 * time.Minute},
		{name: "30m", step: 30 * time.Minute},
		{name: "1h", step: time.Hour},
		{name: "3h", step: 3 * time.Hour},
		{name: "6h", step: 6 * time.Hour},
		{name: "12h", step: 12 * time.Hour},
		{name: "1d", days: 1},
		{name: "7d", days: 7},
		{name: "1M", months: 1},
	}
}

// least is no longer than any bucket of the interval, but for those that a change of the offset cuts.
func (iv interval) least() time.Duration {
	return iv.step + time.Duration(iv.days)*(oneDay-2*time.Hour) + time.Duration(iv.months)*27*oneDay
}

// floor is the start of the bucket that t lies in. Up to an hour, buckets are of equal real length and counted
// anew where the zone's offset changes: an hour that is repeated is two buckets, and half an hour that is
// skipped leaves half a one. Longer ones begin when the wall clock first shows their beginning, or what comes
// after it where that is skipped: days begin at local midnight and last 23, 24 or 25 hours.
func (iv interval) floor(loc *time.Location, t time.Time) time.Time {
	if iv.step > 0 && iv.step <= time.Hour {
		begin, _, offset := segment(loc, t)
		at := floorTo(t, iv.step, offset)
		if at.Before(begin) {
			at = begin
		}
		return at.In(loc)
	}
	y, m, d := t.In(loc).Date()
	hour := 0
	switch {
	case iv.months > 0:
		d = 1
	case iv.days == 7:
		d -= (int(t.In(loc).Weekday()) + 6) % 7 // Monday
	case iv.days == 0:
		unit := int(iv.step / time.Hour)
		hour = t.In(loc).Hour() / unit * unit
	}
	at := firstShown(loc, y, m, d, hour)
	for next := iv.next(loc, at); !next.After(t); next = iv.next(loc, at) {
		at = next // the wall clock went back over a beginning: what it shows twice belongs to the later bucket
	}
	return at
}

// next is the start of the bucket after the one that starts at t.
func (iv interval) next(loc *time.Location, t time.Time) time.Time {
	if iv.step > 0 && iv.step <= time.Hour {
		_, end, offset := segment(loc, t)
		at := floorTo(t, iv.step, offset).Add(iv.step)
		if !end.IsZero() && at.After(end) {
			at = end
		}
		return at.In(loc)
	}
	y, m, d := t.In(loc).Date()
	hour, unit := 0, 0
	switch {
	case iv.months > 0:
		d = 1
	case iv.days == 0:
		unit = int(iv.step / time.Hour)
		hour = t.In(loc).Hour() / unit * unit
	}
	for {
		m, d, hour = m+time.Month(iv.months), d+iv.days, hour+unit
		if at := firstShown(loc, y, m, d, hour); at.After(t) {
			return at
		}
	}
}

// edges are the starts of the buckets that cover [from, until), and the end of the last. It gives up beyond
// most buckets.
func (iv interval) edges(loc *time.Location, from, until time.Time, most int) ([]time.Time, bool) {
	if until.Sub(from) > time.Duration(most+1)*(iv.least()*2) && iv.months == 0 {
		return nil, false
	}
	out := []time.Time{iv.floor(loc, from)}
	for at := out[0]; at.Before(until); {
		if len(out) > most {
			return nil, false
		}
		at = iv.next(loc, at)
		out = append(out, at)
	}
	return out, true
}

// segment is the span around t in which the zone's offset is the same; a bound is zero where there is none.
func segment(loc *time.Location, t time.Time) (begin, end time.Time, offset time.Duration) {
	in := t.In(loc)
	_, seconds := in.Zone()
	begin, end = in.ZoneBounds()
	for !begin.IsZero() { // a zone may change its name alone
		before := begin.Add(-time.Second)
		if _, s := before.Zone(); s != seconds {
			break
		}
		begin, _ = before.ZoneBounds()
	}
	for !end.IsZero() {
		if _, s := end.Zone(); s != seconds {
			break
		}
		_, end = end.ZoneBounds()
	}
	return begin, end, time.Duration(seconds) * time.Second
}

// firstShown is the first instant at which the wall clock shows the hour of a day or, where that is skipped,
// a later one. Days and months beyond a month's or a year's end go on into the next.
func firstShown(loc *time.Location, y int, m time.Month, d, hour int) time.Time {
	wall := time.Date(y, m, d, hour, 0, 0, 0, time.UTC)
	at := wall.Add(-36 * time.Hour) // no offset is as large
	for {
		begin, end, offset := segment(loc, at)
		shown := wall.Add(-offset)
		if !end.IsZero() && !shown.Before(end) {
			at = end
			continue
		}
		if shown.Before(begin) {
			shown = begin
		}
		return shown.In(loc)
	}
}

// floorTo is the last multiple of step on the wall clock of the offset, at or before t.
func floorTo(t time.Time, step, offset time.Duration) time.Time {
	unit, shift := step.Microseconds(), offset.Microseconds()
	return time.UnixMicro(floorDiv(t.UnixMicro()+shift, unit)*unit - shift)
}

// floorDiv rounds down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
