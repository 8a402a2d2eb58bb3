package auth

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/dbtest"
	"oriel/server/fault"
)

const issuer = "https://id.example"

func testKey(b byte) []byte { return bytes.Repeat([]byte{b}, keyBytes) }

// installation is a database with replicas on it, a provider, and a clock: to grow older, rows move back.
type installation struct {
	t        *testing.T
	url      string
	pool     *pgxpool.Pool
	provider *provider
	changed  RolesChanged
}

func install(t *testing.T) *installation {
	url := dbtest.NewURL(t)
	return &installation{t: t, url: url, pool: dbtest.Open(t, url), provider: newProvider()}
}

func (in *installation) replica(change ...func(*SessionConfig)) *Sessions {
	in.t.Helper()
	cfg := SessionConfig{Keys: [][]byte{testKey(1)}, Idle: 8 * time.Hour, Longest: 24 * time.Hour}
	for _, c := range change {
		c(&cfg)
	}
	s, err := NewSessions(dbtest.Open(in.t, in.url), cfg, in.provider, in.changed, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		in.t.Fatal(err)
	}
	in.t.Cleanup(s.Close)
	return s
}

func withKeys(keys ...byte) func(*SessionConfig) {
	return func(c *SessionConfig) {
		c.Keys = nil
		for _, k := range keys {
			c.Keys = append(c.Keys, testKey(k))
		}
	}
}

func (in *installation) exec(sql string, args ...any) {
	in.t.Helper()
	if _, err := in.pool.Exec(in.t.Context(), sql, args...); err != nil {
		in.t.Fatal(err)
	}
}

func (in *installation) count(sql string, args ...any) (n int) {
	in.t.Helper()
	if err := in.pool.QueryRow(in.t.Context(), sql, args...).Scan(&n); err != nil {
		in.t.Fatal(err)
	}
	return n
}

// age lets time pass for every session and sign-in.
func (in *installation) age(d time.Duration) {
	in.t.Helper()
	in.exec(`UPDATE session SET created_at = created_at - $1::interval, seen_at = seen_at - $1::interval,
		expires_at = expires_at - $1::interval, checked_at = checked_at - $1::interval, check_after = check_after - $1::interval`, d)
	in.exec(`UPDATE sign_in SET expires_at = expires_at - $1::interval`, d)
}

func ada() *Identity {
	return &Identity{Issuer: issuer, Subject: "ada", Name: "Ada", Email: "ada@example.org", Role: RoleOperator, RefreshToken: "refresh-0", IDToken: "id-token-0"}
}

