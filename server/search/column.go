package search

import (
	"strings"
	"unicode/utf8"

	"oriel/server/query"
)

// errorRank is where the partial index on severity begins.
const errorRank = 6

// column is the column of an attribute, which is called the same; "" where the field has none.
func column(f query.Field) string {
	if f.Kind != query.Attribute {
		return ""
	}
	switch f.Name {
	case "type", "source", "subject", "id", "datacontenttype", "dataschema":
		return f.Name
	default:
		return ""
	}
}

// storable says whether a text column can hold a text: none with a NUL, and none that is not UTF-8.
func storable(v string) bool { return strings.IndexByte(v, 0) < 0 && utf8.ValidString(v) }

// column is what the columns but lexemes tell of a condition: SQL that is exact, or a superset. What is asked
// of the text of a statement that will be negated must be exact, or it is not needed.
func (c compiler) column(n query.Node, negated bool) (sql string, exact bool) {
	switch n := n.(type) {
	case query.Equal:
		return c.equal(n, negated)
	case query.Compare:
		return c.compare(n, negated)
	case query.Exists:
		return c.exists(n.Field, negated)
	case query.Prefix:
		return c.prefix(n, negated)
	case query.Contains:
		if negated {
			return always, false // a superset of what holds says nothing of what does not
		}
		sql, _ = c.exists(n.Field, false)
		return sql, false
	default:
		return always, false
	}
}

func (c compiler) equal(n query.Equal, negated bool) (sql string, exact bool) {
	switch n.Field.Kind {
	case query.Attribute:
		if col := column(n.Field); col != "" && n.Value != "" {
			if !storable(n.Value) {
				return never, true
			}
			return col + " = " + c.param(n.Value, "text"), true
		}
	case query.Severity:
		if rank, ok := query.SeverityRank(n.Value); ok {
			return "severity = " + c.param(rank, "smallint"), true
		}
		return never, true
	case query.Facet:
		switch {
		case !storable(n.Value) || n.Value == "": // no value of a facet
			return never, true
		case n.Field.Name == "tag":
			return "tags && " + c.param([]string{n.Value}, "text[]"), true
		}
		return "facets && " + c.param([]string{n.Field.Name + "=" + n.Value}, "text[]"), true
	case query.Trace:
		if id, ok := traceID(n.Value); ok {
			return "trace_id = " + c.param(id, "bytea"), true
		}
		return never, true
	case query.Extension:
		if !negated {
			if !storable(n.Value) {
				return never, true
			}
			return "attributes @> " + c.param([]string{n.Field.Name, n.Value}, "text[]"), false
		}
	default:
	}
	return always, false
}

func (c compiler) compare(n query.Compare, negated bool) (sql string, exact bool) {
	switch n.Field.Kind {
	case query.Severity:
		rank, ok := query.SeverityRank(n.Value)
		if !ok {
			return never, true
		}
		return c.severity(n.Op, rank), true
	case query.Extension:
		if !negated {
			return "attributes @> " + c.param([]string{n.Field.Name}, "text[]"), false
		}
	default:
	}
	return always, false
}

// severity spells the partial index's own condition out where it is implied: the planner cannot see
// through a parameter.
func (c compiler) severity(op query.Op, rank int16) string {
	switch op {
	case query.Less:
		return "severity < " + c.param(rank, "smallint")
	case query.AtMost:
		return "severity <= " + c.param(rank, "smallint")
	case query.Greater:
		rank++
	case query.AtLeast:
	}
	sql := "severity >= " + c.param(rank, "smallint")
	if rank >= errorRank {
		return "(severity >= 6 AND " + sql + ")"
	}
	return sql
}

func (c compiler) exists(f query.Field, negated bool) (sql string, exact bool) {
	switch f.Kind {
	case query.Attribute:
		switch col := column(f); col {
		case "":
		case "type", "source", "id":
			return always, true
		default:
			return col + " <> ''", true
		}
	case query.Severity:
		return "severity IS NOT NULL", true
	case query.Facet:
		if f.Name == "tag" {
			return "cardinality(tags) > 0", true
		}
		return c.someFacet(f.Name + "="), true
	case query.Trace:
		return "octet_length(trace_id) > 0", true
	case query.Extension:
		if !negated {
			return "attributes @> " + c.param([]string{f.Name}, "text[]"), false
		}
	default:
	}
	return always, false
}

// someFacet is SQL for a value of the facets that begins with a text.
func (c compiler) someFacet(beginning string) string {
	return "EXISTS (SELECT FROM unnest(facets) AS f WHERE starts_with(f, " + c.param(beginning, "text") + "))"
}

func (c compiler) prefix(n query.Prefix, negated bool) (sql string, exact bool) {
	if !storable(n.Text) && n.Field.Kind != query.AnyField && n.Field.Kind != query.Data {
		return never, true
	}
	switch n.Field.Kind {
	case query.Attribute:
		if col := column(n.Field); col != "" {
			return "starts_with(" + col + ", " + c.param(n.Text, "text") + ")", true
		}
	case query.Facet:
		if n.Field.Name == "tag" {
			return "EXISTS (SELECT FROM unnest(tags) AS f WHERE starts_with(f, " + c.param(n.Text, "text") + "))", true
		}
		return c.someFacet(n.Field.Name + "=" + n.Text), true
	case query.Trace:
		return "starts_with(encode(trace_id, 'hex'), " + c.param(n.Text, "text") + ")", true
	case query.Extension:
		if !negated {
			return "attributes @> " + c.param([]string{n.Field.Name}, "text[]"), false
		}
	default:
	}
	return always, false
}
