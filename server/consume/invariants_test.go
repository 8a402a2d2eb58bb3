package consume

import (
	"context"
	"strings"

	"oriel/server/reindex"
)

// settle waits until every checkpoint of the newest log is at its partition's end, and checks what must
// always hold.
func (r *rig) settle() {
	r.t.Helper()
	ends := r.ends()
	r.await("the checkpoints reach the ends of the log", func() bool {
		for p, end := range ends {
			if r.count(`SELECT count(*) FROM checkpoint WHERE consumer = 'store' AND partition = $1 AND next_offset = $2
				AND log = (SELECT max(log) FROM checkpoint)`, p, end) == 0 {
				return false
			}
		}
		return true
	})
	r.invariants()
}

// invariants are the promises that hold at any time.
func (r *rig) invariants() {
	r.t.Helper()
	for what, sql := range map[string]string{
		"a commit's outcomes are its records": `SELECT count(*) FROM ledger
			WHERE stored + duplicate + dead + skipped + expired <> to_offset - from_offset`,
		"commits have no gap": `SELECT count(*) FROM (SELECT commit - lag(commit) OVER (PARTITION BY consumer, log, partition
			ORDER BY commit) AS step FROM ledger) l WHERE step <> 1`,
		"the checkpoint counts the ledger's commits": `SELECT count(*) FROM checkpoint c WHERE c.commits <>
			(SELECT count(*) FROM ledger l WHERE (l.consumer, l.log, l.partition) = (c.consumer, c.log, c.partition))`,
		"an identity is stored once": `SELECT count(*) FROM (SELECT 1 FROM event GROUP BY occurred_at, source, id HAVING count(*) > 1) d`,
		"a position is stored once":  `SELECT count(*) FROM (SELECT 1 FROM event GROUP BY log, partition, "offset" HAVING count(*) > 1) d`,
		"rows are those that the ledger counts": `SELECT count(*) FROM ledger l WHERE l.stored <>
			(SELECT count(*) FROM event e WHERE (e.log, e.partition, e.commit) = (l.log, l.partition, l.commit))`,
		"minutes count the rows": `SELECT abs((SELECT coalesce(sum(n), 0) FROM rollup_minute) - (SELECT count(*) FROM event))::bigint`,
		"minutes count the errors": `SELECT abs((SELECT coalesce(sum(errors), 0) FROM rollup_minute)
			- (SELECT count(*) FROM event WHERE severity >= 6))::bigint`,
		"quarters are what the rows count under": `SELECT count(*) FROM
			(SELECT date_bin('15 minutes', e.occurred_at, '2000-01-01 00:00+00') AS bucket, e.log, e.partition, d.dimension, d.value,
				count(*) AS n, count(*) FILTER (WHERE e.severity >= 6) AS errors
				FROM event e, event_dimensions(e.severity, e.type, e.source, e.tags, e.facets, e.facets_version) d GROUP BY 1, 2, 3, 4, 5) e
			FULL JOIN rollup_quarter r USING (bucket, log, partition, dimension, value)
			WHERE (e.n, e.errors) IS DISTINCT FROM (r.n, r.errors)`,
	} {
		if n := r.count(sql); n != 0 {
			r.t.Errorf("%s: broken %d times\n%s", what, n, r.picture())
		}
	}
	r.findable()
}

// findable looks the identifiers of events up in their blocks.
func (r *rig) findable() {
	r.t.Helper()
	x, err := reindex.New(r.t.Context(), r.pool)
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := x.Check(r.t.Context(), reindex.Window{}, 20, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(c.Wrong) > 0 {
		r.t.Errorf("blocks and events differ: %s\n%s", strings.Join(c.Wrong, "\n"), r.picture())
	}
}

// rebuild makes all blocks again, where a test has changed the events.
func (r *rig) rebuild() {
	r.t.Helper()
	x, err := reindex.New(r.t.Context(), r.pool)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := x.Run(r.t.Context(), reindex.Options{Rebuild: true}, nil); err != nil {
		r.t.Fatal(err)
	}
}

// outcomes are the ledger's sums.
func (r *rig) outcomes() tally {
	r.t.Helper()
	var t tally
	err := r.pool.QueryRow(r.t.Context(), `SELECT coalesce(sum(stored), 0), coalesce(sum(duplicate), 0),
		coalesce(sum(dead), 0), coalesce(sum(expired), 0) FROM ledger`).Scan(&t.stored, &t.duplicate, &t.dead, &t.expired)
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

func (r *rig) expect(want tally) {
	r.t.Helper()
	if got := r.outcomes(); got != want {
		r.t.Errorf("outcomes: got %+v, want %+v\n%s", got, want, r.picture())
	}
}

// picture is what a failed wait prints.
func (r *rig) picture() string {
	var s string
	err := r.pool.QueryRow(context.Background(), `SELECT
		(SELECT coalesce(string_agg(format('%s', c), E'\n'), '') FROM checkpoint c) || E'\n' ||
		(SELECT coalesce(string_agg(format('%s', l), E'\n'), '') FROM ledger l) || E'\n' ||
		(SELECT coalesce(string_agg(format('%s %s %s %s', d.offset, d.reason, d.sqlstate, d.detail), E'\n'), '') FROM dead_letter d)`).Scan(&s)
	if err != nil {
		return err.Error()
	}
	return s
}
