package app_test

import (
	"strings"
	"testing"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

func TestRollupsAreCheckedAndMadeRightOnTheCommandLine(t *testing.T) {
	t.Parallel()
	in := apptest.Install(t, dbtest.NewKfake(t, 1))
	db := dbtest.Open(t, in.Database)
	for _, sql := range []string{
		`SELECT ensure_day('event', d::date) FROM generate_series(now() - interval '2 days', now(), interval '1 day') d`,
		`INSERT INTO log (topic, topic_id) VALUES ('t', gen_random_uuid())`,
		`INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) SELECT 'store', id, 0, 90, 3 FROM log WHERE topic = 't'`,
		`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, severity, source, id, type, time_text, tags)
			SELECT now() - i * interval '20 minutes', l.id, 0, i, 1 + i / 30, now(), 0, nullif(i % 9, 0), '/s', i::text, 't', '', '{a}'
			  FROM generate_series(0, 89) i, log l WHERE topic = 't'`,
	} {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if out := apptest.Fails(t, in.Env, "check", "rollups"); !strings.Contains(out, "oriel reindex --rollups") {
		t.Errorf("check said %q", out)
	}
	apptest.Fails(t, in.Env, "reindex", "--rollups", "--rebuild")
	apptest.Fails(t, in.Env, "reindex", "--rollups", "--reason", " ")
	if out := apptest.Run(t, in.Env, "reindex", "--rollups"); !strings.Contains(out, "corrected ") {
		t.Errorf("reindex said %q", out)
	}
	if out := apptest.Run(t, in.Env, "check", "rollups"); !strings.Contains(out, ": 0 differ") {
		t.Errorf("check said %q", out)
	}
	for sql, want := range map[string]int{
		"SELECT sum(n) FROM rollup_minute":                                                                                    90,
		"SELECT sum(n) FROM rollup_quarter WHERE dimension = 'type'":                                                          90,
		"SELECT sum(n) FROM rollup_hour WHERE dimension = 'severity'":                                                         90,
		"SELECT sum(n) FROM rollup_day WHERE dimension = 'tag' AND value = ''":                                                90,
		"SELECT count(*) FROM audit WHERE action = 'rollups.reindex' AND outcome = 'done' AND (after->>'corrected')::int > 0": 1,
	} {
		var n int
		if err := db.QueryRow(t.Context(), sql).Scan(&n); err != nil || n != want {
			t.Errorf("%s: %d, want %d, %v", sql, n, want, err)
		}
	}
	// One window that has nothing wrong beside one that has.
	if _, err := db.Exec(t.Context(), `UPDATE rollup_hour SET n = n + 1 WHERE bucket >= date_trunc('day', now(), 'UTC') AND dimension = 'type'`); err != nil {
		t.Fatal(err)
	}
	if out := apptest.Fails(t, in.Env, "check", "rollups"); !strings.Contains(out, `type "t"`) {
		t.Errorf("check said %q", out)
	}
	apptest.Run(t, in.Env, "check", "rollups", "--until", "2026-01-01")
}
