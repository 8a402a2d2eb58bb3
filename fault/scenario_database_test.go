package fault

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// The server ends a member's session at each moment that a session can be in. The batch is stored once all the
// same, by a transaction of its own, and nothing of the one that ended is there.
func TestASessionThatTheServerEndsIsNoFaultOfTheBatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		where   string        // of the gate
		fates   []dbtest.Fate // of the COMMITs; the first is that of new words
		session string        // what pg_stat_activity says of it
	}{
		"in the middle of a batch":  {inBatch, nil, `wait_event = 'PgSleep'`},
		"before COMMIT has arrived": {"", []dbtest.Fate{dbtest.Deliver, dbtest.HoldBefore}, `state = 'idle in transaction' AND backend_xid IS NOT NULL`},
		"in COMMIT":                 {inCommit, nil, `wait_event = 'PgSleep'`},
		"idle in the pool":          {"", nil, `state = 'idle'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, cluster := newCluster(t, 1)
			r := newRig(t, b, cluster)
			s := r.script()
			proxy := dbtest.NewProxy(t, dbtest.AppURL(t, r.direct))
			m := r.joinThrough("one", proxy.URL())
			s.write(batchOfMember, 0)
			r.verify()
			busy := c.session != `state = 'idle'`
			var g *gate
			if c.where != "" {
				g = r.gate(c.where)
				g.hold("one")
			}
			proxy.Next(c.fates...)
			if busy {
				s.write(batchOfMember, 0)
			}
			ended := r.endSessions("one", c.session)
			if g != nil {
				g.letGo("one")
			}
			if c.fates != nil {
				proxy.Cut() // the proxy keeps the line of a COMMIT that it holds
			}
			if busy && !slices.ContainsFunc(ended, func(xid string) bool { return xid != "" }) {
				t.Errorf("none of the sessions that ended had written: %q", ended)
			}
			s.write(batchOfMember, 0)
			h := r.verify()
			for _, xid := range ended {
				if xid == "" {
					continue
				}
				if n := scan[int](t, r.pool, `SELECT (SELECT count(*) FROM event WHERE xmin = $1::text::xid) + (SELECT count(*) FROM ledger WHERE xmin = $1::text::xid)`, xid); n != 0 {
					t.Errorf("%d rows are there of the transaction that was ended", n)
				}
			}
			if n := duplicates(h); n != 0 || len(h.letters) != 0 {
				t.Errorf("%d records were met twice, %d are dead letters", n, len(h.letters))
			}
			if busy && m.count("oriel_consumer_retries_total")+m.count("oriel_consumer_commit_unknown_total", "not_committed") == 0 {
				t.Error("nothing was tried again")
			}
			apptest.Eventually(t, time.Minute, func() bool { return m.Status().Ready() }, func() string { return fmt.Sprintf("it is %+v", m.Status()) })
		})
	}
}

// endSessions ends a member's sessions in a state, once there are some, and gives their transactions.
func (r *rig) endSessions(name, state string) (xids []string) {
	r.t.Helper()
	apptest.Eventually(r.t, time.Minute, func() bool {
		xids = scan[[]string](r.t, r.pool, `SELECT coalesce(array_agg(coalesce(xid, '')), '{}') FROM (
			SELECT backend_xid::text AS xid, pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = $1 AND `+state+`) ended`, name)
		return len(xids) > 0
	}, func() string { return "no session of " + name + " is in the state" })
	return xids
}

// Somebody locks the table of events for longer than two waits for a lock. Whole batches are tried again, the
// members stay in the group, and nothing is blamed on a record.
func TestALockedTableDelaysItsBatchesAndNothingElse(t *testing.T) {
	t.Parallel()
	b, cluster := newCluster(t, 2)
	r := newRig(t, b, cluster)
	owners := watchOwners(cluster)
	s := r.script()
	m := r.join("one")
	s.write(batchOfMember, 0, 1)
	r.verify()
	joins, _, _, _, _ := owners.seen()
	tx, err := r.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE event IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.write(5*batchOfMember, 0, 1)
	const waits = 2 // of each partition
	apptest.Eventually(t, time.Minute, func() bool {
		return m.count("oriel_consumer_retries_total", "environment") >= 2*waits && time.Since(began) >= 5*time.Second
	}, func() string { return "nothing is tried again" })
	if st := m.Status(); st.Ready() || !st.Degraded || st.Assigned != 2 {
		t.Errorf("it is %+v", st)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := r.verify()
	if n := duplicates(h); n != 0 || len(h.letters) != 0 {
		t.Errorf("%d records were met twice, %d are dead letters", n, len(h.letters))
	}
	if now, _, _, _, _ := owners.seen(); now != joins {
		t.Errorf("it joined %d times more", now-joins)
	}
	apptest.Eventually(t, time.Minute, func() bool { return m.Status().Ready() }, func() string { return fmt.Sprintf("it is %+v", m.Status()) })
}

// The server of the database, which syncs as in production, is stopped at once under load and comes back
// after a while. Events are taken meanwhile, the replicas stay in the group as they were, and nothing becomes a
// dead letter.
func TestACrashOfTheDatabaseCostsNobodyItsMembership(t *testing.T) {
	t.Parallel()
	away := 3 // heartbeats of each member
	if *long {
		away = 50 // a minute
	}
	b, cluster := newCluster(t, 4)
	srv := newServer(t)
	r := newRigAt(t, b, cluster, srv.through(newFront(t, srv.where), true))
	owners := watchOwners(cluster)
	var addrs []string
	for _, name := range []string{"one", "two"} {
		addr := apptest.FreeAddr(t)
		addrs = append(addrs, addr)
		r.serve(addr, as(t, srv.through(newFront(t, srv.where), false), name))
	}
	for i, addr := range addrs {
		r.children[i].WaitReady("http://"+addr, time.Minute)
	}
	apptest.Eventually(t, time.Minute, func() bool { return scan[int](t, r.pool, `SELECT count(DISTINCT owner) FROM checkpoint`) == 2 },
		func() string { return "the replicas do not share the partitions" })
	flow := r.startFlow(8, 0, addrs...)
	flow.allow(200)
	apptest.Eventually(t, time.Minute, func() bool { return flow.waiting() < 100 }, func() string { return flow.String() })
	members, beats := r.members(), owners.heartbeats()
	joins, _, _, _, _ := owners.seen()
	if err := srv.stop(); err != nil {
		t.Fatal(err)
	}
	flow.allow(50)
	apptest.Eventually(t, 2*time.Minute, func() bool { return owners.beatsSince(beats, members) >= away }, func() string {
		return fmt.Sprintf("a member's heart has stopped: %v, before %v", owners.heartbeats(), beats)
	})
	for _, addr := range addrs {
		apptest.Eventually(t, time.Minute, func() bool {
			code, _ := apptest.Readiness("http://" + addr)
			return code == http.StatusServiceUnavailable
		},
			func() string { return addr + " says that it is ready" })
	}
	if err := srv.start(); err != nil {
		t.Fatal(err)
	}
	flow.waitDone(t, time.Minute)
	flow.stop()
	h := r.verify()
	if len(h.letters) != 0 {
		t.Errorf("%d dead letters of good events", len(h.letters))
	}
	now := r.members()
	slices.Sort(members)
	slices.Sort(now)
	if again, _, _, _, _ := owners.seen(); again != joins || !slices.Equal(members, now) {
		t.Errorf("the group was %v, is %v, and there were %d joins", members, now, again-joins)
	}
	for i, addr := range addrs {
		r.children[i].WaitReady("http://"+addr, time.Minute)
	}
}
