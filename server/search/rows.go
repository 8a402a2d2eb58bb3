package search

import (
	"context"
	"fmt"
	"time"

	"oriel/server/cloudevents"
)

// previewBytes is how much of the data a list reads: enough for any summary, and for the kind of data
// that no media type names.
const previewBytes = 4096

// origin says where a statement's rows come from.
type origin uint8

const (
	// fromPlanner leaves the choice of an index to the planner; every row fulfils the SQL.
	fromPlanner origin = iota
	// fromWords reads all rows that the inverted index names inside the snapshot, and sorts them.
	// The set is never truncated before it is sorted.
	fromWords
	// fromPageIndex reads a number of rows in order, whether they fulfil the filter or not.
	fromPageIndex
)

// question is one statement: a run of rows in order.
type question struct {
	where    Node
	view     *view
	window   window // within the view's
	cut      *cut   // rows beyond it; nil is from the window's end
	backward bool   // oldest first, upward
	origin   origin
	verify   bool // the SQL is a superset: every hit comes with what the verifier reads
	limit    int
}

const eventColumns = `occurred_at, log, partition, "offset", commit, kafka_time, severity, flags, source, id, type,
 subject, time_text, datacontenttype, tags, facets, attributes, trace_id, lexemes, data`

// shownColumns are read of rows that may be shown, as NULL of others: a walk passes by many.
const shownColumns = `CASE WHEN shown THEN kafka_time END, CASE WHEN shown THEN severity END, CASE WHEN shown THEN flags END,
 CASE WHEN shown THEN source END, CASE WHEN shown THEN id END, CASE WHEN shown THEN type END,
 CASE WHEN shown THEN subject END, CASE WHEN shown THEN time_text END, CASE WHEN shown THEN datacontenttype END,
 CASE WHEN shown THEN tags END, CASE WHEN shown THEN facets END,
 CASE WHEN shown THEN octet_length(data) END, CASE WHEN shown THEN substr(data, 1, 4096) END,
 CASE WHEN shown AND checked THEN attributes END, CASE WHEN shown AND checked THEN trace_id END,
 CASE WHEN shown AND checked THEN data END`

// compile makes the statement. The innermost query is a fence by its LIMIT, the middle one by OFFSET 0,
// so that wide columns are read, and each condition evaluated, once for a row that came through.
func (q *question) compile(v *vocabulary) (sql string, args []any) {
	s := &statement{}
	c := compiler{s, v}
	order, source := ` ORDER BY occurred_at DESC, log DESC, partition DESC, "offset" DESC`, ""
	if q.backward {
		order = ` ORDER BY occurred_at, log, partition, "offset"`
	}
	place := s.span(q.window)
	if q.cut != nil {
		place += " AND " + s.beyond(*q.cut, q.backward)
	}
	inside := s.inside(q.view.vector)
	filter := c.compile(q.where).sql
	hit := always
	switch q.origin {
	case fromPlanner:
		source = "event WHERE " + place + " AND " + filter
	case fromWords:
		source = "(SELECT " + eventColumns + " FROM event WHERE " + s.span(q.window) + " AND " + c.driver(q.where) +
			" AND " + inside + " OFFSET 0) e WHERE " + place + " AND " + filter
	case fromPageIndex:
		source, hit = "event WHERE "+place, "("+filter+") IS TRUE"
	}
	source += order + " LIMIT " + s.param(q.limit, "bigint")
	checked := never
	switch {
	case q.verify:
		checked = always
	case len(v.reserved) > 0:
		checked = "coalesce(" + c.carries(v.reserved) + ", FALSE)"
	}
	return `SELECT occurred_at, log, partition, "offset", commit, newer, hit, shown AND checked, ` + shownColumns +
		" FROM (SELECT e.*, hit AND NOT newer AS shown FROM (SELECT " + eventColumns +
		", NOT " + inside + " AS newer, " + hit + " AS hit, " + checked + " AS checked FROM (SELECT " + eventColumns +
		" FROM " + source + ") e OFFSET 0) e) e" + order, s.args
}

// span is SQL for the window.
func (s *statement) span(w window) string {
	sql := "occurred_at >= " + s.param(w.from.Time(), "timestamptz")
	if w.until.Given {
		sql += " AND occurred_at < " + s.param(w.until.Time(), "timestamptz")
	}
	return sql
}

// compileProbe counts the hits of the words in the window and snapshot, as far as limit.
func compileProbe(where Node, vw *view, w window, limit int, v *vocabulary) (sql string, args []any) {
	s := &statement{}
	c := compiler{s, v}
	return "SELECT count(*) FROM (SELECT FROM event WHERE " + s.span(w) + " AND " + c.driver(where) +
		" AND " + s.inside(vw.vector) + " LIMIT " + s.param(limit, "bigint") + ") hits", s.args
}

// row is one row that a statement returned. Everything after checked is only there where it is shown.
type row struct {
	key                 key
	commit              int64
	newer, hit, checked bool

	kafkaTime   time.Time
	severity    int16
	flags       cloudevents.Flags
	source, id  string
	kind        string
	subject     string
	timeText    string
	contentType string
	tags        []string
	facets      []string
	size        *int32 // nil is absent
	preview     []byte
	attributes  []string
	traceID     []byte
	data        []byte
}

func (r *row) candidate() *Candidate {
	return &Candidate{
		Source: r.source, ID: r.id, Type: r.kind, Subject: r.subject, Severity: r.severity, Flags: r.flags,
		ContentType: r.contentType, Attributes: r.attributes, TraceID: r.traceID, Data: r.data,
	}
}

// ask runs the statement and hands each row to f until it says false.
func (ses *session) ask(ctx context.Context, sql string, args []any, f func(*row) bool) (n int, err error) {
	rows, err := ses.Query(ctx, sql, args...)
	if err != nil {
		return 0, fmt.Errorf("search events: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			r                                                   row
			at                                                  time.Time
			kafkaTime                                           *time.Time
			severity, flags                                     *int16
			source, id, kind, subject, timeText, contentTypeRaw *string
		)
		if err := rows.Scan(&at, &r.key.log, &r.key.partition, &r.key.offset, &r.commit, &r.newer, &r.hit, &r.checked,
			&kafkaTime, &severity, &flags, &source, &id, &kind, &subject, &timeText, &contentTypeRaw,
			&r.tags, &r.facets, &r.size, &r.preview, &r.attributes, &r.traceID, &r.data); err != nil {
			return n, fmt.Errorf("read event: %w", err)
		}
		r.key.at = at.UnixMicro()
		r.kafkaTime, r.severity, r.flags = value(kafkaTime), value(severity), cloudevents.Flags(value(flags))
		r.source, r.id, r.kind, r.subject = value(source), value(id), value(kind), value(subject)
		r.timeText, r.contentType = value(timeText), value(contentTypeRaw)
		n++
		if !f(&r) {
			break
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return n, fmt.Errorf("search events: %w", err)
	}
	return n, nil
}

// value is what p points to, or the zero value.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
