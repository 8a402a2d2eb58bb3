package search

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"oriel/server/lexicon"
	"oriel/server/query"
)

func attribute(name string) query.Field { return query.Field{Kind: query.Attribute, Name: name} }
func payload(path string) query.Field   { return query.Field{Kind: query.Data, Name: path} }

// genField draws the fields of the model's events, and some that they lack.
func genField() *rapid.Generator[query.Field] {
	return rapid.SampledFrom([]query.Field{
		attribute("type"), attribute("source"), attribute("subject"), attribute("id"), attribute("datacontenttype"), attribute("dataschema"),
		{Kind: query.Severity},
		{Kind: query.Facet, Name: "room"},
		{Kind: query.Facet, Name: "tag"},
		{Kind: query.Facet, Name: "device"},
		{Kind: query.Trace},
		{Kind: query.Extension, Name: "zone"},
		{Kind: query.Extension, Name: "n"},
		{Kind: query.Extension, Name: "no"},
		payload(""), payload("note"), payload("n"), payload("tags"), payload("tags[*]"), payload("tags[0]"), payload("room"),
		payload("gone"), payload("gone.deep"), payload("absent"), payload(`"a.80123456789"`),
	})
}

// genNode draws conditions of any shape, not only those that parameters can say.
func genNode(depth int) *rapid.Generator[query.Node] {
	text := rapid.SampledFrom([]string{
		"tea", "hot", "rare", "absent", "ref-80123456789", "80123456789", "日本語", "本", "1e2", "-3", "72", "green tea", "Attic 2",
		"kitchen", "room-80123456789", "order.paid", "order.", "s-1", "error", "north", "1", "150", "", "true", "te", "t", "e1", "e12", "Ünï", "\x00",
		"00000000000000000000000000000000", "01010101010101010101010101010101", "/shop",
	})
	leaf := rapid.Custom(func(t *rapid.T) query.Node {
		f, v := genField().Draw(t, "field"), text.Draw(t, "text")
		any := query.Field{}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1:
			return query.Word{Text: v}
		case 2, 3:
			return query.Equal{Field: f, Value: v, Text: rapid.Bool().Draw(t, "quoted")}
		case 4:
			if f.Kind == query.Severity {
				v = rapid.SampledFrom([]string{"info", "error", "emergency"}).Draw(t, "rank")
			} else {
				v = rapid.SampledFrom([]string{"1", "72", "1.5e2", "-1"}).Draw(t, "number")
			}
			return query.Compare{Field: f, Op: rapid.SampledFrom([]query.Op{query.Less, query.AtMost, query.AtLeast, query.Greater}).Draw(t, "op"), Value: v}
		case 5:
			return query.Exists{Field: f}
		case 6:
			return query.Null{Field: payload(rapid.SampledFrom([]string{"gone", "n", "tags[*]"}).Draw(t, "path"))}
		case 7:
			return query.Prefix{Field: f, Text: v}
		case 8:
			return query.Contains{Field: rapid.SampledFrom([]query.Field{any, f}).Draw(t, "where"), Text: v}
		default:
			return query.Prefix{Text: v}
		}
	})
	if depth == 0 {
		return leaf
	}
	child := rapid.Deferred(func() *rapid.Generator[query.Node] { return genNode(depth - 1) })
	return rapid.OneOf(leaf,
		rapid.Map(child, func(n query.Node) query.Node { return query.Not{Of: n} }),
		rapid.Map(rapid.SliceOfN(child, 0, 3), func(ns []query.Node) query.Node { return query.And(ns) }),
		rapid.Map(rapid.SliceOfN(child, 0, 3), func(ns []query.Node) query.Node { return query.Or(ns) }),
	)
}

