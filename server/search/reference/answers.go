package reference

import (
	"fmt"
	"slices"
	"time"

	"oriel/server/query"
)

// Window is a range of event time in microseconds, From inclusive and Until exclusive, and one of the time that
// events were stored at, where that is bounded.
type Window struct {
	From, Until               int64
	ArrivedFrom, ArrivedUntil int64 // 0 bounds nothing
}

func (w Window) holds(e *Event) bool {
	return e.Micros >= w.From && e.Micros < w.Until && (w.ArrivedFrom == 0 || e.Arrived >= w.ArrivedFrom) &&
		(w.ArrivedUntil == 0 || e.Arrived < w.ArrivedUntil)
}

// Search is the events that fulfil all conditions within a window, in the order of lists.
func Search(events []*Event, where query.And, w Window) []*Event {
	var out []*Event
	for _, e := range events {
		if w.holds(e) && e.Holds(where) {
			out = append(out, e)
		}
	}
	Sort(out)
	return out
}

// Tally is how many events there are, and how many of them have severity error or above.
type Tally struct{ Count, Errors int64 }

func (t *Tally) add(e *Event) {
	t.Count++
	if e.Severity >= 6 {
		t.Errors++
	}
}

// Facet counts the values of a field, and the events without one.
func Facet(events []*Event, f query.Field) (values map[string]Tally, missing int64) {
	values = map[string]Tally{}
	for _, e := range events {
		has := e.spellings(f)
		if len(has) == 0 {
			missing++
		}
		for _, v := range slices.Compact(slices.Sorted(slices.Values(has))) {
			t := values[v]
			t.add(e)
			values[v] = t
		}
	}
	return values, missing
}

// Others is the conditions of a search but for those that pick values of one field at the top.
func Others(where query.And, f query.Field) query.And {
	var out query.And
	for _, n := range where {
		if !about(n, f) {
			out = append(out, n)
		}
	}
	return out
}

// about says that a condition is on one field alone.
func about(n query.Node, f query.Field) bool {
	all := func(ns []query.Node) bool {
		return len(ns) > 0 && !slices.ContainsFunc(ns, func(n query.Node) bool { return !about(n, f) })
	}
	switch n := n.(type) {
	case query.And:
		return all(n)
	case query.Or:
		return all(n)
	case query.Not:
		return about(n.Of, f)
	case query.Equal:
		return n.Field == f
	case query.Compare:
		return n.Field == f
	case query.Exists:
		return n.Field == f
	case query.Null:
		return n.Field == f
	case query.Prefix:
		return n.Field == f
	case query.Contains:
		return n.Field == f
	default:
		return false
	}
}

// Between counts the events of a span of time.
func Between(events []*Event, from, until int64) (t Tally) {
	for _, e := range events {
		if e.Micros >= from && e.Micros < until {
			t.add(e)
		}
	}
	return t
}

// Unit is the calendar unit of a zone that an instant lies in: two instants share a bucket if their units are
// the same. Within hours the offset tells an hour from the one that repeats it.
func Unit(micros int64, interval string, zone *time.Location) string {
	t := time.UnixMicro(micros).In(zone)
	_, offset := t.Zone()
	day := t.Format(time.DateOnly)
	switch interval {
	case "1M":
		return t.Format("2006-01")
	case "7d":
		monday := time.Date(t.Year(), t.Month(), t.Day()-(int(t.Weekday())+6)%7, 12, 0, 0, 0, time.UTC)
		return "week of " + monday.Format(time.DateOnly)
	case "1d":
		return day
	case "3h", "6h", "12h":
		hours, _ := time.ParseDuration(interval)
		return fmt.Sprintf("%s %d", day, t.Hour()/int(hours.Hours()))
	default:
		length, _ := time.ParseDuration(interval)
		seconds := t.Hour()*3600 + t.Minute()*60 + t.Second()
		return fmt.Sprintf("%s %d %d", day, seconds/int(length.Seconds()), offset)
	}
}

// Leaves is the leaf words of a text, folded.
func Leaves(s string) []string { return leaves(s) }

// Fold is a text as it is compared.
func Fold(s string) string { return fold(s) }

// Values is the texts that words are looked for in, folded.
func (e *Event) Values() []string { return e.texts }

// Scalar is one scalar of the data and where it stands.
type Scalar struct {
	Path    string // canonical, with the index of every element
	Text    string // a string's text, else the spelling
	Number  bool
	String  bool
	Null    bool
	Nesting bool // it is an object or an array
}

// Scalars is every value of the data with its path, as conditions spell it.
func (e *Event) Scalars() (out []Scalar) {
	var visit func(v *value, path string)
	visit = func(v *value, path string) {
		if v == nil {
			return
		}
		out = append(out, Scalar{
			Path: path, Text: v.text, Number: v.kind == aNumber, String: v.kind == aString, Null: v.kind == aNull,
			Nesting: v.kind == anArray || v.kind == anObject,
		})
		for i, el := range v.elements {
			visit(el, fmt.Sprintf("%s[%d]", path, i))
		}
		for _, m := range v.members {
			visit(m.of, Step(path, m.name))
		}
	}
	visit(e.root, "")
	return out
}

// Step spells the member of a name below a path.
func Step(path, name string) string {
	if path != "" {
		path += "."
	}
	return path + quoted(name)
}
