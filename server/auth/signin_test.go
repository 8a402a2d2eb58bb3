package auth

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

func begin(t *testing.T, s *Sessions, in SignIn) (state, browser string) {
	t.Helper()
	state, browser, err := s.Begin(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !WellFormed(state) || !WellFormed(browser) || state == browser {
		t.Fatalf("state %q, browser %q", state, browser)
	}
	return state, browser
}

func notTaken(t *testing.T, s *Sessions, state, browser string) {
	t.Helper()
	got, err := s.Finish(t.Context(), state, browser)
	wantKind(t, err, fault.Unauthenticated, fault.ReasonSignInState)
	if got != (SignIn{}) {
		t.Errorf("and got %+v", got)
	}
}

func TestASignInIsFinishedOnceByTheBrowserThatBeganIt(t *testing.T) {
	t.Parallel()
	in := install(t)
	a, b := in.replica(), in.replica()
	want := SignIn{Nonce: "nonce", Verifier: "verifier", Origin: "https://oriel.example", ReturnTo: "/explore?q=ü"}
	state, browser := begin(t, a, want)
	if got, err := b.Finish(t.Context(), state, browser); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	notTaken(t, a, state, browser)
	notTaken(t, b, state, browser)
	for result, n := range map[string]float64{signInBegun: 1, signInRefused: 1} {
		if got := testutil.ToFloat64(a.metrics.signIns.WithLabelValues(result)); got != n {
			t.Errorf("%s: %v", result, got)
		}
	}
}

func TestWhoKnowsTheStateAloneNeitherUsesNorSpoilsASignIn(t *testing.T) {
	t.Parallel()
	s := install(t).replica()
	state, browser := begin(t, s, SignIn{Nonce: "mine"})
	theirState, theirBrowser := begin(t, s, SignIn{Nonce: "theirs"})
	unknown, _ := newOpaque()
	for range 3 {
		for _, b := range []string{theirBrowser, unknown, "", browser[1:], state, browser + "A"} {
			notTaken(t, s, state, b)
		}
		notTaken(t, s, unknown, browser)
		notTaken(t, s, "", browser)
		notTaken(t, s, theirState, browser)
	}
	if got, err := s.Finish(t.Context(), state, browser); err != nil || got.Nonce != "mine" {
		t.Errorf("then got %+v, %v", got, err)
	}
}

func TestOfManyWhoFinishASignInOneDoes(t *testing.T) {
	t.Parallel()
	in := install(t)
	replicas := []*Sessions{in.replica(), in.replica()}
	state, browser := begin(t, replicas[0], SignIn{})
	var done atomic.Int32
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := replicas[i%2].Finish(t.Context(), state, browser); err == nil {
				done.Add(1)
			} else {
				wantKind(t, err, fault.Unauthenticated, fault.ReasonSignInState)
			}
		})
	}
	wg.Wait()
	if n := done.Load(); n != 1 {
		t.Errorf("%d did", n)
	}
}

func TestASignInLastsTenMinutes(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	state, browser := begin(t, s, SignIn{})
	late, lateBrowser := begin(t, s, SignIn{})
	in.age(9 * time.Minute)
	if _, err := s.Finish(t.Context(), state, browser); err != nil {
		t.Error(err)
	}
	in.age(time.Minute)
	notTaken(t, s, late, lateBrowser)
}