// The law of compiling: SQL never misses a row that the verifier takes, what it calls exact it takes no other row
// for, except rows over the lexicon's bound, and a route leads to all rows of its condition.
func TestSQLIsExactOrASupersetAndKnowsWhich(t *testing.T) {
	t.Parallel()
	m := newModel(t, 4)
	other := lexicon.Key{42}
	m.exec(`INSERT INTO lexicon_version (version, key, state) VALUES (2, $1, 'live'), (3, $2, 'retired')`, other[:], make([]byte, 16))
	rapid.Check(t, func(t *rapid.T) {
		where := genNode(3).Draw(t, "where")
		v := query.NewVerifier(where)
		truth, over := map[string]bool{}, map[string]bool{}
		for i := range m.stored {
			truth[m.stored[i].id] = v.Match(m.stored[i].candidate())
			over[m.stored[i].id] = m.stored[i].over
		}
		facts, err := m.svc.loadFacts(context.Background(), m.pool, where)
		if err != nil {
			t.Fatal(err)
		}
		c := compiler{&statement{}, facts}
		got := c.compile(where)
		hits := m.idsWhere(t, got.sql, c.args)
		for id, holds := range truth {
			switch {
			case holds && !hits[id]:
				t.Fatalf("%s %v misses %s\n%#v", got.sql, c.args, id, where)
			case !holds && hits[id] && got.exact && !over[id]:
				t.Fatalf("%s %v is called exact and takes %s\n%#v", got.sql, c.args, id, where)
			}
		}
		r := facts.routeOf(where)
		if r == nil {
			return
		}
		if !r.keyed() {
			d := compiler{&statement{}, facts}
			hits = m.idsWhere(t, r.sql(d), d.args)
			for id, holds := range truth {
				if holds && !hits[id] {
					t.Fatalf("the route misses %s\n%#v", id, where)
				}
			}
			return
		}
		vw := &view{window: query.Window{From: query.InstantOf(noon().AddDate(0, 0, -30))}, upper: vector{{1, 0, 99}, {1, 1, 99}, {1, 2, 99}}}
		found := m.candidatesOf(t, where, facts, r, vw)
		for id, holds := range truth {
			if holds && !found[id] {
				t.Fatalf("the candidates miss %s\n%#v", id, where)
			}
		}
	})
}