func create(t *testing.T, s *Sessions, id *Identity) string {
	t.Helper()
	cookie, _, err := s.Create(t.Context(), id, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

func valid(t *testing.T, s *Sessions, cookie string) *Principal {
	t.Helper()
	p, err := s.Verify(t.Context(), cookie)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ended(t *testing.T, s *Sessions, cookie string) {
	t.Helper()
	p, err := s.Verify(t.Context(), cookie)
	wantKind(t, err, fault.Unauthenticated, fault.ReasonSessionExpired)
	if p != nil {
		t.Errorf("and got %+v", p)
	}
}

func TestASessionIsThePersonThatSignedIn(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	before := time.Now()
	cookie, made, err := s.Create(t.Context(), ada(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*Principal{"made": made, "found": valid(t, s, cookie), "found elsewhere": valid(t, in.replica(), cookie)} {
		if p.Kind != KindPerson || p.ID != "https://id.example#ada" || p.Name != "Ada" || p.Email != "ada@example.org" || p.SourcePrefixes != nil ||
			!slices.Equal(p.Roles, []string{RoleAnalyst, RoleOperator}) || !slices.Equal(p.Scopes, RoleScopes(RoleOperator)) {
			t.Errorf("%s: %+v", name, p)
		}
		ses := p.Session
		if lasts := ses.Expires.Sub(ses.Created); lasts != 24*time.Hour || ses.Idle != 8*time.Hour || ses.Created.Sub(before).Abs() > time.Minute {
			t.Errorf("%s: %+v", name, ses)
		}
	}
	for _, role := range []string{"", RoleAnalyst, RoleAdmin} {
		id := ada()
		id.Role = role
		if p := valid(t, s, create(t, s, id)); p.Roles == nil || !slices.Equal(p.Roles, RolesUpTo(role)) || !slices.Equal(p.Scopes, RoleScopes(role)) {
			t.Errorf("role %q: %+v", role, p)
		}
	}
	if n := testutil.ToFloat64(s.metrics.started); n != 4 {
		t.Errorf("%v started", n)
	}
	if n := testutil.ToFloat64(s.metrics.checks.WithLabelValues("valid")); n != 4 {
		t.Errorf("%v found valid", n)
	}
}

func TestAPersonsTextsAreKeptAsFarAsTheyCanBeShown(t *testing.T) {
	t.Parallel()
	s := install(t).replica()
	for name, c := range map[string]struct{ name, email, wantName, wantEmail string }{
		"as they are":         {"Ædā 👩‍💻", "a@b", "Ædā 👩‍💻", "a@b"},
		"without controls":    {"A\x00d\na", "a\x00@b", "Ada", "a@b"},
		"no name":             {" \n", "a@b", "a@b", "a@b"},
		"neither":             {"", "", "ada", ""},
		"a name without end":  {strings.Repeat("ü", 500), "", strings.Repeat("ü", 199) + "…", ""},
		"a name that is not":  {"a\xff", "", "a\uFFFD", ""},
		"a name in a control": {"\x01", "\x02", "ada", ""},
	} {
		t.Run(name, func(t *testing.T) {
			id := ada()
			id.Name, id.Email = c.name, c.email
			if p := valid(t, s, create(t, s, id)); p.Name != c.wantName || p.Email != c.wantEmail {
				t.Errorf("%q, %q", p.Name, p.Email)
			}
		})
	}
	for name, subject := range map[string]string{"no subject": "", "a NUL": "a\x00", "not UTF-8": "a\xff"} {
		id := ada()
		id.Subject = subject
		cookie, p, err := s.Create(t.Context(), id, "", nil)
		wantKind(t, err, fault.Unauthenticated, fault.ReasonSignInRejected)
		if cookie != "" || p != nil {
			t.Errorf("%s: a session began", name)
		}
	}
}

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
			cookie := create(t, s, id)
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

func TestUnknownCookiesAreNoSessions(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	cookie := create(t, s, ada())
	other, _ := newOpaque()
	for _, c := range []string{"", other, cookie[1:], cookie + "A", cookie[:42] + "=", cookie[:42] + "\x00", strings.Repeat("A", 1<<20)} {
		ended(t, s, c)
	}
	if WellFormed(cookie[1:]) || !WellFormed(cookie) {
		t.Error("the shape of a cookie is not told")
	}
	valid(t, s, cookie)
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

func TestASignInEndsTheSessionThatTheBrowserHad(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	first, elsewhere := create(t, s, ada()), create(t, s, ada())
	second, _, err := s.Create(t.Context(), ada(), first, nil)
	if err != nil || second == first {
		t.Fatal(err)
	}
	ended(t, s, first)
	valid(t, s, second)
	valid(t, s, elsewhere)
	for _, old := range []string{first, "", "nonsense"} { // ended before, none, forged
		if _, _, err := s.Create(t.Context(), ada(), old, nil); err != nil {
			t.Error(err)
		}
	}
	if n := testutil.ToFloat64(s.metrics.ended.WithLabelValues(endedReplaced)); n != 1 {
		t.Errorf("%v were replaced", n)
	}
	mine := errors.New("the record is full")
	cookie, p, err := s.Create(t.Context(), ada(), second, func(context.Context, pgx.Tx) error { return mine })
	if !errors.Is(err, mine) || fault.Of(err).Kind != fault.Internal || cookie != "" || p != nil {
		t.Errorf("got %v", err)
	}
	valid(t, s, second)
	if n := in.count("SELECT count(*) FROM session"); n != 5 {
		t.Errorf("%d sessions", n)
	}
}

func TestSigningOutEndsASessionOnEveryReplica(t *testing.T) {
	t.Parallel()
	in := install(t)
	a, b := in.replica(), in.replica()
	eve, elsewhere := ada(), ada()
	eve.Subject = "eve"
	elsewhere.Issuer = "https://other.example"
	here, there, third := create(t, a, ada()), create(t, b, ada()), create(t, b, ada())
	strangers := []string{create(t, a, eve), create(t, a, elsewhere)}
	p := valid(t, a, here)

	mine := errors.New("the record is full")
	if n, token, err := a.End(t.Context(), p, true, func(context.Context, pgx.Tx) error { return mine }); !errors.Is(err, mine) || n != 0 || token != "" {
		t.Errorf("%d, %q, %v", n, token, err)
	}
	valid(t, b, here)

	if n, token, err := a.End(t.Context(), p, false, nil); err != nil || n != 1 || token != "id-token-0" {
		t.Errorf("%d, %q, %v", n, token, err)
	}
	ended(t, b, here)
	valid(t, a, there)
	ran := false
	if n, token, err := a.End(t.Context(), p, false, func(context.Context, pgx.Tx) error { ran = true; return nil }); err != nil || n != 0 || token != "" || !ran {
		t.Errorf("a second time: %d, %q, %v", n, token, err)
	}
	if n, token, err := a.End(t.Context(), valid(t, a, there), true, nil); err != nil || n != 2 || token != "id-token-0" {
		t.Errorf("everywhere: %d, %q, %v", n, token, err)
	}
	ended(t, b, there)
	ended(t, b, third)
	for _, stranger := range strangers {
		valid(t, b, stranger)
	}
	for reason, want := range map[string]float64{endedSignedOut: 1, endedEverywhere: 2} {
		if n := testutil.ToFloat64(a.metrics.ended.WithLabelValues(reason)); n != want {
			t.Errorf("%s: %v", reason, n)
		}
	}
	if _, _, err := a.End(t.Context(), &Principal{Kind: KindToken}, true, nil); err == nil {
		t.Error("a token has signed out")
	}
}

func TestManyWhoSignOutEverywhereAtOnceWaitForNobody(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	var people []*Principal
	for range 12 {
		people = append(people, valid(t, s, create(t, s, ada())))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for i, p := range people {
		wg.Go(func() {
			n, _, err := s.End(t.Context(), p, i%3 > 0, nil)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	wg.Wait()
	if total != 12 {
		t.Errorf("%d ended", total)
	}
}

func TestNothingThatSignsInIsStoredInTheClear(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	id := ada()
	id.RefreshToken, id.IDToken = "the-refresh-token-of-ada", "the-id-token-of-ada"
	cookie := create(t, s, id)
	state, browser, err := s.Begin(t.Context(), SignIn{Nonce: "n", Verifier: "v", Origin: "o", ReturnTo: "/"})
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if err := in.pool.QueryRow(t.Context(), "SELECT (SELECT string_agg(s::text, ' ') FROM session s) || (SELECT string_agg(s::text, ' ') FROM sign_in s)").Scan(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "ada@example.org") {
		t.Fatalf("the rows are not looked at: %s", text)
	}
	for name, secret := range map[string]string{"cookie": cookie, "state": state, "browser": browser, "refresh token": id.RefreshToken, "id token": id.IDToken} {
		if strings.Contains(text, secret) || strings.Contains(text, hex.EncodeToString([]byte(secret))) {
			t.Errorf("the %s is stored: %s", name, text)
		}
	}
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
