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

func TestAnOperatorDecidesAboutAConsumerOnTheCommandLine(t *testing.T) {
	t.Parallel()
	b := dbtest.NewKfake(t, 1)
	in := apptest.Install(t, b)
	addr := apptest.FreeAddr(t)
	serve := in.Serve(t, addr, "ORIEL_ROLES=consume", "ORIEL_BREAKER_LETTERS=20")
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.DefaultProduceTopic(b.Topic))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	noise := func(n int) {
		t.Helper()
		for range n {
			if err := cl.ProduceSync(t.Context(), kgo.StringRecord("no event at all")).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	db := dbtest.Open(t, in.Database)
	count := func(sql string) (n int) {
		t.Helper()
		if err := db.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return n
	}
	until := func(what, sql string, want int) {
		t.Helper()
		apptest.Eventually(t, time.Minute, func() bool { return count(sql) == want }, func() string {
			_, ready := apptest.Readiness("http://" + addr)
			return what + ": " + ready
		})
	}

	noise(20)
	until("it trips", "SELECT count(*) FROM checkpoint WHERE state = 'tripped'", 1)
	apptest.Eventually(t, time.Minute, func() bool {
		code, body := apptest.Readiness("http://" + addr)
		return code == 503 && strings.Contains(body, "oriel consumer resume --consumer store")
	}, func() string { return "readiness names the way out" })
	for _, args := range [][]string{
		{"consumer", "resume", "--consumer", "store"},
		{"consumer", "resume", "--consumer", "other", "--reason", "x"},
		{"consumer", "resume", "--consumer", "store", "--reason", " "},
	} {
		apptest.Fails(t, in.Env, args...)
	}
	if out := apptest.Run(t, in.Env, "consumer", "resume", "--consumer", "store", "--reason", "the producer is mended"); !strings.Contains(out, "partitions [0] run again") {
		t.Errorf("resume said %q", out)
	}
	until("it runs again", "SELECT count(*) FROM checkpoint WHERE state = 'running'", 1)
	serve.WaitReady("http://"+addr, time.Minute)
	if out := apptest.Fails(t, in.Env, "consumer", "resume", "--consumer", "store", "--reason", "once more"); !strings.Contains(out, "nothing to resume") {
		t.Errorf("resumed twice: %s", out)
	}

	next := count("SELECT next_offset FROM checkpoint")
	if out := apptest.Fails(t, in.Env, "consumer", "move", "--consumer", "store", "--partition", "0", "--to", "9999", "--reason", "a slip"); !strings.Contains(out, fmt.Sprintf("offsets 0 to %d", next)) {
		t.Errorf("the log's offsets are not shown: %s", out)
	}
	if code := serve.Stop(time.Minute); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
	noise(5)
	args := []string{"consumer", "move", "--consumer", "store", "--partition", "0", "--to", fmt.Sprint(next + 5), "--reason", "all of it is noise"}
	if out := apptest.Fails(t, in.Env, args...); !strings.Contains(out, "--from") {
		t.Errorf("skipped without saying from where: %s", out)
	}
	if out := apptest.Run(t, in.Env, append(args, "--from", fmt.Sprint(next))...); !strings.Contains(out, fmt.Sprintf("moved from offset %d (running) to %d, 5 offsets skipped", next, next+5)) {
		t.Errorf("move said %q", out)
	}
	for sql, want := range map[string]int{
		"SELECT sum(skipped) FROM ledger":                                       5,
		"SELECT count(*) FROM consumer_decision":                                2,
		"SELECT next_offset FROM checkpoint":                                    next + 5,
		"SELECT sum(stored + duplicate + dead + skipped + expired) FROM ledger": next + 5,
		`SELECT count(*) FROM audit i JOIN audit o USING (operation) WHERE i.phase = 'intent' AND o.phase = 'outcome' AND o.outcome = 'done'
			AND i.actor_kind = 'cli' AND i.target = 'consumers/store' AND (i.action, i.reason) IN
			(('consumer.resume', 'the producer is mended'), ('consumer.move', 'all of it is noise'))`: 2,
		`SELECT count(*) FROM audit WHERE action LIKE 'consumer.%' AND outcome = 'refused'`:                                                           4,
		`SELECT count(*) FROM audit WHERE action = 'consumer.move' AND outcome = 'done' AND after->>'skipped' = '5' AND before->>'state' = 'running'`: 1,
	} {
		if got := count(sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}