// candidatesOf is the events at the places that the index of identifiers, and others, have of a route.
func (m *model) candidatesOf(t *rapid.T, where query.Node, f *facts, r route, vw *view) map[string]bool {
	out := map[string]bool{}
	err := m.svc.run(context.Background(), "list", nil, func(ctx context.Context, ses *session) error {
		p := scan{Service: m.svc, limits: m.svc.limits, ses: ses, where: query.And{where}, view: vw, facts: f}
		if _, err := ses.days(ctx); err != nil {
			return err
		}
		for _, w := range p.daysLeft(vw.window) {
			places, few, err := p.candidates(ctx, r, w)
			if err != nil || !few {
				t.Fatalf("few is %v: %v", few, err)
			}
			at := map[key]bool{}
			for _, k := range places {
				at[k] = true
			}
			for i := range m.stored {
				s := &m.stored[i]
				if at[key{s.at.UnixMicro(), s.log, s.partition, s.offset}] {
					out[s.id] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (m *model) idsWhere(t *rapid.T, sql string, args []any) map[string]bool {
	rows, err := m.pool.Query(context.Background(), "SELECT id FROM event WHERE "+sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	out := make(map[string]bool, len(found))
	for _, id := range found {
		out[id] = true
	}
	return out
}

// Whatever a caller sends, a statement is made of our own pieces: no value becomes text, and no tree panics.
func FuzzStatementsHaveAFixedAlphabet(f *testing.F) {
	f.Add("a'; DROP TABLE event; --", "tea \" ' $1", int64(5), int16(2), uint8(0), []byte{1, 2, 3})
	f.Add("$$", "SELECT", int64(-1), int16(-1), uint8(7), []byte("nested trees of any shape"))
	f.Add("\\", "日本 lexemes", int64(1<<62), int16(8), uint8(3), []byte{0xff, 0, 9, 120, 44})
	word := regexp.MustCompile(`^(?:AND|ANY|AS|BY|CASE|CROSS|DESC|END|EXISTS|FALSE|FROM|IS|JOIN|LATERAL|LIMIT|NOT|NULL|OFFSET|OR|ORDER|OVER|SELECT|THEN|TRUE|WHEN|WHERE` +
		`|array_position|cardinality|coalesce|count|encode|octet_length|row_number|starts_with|substr|unnest|bigint|bytea|hex|integer|smallint|text|timestamptz` +
		`|a|e|event|f|hits|hit|k|l|n|newer|checked|o|p|shown|t|v|x` +
		`|occurred_at|log|partition|offset|commit|kafka_time|severity|flags|source|id|type|subject|time_text|datacontenttype|dataschema|tags|facets` +
		`|attributes|trace_id|lexemes|data|at|0|1|6|4096)$`)
	split := regexp.MustCompile(`\$\d+|[A-Za-z_]+|\d+|\s+|.`)
	f.Fuzz(func(t *testing.T, value, text string, at int64, rank int16, shape uint8, tree []byte) {
		where := nodeOf(&tree, value, text, 4)
		known := &facts{terms: map[query.Node]term{}}
		var leaves []query.Node
		query.Walk(where, func(n query.Node) {
			switch n.(type) {
			case query.And, query.Or, query.Not:
			default:
				leaves = append(leaves, n)
			}
		})
		known.compile([]lexicon.Key{{1}, {2}}, leaves)
		for _, n := range leaves {
			if path, kinds := pathOf(n); kinds != 0 && path != "" {
				term := known.terms[n]
				term.narrow, term.types = true, []string{value}
				known.terms[n] = term
			}
		}
		until := query.Instant{Micros: at, Given: shape&1 == 0}
		q := question{
			where: where, view: &view{upper: vector{{1, 3, at}}, lower: vector{{1, 3, 1}}, arrivedOnly: shape&32 != 0},
			window: query.Window{From: query.Instant{Micros: at, Given: true}, Until: until}, backward: shape&2 != 0,
			origin: origin(shape % 3), verify: shape&4 != 0, brief: shape&64 != 0, limit: int(rank), places: []key{{at: at}},
		}
		if shape&8 != 0 {
			q.cut = &cut{key{at: at}, shape&16 != 0}
		}
		statements := map[string][]any{}
		sql, args := q.compile(known)
		statements[sql] = args
		if r := known.routeOf(where); r != nil {
			sql, args = compileProbe(r, q.view, q.window, 5, known)
			statements[sql] = args
		}
		sql, args = compileArrivals(q.view, 5)
		statements[sql] = args
		for sql, args := range statements {
			for _, token := range split.FindAllString(sql, -1) {
				if strings.TrimSpace(token) == "" || strings.HasPrefix(token, "$") && len(token) > 1 || word.MatchString(token) || strings.ContainsAny(token, `(),.*"=<>&@[]+-:'`) {
					continue
				}
				t.Fatalf("%q in %s", token, sql)
			}
			for i := range args { // the server types a parameter by its use
				if !strings.Contains(sql, "$"+strconv.Itoa(i+1)+"::") {
					t.Fatalf("parameter %d is not used in %s", i+1, sql)
				}
			}
		}
	})
}

// nodeOf makes a tree of some bytes.
func nodeOf(from *[]byte, value, text string, depth int) query.Node {
	next := func() byte {
		if len(*from) == 0 {
			return 0
		}
		b := (*from)[0]
		*from = (*from)[1:]
		return b
	}
	kind, which := next(), next()
	if which&1 == 1 {
		value, text = text, value
	}
	field := query.Field{Kind: query.Kind(which % 7), Name: value}
	if field.Kind == query.Attribute {
		field.Name = []string{"type", "source", "subject", "id", "datacontenttype", "dataschema", value}[next()%7]
	}
	children := func() []query.Node {
		var out []query.Node
		for range next() % 4 {
			if depth > 0 {
				out = append(out, nodeOf(from, value, text, depth-1))
			}
		}
		return out
	}
	switch kind % 10 {
	case 0:
		return query.And(children())
	case 1:
		return query.Or(children())
	case 2:
		if depth > 0 {
			return query.Not{Of: nodeOf(from, value, text, depth-1)}
		}
		return query.Word{Text: text}
	case 3:
		return query.Equal{Field: field, Value: value, Text: which&2 == 2}
	case 4:
		return query.Compare{Field: field, Op: query.Op(which % 5), Value: value}
	case 5:
		return query.Exists{Field: field}
	case 6:
		return query.Null{Field: field}
	case 7:
		return query.Prefix{Field: field, Text: text}
	case 8:
		return query.Contains{Field: field, Text: text}
	default:
		return query.Word{Text: text}
	}
}

func TestNegatedWordsKeepRowsOverTheBound(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(
		sample{id: "over-with", data: jsonOf("tea"), over: true, at: noon().Add(-1 * oneDay / 86400)},
		sample{id: "over-without", data: jsonOf("milk"), over: true, at: noon().Add(-2 * oneDay / 86400)},
		sample{id: "with", data: jsonOf("tea"), at: noon().Add(-3 * oneDay / 86400)},
		sample{id: "without", data: jsonOf("milk"), at: noon().Add(-4 * oneDay / 86400)},
	)
	// What a row over the bound carries proves as little as what it does not carry.
	st.exec(`UPDATE event SET lexemes = lexemes || $1::bigint WHERE id = 'over-without'`, lexicon.Compile(st.key, "tea").Conditions[0].Hash)
	st.expect("over-with with", "q", "tea")
	st.expect("over-without without", "q!", "tea")
	st.expect("over-without without", "q", "milk", "q!", "tea")
}
