package outbox

import (
	"testing"
	"time"

	"oriel/server/dbtest"
)

// A line to PostgreSQL that goes dead without a word, at any statement of the relay: it gives the statement up
// within the time of a lease, goes on by a new connection, and loses, repeats and reorders nothing.
func TestALineThatGoesDeadWithoutAWordDelaysTheRelayAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{
		"as shards are taken":        "-- name: OutboxAcquire",
		"as leases are renewed":      "-- name: OutboxRenew",
		"as the outbox is read":      "-- name: OutboxHeads",
		"as messages are loaded":     "-- name: OutboxLoad",
		"as published ones are gone": "-- name: OutboxDelete",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := faulty(t, 1)
			p := dbtest.NewProxy(t, r.url)
			pool := dbtest.Open(t, p.URL())
			t.Cleanup(p.Close) // before the pool, which waits for the dead line
			rel := r.build(pool, nil)
			p.SilenceAt(at)
			if err := rel.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.halt(rel) })
			r.enqueue(r.topic, "a", 0, 20)
			rel.Wake()
			r.await("the line goes dead", p.Silent)
			r.enqueue(r.topic, "a", 20, 20)
			r.drained()
			if n := r.expectAll(r.topic, values("a", 0, 40)); n != 0 {
				t.Errorf("%d messages were published twice", n)
			}
			r.expectOrder(r.topic)
			if n := rel.value(t, "database_errors_total", ""); n == 0 {
				t.Error("no statement was given up")
			}
		})
	}
}

// While nothing of the database answers the relay stands still and says so, though it tries again and again.
func TestARelayWhoseDatabaseFellSilentStandsStill(t *testing.T) {
	t.Parallel()
	_, r := faulty(t, 1)
	p := dbtest.NewProxy(t, r.url)
	pool := dbtest.Open(t, p.URL())
	t.Cleanup(p.Close)
	rel := r.startOn(pool, func(c *Config) { c.TTL = time.Second })
	r.enqueue(r.topic, "a", 0, 10)
	r.drained()
	p.Silence()
	r.enqueue(r.topic, "a", 10, 10)
	r.await("it has stood still for longer than any statement may take", func() bool { return rel.Idle() > 4*time.Second })
	if n := rel.value(t, "database_errors_total", ""); n < 2 {
		t.Errorf("it gave up %v statements", n)
	}
	p.Speak()
	r.drained()
	r.await("it moves again", func() bool { return rel.Idle() < time.Second })
	r.expectAll(r.topic, values("a", 0, 20))
	r.expectOrder(r.topic)
}

// A relay that beats and whose messages cannot be read stands still as well.
func TestARelayThatOnlyEverFailsStandsStill(t *testing.T) {
	t.Parallel()
	_, r := faulty(t, 1)
	rel := r.start(nil)
	r.await("it has the shards", func() bool { return rel.Leases() == shardCount })
	beats := rel.value(t, "leases", "")
	r.exec("ALTER TABLE outbox RENAME COLUMN attempts TO attempts_away")
	r.await("it stands still", func() bool { return rel.Idle() > 2*time.Second })
	if n := r.count("SELECT count(*) FROM outbox_shard WHERE owner IS NOT NULL AND lease_until > clock_timestamp()"); n != int(beats) {
		t.Errorf("%d leases are alive, want %v: it is the messages that fail", n, beats)
	}
	r.exec("ALTER TABLE outbox RENAME COLUMN attempts_away TO attempts")
	r.enqueue(r.topic, "a", 0, 5)
	r.drained()
	r.await("it moves again", func() bool { return rel.Idle() < time.Second })
}