func TestTwoTabsOfABrowserSignInAtOnce(t *testing.T) {
	t.Parallel()
	s := install(t).replica()
	first, browser := begin(t, s, SignIn{Nonce: "1"})
	second, same := begin(t, s, SignIn{Nonce: "2", Browser: browser})
	if same != browser {
		t.Fatalf("the browser was %q and is %q", browser, same)
	}
	if _, other := begin(t, s, SignIn{Browser: "of another shape"}); other == "of another shape" {
		t.Error("a cookie of the wrong shape was taken")
	}
	for state, nonce := range map[string]string{first: "1", second: "2"} {
		if got, err := s.Finish(t.Context(), state, browser); err != nil || got != (SignIn{Nonce: nonce}) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestAWayBackWithoutEndLeadsToTheStart(t *testing.T) {
	t.Parallel()
	s := install(t).replica()
	for path, want := range map[string]string{
		"/" + strings.Repeat("a", 8191): "/" + strings.Repeat("a", 8191), "/" + strings.Repeat("a", 8192): "/",
	} {
		state, browser := begin(t, s, SignIn{ReturnTo: path})
		if got, err := s.Finish(t.Context(), state, browser); err != nil || got.ReturnTo != want {
			t.Errorf("%d bytes lead to %d, %v", len(path), len(got.ReturnTo), err)
		}
	}
}

func TestAFloodOfSignInsLeavesTheNewest(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	s.openSignIns = 10
	var states, browsers []string
	for range dropEvery {
		state, browser := begin(t, s, SignIn{})
		states, browsers = append(states, state), append(browsers, browser)
	}
	if n := in.count("SELECT count(*) FROM sign_in"); n != 10 {
		t.Errorf("%d are left", n)
	}
	notTaken(t, s, states[dropEvery-11], browsers[dropEvery-11])
	for i := dropEvery - 10; i < dropEvery; i++ {
		if _, err := s.Finish(t.Context(), states[i], browsers[i]); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n := testutil.ToFloat64(s.metrics.signIns.WithLabelValues(signInDropped)); n != dropEvery-10 {
		t.Errorf("%v were dropped", n)
	}
}

func TestSweepingTakesWhatHasExpiredAndNothingElse(t *testing.T) {
	t.Parallel()
	in := install(t)
	replicas := []*Sessions{in.replica(), in.replica()}
	s := replicas[0]
	in.exec(`INSERT INTO session (hash, issuer, subject, name, roles, expires_at, check_after)
		SELECT sha256(n::text::bytea), 'i', 's', 'n', '{}', clock_timestamp() - interval '1 second', clock_timestamp() FROM generate_series(1, 2500) n`)
	in.exec(`INSERT INTO session (hash, issuer, subject, name, roles, expires_at, check_after, seen_at)
		SELECT sha256(n::text::bytea), 'i', 's', 'n', '{}', clock_timestamp() + interval '1 day', clock_timestamp(), clock_timestamp() - interval '8 hours' FROM generate_series(2501, 2600) n`)
	in.exec(`INSERT INTO sign_in (state, browser, nonce, verifier, origin, return_to, expires_at)
		SELECT sha256(n::text::bytea), sha256(n::text::bytea), 'n', 'v', 'o', '/', clock_timestamp() - interval '1 second' FROM generate_series(1, 2500) n`)
	cookie := create(t, s, ada())
	state, browser := begin(t, s, SignIn{})
	var wg sync.WaitGroup
	for _, r := range replicas {
		wg.Go(func() {
			if err := r.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.Sweep(t.Context()); err != nil { // what one held and the other passed over
		t.Error(err)
	}
	if sessions, signIns := in.count("SELECT count(*) FROM session"), in.count("SELECT count(*) FROM sign_in"); sessions != 1 || signIns != 1 {
		t.Errorf("%d sessions and %d sign-ins are left", sessions, signIns)
	}
	expired := 0.0
	for _, r := range replicas {
		expired += testutil.ToFloat64(r.metrics.ended.WithLabelValues(endedExpired))
	}
	if expired != 2600 {
		t.Errorf("%v sessions expired", expired)
	}
	valid(t, s, cookie)
	if _, err := s.Finish(t.Context(), state, browser); err != nil {
		t.Error(err)
	}
}

func TestIndexesServeTheQueriesTheyAreFor(t *testing.T) {
	t.Parallel()
	in := install(t)
	in.exec(`INSERT INTO session (hash, issuer, subject, name, roles, expires_at, check_after)
		SELECT sha256(n::text::bytea), 'i', 's' || n, 'n', '{}', clock_timestamp() + interval '1 day', clock_timestamp() FROM generate_series(1, 5000) n`)
	in.exec(`INSERT INTO sign_in (state, browser, nonce, verifier, origin, return_to, expires_at)
		SELECT sha256(n::text::bytea), sha256(n::text::bytea), 'n', 'v', 'o', '/', clock_timestamp() + n * interval '1 second' FROM generate_series(1, 5000) n`)
	in.exec("ANALYZE session")
	in.exec("ANALYZE sign_in")
	for index, sql := range map[string]string{
		"session_person_idx": "SELECT hash FROM session WHERE issuer = 'i' AND subject = 's7' ORDER BY hash FOR UPDATE",
		"session_pkey":       "SELECT hash FROM session WHERE hash = sha256('7') AND expires_at > statement_timestamp()",
		"sign_in_expiry_idx": "SELECT state FROM sign_in WHERE expires_at <= statement_timestamp() ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED",
	} {
		rows, err := in.pool.Query(t.Context(), "EXPLAIN "+sql)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || !strings.Contains(strings.Join(plan, "\n"), index) {
			t.Errorf("%s is not used: %v, %v", index, plan, err)
		}
	}
}
