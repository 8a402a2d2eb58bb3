package search

import (
	"context"
	"fmt"
	"strings"
	"time"

	"oriel/server/db"
	"oriel/server/fault"
	"oriel/server/query"
)

// view is what a snapshot freezes: absolute bounds and the vectors of commits, so that a search sees the
// same rows however often it is asked and whatever is stored meanwhile.
type view struct {
	made        query.Instant
	oldest      query.Instant       // start of the oldest day that there was; not given where there was none
	asked       [bounds]query.Bound // as asked for; the default where not given
	window      query.Window
	arrived     query.Window // the bounds of arrival, which the vectors stand for; not given: they bound nothing
	upper       vector       // rows above are newer, or arrived too late
	lower       vector       // rows of it arrived too early
	arrivedOnly bool         // lower bounds the rows
}

// The bounds of a view.
const (
	boundFrom = iota
	boundUntil
	boundArrivedFrom
	boundArrivedUntil
	bounds
)

func boundsOf(f query.Filter) [bounds]query.Bound {
	return [bounds]query.Bound{f.From, f.Until, f.ArrivedFrom, f.ArrivedUntil}
}

func (v *view) frozen() [bounds]query.Instant {
	return [bounds]query.Instant{v.window.From, v.window.Until, v.arrived.From, v.arrived.Until}
}

// seen is how far the store must have come on a server that answers of the view.
func (v *view) seen() vector {
	if v == nil {
		return nil
	}
	return v.upper
}

// viewOf is the view that a request is answered of: its snapshot's, checked, or one of now.
func (s *Service) viewOf(ctx context.Context, ses *session, r *request) (*view, error) {
	if r.frozen != nil {
		return r.frozen, s.check(ctx, ses, r.frozen)
	}
	return s.freeze(ctx, ses, r.filter)
}

// freeze makes the view of a filter as of now.
func (s *Service) freeze(ctx context.Context, ses *session, f query.Filter) (*view, error) {
	now := s.now()
	w, err := query.ResolveWindow(f.From, f.Until, now)
	if err != nil {
		return nil, fault.Many(fault.InvalidArgument, []fault.Violation{emptyRange("until", w.Until, err)})
	}
	v := &view{made: query.InstantOf(now), window: w, asked: boundsOf(f)}
	if !f.From.Given() {
		v.asked[boundFrom] = query.DefaultFrom()
	}
	// The days are read before the vector: a day dropped in between makes the view older, never wrong.
	days, err := ses.days(ctx)
	if err != nil {
		return nil, err
	}
	if len(days) > 0 {
		v.oldest = query.InstantOf(days[0])
	}
	if v.upper, err = storeVector(ctx, ses.prepared()); err != nil {
		return nil, err
	}
	return v, s.arrivals(ctx, ses, v, now)
}

// arrivals turns the bounds of arrival into vectors: of each partition, the commits before them.
func (s *Service) arrivals(ctx context.Context, ses *session, v *view, now time.Time) error {
	if b := v.asked[boundArrivedUntil]; b.Given() {
		v.arrived.Until = b.Resolve(now)
		before, err := commitsBefore(ctx, ses, v.arrived.Until)
		if err != nil {
			return err
		}
		v.upper = v.upper.atMost(before)
	}
	b := v.asked[boundArrivedFrom]
	if !b.Given() {
		return nil
	}
	v.arrived.From = b.Resolve(now)
	if v.arrived.From.Time().Before(now.Add(-s.retention)) {
		return nil // everything that there is may have arrived since
	}
	var err error
	v.lower, err = commitsBefore(ctx, ses, v.arrived.From)
	v.arrivedOnly = true
	return err
}

// storeVector is what the store has of every partition.
func storeVector(ctx context.Context, q db.DBTX) (vector, error) {
	rows, err := db.New(q).StoreVector(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the store's progress: %w", err)
	}
	v := make(vector, 0, len(rows))
	for _, r := range rows {
		v = append(v, progress{r.Log, r.Partition, r.Commits})
	}
	return v, nil
}

