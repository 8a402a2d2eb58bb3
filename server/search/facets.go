package search

import (
	"context"
	"slices"
	"strings"

	"oriel/server/lexicon"
	"oriel/server/query"
)

const (
	defaultFacetValues = 10
	maxFacetValues     = 100
)

// facetsAsk is what is asked for beside the filter.
type facetsAsk struct {
	fields   []query.Field
	limit    int
	contains string // a part of the values, folded as words are; "" is all
}

// facetCounter counts the values of fields in one view. Fields whose events are the same, once their own
// conditions are left out, are counted together.
type facetCounter struct {
	*Service
	ses  *session
	view *view
	ask  facetsAsk
}

// facetTally is the values of a field, as stored, before the answer is cut.
type facetTally struct {
	values   map[string]sums
	missing  int64
	relation Relation
	covered  Covered
	sample   int64
}

// run counts the fields; words is what of the conditions the query says.
func (c *facetCounter) run(ctx context.Context, where, words query.And) ([]FacetCounts, error) {
	groups := map[string][]query.Field{}
	var order []string
	for _, f := range c.ask.fields {
		key := query.Canonical(query.Counting(where, words, f))
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], f)
	}
	tallies := map[query.Field]*facetTally{}
	for _, key := range order {
		if err := c.group(ctx, query.Counting(where, words, groups[key][0]), groups[key], tallies); err != nil {
			return nil, err
		}
	}
	out := make([]FacetCounts, 0, len(c.ask.fields))
	for _, f := range c.ask.fields {
		out = append(out, c.answer(f, tallies[f], query.Selected(where, f)))
	}
	return out, nil
}

// group counts the fields over the same events: by the rollups where they know the field, else by the set.
func (c *facetCounter) group(ctx context.Context, where query.And, fields []query.Field, out map[query.Field]*facetTally) error {
	rest, err := c.rolled(ctx, where, fields, out)
	if err != nil || len(rest) == 0 {
		return err
	}
	found, err := c.set(ctx, c.ses, where, c.view)
	if err != nil {
		return err
	}
	for _, f := range rest {
		out[f] = tallyMatches(found, f)
	}
	return nil
}

// rolled counts what the rollups can and answers what is left.
func (c *facetCounter) rolled(ctx context.Context, where query.And, fields []query.Field, out map[query.Field]*facetTally) ([]query.Field, error) {
	f, ok, err := c.ses.rolledIn(ctx, c.view, where)
	if !ok {
		return fields, err
	}
	var rest []query.Field
	dimensions := []string{dimensionSeverity} // how many events there are
	for _, field := range fields {
		d := dimensionOf(field)
		counted, err := c.ses.counted(ctx, d)
		if err != nil {
			return nil, err
		}
		switch {
		case d == "" || !counted || f.dimension != "" && (f.dimension != d || !single(d)):
			rest = append(rest, field)
		case !slices.Contains(dimensions, d):
			dimensions = append(dimensions, d)
		}
	}
	if len(rest) == len(fields) {
		return rest, nil
	}
	read := c.rolledView(c.view)
	read.dimensions = dimensions
	var rows []rollupRow
	err = c.ses.try(ctx, c.limits.counting, c.limits.statement, func() (err error) {
		rows, err = readRollups(ctx, c.ses, read)
		return err
	})
	if cancelled(err) { // there are fields of very many values: a sample tells more than nothing
		return fields, nil
	}
	if ok, err := servedByRollups(c.view, err); !ok {
		return fields, err
	}
	var total int64
	values := map[string]map[string]sums{}
	for _, r := range rows {
		if f.errors {
			r.n = r.errors
		}
		if r.dimension == dimensionSeverity {
			total += r.n
		}
		if f.dimension == r.dimension && slices.Contains(f.values, r.value) == f.without || r.n == 0 {
			continue
		}
		if values[r.dimension] == nil {
			values[r.dimension] = map[string]sums{}
		}
		values[r.dimension][r.value] = sums{r.n, r.errors}
	}
	for _, field := range fields {
		if slices.Contains(rest, field) {
			continue
		}
		d := dimensionOf(field)
		t := &facetTally{values: values[d], relation: IsExact, covered: c.covered()}
		switch {
		case d == dimensionSeverity:
			t.missing = t.values["0"].n
			delete(t.values, "0")
		case !single(d):
			t.missing = total - t.values[""].n
			delete(t.values, "")
		}
		out[field] = t
	}
	return rest, nil
}

func (c *facetCounter) covered() Covered {
	return Covered{From: c.view.window.From.Time(), Until: c.view.window.Until.Time()}
}

// tallyMatches counts the events of a set: all that there are, or a sample of the newest.
func tallyMatches(found *set, f query.Field) *facetTally {
	matches, covered := found.sample()
	t := &facetTally{values: map[string]sums{}, relation: IsExact, covered: covered}
	if found.relation != IsExact {
		t.relation, t.sample = IsSampled, int64(len(matches))
	}
	for i := range matches {
		m := &matches[i]
		missing := true
		m.each(f, func(value string) {
			s := t.values[value]
			s.n++
			if m.severity >= errorRank {
				s.errors++
			}
			t.values[value] = s
			missing = false
		})
		if missing {
			t.missing++
		}
	}
	return t
}

// answer cuts the values of a field to what was asked for. What is selected is there even where it has no events.
func (c *facetCounter) answer(f query.Field, t *facetTally, selected []string) FacetCounts {
	out := FacetCounts{Field: f.String(), Missing: t.missing, Relation: t.relation, Covered: t.covered, Sample: t.sample}
	n := make(map[string]int64, len(t.values))
	for v, s := range t.values {
		n[v] = s.n
	}
	for _, v := range selected {
		if stored := storedValue(f, v); stored != "" && n[stored] == 0 {
			n[stored] = 0
		}
	}
	wanted := seek(c.ask.contains)
	taken := 0
	for _, stored := range frequent(n) {
		v := FacetValue{Value: shownValue(f, stored), Count: n[stored], Errors: t.values[stored].errors}
		v.Selected = slices.Contains(selected, v.Value)
		switch {
		case !wanted.in(v.Value):
			if !v.Selected {
				continue
			}
		case taken < c.ask.limit:
			taken++
		case n[stored] > 0:
			out.More = true
			if !v.Selected {
				continue
			}
		}
		out.Values = append(out.Values, v)
	}
	return out
}

// sought is text that is looked for within others, without regard to case and accents.
type sought struct {
	folder  lexicon.Folder
	text    string
	scratch []byte
}

func seek(text string) *sought {
	p := &sought{}
	p.text = string(p.folder.AppendFolded(nil, []byte(text)))
	return p
}

// in says whether the text is a part of s.
func (p *sought) in(s string) bool {
	if p.text == "" {
		return true
	}
	p.scratch = p.folder.AppendFolded(p.scratch[:0], []byte(s))
	return strings.Contains(string(p.scratch), p.text)
}
