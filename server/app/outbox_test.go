package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
	"oriel/server/kafka"
)

// A message larger than the relay may send is dead, with the limit in its detail. An operator finds it, raises
// the limit, and has it tried again; another one is given up. Both are on the record.
func TestAnOperatorDecidesAboutDeadMessagesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	b := dbtest.NewKfake(t, 1)
	in := apptest.Install(t, b)
	dlq := kafka.DeadLetterTopic(b.Topic)
	db := dbtest.Open(t, in.Database)
	count := func(sql string, args ...any) (n int) {
		t.Helper()
		if err := db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return n
	}
	until := func(what, sql string, want int) {
		t.Helper()
		apptest.Eventually(t, time.Minute, func() bool { return count(sql) == want }, func() string { return what })
	}
	// Bytes that no compression makes smaller.
	enqueue := func(key string, seq, kib int) {
		t.Helper()
		if _, err := db.Exec(t.Context(), `INSERT INTO outbox (order_key, seq, topic, record_value)
			SELECT $1, $2, $3, string_agg(decode(md5(random()::text), 'hex'), '') FROM generate_series(1, $4 * 64)`, key, seq, dlq, kib); err != nil {
			t.Fatal(err)
		}
	}
	enqueue("gate", 1, 1500)
	enqueue("gate", 2, 1)
	enqueue("door", 1, 1600)
	serve := func(limit string) *apptest.Child {
		return in.Serve(t, apptest.FreeAddr(t), "ORIEL_ROLES=relay", "ORIEL_OUTBOX_LEASE=5s", "ORIEL_OUTBOX_MESSAGE_BYTES="+limit)
	}
	relay := serve("1048576")
	until("the large ones die", "SELECT count(*) FROM outbox WHERE dead", 2)
	if code := relay.Stop(time.Minute); code != 0 {
		t.Fatalf("stopped with %d", code)
	}

	gate, door := count("SELECT id FROM outbox WHERE order_key = 'gate' AND dead"), count("SELECT id FROM outbox WHERE order_key = 'door'")
	list := apptest.Run(t, in.Env, "outbox", "list")
	for _, want := range []string{
		"REASON", fmt.Sprintf("\n%d ", gate), fmt.Sprintf("\n%d ", door), `"gate"`, "TOO_LARGE", dlq,
		"key and value are 1536000 bytes; the relay sends records of at most 1048576",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not listed:\n%s", want, list)
		}
	}
	if one := apptest.Run(t, in.Env, "outbox", "list", "--limit", "1"); strings.Contains(one, `"door"`) || !strings.Contains(one, "more than 1") {
		t.Errorf("a list of one:\n%s", one)
	}
	if none := apptest.Run(t, in.Env, "outbox", "list", "--topic", "other"); strings.Contains(none, dlq) {
		t.Errorf("a list of another topic:\n%s", none)
	}

	for args, want := range map[string]string{
		"retry --reason x":                                  "Say which messages",
		"retry --reason x --topic t 1":                      "Say which messages",
		"discard 1":                                         "reason",
		"discard --topic other --reason x":                  `No message for topic "other" is dead`,
		"list --limit 0":                                    "outside 1 to",
		fmt.Sprintf("discard %d 999999 --reason x", gate):   "Not dead, or gone: 999999",
		fmt.Sprintf("retry %d --reason x", pendingOf(gate)): "Not dead, or gone",
	} {
		if out := apptest.Fails(t, in.Env, append([]string{"outbox"}, strings.Fields(args)...)...); !strings.Contains(out, want) {
			t.Errorf("%s: %s", args, out)
		}
	}
	if out := apptest.Fails(t, in.Env, "outbox", "retry", fmt.Sprint(gate), "--reason", " "); !strings.Contains(out, "--reason") {
		t.Errorf("a blank reason: %s", out)
	}
	if n := count("SELECT count(*) FROM outbox WHERE dead"); n != 2 {
		t.Errorf("%d messages are dead after what was refused", n)
	}

	if out := apptest.Run(t, in.Env, "outbox", "retry", fmt.Sprint(gate), "--reason", "the limit was raised"); strings.TrimSpace(out) != "messages tried again: 1" {
		t.Errorf("retry said %q", out)
	}
	if out := apptest.Run(t, in.Env, "outbox", "discard", "--topic", dlq, "--reason", "nobody needs it"); strings.TrimSpace(out) != "messages discarded: 1" {
		t.Errorf("discard said %q", out)
	}
	serve("4194304")
	until("the rest is published", "SELECT count(*) FROM outbox", 0)
	for sql, want := range map[string]int{
		`SELECT count(*) FROM audit i JOIN audit o USING (operation) WHERE i.phase = 'intent' AND o.phase = 'outcome' AND o.outcome = 'done'
			AND i.actor_kind = 'cli' AND i.target = 'outbox' AND (i.action, i.reason) IN
			(('outbox.retry', 'the limit was raised'), ('outbox.discard', 'nobody needs it'))`: 2,
		`SELECT count(*) FROM audit WHERE action LIKE 'outbox.%' AND outcome = 'refused'`: 5,
		fmt.Sprintf(`SELECT count(*) FROM audit WHERE action = 'outbox.discard' AND outcome = 'done' AND after->>'count' = '1'
			AND before->'messages'->0->>'id' = '%d' AND before->'messages'->0->>'reason' = 'TOO_LARGE'`, door): 1,
	} {
		if got := count(sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

// pendingOf is the message after one, by their ids: it waits, and is not dead.
func pendingOf(id int) int { return id + 1 }
