package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

func TestWhatWasStoredBeforeThereWereBlocksIsReindexedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	b := dbtest.NewKfake(t, 2)
	in := apptest.Install(t, b)
	addr := apptest.FreeAddr(t)
	in.Serve(t, addr, "ORIEL_ROLES=consume,maintain")
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.DefaultProduceTopic(b.Topic))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	db := dbtest.Open(t, in.Database)
	count := func(sql string) (n int) {
		t.Helper()
		if err := db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return n
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	sent := 0
	send := func(n int) {
		t.Helper()
		for range n {
			sent++
			if err := cl.ProduceSync(t.Context(), &kgo.Record{
				Value: fmt.Appendf(nil, `{"specversion":"1.0","id":"e-%d","source":"/s","type":"t","time":%q,"data":{"order":"4f2a9c01-%08d"}}`,
					sent, time.Now().UTC().Format(time.RFC3339Nano), sent),
				Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte("application/cloudevents+json")}},
			}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		apptest.Eventually(t, time.Minute, func() bool { return count("SELECT count(*) FROM event") == sent }, func() string {
			_, ready := apptest.Readiness("http://" + addr)
			return fmt.Sprintf("%d events are stored, of %d: %s", count("SELECT count(*) FROM event"), sent, ready)
		})
	}
	send(40)
	if out := apptest.Run(t, in.Env, "check", "blocks"); !strings.Contains(out, "40 events in") {
		t.Errorf("check said %q", out)
	}

	exec("BEGIN; DELETE FROM event_block; INSERT INTO block_gap SELECT log, partition, commits FROM checkpoint; COMMIT")
	if out := apptest.Run(t, in.Env, "check", "blocks"); !strings.Contains(out, "40 events have no blocks yet") {
		t.Errorf("check said %q", out)
	}
	send(10) // beside it
	if out := apptest.Run(t, in.Env, "reindex", "--until", "2020-01-01"); !strings.Contains(out, "reindexed 0 events") || !strings.Contains(out, "other days") {
		t.Errorf("reindex of other days said %q", out)
	}
	if out := apptest.Run(t, in.Env, "reindex", "--reason", "after the upgrade"); !strings.Contains(out, "reindexed 40 events") || strings.Contains(out, "other days") {
		t.Errorf("reindex said %q", out)
	}
	if out := apptest.Run(t, in.Env, "check", "blocks"); !strings.Contains(out, "50 events in") || strings.Contains(out, "no blocks yet") {
		t.Errorf("check said %q", out)
	}
	if n := count(`SELECT count(*) FROM audit WHERE action = 'blocks.reindex' AND outcome = 'done' AND actor_kind = 'cli'
		AND reason = 'after the upgrade' AND after->>'events' = '40'`); n != 1 {
		t.Errorf("%d entries on the record", n)
	}
	if n := count("SELECT count(*) FROM block_gap"); n != 0 {
		t.Errorf("%d gaps are left", n)
	}

	exec(`DELETE FROM event_block WHERE from_commit = (SELECT min(from_commit) FROM event_block)`)
	if out := apptest.Fails(t, in.Env, "check", "blocks"); !strings.Contains(out, "in no block") || !strings.Contains(out, "--rebuild") {
		t.Errorf("a check of what is wrong said %q", out)
	}
	apptest.Run(t, in.Env, "reindex", "--rebuild")
	apptest.Run(t, in.Env, "check", "blocks", "--samples", "1000")
	apptest.Fails(t, in.Env, "reindex", "--from", "yesterday")
	apptest.Fails(t, in.Env, "reindex", "--reason", " ")
}
