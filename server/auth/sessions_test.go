package auth

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

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
