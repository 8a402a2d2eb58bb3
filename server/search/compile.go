package search

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oriel/server/query"
)

// statement collects the parameters of one SQL statement. Its text is made of fixed pieces and $n
// alone: no value ever becomes text.
type statement struct{ args []any }

// param adds a parameter and returns its place, with a cast of the fixed vocabulary.
func (s *statement) param(v any, cast string) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args)) + "::" + cast
}

// compiled is SQL that holds for every row that the node holds for. exact: and for no other, except
// rows that carry a reserved lexeme where words decide. TRUE-ness is what counts: NULL is false.
type compiled struct {
	sql   string
	exact bool
}

const always, never = "TRUE", "FALSE"

// compiler turns nodes into SQL over the columns of event, unqualified.
type compiler struct {
	*statement
	facts *facts
}

func (c compiler) compile(n query.Node) compiled { return c.node(n, false) }

// node compiles n, or where negated its opposite; negation moves down to the leaves.
func (c compiler) node(n query.Node, negated bool) compiled {
	switch n := n.(type) {
	case query.Not:
		return c.node(n.Of, !negated)
	case query.And:
		return c.all(n, negated, negated)
	case query.Or:
		if sql, ok := c.anyOf(n, negated); ok {
			return sql
		}
		return c.all(n, negated, !negated)
	default:
		return c.leaf(n, negated)
	}
}

// all joins the compiled parts by OR where either, else by AND.
func (c compiler) all(nodes []query.Node, negated, either bool) compiled {
	out := compiled{exact: true}
	mark := len(c.args)
	parts := make([]string, 0, len(nodes))
	neutral, absorbing, operator := always, never, " AND "
	if either {
		neutral, absorbing, operator = never, always, " OR "
	}
	for _, n := range nodes {
		p := c.node(n, negated)
		out.exact = out.exact && p.exact
		switch p.sql {
		case neutral:
		case absorbing:
			// What absorbs is no more exact for it: an OR with something unknown stays unknown. The
			// parameters of the parts go with them, as the server types each by its use.
			c.args = c.args[:mark]
			return compiled{absorbing, p.exact}
		default:
			parts = append(parts, p.sql)
		}
	}
	switch len(parts) {
	case 0:
		out.sql = neutral
	case 1:
		out.sql = parts[0]
	default:
		out.sql = "(" + strings.Join(parts, operator) + ")"
	}
	return out
}

// anyOf compiles several values of one attribute as one array.
func (c compiler) anyOf(nodes query.Or, negated bool) (compiled, bool) {
	if len(nodes) < 2 {
		return compiled{}, false
	}
	values := make([]string, 0, len(nodes))
	var field query.Field
	for i, n := range nodes {
		e, ok := n.(query.Equal)
		if !ok || i > 0 && e.Field != field || column(e.Field) == "" || e.Field == idField() || e.Value == "" || !storable(e.Value) {
			return compiled{}, false
		}
		field, values = e.Field, append(values, e.Value)
	}
	return compiled{not(column(field)+" = ANY ("+c.param(values, "text[]")+")", negated), true}, true
}

// leaf is what the columns tell of a condition, and what the lexicon adds to that: a superset that the
// inverted index answers.
func (c compiler) leaf(n query.Node, negated bool) compiled {
	t := c.facts.terms[n]
	sql, exact := c.column(n, negated)
	if sql == never || exact && negated {
		return compiled{not(sql, negated), exact}
	}
	if negated {
		return c.absent(t)
	}
	parts := []string{sql}
	for _, cl := range t.clauses {
		if len(cl.keys) == 0 {
			parts = append(parts, c.carries(cl.lexemes, c.facts.reserved))
		}
	}
	if t.narrow {
		parts = append(parts, "type = ANY ("+c.param(t.types, "text[]")+")")
	}
	return compiled{join(parts...), exact || t.exact}
}

// absent is the opposite of words. A row over the bound carries few of its words: its absence proves
// nothing.
func (c compiler) absent(t term) compiled {
	if !t.exact {
		return compiled{always, false}
	}
	parts := make([]string, 0, len(t.clauses)+1)
	for _, cl := range t.clauses {
		parts = append(parts, not(c.carries(cl.lexemes), true))
	}
	parts = append(parts, c.carries(c.facts.reserved))
	return compiled{"(" + strings.Join(parts, " OR ") + ")", true}
}

func (c compiler) carries(hashes ...[]int64) string {
	return "lexemes && " + c.param(slices.Concat(hashes...), "bigint[]")
}

// join makes one condition of several; what holds always is left out.
func join(parts ...string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == always })
	switch len(parts) {
	case 0:
		return always
	case 1:
		return parts[0]
	default:
		return "(" + strings.Join(parts, " AND ") + ")"
	}
}

// not negates such that NULL, the absent field, becomes true.
func not(sql string, negated bool) string {
	switch {
	case !negated:
		return sql
	case sql == never:
		return always
	case sql == always:
		return never
	default:
		return "(" + sql + ") IS NOT TRUE"
	}
}

// condition is a filter in a view as SQL over the columns of event, for statements that count rows: of the
// vectors and the conditions, not of the window (statement.span).
type condition struct {
	sql   func(*statement) string
	exact bool // sql holds for the rows of the set and for no other
}

// condition compiles a filter for statements that count. It asks for rows over the lexicon's bound, of which
// SQL knows no words: where the window has some, words are not exact.
func (s *Service) condition(ctx context.Context, ses *session, where query.And, v *view) (condition, error) {
	f, err := s.loadFacts(ctx, ses.prepared(), where)
	if err != nil {
		return condition{}, err
	}
	out := condition{
		sql:   func(st *statement) string { return join(st.snapshot(v), compiler{st, f}.compile(where).sql) },
		exact: compiler{&statement{}, f}.compile(where).exact,
	}
	if out.exact && f.worded() {
		st := &statement{}
		over := "SELECT EXISTS (SELECT FROM event WHERE " + st.span(v.window) + " AND " + compiler{st, f}.carries(f.reserved) + ")"
		var some bool
		if err := ses.QueryRow(ctx, over, st.args...).Scan(&some); err != nil {
			return condition{}, fmt.Errorf("look for events over the bound: %w", err)
		}
		out.exact = !some
	}
	return out, nil
}
