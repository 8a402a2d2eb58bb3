package search

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/fault"
)

func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Violations[0].Reason
}

func TestAPageTokenIsBoundToItsSearch(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for i := range 5 {
		st.add(sample{id: fmt.Sprint(i), kind: "a"})
	}
	first := st.list("type", "a", "from", "-1h", "pageSize", "2")
	other := st.list("type", "a", "from", "-1h", "pageSize", "2")
	st.commits(0, 7)
	moved := st.list("type", "a", "from", "-1h", "pageSize", "2")
	if other.Snapshot != first.Snapshot || moved.Snapshot == first.Snapshot {
		t.Fatal("snapshots do not follow the store's commits")
	}
	token := first.NextToken
	for name, params := range map[string][]string{
		"another filter":                 {"type", "b", "from", "-1h"},
		"one more condition":             {"type", "a", "q", "x", "from", "-1h"},
		"no filter":                      {},
		"another relative time":          {"type", "a", "from", "-2h"},
		"another absolute time":          {"type", "a", "from", "2026-11-30T10:00:00Z"},
		"an end where there was none":    {"type", "a", "until", "now"},
		"another snapshot":               {"type", "a", "snapshot", moved.Snapshot},
		"a cut token":                    {"type", "a", "pageToken", token[:len(token)-1]},
		"a token with another character": {"type", "a", "pageToken", token[:20] + "_" + token[21:]},
		"a snapshot for a token":         {"type", "a", "pageToken", first.Snapshot},
		"nonsense":                       {"type", "a", "pageToken", "äöü"},
	} {
		v := values(params...)
		if !v.Has("pageToken") {
			v.Set("pageToken", token)
		}
		if _, err := st.svc.List(t.Context(), v); reasonOf(err) != fault.ReasonInvalidPageToken {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, params := range map[string][]string{
		"the same parameters":       {"type", "a", "from", "-1h"},
		"the time left out":         {"type", "a"},
		"the time as it was frozen": {"type", "a", "from", "2026-11-30T11:00:00Z"},
		"its snapshot beside it":    {"type", "a", "snapshot", first.Snapshot},
		"another spelling of it":    {"type", "a", "type", "a", "q", ""},
		"another size of page":      {"type", "a", "pageSize", "1"},
	} {
		if _, err := st.svc.List(t.Context(), values(append(params, "pageToken", token)...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, params := range map[string][]string{
		"a page token for a snapshot":      {"snapshot", token},
		"a cut snapshot":                   {"snapshot", first.Snapshot[:10]},
		"another time beside the snapshot": {"snapshot", first.Snapshot, "from", "-3h"},
	} {
		if _, err := st.svc.List(t.Context(), values(params...)); reasonOf(err) != fault.ReasonInvalidParameter {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASnapshotExpires(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	yesterday := noon().Add(-oneDay)
	st.add(sample{id: "new"}, sample{id: "old", at: yesterday})
	wide, narrow := st.list("from", "-7d").Snapshot, st.list("from", "-1h").Snapshot
	next := st.list("from", "-7d", "pageSize", "1").NextToken
	clock := noon().Add(time.Hour)
	st.svc.now = func() time.Time { return clock }
	st.expect("new old", "snapshot", wide)
	clock = clock.Add(time.Microsecond)
	for _, params := range [][]string{{"snapshot", wide}, {"from", "-7d", "pageToken", next}} {
		if _, err := st.svc.List(t.Context(), values(params...)); reasonOf(err) != fault.ReasonSnapshotExpired || fault.Of(err).Kind != fault.Expired {
			t.Errorf("after an hour: %v", err)
		}
	}
	clock = noon()
	st.exec("DROP TABLE event_" + yesterday.Format("20060102"))
	if _, err := st.svc.List(t.Context(), values("snapshot", wide)); reasonOf(err) != fault.ReasonSnapshotExpired {
		t.Errorf("after a day of it was dropped: %v", err)
	}
	st.expect("new", "snapshot", narrow)
	st.expect("new", "from", "-7d")
}

func TestAPageOfNewerRowsIsTooOld(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{id: "inside", at: noon().Add(-2 * time.Minute)})
	snap := st.list().Snapshot
	st.svc.limits.newer = 10
	newer := make([]sample, 10)
	for i := range newer {
		newer[i] = sample{commit: 2}
	}
	st.add(newer...)
	st.expect("inside", "snapshot", snap)
	st.add(sample{commit: 3})
	_, err := st.svc.List(t.Context(), values("snapshot", snap))
	if reasonOf(err) != fault.ReasonSnapshotTooOld || !strings.Contains(err.Error(), "10") {
		t.Errorf("got %v", err)
	}
}

func TestAWalkSaysHowFarItLooked(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.bare = true // nothing of the identifiers is known
	samples := make([]sample, 100)
	for i := range samples {
		samples[i] = sample{id: fmt.Sprint(i), at: noon().Add(-time.Duration(i) * time.Minute), data: jsonOf(map[string]any{"ref": fmt.Sprint("ref-", 80000000000+i)})}
	}
	st.add(samples...)
	st.exec(`INSERT INTO block_gap (log, partition, through_commit) VALUES (1, 0, 1)`)
	st.svc.limits.walk, st.svc.limits.firstChunk = 30, 30
	p := st.list("q", "80000000077", "pageSize", "10")
	if len(p.Events) != 0 || p.NextToken == "" || !p.CoveredFrom.Equal(samples[29].at) || !p.CoveredUntil.IsZero() {
		t.Fatalf("first page: %d events from %s to %s, next %q", len(p.Events), p.CoveredFrom, p.CoveredUntil, p.NextToken)
	}
	p = st.list("q", "80000000077", "pageSize", "10", "pageToken", p.NextToken)
	p = st.list("q", "80000000077", "pageSize", "10", "pageToken", p.NextToken)
	if len(p.Events) != 1 || p.Events[0].ID != "77" {
		t.Fatalf("third page: %v", ids(p.Events))
	}
	p = st.list("q", "80000000077", "pageSize", "10", "pageToken", p.NextToken)
	if p.NextToken != "" || len(p.Events) != 0 || !p.CoveredFrom.Equal(noon().Add(-oneDay)) {
		t.Fatalf("last page: %v from %s, next %q", ids(p.Events), p.CoveredFrom, p.NextToken)
	}
}

// slow makes every read of the checkpoint take as long as the test holds a lock on it.
func (st *store) slow(t *testing.T) (release func()) {
	t.Helper()
	tx, err := st.pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(context.Background(), `LOCK TABLE checkpoint IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// waiting is how many sessions of the test's database wait for a lock.
func (st *store) waiting(t *testing.T) (n int) {
	t.Helper()
	if err := st.pool.QueryRow(context.Background(),
		`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (st *store) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestAStatementThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.svc.limits.statement = 50 * time.Millisecond
	release := st.slow(t)
	defer release()
	_, err := st.svc.List(t.Context(), nil)
	if reasonOf(err) != fault.ReasonQueryTimeout || fault.Of(err).Kind != fault.Unavailable || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("got %v", err)
	}
	if n := st.waiting(t); n != 0 {
		t.Errorf("%d statements still run", n)
	}
}

func TestACancelledSearchEndsOnTheServer(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	release := st.slow(t)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := st.svc.List(ctx, nil)
		done <- err
	}()
	st.until(t, "the search runs", func() bool { return st.waiting(t) == 1 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	st.until(t, "the server has ended it", func() bool { return st.waiting(t) == 0 })
}

func TestSearchesBeyondTheSlotsAreShed(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.svc.limits.slots, st.svc.limits.wait = 1, 50*time.Millisecond
	st.svc.slots = make(chan struct{}, 1)
	release := st.slow(t)
	done := make(chan error, 1)
	go func() {
		_, err := st.svc.List(context.Background(), nil)
		done <- err
	}()
	st.until(t, "the first search runs", func() bool { return st.waiting(t) == 1 })
	_, err := st.svc.List(t.Context(), nil)
	if f := fault.Of(err); reasonOf(err) != fault.ReasonSearchBusy || f.RetryAfter == 0 || f.Violations[0].Metadata["limit"] != "1" {
		t.Errorf("got %v", err)
	}
	release()
	if err := <-done; err != nil {
		t.Errorf("the first search: %v", err)
	}
	if _, err := st.svc.List(t.Context(), nil); err != nil {
		t.Errorf("with the slot free again: %v", err)
	}
}

func TestAFilterThatNoIndexServesStillAnswers(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{id: "a", subject: "x"}, sample{id: "b"})
	// No statement of the planner's choice ends in time; the walk has its own limit.
	st.svc.limits.budget = 0
	st.expect("b", "subject!", "x")
}

func TestADatabaseThatIsGoneIsNamed(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=5")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	svc := New(pool, Config{Retention: oneDay}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	_, err = svc.List(t.Context(), nil)
	if f := fault.Of(err); reasonOf(err) != fault.ReasonDatabaseUnavailable || f.Kind != fault.Unavailable || f.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
}
