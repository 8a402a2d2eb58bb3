package search

import (
	"context"
	"encoding/hex"
	"net/url"

	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/query"
)

// Neighbours on each side of an event, by default and at most.
const (
	DefaultNeighbours = 10
	MaxNeighbours     = 100
)

const acceptedBy = "subject, source, trace or all"

// neighbours is a request for the events around one.
type neighbours struct {
	*Service
	req           request
	source, id    string
	at            query.Instant
	by            string
	before, after int
	token         *pageToken
}

// Context answers GET /v1/events/{event}/context: time, by (subject, source, trace, all), before and after
// (0 to 100, 10 by default), the filter parameters as further conditions, and pageToken. Where no range of time is
// given, it is all there is.
func (s *Service) Context(ctx context.Context, name string, params url.Values) (*Neighbours, error) {
	d := newDecoder(params)
	n := &neighbours{Service: s, by: "all"}
	var ok bool
	if n.source, n.id, ok = cloudevents.ParseName(name); !ok {
		d.Invalid("event", name, acceptedName, "The event's name is not written as {source}:{id}, escaped.")
	}
	n.req = s.search(d, "time", "by", "before", "after", "pageToken")
	n.at = d.time("time")
	n.before = d.number("before", 0, MaxNeighbours, DefaultNeighbours)
	n.after = d.number("after", 0, MaxNeighbours, DefaultNeighbours)
	switch by := d.Single("by"); by {
	case "":
	case "subject", "source", "trace", "all":
		n.by = by
	default:
		d.Invalid("by", by, acceptedBy, query.Quote(by)+" is not what events are neighbours by.")
	}
	if token := d.Single("pageToken"); token != "" {
		n.resume(d, token)
	}
	if n.req.frozen == nil {
		s.ordered(d)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	var out *Neighbours
	err := s.run(ctx, "context", n.req.frozen.seen(), func(ctx context.Context, ses *session) (err error) {
		out, err = n.answer(ctx, ses, d)
		return err
	})
	return out, err
}

func (n *neighbours) resume(d *decoder, token string) {
	t, err := parsePageToken(token)
	if err != nil {
		d.Violations = append(d.Violations, invalidPageToken("The page token is no token of ours."))
		return
	}
	for _, name := range t.view.differs(d.bounds()) {
		d.Violations = append(d.Violations, invalidPageToken("The page token belongs to another time range: "+name+" differs."))
	}
	if n.req.frozen != nil && n.req.frozen.token() != t.view.token() {
		d.Violations = append(d.Violations, invalidPageToken("The page token belongs to another snapshot."))
	}
	n.token, n.req.frozen = t, t.view
}

func (n *neighbours) answer(ctx context.Context, ses *session, d *decoder) (*Neighbours, error) {
	anchor, err := n.anchor(ctx, ses)
	if err != nil {
		return nil, err
	}
	where, ok := n.where(anchor)
	if !ok {
		d.Invalid("by", n.by, "all, or what the event has", "The event has no "+n.by+".")
	}
	if n.token != nil && n.token.filter != fingerprint(where) {
		d.Violations = append(d.Violations, invalidPageToken("The page token belongs to another event or filter."))
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	v, err := n.viewOfAll(ctx, ses)
	if err != nil {
		return nil, err
	}
	out := &Neighbours{Anchor: detailOf(anchor).Event, Snapshot: v.token(), Covered: Covered{v.window.From.Time(), v.window.Until.Time()}}
	k := key{at: anchor.OccurredAt.UnixMicro(), log: anchor.Log, partition: anchor.Partition, offset: anchor.Offset}
	side := func(backward bool, most int) (events []Event, token string, err error) {
		if most == 0 || n.token != nil && n.token.backward != backward {
			return nil, "", nil
		}
		start := &cut{k, backward}
		p := scan{Service: n.Service, limits: n.limits, ses: ses, where: where, view: v, most: most, backward: backward}
		if n.token != nil {
			start, p.walked = &n.token.cut, n.token.walk
		}
		p.at = start
		if err := p.run(ctx); err != nil {
			return nil, "", err
		}
		if err := p.topics.load(ctx, ses, append([]*row{{key: k}}, p.found...)); err != nil {
			return nil, "", err
		}
		found, next := p.result()
		for _, r := range found {
			events = append(events, r.event(p.topics.get()))
		}
		if from, until := p.covered(start); backward {
			out.Covered.Until = until.Time()
		} else {
			out.Covered.From = from.Time()
		}
		return events, p.token(next, backward), nil
	}
	if out.Before, out.BeforeToken, err = side(false, n.before); err != nil {
		return nil, err
	}
	if out.After, out.AfterToken, err = side(true, n.after); err != nil {
		return nil, err
	}
	out.Anchor.Position.Topic = n.topics.get()[anchor.Log]
	return out, nil
}

// anchor is the event itself.
func (n *neighbours) anchor(ctx context.Context, ses *session) (*db.Event, error) {
	l := lookup{n.Service, ses, n.source, n.id}
	at := n.at.Time()
	if !n.at.Given {
		times, _, err := l.times(ctx, false)
		if err != nil {
			return nil, err
		}
		if len(times) == 0 {
			return nil, l.missing()
		}
		at = times[0]
	}
	return l.at(ctx, at)
}

// where is what the neighbours have in common with the event, and the filter; ok is false where the event has
// no such thing.
func (n *neighbours) where(e *db.Event) (where query.And, ok bool) {
	f, common := query.Field{Kind: query.Attribute, Name: n.by}, e.Source
	switch n.by {
	case "all":
		return n.req.filter.Where, true
	case "subject":
		common = value(e.Subject)
	case "trace":
		f, common = query.Field{Kind: query.Trace}, hex.EncodeToString(e.TraceID)
	}
	all := append(query.And{query.Equal{Field: f, Value: common, Text: true}}, n.req.filter.Where...)
	if and, ok := query.Normalise(all).(query.And); ok {
		return and, common != ""
	}
	return all, common != ""
}

// viewOfAll is the view of the request, of all time where no range is given.
func (n *neighbours) viewOfAll(ctx context.Context, ses *session) (*view, error) {
	given := n.req.filter.From.Given()
	if !given {
		n.req.filter.From = query.Bound{At: query.Instant{Micros: minMicros, Given: true}}
	}
	v, err := n.viewOf(ctx, ses, &n.req)
	if err != nil {
		return nil, err
	}
	if !given && v.oldest.Given && v.window.From.Micros < v.oldest.Micros {
		v.window.From = v.oldest
	}
	return v, nil
}
