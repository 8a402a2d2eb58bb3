package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"oriel/server/query"
)

// rollUp makes the rollups of all that is stored.
func (st *store) rollUp() {
	st.t.Helper()
	for _, table := range []string{"rollup_minute", "rollup_quarter", "rollup_hour"} {
		st.exec(`SELECT ensure_day($1, d::date) FROM (SELECT DISTINCT date_trunc('day', occurred_at, 'UTC') AT TIME ZONE 'UTC' d FROM event) d`, table)
	}
	st.exec(`TRUNCATE rollup_minute, rollup_quarter, rollup_hour, rollup_day, rollup_fold`)
	st.exec(`INSERT INTO rollup_minute SELECT date_trunc('minute', occurred_at, 'UTC'), log, partition, coalesce(severity, 0), count(*),
		count(*) FILTER (WHERE severity >= 6) FROM event GROUP BY 1, 2, 3, 4`)
	const of = ` d.dimension, d.value, count(*), count(*) FILTER (WHERE e.severity >= 6)
		FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d GROUP BY `
	st.exec(`INSERT INTO rollup_quarter SELECT date_bin('15 minutes', occurred_at, '2000-01-01 00:00+00'), log, partition,` + of + `1, 2, 3, 4, 5`)
	st.exec(`INSERT INTO rollup_hour SELECT date_trunc('hour', occurred_at, 'UTC'),` + of + `1, 2, 3`)
	st.exec(`INSERT INTO rollup_day SELECT date_trunc('day', occurred_at, 'UTC'),` + of + `1, 2, 3`)
	st.exec(`INSERT INTO rollup_fold SELECT log, partition, commits FROM checkpoint WHERE consumer = 'store'`)
}

// mixed stores n events with tags, rooms, persons and subjects over some days before noon.
func (st *store) mixed(rng *rand.Rand, n, days int) {
	st.t.Helper()
	samples := make([]sample, n)
	for i := range samples {
		s := &samples[i]
		s.at = noon().Add(-time.Duration(rng.Int64N(int64(days) * int64(oneDay)))).Truncate(time.Microsecond)
		s.partition, s.commit = int32(rng.IntN(3)), int64(1+i*5/n)
		s.kind, s.source, s.severity = fmt.Sprintf("t.%d", rng.IntN(12)), fmt.Sprintf("/s/%d", rng.IntN(4)), int16(rng.IntN(9))
		if rng.IntN(2) == 0 {
			s.subject = fmt.Sprintf("Gerät %d", rng.IntN(30))
		}
		for _, tag := range []string{"a", "b", "ß"} {
			if rng.IntN(3) == 0 {
				s.tags = append(s.tags, tag)
			}
		}
		if rng.IntN(3) > 0 {
			s.facets = append(s.facets, fmt.Sprintf("device=d%d", rng.IntN(40)))
		}
		if rng.IntN(3) > 0 {
			s.facets = append(s.facets, fmt.Sprintf("person=p=%d", rng.IntN(5)))
		}
		if rng.IntN(3) > 0 {
			s.facets = append(s.facets, fmt.Sprintf("room=%d", rng.IntN(5)))
		}
		s.data = fmt.Appendf(nil, `{"n":%d,"word":"w%d","tags":%s,"facets":%s}`, i%10, rng.IntN(4), jsonOf(s.tags), jsonOf(facetValues(s.facets)))
	}
	st.add(samples...)
	st.rollUp()
}

// facetValues are the values of facets, which are values of the event too.
func facetValues(facets []string) (out []string) {
	for _, f := range facets {
		_, v, _ := strings.Cut(f, "=")
		out = append(out, v)
	}
	return out
}

// askedPart is a part of a filter: what parameters say, and SQL says the same.
type askedPart struct{ field, param, value, sql string }

