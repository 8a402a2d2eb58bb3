package search

import (
	"context"
	"fmt"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/query"
)

// previewBytes is how much of the data a list reads: enough for any summary, and for the kind of data
// that no media type names.
const previewBytes = 4096

// origin says where a statement's rows come from.
type origin uint8

const (
	// fromPlanner leaves the choice of an index to the planner; every row fulfils the SQL.
	fromPlanner origin = iota
	// fromPlaces reads the rows at given places.
	fromPlaces
	// fromPageIndex reads a number of rows in order, whether they fulfil the filter or not.
	fromPageIndex
)

// question is one statement: a run of rows in order.
type question struct {
	where    query.Node
	view     *view
	window   query.Window // within the view's
	cut      *cut         // rows beyond it; nil is from the window's end
	backward bool         // oldest first, upward
	origin   origin
	places   []key // of fromPlaces; window, cut and limit are not looked at
	verify   bool  // the SQL is a superset: every hit comes with what the verifier reads
	brief    bool  // nothing of the data is shown
	limit    int
}

const eventColumns = `occurred_at, log, partition, "offset", commit, kafka_time, severity, flags, source, id, type,
 subject, time_text, datacontenttype, dataschema, tags, facets, attributes, trace_id, lexemes, data`

// The columns that are read of rows that may be shown, as NULL of others: a walk passes by many. Those of a set
// are fewer, but for what the verifier reads.
const (
	shownColumns = `CASE WHEN shown THEN kafka_time END, CASE WHEN shown THEN severity END, CASE WHEN shown THEN flags END,
 CASE WHEN shown THEN source END, CASE WHEN shown THEN id END, CASE WHEN shown THEN type END,
 CASE WHEN shown THEN subject END, CASE WHEN shown THEN time_text END, CASE WHEN shown THEN datacontenttype END,
 CASE WHEN shown THEN tags END, CASE WHEN shown THEN facets END,` + checkedColumns + `,
 CASE WHEN shown THEN octet_length(data) END, CASE WHEN shown THEN substr(data, 1, 4096) END`
	briefColumns = `NULL::timestamptz, CASE WHEN shown THEN severity END, CASE WHEN shown AND checked THEN flags END,
 CASE WHEN shown THEN source END, CASE WHEN shown AND checked THEN id END, CASE WHEN shown THEN type END,
 CASE WHEN shown THEN subject END, NULL::text, CASE WHEN shown AND checked THEN datacontenttype END,
 CASE WHEN shown THEN tags END, CASE WHEN shown THEN facets END,` + checkedColumns + `, NULL::integer, NULL::bytea`
	checkedColumns = ` CASE WHEN shown AND checked THEN dataschema END, CASE WHEN shown AND checked THEN attributes END,
 CASE WHEN shown AND checked THEN trace_id END, CASE WHEN shown AND checked THEN data END`
)

// compile makes the statement. The innermost query is a fence by its LIMIT, the middle one by OFFSET 0,
// so that wide columns are read, and each condition evaluated, once for a row that came through.
func (q *question) compile(f *facts) (sql string, args []any) {
	s := &statement{}
	c := compiler{s, f}
	order := newestFirst
	if q.backward {
		order = oldestFirst
	}
	var source string
	if q.origin == fromPlaces {
		source = s.at(q.places, eventColumns)
	} else {
		source = "event WHERE " + s.span(q.window)
		if q.cut != nil {
			source += " AND " + s.beyond(*q.cut, q.backward)
		}
	}
	inside := s.inside(q.view.upper)
	filter := join(c.compile(q.where).sql, s.arrived(q.view))
	hit := always
	switch {
	case q.origin != fromPlanner:
		hit = "(" + filter + ") IS TRUE"
	case filter != always:
		source += " AND " + filter
	}
	source += order
	limit := q.limit
	if q.origin == fromPlaces {
		limit = len(q.places)
	}
	most := s.param(limit, "bigint")
	source += " LIMIT " + most
	checked := never
	switch {
	case q.verify:
		checked = always
	case f.worded():
		checked = "coalesce(" + c.carries(f.reserved) + ", FALSE)"
	}
	columns := shownColumns
	if q.brief {
		columns = briefColumns
	}
	return `SELECT n, occurred_at, log, partition, "offset", commit, newer, hit, shown AND checked, ` + columns +
		" FROM (SELECT e.*, hit AND NOT newer AS shown FROM (SELECT row_number() OVER (" + order + ") AS n, " + eventColumns +
		", NOT " + inside + " AS newer, " + hit + " AS hit, " + checked + " AS checked FROM (SELECT " + eventColumns +
		" FROM " + source + ") e OFFSET 0) e) e WHERE hit OR newer OR n = " + most + order, s.args
}

