package auth

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/db"
	"oriel/server/dbtest"
	"oriel/server/fault"
)

func TestASessionEndsWhenItIsTime(t *testing.T) {
	t.Parallel()
	const margin = time.Minute // more than the test takes
	for name, c := range map[string]struct {
		idle, longest time.Duration
		refresh       string
		used          bool // until the end
		ends          time.Duration
	}{
		"unused":                                {8 * time.Hour, 24 * time.Hour, "refresh-0", false, 8 * time.Hour},
		"at the latest, however used":           {8 * time.Hour, 24 * time.Hour, "refresh-0", true, 24 * time.Hour},
		"at the latest, before it is idle":      {8 * time.Hour, 2 * time.Hour, "refresh-0", false, 2 * time.Hour},
		"after an hour without a refresh token": {8 * time.Hour, 24 * time.Hour, "", true, time.Hour},
		"earlier than that where so configured": {30 * time.Minute, 40 * time.Minute, "", true, 40 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t)
			s := in.replica(func(cfg *SessionConfig) { cfg.Idle, cfg.Longest = c.idle, c.longest })
			id := ada()
			id.RefreshToken = c.refresh
			cookie, made, err := s.Create(t.Context(), id, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			latest := c.longest
			if c.refresh == "" {
				latest = min(latest, time.Hour)
			}
			if lasts := made.Session.Expires.Sub(made.Session.Created); lasts != latest {
				t.Errorf("it lasts %s at the latest", lasts)
			}
			use := func() {
				if c.used {
					in.exec("UPDATE session SET seen_at = clock_timestamp()")
				}
			}
			in.age(c.ends - margin)
			use()
			in.exec("CREATE TABLE before AS SELECT seen_at FROM session")
			valid(t, s, cookie)
			in.exec("UPDATE session SET seen_at = before.seen_at FROM before") // as if not looked at
			in.age(margin)
			use()
			ended(t, s, cookie)
			if n := testutil.ToFloat64(s.metrics.checks.WithLabelValues("expired")); n != 1 {
				t.Errorf("counted %v", n)
			}
		})
	}
}

// statements counts what is sent to the database.
type statements struct{ atomic.Int64 }

func (n *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	n.Add(1)
	return ctx
}

func (n *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestARequestCostsOneStatement(t *testing.T) {
	t.Parallel()
	in := install(t)
	cfg, err := pgxpool.ParseConfig(in.url)
	if err != nil {
		t.Fatal(err)
	}
	sent := &statements{}
	cfg.ConnConfig.Tracer = sent
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := in.replica()
	s.queries = db.New(pool)
	cookie := create(t, s, ada())
	in.age(59 * time.Second)
	sent.Store(0)
	for range 10 {
		valid(t, s, cookie)
	}
	if n := sent.Load(); n != 10 {
		t.Errorf("10 requests cost %d", n)
	}
	ended(t, s, cookie[1:])
	if n := sent.Load(); n != 10 {
		t.Error("what is no cookie of ours was looked up")
	}
}

func TestUseIsRecordedAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	in := install(t)
	a, b := in.replica(), in.replica()
	cookie := create(t, a, ada())
	in.exec("CREATE TABLE written (n int)")
	in.exec("CREATE FUNCTION written() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO written VALUES (1); RETURN NULL; END $$")
	in.exec("CREATE TRIGGER written AFTER UPDATE OF seen_at ON session FOR EACH ROW WHEN (old.seen_at < new.seen_at) EXECUTE FUNCTION written()")
	for minute := range 3 {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if _, err := []*Sessions{a, b}[i%2].Verify(t.Context(), cookie); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := in.count("SELECT count(*) FROM written"); n != minute {
			t.Errorf("recorded %d times in %d minutes", n, minute)
		}
		in.age(time.Minute)
	}
}

func TestUseProlongsEvenAShortIdleTime(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica(func(c *SessionConfig) { c.Idle = time.Minute })
	cookie := create(t, s, ada())
	for range 12 {
		in.age(20 * time.Second)
		valid(t, s, cookie)
	}
	in.age(time.Minute)
	ended(t, s, cookie)
}

func TestWhileTheDatabaseIsAwayNobodyIsSentToSignIn(t *testing.T) {
	t.Parallel()
	in := install(t)
	proxy := dbtest.NewProxy(t, in.url)
	s, err := NewSessions(dbtest.Open(t, proxy.URL()), SessionConfig{Keys: [][]byte{testKey(1)}, Idle: time.Hour, Longest: time.Hour}, in.provider, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	cookie, state := create(t, s, ada()), ""
	p := valid(t, s, cookie)
	state, browser, err := s.Begin(t.Context(), SignIn{})
	if err != nil {
		t.Fatal(err)
	}
	proxy.Close()
	for name, call := range map[string]func() error{
		"verify": func() error { _, err := s.Verify(t.Context(), cookie); return err },
		"create": func() error { _, _, err := s.Create(t.Context(), ada(), "", nil); return err },
		"end":    func() error { _, _, err := s.End(t.Context(), p, true, nil); return err },
		"begin":  func() error { _, _, err := s.Begin(t.Context(), SignIn{}); return err },
		"finish": func() error { _, err := s.Finish(t.Context(), state, browser); return err },
	} {
		err := call()
		wantKind(t, err, fault.Unavailable, fault.ReasonDatabaseUnavailable)
		if fault.Of(err).RetryAfter <= 0 {
			t.Errorf("%s: no time to retry after", name)
		}
	}
	if n := testutil.ToFloat64(s.metrics.checks.WithLabelValues("database_unavailable")); n != 1 {
		t.Errorf("counted %v", n)
	}
	valid(t, in.replica(), cookie)
}

func TestSessionsThatAreNotMade(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	for name, cfg := range map[string]SessionConfig{
		"without a key":      {Idle: 1, Longest: 1},
		"of a short key":     {Keys: [][]byte{testKey(1), testKey(1)[1:]}, Idle: 1, Longest: 1},
		"of no idle time":    {Keys: [][]byte{testKey(1)}, Longest: 1},
		"of no longest time": {Keys: [][]byte{testKey(1)}, Idle: 1},
	} {
		if s, err := NewSessions(pool, cfg, nil, nil, nil, prometheus.NewRegistry()); err == nil || s != nil {
			t.Errorf("%s: made", name)
		}
	}
}

func TestLimitsOfTokensAndSessionsStandSideBySide(t *testing.T) {
	t.Parallel()
	in := install(t)
	reg := prometheus.NewRegistry()
	NewTokens(in.pool, slog.New(slog.DiscardHandler), reg)
	if _, err := NewSessions(in.pool, SessionConfig{Keys: [][]byte{testKey(1)}, Idle: 1, Longest: 1}, in.provider, nil, slog.New(slog.DiscardHandler), reg); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "oriel_auth_limit" {
				got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
	}
	want := fmt.Sprint(map[string]float64{
		"open_sign_ins": 20000, "sign_in_seconds": 600, "return_path_bytes": 8192, "session_without_refresh_seconds": 3600, "roles_believed_seconds": 3600,
		"token_name_characters": 100, "token_source_prefixes": 50, "token_source_prefix_bytes": 1024, "token_page_size": 500,
	})
	if fmt.Sprint(got) != want {
		t.Errorf("limits are %v", got)
	}
}
