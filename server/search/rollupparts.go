package search

import (
	"strings"
	"time"
)

// rollupParts collects the parts of a statement.
type rollupParts struct {
	*statement
	q                  *rollupRead
	with, parts, sizes []string
}

// chosen is SQL for what is counted by.
func (p *rollupParts) chosen() string {
	sql := "dimension = ANY (" + p.param(p.q.dimensions, "text[]") + ")"
	if p.q.values != nil {
		sql += " AND value = ANY (" + p.param(p.q.values, "text[]") + ")"
	}
	return sql
}

// severities is that of the minutes.
func (p *rollupParts) severities() string {
	if p.q.values == nil {
		return always
	}
	return "severity::text = ANY (" + p.param(p.q.values, "text[]") + ")"
}

// fewRuns is how many spans are asked for one by one. More of them are listed by their units, or where those
// are hours by what lies between them.
const fewRuns = 4

func (p *rollupParts) rollup(columns string, chosen func() string, r runs, unit int64) {
	if len(r) == 0 {
		return
	}
	if len(r) <= fewRuns {
		for _, x := range r {
			p.parts = append(p.parts, "SELECT "+columns+" WHERE "+chosen()+" AND "+p.within("bucket", x))
		}
		return
	}
	sql := "SELECT " + columns + " WHERE " + chosen() + " AND " + p.within("bucket", run{r[0].from, r[len(r)-1].until})
	if unit == microsPerHour {
		sql += " AND bucket <> ALL (" + p.param(times(r.holes().starts(unit)), "timestamptz[]") + ")"
	} else {
		sql += " AND bucket = ANY (" + p.param(times(r.starts(unit)), "timestamptz[]") + ")"
	}
	p.parts = append(p.parts, sql)
}

// delta adds the rows of the differences that lie in the runs.
func (p *rollupParts) delta(name string, r runs, of []difference) {
	if len(r) == 0 || len(of) == 0 {
		return
	}
	logs, partitions, weights := make([]int16, len(of)), make([]int32, len(of)), make([]int32, len(of))
	above, until := make([]int64, len(of)), make([]int64, len(of))
	for i, d := range of {
		logs[i], partitions[i], above[i], until[i], weights[i] = d.log, d.partition, d.above, d.until, d.weight
	}
	in := p.within("e.occurred_at", run{r[0].from, r[len(r)-1].until})
	if len(r) > 1 {
		var bounds []int64
		for _, x := range r {
			bounds = append(bounds, x.from, x.until)
		}
		in += " AND width_bucket(e.occurred_at, " + p.param(times(bounds), "timestamptz[]") + ") % 2 = 1"
	}
	p.with = append(p.with, name+" AS MATERIALIZED (SELECT "+p.bucket("e.occurred_at")+" AS b, e.*, d.weight FROM unnest("+
		p.param(logs, "smallint[]")+", "+p.param(partitions, "integer[]")+", "+p.param(above, "bigint[]")+", "+
		p.param(until, "bigint[]")+", "+p.param(weights, "integer[]")+") d (log, partition, above, until, weight), LATERAL ("+
		"SELECT "+p.needed()+" FROM event e WHERE e.log = d.log AND e.partition = d.partition AND e.commit > d.above AND e.commit <= d.until AND "+
		in+" OFFSET 0) e LIMIT "+p.param(p.q.bound()+1, "bigint")+")")
	p.counted(name)
	p.sizes = append(p.sizes, " UNION ALL SELECT 0, '', '', count(*) FILTER (WHERE weight < 0), count(*) FILTER (WHERE weight > 0) FROM "+name)
}

// rows adds the rows of the view that the rollups lack at the ends of the window, and takes away those that they
// have beyond them.
func (p *rollupParts) rows(c *cover) {
	var parts []string
	add := func(of runs, weight string) {
		for _, r := range of {
			parts = append(parts, "SELECT "+p.bucket("occurred_at")+" AS b, "+p.needed()+", "+weight+" AS weight FROM event WHERE "+
				p.within("occurred_at", r)+" AND "+p.inside(p.q.vector))
		}
	}
	add(c.plus, "1")
	add(c.minus, "-1")
	if len(parts) > 0 {
		p.with = append(p.with, "ends AS MATERIALIZED ("+strings.Join(parts, " UNION ALL ")+")")
		p.counted("ends")
	}
}

// rowColumn is a column of the events, what of event_dimensions it gives, and that function's arguments without
// the others.
type rowColumn struct{ columns, dimension, arguments string }

// rowColumns are those that the dimensions need.
func (p *rollupParts) rowColumns() []rowColumn {
	var out []rowColumn
	facets := false
	for _, d := range p.q.dimensions {
		switch d {
		case dimensionSeverity:
			out = append(out, rowColumn{"severity", "= 'severity'", "severity, NULL, NULL, NULL, NULL, NULL"})
		case dimensionType:
			out = append(out, rowColumn{"type", "= 'type'", "NULL, type, NULL, NULL, NULL, NULL"})
		case dimensionSource:
			out = append(out, rowColumn{"source", "= 'source'", "NULL, NULL, source, NULL, NULL, NULL"})
		case dimensionTag:
			out = append(out, rowColumn{"tags", "= 'tag'", "NULL, NULL, NULL, tags, NULL, NULL"})
		default:
			facets = true
		}
	}
	if facets {
		out = append(out, rowColumn{"facets, facets_version", "NOT IN ('severity', 'type', 'source', 'tag')", "NULL, NULL, NULL, NULL, facets, facets_version"})
	}
	return out
}

// needed is the columns that are read of rows.
func (p *rollupParts) needed() string {
	columns := "occurred_at, severity"
	for _, c := range p.rowColumns() {
		if c.columns != dimensionSeverity {
			columns += ", " + c.columns
		}
	}
	return columns
}

// counted adds what rows count under. They are grouped by each column first: what a group counts under is found once,
// which is several times quicker than for every row.
func (p *rollupParts) counted(name string) {
	for _, c := range p.rowColumns() {
		p.parts = append(p.parts, "SELECT g.at, d.dimension, d.value, g.n, g.errors FROM (SELECT min(occurred_at) AS at, "+c.columns+
			", sum(weight) AS n, sum(CASE WHEN severity >= 6 THEN weight ELSE 0 END) AS errors FROM "+name+" GROUP BY b, "+c.columns+
			") g, event_dimensions("+c.arguments+") d WHERE d.dimension "+c.dimension+" AND "+p.chosen())
	}
}

// bucket is SQL for the number of the bucket that an instant lies in.
func (p *rollupParts) bucket(at string) string {
	if p.q.edges == nil {
		return "1"
	}
	return "width_bucket(" + at + ", " + p.param(times(p.q.edges), "timestamptz[]") + ")"
}

func (p *rollupParts) within(column string, r run) string {
	sql := column + " >= " + p.param(time.UnixMicro(r.from).UTC(), "timestamptz")
	if r.until < forever {
		sql += " AND " + column + " < " + p.param(time.UnixMicro(r.until).UTC(), "timestamptz")
	}
	return sql
}
