package search

import (
	"slices"
	"strconv"
	"strings"
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
// rows that carry a reserved lexeme where the node has words. TRUE-ness is what counts: NULL is false.
type compiled struct {
	sql   string
	exact bool
}

const always, never = "TRUE", "FALSE"

// compiler turns nodes into SQL over the columns of event, unqualified.
type compiler struct {
	*statement
	vocabulary *vocabulary
}

func (c compiler) compile(n Node) compiled { return c.node(n, false) }

// node compiles n, or where negated its opposite; negation moves down to the leaves.
func (c compiler) node(n Node, negated bool) compiled {
	switch n := n.(type) {
	case Not:
		return c.node(n.Of, !negated)
	case And:
		return c.all(n, negated, negated)
	case Or:
		if sql, ok := c.anyOf(n, negated); ok {
			return sql
		}
		return c.all(n, negated, !negated)
	case Equal:
		return compiled{not(n.Field.String()+" = "+c.param(n.Value, "text"), negated), true}
	case AtLeast:
		return compiled{not(c.severity(n.Rank), negated), true}
	case Word:
		return c.word(n, negated)
	default:
		return compiled{always, false}
	}
}

// all joins the compiled parts by OR where either, else by AND.
func (c compiler) all(nodes []Node, negated, either bool) compiled {
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

// anyOf compiles several values of one field as one array.
func (c compiler) anyOf(nodes Or, negated bool) (compiled, bool) {
	if len(nodes) < 2 {
		return compiled{}, false
	}
	values := make([]string, len(nodes))
	var field Field
	for i, n := range nodes {
		e, ok := n.(Equal)
		if !ok || i > 0 && e.Field != field {
			return compiled{}, false
		}
		field, values[i] = e.Field, e.Value
	}
	return compiled{not(field.String()+" = ANY ("+c.param(values, "text[]")+")", negated), true}, true
}

// severity spells the partial index's own condition out where it is implied: the planner cannot see
// through a parameter.
func (c compiler) severity(rank int16) string {
	sql := "severity >= " + c.param(rank, "smallint")
	if rank >= errorRank {
		return "(severity >= 6 AND " + sql + ")"
	}
	return sql
}

// word is a superset wherever the lexemes do not decide: verification tells.
func (c compiler) word(w Word, negated bool) compiled {
	t := c.vocabulary.words[w.Text]
	if negated {
		if !t.exact {
			return compiled{always, false}
		}
		// A row over the bound carries few of its words: its absence proves nothing.
		parts := make([]string, 0, len(t.groups)+1)
		for _, g := range t.groups {
			parts = append(parts, not(c.carries(g), true))
		}
		parts = append(parts, c.carries(c.vocabulary.reserved))
		return compiled{"(" + strings.Join(parts, " OR ") + ")", true}
	}
	if len(t.groups) == 0 {
		return compiled{always, false}
	}
	parts := make([]string, len(t.groups))
	for i, g := range t.groups {
		parts[i] = c.carries(append(g[:len(g):len(g)], c.vocabulary.reserved...))
	}
	sql := strings.Join(parts, " AND ")
	if len(parts) > 1 {
		sql = "(" + sql + ")"
	}
	return compiled{sql, t.exact}
}

func (c compiler) carries(hashes []int64) string {
	return "lexemes && " + c.param(hashes, "bigint[]")
}

// drivable says whether the inverted index bounds the rows of n by itself.
func (c compiler) drivable(n Node) bool {
	switch n := n.(type) {
	case Word:
		return len(c.vocabulary.words[n.Text].groups) > 0
	case And:
		return slices.ContainsFunc(n, c.drivable)
	case Or:
		return len(n) > 0 && !slices.ContainsFunc(n, func(child Node) bool { return !c.drivable(child) })
	default:
		return false
	}
}

// driver is the part of a drivable n that the inverted index answers: a superset of n.
func (c compiler) driver(n Node) string {
	var nodes []Node
	operator := " AND "
	switch n := n.(type) {
	case And:
		nodes = n
	case Or:
		nodes, operator = n, " OR "
	default:
		return c.node(n, false).sql
	}
	var parts []string
	for _, child := range nodes {
		if c.drivable(child) {
			parts = append(parts, c.driver(child))
		}
	}
	return "(" + strings.Join(parts, operator) + ")"
}

// not negates such that NULL, the absent field, becomes true.
func not(sql string, negated bool) string {
	if !negated {
		return sql
	}
	return "(" + sql + ") IS NOT TRUE"
}
