package search

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"oriel/server/fault"
	"oriel/server/query"
)

// scan finds the rows of a filter in order. It goes from a cut in one direction and keeps the rows that lie
// in the snapshot and fulfil the filter until there is one more than was asked for, nothing is left, or the
// budget is spent; at is then the cut that divides what it has looked at from what it has not.
type scan struct {
	*Service
	limits   limits // a copy: how far to walk changes on the way
	ses      *session
	where    query.And
	view     *view
	most     int  // rows that are asked for
	brief    bool // as a set needs them
	backward bool
	walked   bool // by the page index, since the planner's choice was too slow
	at       *cut // nil: from the end of the window

	facts    *facts
	verifier *query.Verifier
	exact    bool
	found    []*row
	examined int // rows looked at
	judged   int // of them, those that came here
	newer    int
	stopped  bool // by the budget: there may be more
	deadline time.Time
}

// full says whether what was asked for and the row that proves another one are there.
func (p *scan) full() bool { return len(p.found) > p.most }

func (p *scan) run(ctx context.Context) (err error) {
	if p.facts, err = p.loadFacts(ctx, p.ses.prepared(), p.where); err != nil {
		return err
	}
	p.found, p.examined, p.judged, p.newer, p.stopped = nil, 0, 0, 0, false
	p.verifier = query.NewVerifier(p.where)
	p.exact = compiler{&statement{}, p.facts}.compile(p.where).exact
	p.deadline = time.Now().Add(p.limits.budget)
	err = p.choose(ctx)
	p.ses.examined += p.examined
	if err != nil {
		return err
	}
	if p.stopped {
		p.metrics.partial.Inc()
	}
	return nil
}

func (p *scan) question(w query.Window, from origin) question {
	q := question{
		where: p.where, view: p.view, window: w, cut: p.at, backward: p.backward, origin: from, verify: !p.exact, brief: p.brief,
	}
	if p.at != nil && *p.at == cutBelow(p.at.key.at) {
		q.cut = nil // the window has it
		q.window = p.rest(w)
	}
	return q
}

// drain asks for the rows of a window, a run of days after the other, until enough are found, the window is
// exhausted or the budget is spent.
func (p *scan) drain(ctx context.Context, w query.Window, from origin) error {
	for i, run := range p.ladder(w) {
		if i > 0 && p.late() {
			return nil
		}
		w := whole(run, p.backward)
		if err := p.passed(w, p.drainRun(ctx, w, from)); err != nil || p.full() || p.stopped {
			return err
		}
	}
	return nil
}

// drainRun asks for the rows of a window in portions of growing size.
func (p *scan) drainRun(ctx context.Context, w query.Window, from origin) error {
	limit := p.most + 1 - len(p.found)
	if !p.exact || from == fromPageIndex {
		limit = max(min(limit, p.limits.lastChunk), p.limits.firstChunk)
	}
	for {
		if from == fromPageIndex {
			limit = max(1, min(limit, p.limits.walk-p.examined))
		}
		q := p.question(w, from)
		q.limit = limit
		began := time.Now()
		n, err := p.ask(ctx, &q)
		if err != nil || p.full() || p.stopped || n < limit {
			return err
		}
		if p.spent(from) {
			p.stopped = true
			return nil
		}
		limit = p.portion(2*limit, n, time.Since(began))
	}
}

// portion is how many rows to ask for next, after n of them took a time: no more than fit into what is left.
func (p *scan) portion(rows, n int, took time.Duration) int {
	rows = min(rows, p.limits.lastChunk)
	left := time.Until(p.deadline)
	if n == 0 || took <= 0 || took > p.limits.budget || left <= 0 {
		return rows
	}
	return max(min(rows, int(int64(n)*int64(left)/int64(took))), min(rows, p.limits.firstChunk/4), 1)
}

// visit reads the rows at places, which are in order, in runs of growing length.
func (p *scan) visit(ctx context.Context, places []key) error {
	for run := p.most + 1 - len(p.found); len(places) > 0; {
		run = min(run, p.limits.lastChunk)
		began := time.Now()
		q := p.question(p.view.window, fromPlaces)
		q.places = places[:min(run, len(places))]
		if _, err := p.ask(ctx, &q); err != nil || p.full() || p.stopped {
			return err
		}
		p.at = &cut{q.places[len(q.places)-1], p.backward}
		run = p.portion(2*run, len(q.places), time.Since(began))
		if places = places[len(q.places):]; len(places) > 0 && p.spent(fromPlaces) {
			p.stopped = true
		}
		if p.stopped {
			return nil
		}
	}
	return nil
}

// fewPlaces are judged in here, by a statement that is planned already; SQL judges more, where it can.
const fewPlaces = 200

// ask runs one statement and judges its rows.
func (p *scan) ask(ctx context.Context, q *question) (n int, err error) {
	before := p.examined
	take := func(r *row) bool { p.examined = before + r.n; return p.take(r) }
	if q.origin == fromPlaces && (q.verify || len(q.places) <= fewPlaces) {
		on, err := p.ses.once(ctx)
		if err != nil {
			return 0, err
		}
		sql, args := compilePlaces(q.places, q.backward)
		n, err = ask(ctx, on, sql, args, func(r *row) bool {
			r.newer = r.commit > p.view.upper.of(r.key.log, r.key.partition)
			r.hit = !p.view.arrivedOnly || r.commit > p.view.lower.of(r.key.log, r.key.partition)
			return take(r)
		})
		if err != nil {
			return n, err
		}
	} else {
		sql, args := q.compile(p.facts)
		if n, err = ask(ctx, p.ses, sql, args, take); err != nil {
			return n, err
		}
	}
	if p.newer > p.limits.newer {
		return n, p.tooOld()
	}
	return n, nil
}

// take judges one row and says whether to go on.
func (p *scan) take(r *row) bool {
	p.judged++
	p.at = &cut{r.key, p.backward}
	switch {
	case r.newer:
		p.newer++
		if p.newer > p.limits.newer {
			return false
		}
	case !r.hit:
	case !r.checked || p.verifier.Match(r.candidate()):
		r.attributes, r.data = nil, nil
		p.found = append(p.found, r)
		if p.full() {
			return false
		}
	}
	// Verifying is what takes long in here; a run that is already paid for is else read to its end.
	if r.checked && p.judged%64 == 0 && time.Now().After(p.deadline) {
		p.stopped = true
		return false
	}
	return true
}

// spent says whether the budget of rows, where rows are examined one by one, or of time is used up.
func (p *scan) spent(from origin) bool {
	return (from == fromPageIndex || !p.exact) && p.examined >= p.limits.walk || time.Now().After(p.deadline)
}

func (p *scan) tooOld() error {
	return fault.New(fault.Expired, fault.ReasonSnapshotTooOld,
		fmt.Sprintf("More than %d events on this page are newer than the snapshot. Search again for what is there now.", p.limits.newer),
		"limit", strconv.Itoa(p.limits.newer))
}

// covered is the range that the scan has looked at, from a start.
func (p *scan) covered(start *cut) (from, until query.Instant) {
	from, until = p.view.window.From, p.view.window.Until
	end := p.at
	if p.full() {
		end = &cut{p.found[p.most-1].key, p.backward}
	}
	lower, upper := end, start
	if p.backward {
		lower, upper = start, end
	}
	if lower != nil && (p.backward || p.full() || p.stopped) {
		from.Micros = max(from.Micros, lower.from())
	}
	if upper != nil && (!p.backward || p.full() || p.stopped) {
		until = query.Instant{Micros: upper.until(), Given: true}
	}
	return from, until
}
