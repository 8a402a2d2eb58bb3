package search

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"oriel/server/lexicon"
)

// genNode draws conditions of any shape, not only those that parameters can say.
func genNode(depth int) *rapid.Generator[Node] {
	leaf := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"order.paid", "order.lost", "absent"}), func(s string) Node { return Equal{FieldType, s} }),
		rapid.Map(rapid.SampledFrom([]string{"s-1", "s-2"}), func(s string) Node { return Equal{FieldSubject, s} }),
		rapid.Map(rapid.Int16Range(1, 8), func(r int16) Node { return AtLeast{r} }),
		rapid.Map(rapid.SampledFrom([]string{"tea", "hot", "rare", "absent", "ref-80123456789", "80123456789", "日本語", "本", "1e2", "-3", "72", "green tea"}), func(s string) Node { return Word{s} }),
	)
	if depth == 0 {
		return leaf
	}
	child := rapid.Deferred(func() *rapid.Generator[Node] { return genNode(depth - 1) })
	return rapid.OneOf(leaf,
		rapid.Map(child, func(n Node) Node { return Not{n} }),
		rapid.Map(rapid.SliceOfN(child, 0, 3), func(ns []Node) Node { return And(ns) }),
		rapid.Map(rapid.SliceOfN(child, 0, 3), func(ns []Node) Node { return Or(ns) }),
	)
}

// The law of compiling: SQL never misses a row that the verifier takes, what it calls exact it takes no
// other row for, except rows over the lexicon's bound, and the driver of a drivable condition is a
// superset of it.
func TestSQLIsExactOrASupersetAndKnowsWhich(t *testing.T) {
	t.Parallel()
	m := newModel(t, 4)
	other := lexicon.Key{42}
	m.exec(`INSERT INTO lexicon_version (version, key, state) VALUES (2, $1, 'live'), (3, $2, 'retired')`, other[:], make([]byte, 16))
	everything := window{from: instantOf(noon().AddDate(0, 0, -30))}
	vw := &view{window: everything, vector: vector{{1, 0, 99}, {1, 1, 99}, {1, 2, 99}}}
	rapid.Check(t, func(t *rapid.T) {
		where := genNode(3).Draw(t, "where")
		voc := &vocabulary{}
		if ws := words(where); len(ws) > 0 {
			keys := rapid.SampledFrom([][]lexicon.Key{{m.key}, {m.key, other}, {other, m.key}, nil}).Draw(t, "live versions")
			voc = newVocabulary(keys, ws)
		}
		v := NewVerifier(where)
		truth := map[string]bool{}
		over := map[string]bool{}
		for i := range m.stored {
			truth[m.stored[i].id] = v.Match(m.stored[i].candidate())
			over[m.stored[i].id] = m.stored[i].over
		}
		c := compiler{&statement{}, voc}
		got := c.compile(where)
		hits := m.idsWhere(t, got.sql, c.args)
		for id, holds := range truth {
			switch {
			case holds && !hits[id]:
				t.Fatalf("%s misses %s\n%#v", got.sql, id, where)
			case !holds && hits[id] && got.exact && !over[id]:
				t.Fatalf("%s is called exact and takes %s\n%#v", got.sql, id, where)
			}
		}
		if !c.drivable(where) {
			return
		}
		sql, args := compileProbe(where, vw, everything, 100_000, voc)
		var n int
		if err := m.pool.QueryRow(context.Background(), sql, args...).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		d := compiler{&statement{}, voc}
		hits = m.idsWhere(t, d.driver(where), d.args)
		if n != len(hits) {
			t.Fatalf("the probe counts %d, the driver takes %d", n, len(hits))
		}
		for id, holds := range truth {
			if holds && !hits[id] {
				t.Fatalf("the driver misses %s\n%#v", id, where)
			}
		}
	})
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

// Whatever a caller sends, a statement is made of our own pieces: no value becomes text.
func FuzzStatementsHaveAFixedAlphabet(f *testing.F) {
	f.Add("a'; DROP TABLE event; --", "tea \" ' $1", int64(5), int16(2), uint8(0))
	f.Add("$$", "SELECT", int64(-1), int16(-1), uint8(7))
	f.Add("\\", "日本 lexemes", int64(1<<62), int16(8), uint8(3))
	word := regexp.MustCompile(`^(?:AND|ANY|AS|BY|CASE|DESC|END|FALSE|FROM|IS|LIMIT|NOT|OFFSET|OR|ORDER|SELECT|THEN|TRUE|WHEN|WHERE` +
		`|array_position|coalesce|count|octet_length|substr|bigint|integer|smallint|text|timestamptz|e|event|hits|hit|newer|checked|shown` +
		`|occurred_at|log|partition|offset|commit|kafka_time|severity|flags|source|id|type|subject|time_text|datacontenttype|tags|facets` +
		`|attributes|trace_id|lexemes|data|0|1|6|4096)$`)
	split := regexp.MustCompile(`\$\d+|[A-Za-z_]+|\d+|\s+|.`)
	f.Fuzz(func(t *testing.T, value, query string, at int64, rank int16, shape uint8) {
		where := And{
			Equal{FieldType, value},
			Or{Equal{FieldSource, value}, Equal{FieldSource, query}},
			Not{Equal{FieldSubject, value}},
			AtLeast{rank},
			Or{Word{query}, Not{Word{value}}},
			Word{query},
		}
		voc := newVocabulary([]lexicon.Key{{1}, {2}}, words(where))
		w := window{from: Instant{at, true}, until: Instant{at, shape&1 == 0}}
		q := question{
			where: where, view: &view{vector: vector{{1, 3, at}}}, window: w, backward: shape&2 != 0,
			origin: origin(shape % 3), verify: shape&4 != 0, limit: int(rank),
		}
		if shape&8 != 0 {
			q.cut = &cut{key{at: at}, shape&16 != 0}
		}
		sql, args := q.compile(voc)
		probe, _ := compileProbe(where, q.view, w, 5, voc)
		for _, token := range split.FindAllString(sql+" "+probe, -1) {
			if strings.TrimSpace(token) == "" || strings.HasPrefix(token, "$") && len(token) > 1 || word.MatchString(token) || strings.ContainsAny(token, `(),.*"=<>&[]+-:`) {
				continue
			}
			t.Fatalf("%q in %s", token, sql)
		}
		for i := range args { // the server types a parameter by its use
			if !strings.Contains(sql, "$"+strconv.Itoa(i+1)+"::") {
				t.Fatalf("parameter %d is not used in %s", i+1, sql)
			}
		}
	})
}

func TestNegatedWordsKeepRowsOverTheBound(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(
		sample{id: "over-with", data: jsonOf("tea"), over: true, at: noon().Add(-1 * time.Second)},
		sample{id: "over-without", data: jsonOf("milk"), over: true, at: noon().Add(-2 * time.Second)},
		sample{id: "with", data: jsonOf("tea"), at: noon().Add(-3 * time.Second)},
		sample{id: "without", data: jsonOf("milk"), at: noon().Add(-4 * time.Second)},
	)
	// What a row over the bound carries proves as little as what it does not carry.
	st.exec(`UPDATE event SET lexemes = lexemes || $1::bigint WHERE id = 'over-without'`, lexicon.Compile(st.key, "tea").Conditions[0].Hash)
	st.expect("over-with with", "q", "tea")
	st.expect("over-without without", "q!", "tea")
	st.expect("over-without without", "q", "milk", "q!", "tea")
}