// commitsBefore is the vector of what was stored before an instant, by the clock of the database.
func commitsBefore(ctx context.Context, q db.DBTX, at query.Instant) (vector, error) {
	rows, err := db.New(q).CommitsBefore(ctx, at.Time())
	if err != nil {
		return nil, fmt.Errorf("read what had arrived: %w", err)
	}
	v := make(vector, 0, len(rows))
	for _, r := range rows {
		v = append(v, progress{r.Log, r.Partition, r.Commits})
	}
	return v, nil
}

// days is the days that event has partitions for, oldest first.
func (ses *session) days(ctx context.Context) ([]time.Time, error) {
	parts, err := db.New(ses.prepared()).EventPartitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list event partitions: %w", err)
	}
	days := make([]time.Time, 0, len(parts))
	ses.filled = ses.filled[:0]
	for _, part := range parts {
		day, err := time.ParseInLocation("20060102", strings.TrimPrefix(part.Name, "event_"), time.UTC)
		if err != nil {
			return nil, fmt.Errorf("event partition %q is not named for its day: %w", part.Name, err)
		}
		days = append(days, day)
		if part.Filled {
			ses.filled = append(ses.filled, day)
		}
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
	days, err := ses.days(ctx)
	if err != nil {
		return err
	}
	if !v.oldest.Given {
		return nil // there was no day to lose
	}
	first := query.Instant{Micros: 1<<63 - 1, Given: true}
	if len(days) > 0 {
		first = query.InstantOf(days[0])
	}
	if first.Micros > v.oldest.Micros && v.window.From.Micros < first.Micros &&
		(!v.window.Until.Given || v.window.Until.Micros > v.oldest.Micros) {
		return fault.New(fault.Expired, fault.ReasonSnapshotExpired,
			"A day inside the snapshot's time range was dropped by retention."+rerun, "limit", s.retention.String())
	}
	return nil
}

// differs is which bounds given beside the view are not the ones it was made of: neither the same
// relative spelling nor the same instant.
func (v *view) differs(f query.Filter) (parameters []string) {
	frozen := v.frozen()
	for i, given := range boundsOf(f) {
		same := !given.Given() || given == v.asked[i]
		if !same && !given.Relative() {
			same = frozen[i].Given && given.At == frozen[i]
		}
		if !same {
			parameters = append(parameters, [bounds]string{"from", "until", "arrivedFrom", "arrivedUntil"}[i])
		}
	}
	return parameters
}

func (v *view) token() string {
	w := newToken(kindSnapshot)
	v.write(w)
	return w.String()
}

func (v *view) write(w *tokenWriter) {
	w.instant(v.made)
	w.instant(v.oldest)
	for i, at := range v.frozen() {
		w.instant(at)
		spelled := ""
		if v.asked[i].Relative() {
			spelled = v.asked[i].String()
		}
		w.bytes([]byte(spelled))
	}
	v.upper.write(w)
	if !v.arrivedOnly {
		w.uint(0)
		return
	}
	w.uint(1)
	v.lower.write(w)
}

func readView(r *tokenReader) *view {
	v := &view{made: r.instant(), oldest: r.instant()}
	var frozen [bounds]query.Instant
	for i := range frozen {
		frozen[i] = r.instant()
		v.asked[i] = readBound(r, frozen[i])
	}
	v.window = query.Window{From: frozen[boundFrom], Until: frozen[boundUntil]}
	v.arrived = query.Window{From: frozen[boundArrivedFrom], Until: frozen[boundArrivedUntil]}
	v.upper = readVector(r)
	if v.arrivedOnly = r.bounded(1) == 1; v.arrivedOnly {
		v.lower = readVector(r)
	}
	if !v.made.Given || !v.window.From.Given {
		r.bad = true
	}
	return v
}

func readBound(r *tokenReader, frozen query.Instant) query.Bound {
	spelled := r.bytes()
	if len(spelled) == 0 {
		return query.Bound{At: frozen}
	}
	b, err := query.ParseBound(string(spelled))
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
