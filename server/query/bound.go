package query

import (
	"fmt"
	"strconv"
	"time"

	"oriel/server/cloudevents"
)

// Bound is one end of the window: absolute where Ago is zero and Now is false, else Ago before the
// moment that the search is made. The zero Bound is not given.
type Bound struct {
	At  Instant
	Ago Duration
	Now bool
}

// Instant is microseconds since 1970 in UTC, the resolution that events are stored and compared in.
// The zero value is not given.
type Instant struct {
	Micros int64
	Given  bool
}

// Duration counts one unit, so that a relative bound keeps its spelling (`-90m` is not `-1h30m`).
type Duration struct {
	N    int64
	Unit byte // s, m, h, d, w
}

const (
	// AcceptedBound says what ParseBound takes.
	AcceptedBound = "RFC 3339 such as 2026-11-30T12:00:00Z, a time before now such as -15m, -1h, -7d (units s, m, h, d, w), or now"
	maxAgo        = 100 * 366 * 24 * time.Hour
	oneDay        = 24 * time.Hour
)

// unitSize is how long a unit is; 0 for none of them.
func unitSize(unit byte) time.Duration {
	switch unit {
	case 's':
		return time.Second
	case 'm':
		return time.Minute
	case 'h':
		return time.Hour
	case 'd':
		return oneDay
	case 'w':
		return 7 * oneDay
	default:
		return 0
	}
}

// InstantOf is the microsecond that t lies in.
func InstantOf(t time.Time) Instant { return Instant{t.UnixMicro(), true} }

// Time is the instant in UTC; the zero time where not given.
func (i Instant) Time() time.Time {
	if !i.Given {
		return time.Time{}
	}
	return time.UnixMicro(i.Micros).UTC()
}

func (i Instant) String() string { return FormatTime(i.Time()) }

// FormatTime writes an instant as the API does: RFC 3339 in UTC with six fraction digits.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// ParseBound reads from or until. Digits beyond the microsecond are floored, as those of events are:
// a bound and an event within one microsecond are the same instant, so two windows that meet share no
// event and lose none.
func ParseBound(s string) (Bound, error) {
	if s == "now" {
		return Bound{Now: true}, nil
	}
	if s != "" && s[0] == '-' {
		d, err := parseAgo(s)
		return Bound{Ago: d}, err
	}
	t, err := cloudevents.ParseTime(s)
	if err != nil {
		return Bound{}, err
	}
	return Bound{At: InstantOf(t)}, nil
}

func parseAgo(s string) (Duration, error) {
	if len(s) < 3 {
		return Duration{}, fmt.Errorf("a time before now is a number and a unit")
	}
	unit := s[len(s)-1]
	size := unitSize(unit)
	if size == 0 {
		return Duration{}, fmt.Errorf("its unit is none of s, m, h, d, w")
	}
	digits := s[1 : len(s)-1]
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return Duration{}, fmt.Errorf("what stands before the unit is not a whole number")
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > int64(maxAgo/size) {
		return Duration{}, fmt.Errorf("it is more than 100 years")
	}
	return Duration{n, unit}, nil
}

// Given says whether the parameter was there.
func (b Bound) Given() bool { return b.Now || b.At.Given || b.Ago.Unit != 0 }

// Relative says whether the bound moves with now.
func (b Bound) Relative() bool { return b.Now || b.Ago.Unit != 0 }

// String is the canonical spelling.
func (b Bound) String() string {
	switch {
	case b.Now:
		return "now"
	case b.Ago.Unit != 0:
		return "-" + strconv.FormatInt(b.Ago.N, 10) + string(rune(b.Ago.Unit))
	case b.At.Given:
		return b.At.String()
	default:
		return ""
	}
}

// Resolve makes the bound absolute, as of now.
func (b Bound) Resolve(now time.Time) Instant {
	switch {
	case b.Now:
		return InstantOf(now)
	case b.Ago.Unit != 0:
		return InstantOf(now.Add(-time.Duration(b.Ago.N) * unitSize(b.Ago.Unit)))
	default:
		return b.At
	}
}

// Window is the absolute bounds of a search; from is inclusive, until exclusive or open.
type Window struct{ From, Until Instant }

// DefaultFrom is where a search begins that does not say.
func DefaultFrom() Bound { return Bound{Ago: Duration{24, 'h'}} }

// ResolveWindow applies the default of from, 24 hours ago, and leaves until open where not given.
func ResolveWindow(from, until Bound, now time.Time) (Window, error) {
	if !from.Given() {
		from = DefaultFrom()
	}
	w := Window{From: from.Resolve(now)}
	if until.Given() {
		w.Until = until.Resolve(now)
		if w.Until.Micros <= w.From.Micros {
			return w, fmt.Errorf("until (%s) is not after from (%s)", w.Until, w.From)
		}
	}
	return w, nil
}