// compilePlaces reads rows at places whatever they are: its text is the same for all filters, so that its plan is
// kept.
func compilePlaces(places []key, backward bool) (sql string, args []any) {
	s := &statement{}
	order := newestFirst
	if backward {
		order = oldestFirst
	}
	return "SELECT row_number() OVER (" + order + `) AS n, occurred_at, log, partition, "offset", commit, FALSE, TRUE, TRUE,
 kafka_time, severity, flags, source, id, type, subject, time_text, datacontenttype, tags, facets, dataschema, attributes, trace_id, data,
 octet_length(data), substr(data, 1, 4096) FROM ` + s.at(places, eventColumns) + order, s.args
}

const (
	newestFirst = ` ORDER BY occurred_at DESC, log DESC, partition DESC, "offset" DESC`
	oldestFirst = ` ORDER BY occurred_at, log, partition, "offset"`
)

// at is SQL for the rows at places, one look-up in the page index each.
func (s *statement) at(places []key, columns string) string {
	ats, logs := make([]time.Time, len(places)), make([]int16, len(places))
	partitions, offsets := make([]int32, len(places)), make([]int64, len(places))
	for i, p := range places {
		ats[i], logs[i], partitions[i], offsets[i] = time.UnixMicro(p.at).UTC(), p.log, p.partition, p.offset
	}
	return "unnest(" + s.param(ats, "timestamptz[]") + ", " + s.param(logs, "smallint[]") + ", " + s.param(partitions, "integer[]") + ", " +
		s.param(offsets, "bigint[]") + ") AS k (at, l, p, o) CROSS JOIN LATERAL (SELECT " + columns +
		` FROM event WHERE occurred_at = k.at AND log = k.l AND partition = k.p AND "offset" = k.o LIMIT 1) x`
}

// span is SQL for the window.
func (s *statement) span(w query.Window) string {
	sql := "occurred_at >= " + s.param(w.From.Time(), "timestamptz")
	if w.Until.Given {
		sql += " AND occurred_at < " + s.param(w.Until.Time(), "timestamptz")
	}
	return sql
}

// compileProbe finds the places of what PostgreSQL's indexes find of a route in the window and snapshot, as far
// as limit, in no order.
func compileProbe(r route, vw *view, w query.Window, limit int, f *facts) (sql string, args []any) {
	s := &statement{}
	return `SELECT occurred_at, log, partition, "offset" FROM event WHERE ` + s.span(w) + " AND " + r.sql(compiler{s, f}) +
		" AND " + s.snapshot(vw) + " LIMIT " + s.param(limit, "bigint"), s.args
}

// row is one row that a statement returned: a hit, one that is newer, or the last one it looked at. Everything after checked is only there where it is shown.
type row struct {
	n                   int // its number among those that the statement looked at, from 1
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
	dataSchema  string
	attributes  []string
	traceID     []byte
	data        []byte
}

func (r *row) candidate() *query.Candidate {
	return &query.Candidate{
		Source: r.source, ID: r.id, Type: r.kind, Subject: r.subject, Severity: r.severity, Flags: r.flags,
		ContentType: r.contentType, DataSchema: r.dataSchema, Attributes: r.attributes, Tags: r.tags, Facets: r.facets,
		TraceID: r.traceID, Data: r.data,
	}
}

// match is the row as a member of a set.
func (r *row) match() match {
	return match{
		key: r.key, commit: r.commit, severity: r.severity, kind: r.kind, source: r.source, subject: r.subject,
		tags: r.tags, facets: r.facets,
	}
}

// ask runs the statement and hands each row to f until it says false.
func ask(ctx context.Context, q db.DBTX, sql string, args []any, f func(*row) bool) (n int, err error) {
	rows, err := q.Query(ctx, sql, args...)
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
			dataSchema                                          *string
		)
		if err := rows.Scan(&r.n, &at, &r.key.log, &r.key.partition, &r.key.offset, &r.commit, &r.newer, &r.hit, &r.checked,
			&kafkaTime, &severity, &flags, &source, &id, &kind, &subject, &timeText, &contentTypeRaw,
			&r.tags, &r.facets, &dataSchema, &r.attributes, &r.traceID, &r.data, &r.size, &r.preview); err != nil {
			return n, fmt.Errorf("read event: %w", err)
		}
		r.key.at = at.UnixMicro()
		r.kafkaTime, r.severity, r.flags = value(kafkaTime), value(severity), cloudevents.Flags(value(flags))
		r.source, r.id, r.kind, r.subject = value(source), value(id), value(kind), value(subject)
		r.timeText, r.contentType = value(timeText), value(contentTypeRaw)
		r.dataSchema = value(dataSchema)
		n = r.n
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
