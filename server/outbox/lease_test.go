package outbox

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"oriel/server/db"
	"oriel/server/dbtest"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAClaimNeverTakesMoreThanItsLimitWhateverThePlan(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"127.0.0.1:1"}, "")
	for _, off := range [][]string{
		nil,
		{"hashjoin", "mergejoin", "material", "memoize", "hashagg", "sort"},
		{"hashjoin", "nestloop", "indexscan", "bitmapscan"},
		{"mergejoin", "nestloop", "seqscan"},
	} {
		r.exec("UPDATE outbox_shard SET owner = NULL, lease_until = '-infinity'")
		conn, err := r.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range off {
			if _, err := conn.Exec(t.Context(), "SET enable_"+o+" = off"); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := db.New(conn).OutboxAcquire(t.Context(), db.OutboxAcquireParams{Owner: "me", MaxShards: 5, TtlSeconds: 60})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.count("SELECT count(*) FROM outbox_shard WHERE owner = 'me'"); n != 5 || len(rows) != 5 {
			t.Errorf("with %v off %d were taken and %d said", off, n, len(rows))
		}
		if _, err := conn.Exec(t.Context(), "RESET ALL"); err != nil {
			t.Fatal(err)
		}
		conn.Release()
	}
}

func TestARenewalAndATakeoverNeverBothSucceed(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"127.0.0.1:1"}, "")
	q := db.New(r.pool)
	ctx := t.Context()
	expired := func() {
		r.exec("UPDATE outbox_shard SET owner = 'old', token = 7, lease_until = clock_timestamp() - interval '1 second'")
	}
	take := db.OutboxAcquireParams{Owner: "new", MaxShards: shardCount, TtlSeconds: 60}
	renew := db.OutboxRenewParams{Owner: "old", TtlSeconds: 60}

	expired()
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := q.WithTx(tx).OutboxRenew(ctx, renew); err != nil || len(rows) != shardCount || rows[0].Token != 7 {
		t.Fatalf("%d renewed: %v", len(rows), err)
	}
	if rows, err := q.OutboxAcquire(ctx, take); err != nil || len(rows) != 0 {
		t.Errorf("%d were taken while their renewal was under way: %v", len(rows), err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if rows, err := q.OutboxAcquire(ctx, take); err != nil || len(rows) != 0 {
		t.Errorf("%d were taken after their renewal: %v", len(rows), err)
	}

	expired()
	if tx, err = r.pool.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	if rows, err := q.WithTx(tx).OutboxAcquire(ctx, take); err != nil || len(rows) != shardCount || rows[0].Token != 8 {
		t.Fatalf("%d taken: %v", len(rows), err)
	}
	renewed := make(chan int, 1)
	go func() {
		rows, err := q.OutboxRenew(ctx, renew)
		if err != nil {
			t.Error(err)
		}
		renewed <- len(rows)
	}()
	r.await("the renewal waits for the takeover", func() bool {
		return r.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
	})
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if n := <-renewed; n != 0 {
		t.Errorf("%d were renewed by whom they no longer belonged to", n)
	}
}

func TestRelaysShareTheShardsAndGiveThemBack(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		a := r.start(nil)
		r.await("the first holds all", func() bool { return a.Leases() == shardCount })
		b := r.start(nil)
		r.await("each holds half", func() bool {
			return a.Leases() == shardCount/2 && b.Leases() == shardCount/2 &&
				r.count("SELECT count(*) FROM (SELECT owner FROM outbox_shard GROUP BY 1 HAVING count(*) = 16) x") == 2
		})
		r.spread(r.topic, "k", 500)
		r.drained()
		if repeats := r.expectAll(r.topic, spreadValues("k", 500)); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
		if a.value(t, "published_total", "") == 0 || b.value(t, "published_total", "") == 0 {
			t.Error("one of them has nothing to do")
		}
		r.halt(a)
		if n := r.count("SELECT count(*) FROM outbox_shard WHERE owner LIKE 'test#%' AND owner <> $1", b.name); n != 0 {
			t.Errorf("the one that stopped still holds %d", n)
		}
		r.await("the other holds all", func() bool { return b.Leases() == shardCount })
		r.halt(b)
		if n := r.count("SELECT count(*) FROM outbox_shard WHERE owner IS NOT NULL OR lease_until > '-infinity'"); n != 0 {
			t.Errorf("%d shards are held by nobody who runs", n)
		}
		if n := r.count("SELECT count(*) FROM outbox_relay"); n != 0 {
			t.Errorf("%d relays are said to run", n)
		}
	})
}

func TestAStopThatCannotWaitLeavesTheLeasesToRunOut(t *testing.T) {
	t.Parallel()
	c, r := faulty(t, 1)
	release := make(chan struct{})
	defer close(release)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		c.SleepControl(func() { <-release })
		return nil, nil, false
	})
	rel := r.start(func(cfg *Config) { cfg.Delivery = time.Hour })
	r.enqueue(r.topic, "k", 0, 1)
	r.await("it is under way", func() bool { return rel.value(t, "in_flight", "") == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := rel.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopped with %v", err)
	}
	if n := r.count("SELECT count(*) FROM outbox_shard WHERE owner = $1", rel.name); n != shardCount {
		t.Errorf("%d shards are held: what is under way may still arrive", n)
	}
	if r.pending() != 1 {
		t.Error("the message is gone")
	}
}

