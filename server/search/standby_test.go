package search

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/dbtest"
)

// following is a store whose service reads from a standby.
type following struct {
	*store
	standby *pgxpool.Pool // as a superuser
	urls    [2]string
}

func newFollowing(t *testing.T) *following {
	t.Helper()
	primary, standby := dbtest.NewStandby(t)
	f := &following{store: newStoreOn(t, primary), standby: dbtest.Open(t, standby), urls: [2]string{primary, standby}}
	is, err := Standby(t.Context(), f.standby, f.pool)
	if err != nil || !is {
		t.Fatalf("a standby is taken for %v, %v", is, err)
	}
	f.svc = New(dbtest.Open(t, dbtest.ReadURL(t, standby)), Config{Retention: 91 * oneDay, Primary: dbtest.Open(t, dbtest.ReadURL(t, primary))},
		slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	f.svc.now = noon
	return f
}

func (f *following) caughtUp() {
	f.t.Helper()
	dbtest.CaughtUp(f.t, f.urls[0], f.urls[1])
}

func (f *following) replay(pause bool) {
	f.t.Helper()
	sql := `SELECT pg_wal_replay_resume()`
	if pause {
		sql = `SELECT pg_wal_replay_pause()`
	}
	if _, err := f.standby.Exec(context.Background(), sql); err != nil {
		f.t.Fatal(err)
	}
	f.until(f.t, "replaying is as asked", func() (is bool) {
		if err := f.standby.QueryRow(context.Background(), `SELECT (pg_get_wal_replay_pause_state() = 'paused') = $1`, pause).Scan(&is); err != nil {
			f.t.Fatal(err)
		}
		return is
	})
}

func (f *following) instead(cause string) float64 {
	return testutil.ToFloat64(f.svc.metrics.primary.WithLabelValues(cause))
}

// A standby answers of what it has; what a token has seen and it has not, the primary answers.
func TestAStandbyAnswersAndThePrimaryWhereItIsBehind(t *testing.T) {
	t.Parallel()
	f := newFollowing(t)
	f.add(sample{id: "old", commit: 1})
	f.caughtUp()
	f.expect("old")
	f.replay(true)
	f.add(sample{id: "new", commit: 2})
	f.expect("old") // as fresh as the standby is
	if n := f.instead(causeBehind); n != 0 {
		t.Fatalf("the primary answered %v searches that no token asked of it", n)
	}

	// What was seen on the primary is there for who asks on.
	f.svc.pool, f.svc.primary = f.svc.primary, f.svc.pool
	first := f.list("pageSize", "1")
	f.svc.pool, f.svc.primary = f.svc.primary, f.svc.pool
	if got := ids(first.Events); len(got) != 1 || got[0] != "new" {
		t.Fatalf("the primary's first page has %v", got)
	}
	began := time.Now()
	next := f.list("pageSize", "1", "pageToken", first.NextToken)
	if got := ids(next.Events); len(got) != 1 || got[0] != "old" || next.Snapshot != first.Snapshot {
		t.Errorf("the next page has %v", got)
	}
	if took := time.Since(began); took < f.svc.limits.catchUp || f.instead(causeBehind) != 1 {
		t.Errorf("after %v, the primary answered %v", took, f.instead(causeBehind))
	}
	if err := f.svc.ObserveStandby(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lag := testutil.ToFloat64(f.svc.metrics.standbyLag); lag <= 0 || testutil.ToFloat64(f.svc.metrics.standbyUp) != 1 {
		t.Errorf("it is %v bytes behind", lag)
	}

	// It is waited for while it catches up.
	f.svc.limits.catchUp = time.Minute
	done := make(chan []string, 1)
	go func() { done <- ids(f.list("snapshot", first.Snapshot).Events) }()
	f.replay(false)
	if got := <-done; len(got) != 2 || f.instead(causeBehind) != 1 {
		t.Errorf("the standby that caught up has %v, the primary answered %v", got, f.instead(causeBehind))
	}
}

func TestThePrimaryAnswersForAStandbyThatIsGone(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{id: "a"})
	gone, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=5")
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	st.svc.primary, st.svc.pool = st.svc.pool, gone
	st.expect("a")
	if n := testutil.ToFloat64(st.svc.metrics.primary.WithLabelValues(causeUnreachable)); n == 0 {
		t.Error("it is not counted")
	}
	if err := st.svc.ObserveStandby(t.Context()); err == nil || testutil.ToFloat64(st.svc.metrics.standbyUp) != 0 {
		t.Errorf("it is up: %v", err)
	}
}

// A search that the standby ends so that it can go on replaying is answered by the primary.
func TestASearchThatReplayingEndsIsAnsweredByThePrimary(t *testing.T) {
	t.Parallel()
	f := newFollowing(t)
	f.add(sample{id: "a"})
	f.caughtUp()
	if _, err := f.standby.Exec(t.Context(), `ALTER SYSTEM SET max_standby_streaming_delay = 0`); err != nil {
		t.Fatal(err)
	}
	if _, err := f.standby.Exec(t.Context(), `SELECT pg_reload_conf()`); err != nil {
		t.Fatal(err)
	}
	times := 0
	err := f.svc.run(t.Context(), "list", nil, func(ctx context.Context, ses *session) error {
		times++
		var n int
		if err := ses.QueryRow(ctx, `SELECT count(*) FROM event`).Scan(&n); err != nil {
			return err
		}
		if times == 1 {
			f.exec(`DROP TABLE event_` + noon().Format("20060102")) // what the search has read
			f.caughtUp()
		}
		return ses.QueryRow(ctx, `SELECT count(*) FROM event`).Scan(&n)
	})
	// Between two statements the server can only end the session.
	if n := f.instead(causeConflict) + f.instead(causeUnreachable); err != nil || times != 2 || n != 1 {
		t.Errorf("done %d times, %v, %v by the primary", times, err, n)
	}
}
