package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"oriel/server/db"
)

// page is what the pager found, as the caller sees it: newest first, whichever way it went.
func (p *pager) page() *Page {
	more := p.full() || p.stopped
	found := p.found
	var next cut // where more begins, in the direction that was gone
	switch {
	case p.full():
		found = found[:p.req.PageSize]
		next = cut{found[len(found)-1].key, p.backward()}
	case p.stopped:
		next = *p.at
	}
	out := &Page{Events: make([]Event, 0, len(found)), Snapshot: p.view.token()}
	lower, upper := p.view.window.from.Micros, p.view.window.until
	if p.backward() {
		slices.Reverse(found)
		lower = max(lower, p.start.from())
		out.NextToken = p.continued(*p.start, false)
		if more {
			upper = Instant{next.until(), true}
			out.PrevToken = p.continued(next, true)
		}
	} else {
		if p.start != nil {
			upper = Instant{p.start.until(), true}
			out.PrevToken = p.continued(*p.start, true)
		}
		if more {
			lower = max(lower, next.from())
			out.NextToken = p.continued(next, false)
		}
	}
	out.CoveredFrom, out.CoveredUntil = Instant{lower, true}.Time(), upper.Time()
	for _, r := range found {
		out.Events = append(out.Events, r.event(p.topics.get()))
	}
	return out
}

func (p *pager) continued(c cut, backward bool) string {
	return pageToken{
		backward: backward, walk: p.walked, cut: c, filter: fingerprint(p.req.Filter.Where), view: p.view,
	}.String()
}

func (r *row) event(topics map[int16]string) Event {
	e := Event{
		Source: r.source, ID: r.id, Type: r.kind, Subject: r.subject, TimeText: r.timeText,
		OccurredAt: time.UnixMicro(r.key.at).UTC(), KafkaTime: r.kafkaTime.UTC(), Severity: r.severity,
		Tags: r.tags, Facets: facetsOf(r.facets), DataContentType: r.contentType,
		Position: Position{
			Topic: topics[r.key.log], Log: r.key.log, Partition: r.key.partition, Offset: r.key.offset, Commit: r.commit,
		},
	}
	size := -1
	if r.size != nil {
		size = int(*r.size)
		e.DataSize = size
	}
	e.DataKind, e.Summary = describe(r.contentType, r.flags, size, r.preview)
	return e
}

// facetsOf reads name=value pairs.
func facetsOf(pairs []string) map[string][]string {
	out := make(map[string][]string, len(pairs))
	for _, p := range pairs {
		if name, value, ok := strings.Cut(p, "="); ok {
			out[name] = append(out[name], value)
		}
	}
	return out
}

// topics remembers the topic of each log; a log's never changes.
type topics struct {
	known atomic.Pointer[map[int16]string]
}

func (t *topics) get() map[int16]string {
	if m := t.known.Load(); m != nil {
		return *m
	}
	return nil
}

// load makes sure that the logs of the rows are known.
func (t *topics) load(ctx context.Context, q db.DBTX, rows []*row) error {
	known := t.get()
	if !slices.ContainsFunc(rows, func(r *row) bool { _, ok := known[r.key.log]; return !ok }) {
		return nil
	}
	logs, err := db.New(q).LogTopics(ctx)
	if err != nil {
		return fmt.Errorf("read logs: %w", err)
	}
	m := maps.Clone(known)
	if m == nil {
		m = make(map[int16]string, len(logs))
	}
	for _, l := range logs {
		m[l.ID] = l.Topic
	}
	t.known.Store(&m)
	return nil
}