// The zombie is a relay whose shards were taken while it waited for an answer.
func TestAZombiesAcknowledgementCountsAndItsFailureDoesNot(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]bool{"an acknowledgement": false, "a failure": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, r := faulty(t, 1)
			arrived, release := make(chan struct{}), make(chan struct{})
			var once sync.Once
			c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
				once.Do(func() { close(arrived) })
				c.SleepControl(func() { <-release })
				return nil, nil, false
			})
			if fail {
				c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: topicDenied(), Count: 1})
			}
			rel := r.start(func(cfg *Config) { cfg.Delivery = time.Hour })
			r.enqueue(r.topic, "k", 0, 1)
			<-arrived
			r.exec("UPDATE outbox_shard SET owner = 'another', token = token + 1, lease_until = clock_timestamp() + interval '1 hour'")
			r.await("it has noticed", func() bool { return rel.Leases() == 0 })
			close(release)
			if !fail {
				r.drained()
				return
			}
			r.await("it was fenced", func() bool { return rel.value(t, "fenced_total", "") > 0 })
			if r.count("SELECT count(*) FROM outbox WHERE attempts = 0 AND NOT dead AND next_attempt_at <= clock_timestamp()") != 1 ||
				r.count("SELECT count(*) FROM outbox_backoff") != 0 {
				t.Errorf("the zombie left a mark\n%s", r.picture())
			}
			r.exec("UPDATE outbox_shard SET lease_until = '-infinity'")
			r.drained()
			r.expectAll(r.topic, values("k", 0, 1))
		})
	}
}

// The second message is in hand, and waits for the first, when the shards change hands.
func TestWhatIsNotSentYetIsNotSentOnceTheLeaseIsLost(t *testing.T) {
	t.Parallel()
	c, r := faulty(t, 1)
	arrived, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		once.Do(func() { close(arrived) })
		c.SleepControl(func() { <-release })
		return nil, nil, false
	})
	r.exec("INSERT INTO outbox (order_key, seq, topic, record_value) VALUES ('large', 0, $1, $2), ('k', 0, $1, 'k 0')", r.topic, noise(600_000))
	rel := r.start(func(cfg *Config) { cfg.Delivery = time.Hour })
	<-arrived
	r.exec("UPDATE outbox_shard SET owner = 'another', token = token + 1, lease_until = clock_timestamp() + interval '1 hour'")
	r.await("it has noticed", func() bool { return rel.Leases() == 0 })
	close(release)
	r.await("the first is acknowledged", func() bool { return r.pending() == 1 })
	r.halt(rel)
	if n := len(r.published(r.topic)); n != 1 || r.pending() != 1 {
		t.Errorf("%d are published, %d wait", n, r.pending())
	}
}

func TestAMarkCountsOnlyUnderTheTokenOfItsShard(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"127.0.0.1:1"}, "")
	r.enqueue("letters", "k", 0, 1)
	r.exec("UPDATE outbox SET smaller_value = 's'")
	var id int64
	var shard int16
	r.one(&id, "SELECT id FROM outbox")
	r.one(&shard, "SELECT shard FROM outbox")
	r.exec("UPDATE outbox_shard SET owner = 'me', token = 5, lease_until = clock_timestamp() + interval '1 hour'")
	q, ctx := db.New(dbtest.Open(t, dbtest.AppURL(t, r.url))), t.Context()
	for _, who := range []struct {
		owner string
		token int64
		want  int64
	}{{"me", 4, 0}, {"me", 6, 0}, {"you", 5, 0}, {"me", 5, 1}} {
		ids, tokens := []int64{id}, []int64{who.token}
		for name, mark := range map[string]func() (int64, error){
			"shrink": func() (int64, error) {
				return q.OutboxShrink(ctx, db.OutboxShrinkParams{Ids: ids, Tokens: tokens, Owner: who.owner})
			},
			"delay": func() (int64, error) {
				return q.OutboxDelay(ctx, db.OutboxDelayParams{Ids: ids, Tokens: tokens, Owner: who.owner, Counted: []int32{1}, Seconds: []float64{60}})
			},
			"back off": func() (int64, error) {
				return q.OutboxBackOff(ctx, db.OutboxBackOffParams{Shard: shard, Topic: "letters", Owner: who.owner, Token: who.token, BaseSeconds: 1, CapSeconds: 9})
			},
		} {
			if n, err := mark(); err != nil || n != who.want {
				t.Errorf("%s of %s under %d: %d rows, %v", name, who.owner, who.token, n, err)
			}
		}
		n, err := q.OutboxBury(ctx, db.OutboxBuryParams{Ids: ids, Tokens: tokens, Owner: who.owner, Reasons: []string{"R"}, Details: []string{"d"}})
		if err != nil || n != who.want {
			t.Errorf("bury of %s under %d: %d rows, %v", who.owner, who.token, n, err)
		}
	}
}
