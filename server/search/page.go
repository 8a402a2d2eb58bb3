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
	found, next := p.result()
	out := &Page{Events: make([]Event, 0, len(found)), Snapshot: p.view.token()}
	from, until := p.covered(p.start)
	out.CoveredFrom, out.CoveredUntil = from.Time(), until.Time()
	if p.backward {
		slices.Reverse(found)
		out.NextToken, out.PrevToken = p.token(p.start, false), p.token(next, true)
	} else {
		out.NextToken, out.PrevToken = p.token(next, false), p.token(p.start, true)
	}
	for _, r := range found {
		out.Events = append(out.Events, r.event(p.topics.get()))
	}
	return out
}

// result is the rows that were asked for, and where more may begin, in the direction that was gone; nil where
// nothing is left.
func (p *scan) result() (found []*row, next *cut) {
	switch {
	case p.full():
		found = p.found[:p.most]
		return found, &cut{found[p.most-1].key, p.backward}
	case p.stopped:
		return p.found, p.at
	}
	return p.found, nil
}

// token continues from a cut; "" where there is none.
func (p *scan) token(from *cut, backward bool) string {
	if from == nil {
		return ""
	}
	return pageToken{backward: backward, walk: p.walked, cut: *from, filter: fingerprint(p.where), view: p.view}.String()
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
