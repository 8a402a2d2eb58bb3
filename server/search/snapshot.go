package search

import (
	"context"
	"fmt"
	"strings"
	"time"

	"oriel/server/db"
	"oriel/server/fault"
)

// view is what a snapshot freezes: absolute bounds and the vector of commits, so that a search sees the
// same rows however often it is asked and whatever is stored meanwhile.
type view struct {
	made        Instant
	window      window
	from, until Bound   // as asked for; the default where not given
	oldest      Instant // start of the oldest day that there was; not given where there was none
	vector      vector
}

// freeze makes the view of a filter as of now.
func (s *Service) freeze(ctx context.Context, ses *session, f Filter) (*view, error) {
	now := s.now()
	w, err := resolveWindow(f.From, f.Until, now)
	if err != nil {
		return nil, fault.Many(fault.InvalidArgument, []fault.Violation{emptyRange(w, err)})
	}
	v := &view{made: instantOf(now), window: w, from: f.From, until: f.Until}
	if !v.from.given() {
		v.from = defaultFrom()
	}
	// The days are read before the vector: a day dropped in between makes the view older, never wrong.
	days, err := eventDays(ctx, ses)
	if err != nil {
		return nil, err
	}
	if len(days) > 0 {
		v.oldest = instantOf(days[0])
	}
	rows, err := db.New(ses).StoreVector(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the store's progress: %w", err)
	}
	for _, r := range rows {
		v.vector = append(v.vector, progress{r.Log, r.Partition, r.Commits})
	}
	return v, nil
}

func emptyRange(w window, err error) fault.Violation {
	return fault.Violation{
		Reason: fault.ReasonInvalidParameter, Message: "The time range is empty: " + err.Error() + ".",
		Metadata: fault.Pairs("attribute", "until", "value", w.until.String(), "accepted", "a time after from"),
	}
}

// eventDays is the days that event has partitions for, oldest first.
func eventDays(ctx context.Context, ses *session) ([]time.Time, error) {
	names, err := db.New(ses).EventPartitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list event partitions: %w", err)
	}
	days := make([]time.Time, 0, len(names))
	for _, n := range names {
		day, err := time.ParseInLocation("20060102", strings.TrimPrefix(n, "event_"), time.UTC)
		if err != nil {
			return nil, fmt.Errorf("event partition %q is not named for its day: %w", n, err)
		}
		days = append(days, day)
	}
	return days, nil
}

// check refuses a view that is too old, or whose window has lost a day since.
func (s *Service) check(ctx context.Context, ses *session, v *view) error {
	const rerun = " Search again for what is there now."
	if age := s.now().Sub(v.made.Time()); age > s.limits.age {
		return fault.New(fault.Expired, fault.ReasonSnapshotExpired,
			fmt.Sprintf("The snapshot is older than %s.%s", s.limits.age, rerun), "limit", s.limits.age.String())
	}
	if !v.oldest.Given {
		return nil // there was no day to lose
	}
	days, err := eventDays(ctx, ses)
	if err != nil {
		return err
	}
	first := Instant{1<<63 - 1, true}
	if len(days) > 0 {
		first = instantOf(days[0])
	}
	if first.Micros > v.oldest.Micros && v.window.from.Micros < first.Micros &&
		(!v.window.until.Given || v.window.until.Micros > v.oldest.Micros) {
		return fault.New(fault.Expired, fault.ReasonSnapshotExpired,
			"A day inside the snapshot's time range was dropped by retention."+rerun, "limit", s.retention.String())
	}
	return nil
}

// differs is which bounds given beside the view are not the ones it was made of: neither the same
// relative spelling nor the same instant.
func (v *view) differs(f Filter) (parameters []string) {
	if !sameBound(f.From, v.from, v.window.from) {
		parameters = append(parameters, "from")
	}
	if !sameBound(f.Until, v.until, v.window.until) {
		parameters = append(parameters, "until")
	}
	return parameters
}

func sameBound(given, made Bound, frozen Instant) bool {
	switch {
	case !given.given():
		return true
	case given.Relative():
		return given == made
	default:
		return given.At == frozen
	}
}

func (v *view) token() string {
	w := newToken(kindSnapshot)
	v.write(w)
	return w.String()
}

func (v *view) write(w *tokenWriter) {
	w.instant(v.made)
	w.instant(v.window.from)
	w.instant(v.window.until)
	w.instant(v.oldest)
	for _, b := range []Bound{v.from, v.until} {
		spelled := ""
		if b.Relative() {
			spelled = b.String()
		}
		w.bytes([]byte(spelled))
	}
	v.vector.write(w)
}

func readView(r *tokenReader) *view {
	v := &view{made: r.instant()}
	v.window.from, v.window.until, v.oldest = r.instant(), r.instant(), r.instant()
	v.from, v.until = readBound(r, v.window.from), readBound(r, v.window.until)
	v.vector = readVector(r)
	if !v.made.Given || !v.window.from.Given {
		r.bad = true
	}
	return v
}

func readBound(r *tokenReader, frozen Instant) Bound {
	spelled := r.bytes()
	if len(spelled) == 0 {
		return Bound{At: frozen}
	}
	b, err := ParseBound(string(spelled))
	if err != nil || !b.Relative() {
		r.bad = true
	}
	return b
}

func parseSnapshot(token string) (*view, error) {
	r, err := readToken(kindSnapshot, token)
	if err != nil {
		return nil, err
	}
	v := readView(r)
	return v, r.done()
}
