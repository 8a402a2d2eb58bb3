package search

import (
	"context"
	"net/url"
	"slices"

	"oriel/server/fault"
	"oriel/server/query"
)

// pager makes one page of a list.
type pager struct {
	scan
	req     request
	resumed bool // the token says that pages before were walked
	start   *cut // where the page begins; nil: at the end of the window
	columns []query.Field
	cells   map[key][]Cell // of the columns, by event
}

// newPager reads the parameters and tokens, and refuses those that belong to another search, for every reason
// there is.
func (s *Service) newPager(params url.Values) (*pager, error) {
	d := newDecoder(params)
	p := &pager{scan: scan{Service: s, limits: s.limits}, req: s.search(d, "pageSize", "pageToken", "columns")}
	p.columns = s.listColumns(d)
	p.where, p.view, p.most = p.req.filter.Where, p.req.frozen, d.number("pageSize", 1, MaxPageSize, DefaultPageSize)
	if token := d.Single("pageToken"); token != "" {
		p.resume(d, token)
	}
	if p.view == nil {
		s.ordered(d)
	}
	return p, d.err()
}

// resume goes on where a page token says, which must be of the same search.
func (p *pager) resume(d *decoder, token string) {
	t, err := parsePageToken(token)
	if err != nil {
		d.Violations = append(d.Violations, invalidPageToken("The page token is no token of ours."))
		return
	}
	if !p.req.wrong && t.filter != fingerprint(p.where) {
		d.Violations = append(d.Violations, invalidPageToken("The page token belongs to another filter."))
	}
	for _, name := range t.view.differs(d.bounds()) {
		d.Violations = append(d.Violations, invalidPageToken("The page token belongs to another time range: "+name+" differs."))
	}
	if p.view != nil && p.view.token() != t.view.token() {
		d.Violations = append(d.Violations, invalidPageToken("The page token belongs to another snapshot."))
	}
	p.view, p.start, p.backward, p.resumed = t.view, &t.cut, t.backward, t.walk
	p.req.frozen = t.view
}

func invalidPageToken(message string) fault.Violation {
	return fault.Violation{
		Reason: fault.ReasonInvalidPageToken, Message: message,
		Metadata: fault.Pairs("attribute", "pageToken", "accepted", "nextPageToken or previousPageToken of a page with the same filter, time range and snapshot"),
	}
}

func (p *pager) run(ctx context.Context, ses *session) (err error) {
	p.ses, p.at, p.walked = ses, p.start, p.resumed
	if p.view, err = p.viewOf(ctx, ses, &p.req); err != nil {
		return err
	}
	if err := p.scan.run(ctx); err != nil {
		return err
	}
	if err := p.topics.load(ctx, ses, p.found); err != nil {
		return err
	}
	if len(p.columns) == 0 {
		return nil
	}
	found, _ := p.result()
	found = slices.Clone(found)
	if p.backward {
		slices.Reverse(found)
	}
	p.cells, err = readCells(ctx, ses, found, p.columns, cellsBytes)
	return err
}
