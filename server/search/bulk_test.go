package search

import (
	"context"
	"testing"
	"time"

	"oriel/server/lexicon"
)

// bulk stores n representative events over the days before noon: 40 types, 200 sources and 2,000
// subjects, all skewed, 2 % errors, 30 lexemes of which one in a thousand rows has "rare", one in a
// hundred "seldom" and three in four "common". payload is the bytes of data.
func (st *store) bulk(n, days, payload int) {
	st.t.Helper()
	for d := range days + 1 {
		st.day(noon().AddDate(0, 0, -d))
	}
	hash := func(word string) int64 { return lexicon.Compile(st.key, word).Conditions[0].Hash }
	st.exec(`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, source, id, type, subject,
	           time_text, datacontenttype, lexemes, data)
	         SELECT at, 1, (i % 6)::int, i, 1 + i / 500, at, i, CASE WHEN i % 50 = 0 THEN 6 WHEN i % 7 = 0 THEN NULL ELSE 1 + i % 5 END,
	           '/source/' || floor(200 * power(random(), 3)), 'id-' || i, 'type.' || floor(40 * power(random(), 3)),
	           'subject-' || floor(2000 * power(random(), 3)), at::text, 'application/json',
	           array_remove((SELECT array_agg(floor(1e6 + 800 * power(random(), 2))::bigint + 0 * s) FROM generate_series(1, 28 + (g.i % 2)::int) s)
	             || CASE WHEN i % 1000 = 7 THEN $4::bigint END || CASE WHEN i % 100 = 5 THEN $5::bigint END
	             || CASE WHEN i % 4 <> 0 THEN $6::bigint END, NULL),
	           convert_to('{"text":"' || CASE WHEN i % 1000 = 7 THEN 'rare ' ELSE '' END || repeat(md5(i::text), $3 / 32) || '"}', 'UTF8')
	         FROM (SELECT i, $2::timestamptz - i * (make_interval(days => $7) / $1) AS at FROM generate_series(0, $1 - 1) i) g`,
		n, noon(), payload, hash("rare"), hash("seldom"), hash("common"), days)
	for p := range int32(6) {
		st.commits(p, int64(n/500)+1)
	}
	if _, err := st.pool.Exec(context.Background(), `VACUUM ANALYZE event`); err != nil {
		st.t.Fatal(err)
	}
}

func TestEveryIndexIsUsedByTheQueryItServes(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.bulk(50_000, 12, 200)
	parents := st.parentIndexes()
	vw := st.view("from", "-12d", "until", "now")
	for name, c := range map[string]struct {
		params []string
		origin origin
		cut    *cut
		want   string
		days   int // at most so many partitions are read
	}{
		"the newest page":            {nil, fromPlanner, nil, "event_page", 13},
		"a page far back":            {nil, fromPlanner, &cut{key{at: noon().AddDate(0, 0, -10).UnixMicro()}, false}, "event_page", 3},
		"a walk":                     {[]string{"subject!", "subject-1"}, fromPageIndex, nil, "event_page", 13},
		"one type":                   {[]string{"type", "type.39"}, fromPlanner, nil, "event_type", 13},
		"one source":                 {[]string{"source", "/source/199"}, fromPlanner, nil, "event_source", 13},
		"one subject":                {[]string{"subject", "subject-1999"}, fromPlanner, nil, "event_subject", 13},
		"errors":                     {[]string{"severity", "error"}, fromPlanner, nil, "event_error", 13},
		"all hits of a rare word":    {[]string{"q", "rare"}, fromWords, nil, "event_lexemes", 13},
		"all hits of an absent word": {[]string{"q", "absentee"}, fromWords, nil, "event_lexemes", 13},
		"alternatives of two words":  {[]string{"q", "rare", "q", "absentee"}, fromWords, nil, "event_lexemes", 13},
		"three fields, the newest":   {[]string{"type", "type.39", "source", "/source/150", "severity", "error"}, fromPlanner, nil, "event_", 13},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := Decode(values(c.params...))
			if err != nil {
				t.Fatal(err)
			}
			where := req.Filter.Where
			voc := newVocabulary([]lexicon.Key{st.key}, words(where))
			q := question{where: where, view: vw, window: vw.window, origin: c.origin, cut: c.cut, limit: 101}
			sql, args := q.compile(voc)
			plan := st.explain(t, sql, args)
			if !plan.uses(parents, c.want) {
				t.Errorf("does not use %s:\n%s", c.want, plan)
			}
			if n := plan.partitions(); n > c.days {
				t.Errorf("reads %d partitions:\n%s", n, plan)
			}
		})
	}
	t.Run("the probe of a rare word", func(t *testing.T) {
		t.Parallel()
		voc := newVocabulary([]lexicon.Key{st.key}, []string{"rare"})
		sql, args := compileProbe(And{Word{"rare"}}, vw, vw.window, 1001, voc)
		if plan := st.explain(t, sql, args); !plan.uses(parents, "event_lexemes") {
			t.Errorf("does not use event_lexemes:\n%s", plan)
		}
	})
	t.Run("a probe that takes too long hides nothing", func(t *testing.T) {
		t.Parallel()
		own := *st
		svc := *st.svc
		own.t, own.svc, svc.limits.probing = t, &svc, time.Nanosecond // the server takes it for 1 ms
		if events, _ := own.all("q", "rare", "from", "-12d"); len(events) != 50 {
			t.Errorf("found %d of 50", len(events))
		}
	})
	t.Run("an identity with its time", func(t *testing.T) {
		t.Parallel()
		plan := st.explain(t, `SELECT * FROM event WHERE occurred_at = $1 AND source = $2 AND id = $3`, []any{noon(), "/source/1", "id-0"})
		// Within one microsecond of one source the two indexes cost the same.
		if !plan.uses(parents, "event_source") && !plan.uses(parents, "event_identity") || plan.partitions() != 1 {
			t.Errorf("not one look-up:\n%s", plan)
		}
	})
	t.Run("the times of an identity within a day", func(t *testing.T) {
		t.Parallel()
		day := noon().Truncate(oneDay)
		plan := st.explain(t, `SELECT occurred_at FROM event WHERE occurred_at >= $1 AND occurred_at < $2 AND source = $3 AND id = $4
			ORDER BY occurred_at DESC LIMIT $5`, []any{day, day.Add(oneDay), "/source/150", "id-0", 21})
		if !plan.uses(parents, "event_source") && !plan.uses(parents, "event_identity") || plan.partitions() != 1 {
			t.Errorf("neither event_source nor event_identity:\n%s", plan)
		}
	})
}