// questions are filters of every kind: none, of one dimension, of others, of the data.
func questions() map[string][]askedPart {
	q := func(parts ...string) (out []askedPart) {
		for i := 0; i < len(parts); i += 4 {
			out = append(out, askedPart{parts[i], parts[i+1], parts[i+2], parts[i+3]})
		}
		return out
	}
	return map[string][]askedPart{
		"nothing":                      nil,
		"a type":                       q("type", "type", "t.1", "type = 't.1'"),
		"one of two types":             q("type", "type", "t.1", "type IN ('t.1', 't.2')", "type", "type", "t.2", ""),
		"types of the query":           q("type", "q", "type:t.1*", "type LIKE 't.1%'"),
		"a type of those of the query": q("type", "q", "type:(t.1 OR t.2)", "type IN ('t.1', 't.2')", "type", "type", "t.1", "type = 't.1'"),
		"another type":                 q("type", "type!", "t.1", "type <> 't.1'"),
		"a type and not that type":     q("type", "type", "t.1", "FALSE", "type", "type!", "t.1", ""),
		"a least severity":             q("severity", "severity", "warning", "severity >= 5"),
		"odd severities":               q("severity", "q", "severity:info OR -severity:*", "(severity = 3 OR severity IS NULL)"),
		"errors of a source":           q("severity", "severity", "error", "severity >= 6", "source", "source", "/s/2", "source = '/s/2'"),
		"severities of a source":       q("severity", "severity", "info", "severity >= 3", "source", "source", "/s/2", "source = '/s/2'"),
		"a room":                       q("room", "room", "3", "facets @> '{room=3}'"),
		"one of two rooms":             q("room", "room", "3", "facets && '{room=3,room=1}'", "room", "room", "1", ""),
		"another room":                 q("room", "room!", "3", "(facets @> '{room=3}') IS NOT TRUE"),
		"a person in a room":           q("person", "person", "p=1", "facets @> '{person=p=1}'", "room", "room", "2", "facets @> '{room=2}'"),
		"a tag":                        q("tag", "tag", "a", "tags @> '{a}'"),
		"two tags":                     q("tag", "tag", "a", "tags @> '{a,b}'", "tag", "tag", "b", ""),
		"one of two tags":              q("tag", "q", "tag:(a OR b)", "tags && '{a,b}'"),
		"a device":                     q("device", "device", "d3", "facets @> '{device=d3}'"),
		"a subject":                    q("subject", "subject", "Gerät 3", "subject = 'Gerät 3'"),
		"a number of the data":         q("data", "q", "data.n>=7", "(convert_from(data, 'UTF8')::jsonb->>'n')::int >= 7"),
		"a word of the data":           q("data", "data.word", "w1", "convert_from(data, 'UTF8')::jsonb->>'word' = 'w1'"),
		"a type or a room":             q("", "q", "type:t.1 OR room:2", "(type = 't.1' OR coalesce(facets @> '{room=2}', false))"),
		"a room and a word of a type":  q("room", "room", "1", "facets @> '{room=1}'", "type", "type", "t.2", "type = 't.2'", "data", "data.word", "w1", "convert_from(data, 'UTF8')::jsonb->>'word' = 'w1'"),
	}
}

// asked is the parameters of a question.
func asked(parts []askedPart) url.Values {
	out := url.Values{}
	for _, p := range parts {
		out.Add(p.param, p.value)
	}
	return bounded(out)
}

// sqlOf is SQL for a question, without what its parameters say of one field: the query holds always, and tags.
func sqlOf(parts []askedPart, without string) string {
	sql := "TRUE"
	for _, p := range parts {
		if p.sql != "" && (p.field != without || p.param == "q" || p.field == "tag") {
			sql += " AND " + p.sql
		}
	}
	return sql + " AND occurred_at >= '2026-11-27T13:07:21.5Z' AND occurred_at < '2026-11-30T09:41:00.000001Z'"
}

// window of the questions: its ends lie within a minute.
func bounded(v url.Values) url.Values {
	v.Set("from", "2026-11-27T13:07:21.5Z")
	v.Set("until", "2026-11-30T09:41:00.000001Z")
	return v
}

// valueSQL is the values of an event in a field.
func valueSQL(f query.Field) string {
	switch {
	case f.Kind == query.Severity:
		return "SELECT (ARRAY['trace','debug','info','notice','warning','error','critical','emergency'])[severity] WHERE severity IS NOT NULL"
	case f.Kind == query.Attribute:
		return "SELECT " + f.Name + " WHERE " + f.Name + " IS NOT NULL"
	case f.Name == "tag":
		return "SELECT unnest(tags)"
	default:
		return "SELECT substr(f, strpos(f, '=') + 1) FROM unnest(facets) f WHERE f LIKE '" + f.Name + "=%'"
	}
}

func (st *store) number(sql string) (n int64) {
	st.t.Helper()
	if err := st.pool.QueryRow(context.Background(), sql).Scan(&n); err != nil {
		st.t.Fatalf("%s: %v", sql, err)
	}
	return n
}
