package search

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"oriel/server/fault"
)

// pager makes one page. It goes from a cut in one direction and keeps the rows that lie in the
// snapshot and fulfil the filter until there is one more than the page holds, nothing is left, or the
// budget is spent; at is then the cut that divides what it has looked at from what it has not.
type pager struct {
	*Service
	limits limits // a copy: how far to walk changes on the way
	ses    *session
	req    *Request
	token  *pageToken // where the request continues one
	view   *view

	vocabulary *vocabulary
	verifier   *Verifier
	exact      bool
	start      *cut // nil: from the end of the window
	at         *cut
	found      []*row
	examined   int
	newer      int
	walked     bool // by the page index, since the planner's choice was too slow
	stopped    bool // by the budget: there may be more
	deadline   time.Time
}

// newPager reads the tokens and refuses those that belong to another search, for every reason there is.
func (s *Service) newPager(req *Request) (*pager, error) {
	p := &pager{Service: s, limits: s.limits, req: req}
	var violations []fault.Violation
	if req.Snapshot != "" {
		v, err := parseSnapshot(req.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("snapshot that was readable: %w", err)
		}
		p.view = v
		for _, name := range v.differs(req.Filter) {
			violations = append(violations, fault.Violation{
				Reason:   fault.ReasonInvalidParameter,
				Message:  "The parameter " + name + " differs from the snapshot's, which has frozen the time range. Leave it out, or make another snapshot.",
				Metadata: fault.Pairs("attribute", name, "accepted", "what the snapshot was made with"),
			})
		}
	}
	if req.PageToken != "" {
		t, err := parsePageToken(req.PageToken)
		if err != nil {
			return nil, fmt.Errorf("page token that was readable: %w", err)
		}
		if t.filter != fingerprint(req.Filter.Where) {
			violations = append(violations, invalidPageToken("The page token belongs to another filter."))
		}
		for _, name := range t.view.differs(req.Filter) {
			violations = append(violations, invalidPageToken("The page token belongs to another time range: "+name+" differs."))
		}
		if p.view != nil && p.view.token() != t.view.token() {
			violations = append(violations, invalidPageToken("The page token belongs to another snapshot."))
		}
		p.token, p.view, p.start, p.at = t, t.view, &t.cut, &t.cut
	}
	if len(violations) > 0 {
		return nil, fault.Many(fault.InvalidArgument, violations)
	}
	return p, nil
}

func invalidPageToken(message string) fault.Violation {
	return fault.Violation{
		Reason: fault.ReasonInvalidPageToken, Message: message,
		Metadata: fault.Pairs("attribute", "pageToken", "accepted", "nextPageToken or previousPageToken of a page with the same filter, time range and snapshot"),
	}
}

func (p *pager) backward() bool { return p.token != nil && p.token.backward }

// full says whether the page and the row that proves another one are there.
func (p *pager) full() bool { return len(p.found) > p.req.PageSize }

func (p *pager) run(ctx context.Context, ses *session) (err error) {
	p.ses = ses
	if p.view == nil {
		p.view, err = p.freeze(ctx, ses, p.req.Filter)
	} else {
		err = p.check(ctx, ses, p.view)
	}
	if err != nil {
		return err
	}
	where := p.req.Filter.Where
	if p.vocabulary, err = loadVocabulary(ctx, ses, words(where)); err != nil {
		return err
	}
	p.verifier = NewVerifier(where)
	c := compiler{&statement{}, p.vocabulary}
	p.exact = c.compile(where).exact
	p.deadline = time.Now().Add(p.limits.budget)
	err = p.choose(ctx, c.drivable(where))
	ses.examined = p.examined
	if err != nil {
		return err
	}
	if p.stopped {
		p.metrics.partial.Inc()
	}
	return p.topics.load(ctx, ses, p.found)
}

// drain asks for the rows of a window in runs of growing length until the page is full, the window is
// exhausted or the budget is spent.
func (p *pager) drain(ctx context.Context, w window, from origin) error {
	limit := p.req.PageSize + 1 - len(p.found)
	if !p.exact || from == fromPageIndex {
		limit = max(limit, p.limits.firstChunk)
	}
	for {
		if from == fromPageIndex {
			limit = max(1, min(limit, p.limits.walk-p.examined))
		}
		q := question{
			where: p.req.Filter.Where, view: p.view, window: w, cut: p.at, backward: p.backward(),
			origin: from, verify: !p.exact, limit: limit,
		}
		sql, args := q.compile(p.vocabulary)
		n, err := p.ses.ask(ctx, sql, args, p.take)
		if err != nil {
			return err
		}
		if p.newer > p.limits.newer {
			return p.tooOld()
		}
		if p.full() || p.stopped || n < limit {
			return nil
		}
		if p.spent(from) {
			p.stopped = true
			return nil
		}
		limit = min(2*limit, p.limits.lastChunk)
	}
}

// take judges one row and says whether to go on.
func (p *pager) take(r *row) bool {
	p.examined++
	p.at = &cut{r.key, p.backward()}
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
	if r.checked && p.examined%64 == 0 && time.Now().After(p.deadline) {
		p.stopped = true
		return false
	}
	return true
}

// spent says whether the budget of rows, where rows are examined one by one, or of time is used up.
func (p *pager) spent(from origin) bool {
	return (from == fromPageIndex || !p.exact) && p.examined >= p.limits.walk || time.Now().After(p.deadline)
}

func (p *pager) tooOld() error {
	return fault.New(fault.Expired, fault.ReasonSnapshotTooOld,
		fmt.Sprintf("More than %d events on this page are newer than the snapshot. Search again for what is there now.", p.limits.newer),
		"limit", strconv.Itoa(p.limits.newer))
}
