package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

// provider rotates refresh tokens, as the strict ones do: each is good once.
type provider struct {
	mu     sync.Mutex
	next   int
	asked  int
	role   string
	change func(*Identity)
	fail   error
	begun  chan struct{} // a token for each question that has begun, where somebody waits for it
	held   chan struct{} // nil: answers come at once
}

func newProvider() *provider { return &provider{role: RoleOperator, begun: make(chan struct{}, 1000)} }

func (p *provider) set(f func(*provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p)
}

func (p *provider) questions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func (p *provider) Refresh(ctx context.Context, refreshToken string) (*Identity, error) {
	p.mu.Lock()
	p.asked++
	held := p.held
	p.mu.Unlock()
	p.begun <- struct{}{}
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return nil, fault.Wrap(ctx.Err(), fault.Unavailable, fault.ReasonProviderUnavailable, "The provider does not answer.")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return nil, p.fail
	}
	if refreshToken != fmt.Sprint("refresh-", p.next) {
		return nil, fault.New(fault.Unauthenticated, fault.ReasonSessionExpired, "The provider ended the grant: "+refreshToken)
	}
	p.next++
	id := ada()
	id.Role, id.RefreshToken, id.IDToken = p.role, fmt.Sprint("refresh-", p.next), fmt.Sprint("id-token-", p.next)
	if p.change != nil {
		p.change(id)
	}
	return id, nil
}

func refreshed(t *testing.T, want map[string]float64, replicas ...*Sessions) {
	t.Helper()
	for _, result := range []string{refreshSame, refreshChanged, refreshRefused, refreshUnavailable, refreshOtherPerson, refreshUnreadable, refreshLost, refreshNotStored} {
		n := 0.0
		for _, s := range replicas {
			n += testutil.ToFloat64(s.metrics.refreshes.WithLabelValues(result))
		}
		if n != want[result] {
			t.Errorf("%v refreshes were %s, want %v", n, result, want[result])
		}
	}
}

func TestRolesAreAskedForAgainEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	cookie := create(t, s, ada())
	in.provider.set(func(p *provider) { p.role = RoleAdmin })
	in.age(4 * time.Minute)
	if p := valid(t, s, cookie); p.Has(ScopeAdminWrite) || in.provider.questions() != 0 {
		t.Errorf("before: %+v", p)
	}
	in.age(time.Minute)
	if p := valid(t, s, cookie); !slices.Equal(p.Roles, RolesUpTo(RoleAdmin)) || !p.Has(ScopeAdminWrite) {
		t.Errorf("after: %+v", p)
	}
	valid(t, s, cookie)
	in.provider.set(func(p *provider) { p.role = "" }) // taken away
	in.age(5 * time.Minute)
	if p := valid(t, s, cookie); p.Roles == nil || len(p.Roles) != 0 || len(p.Scopes) != 0 || p.Name != "Ada" {
		t.Errorf("in the end: %+v", p)
	}
	if _, token, err := s.End(t.Context(), valid(t, s, cookie), false, nil); err != nil || token != "id-token-2" {
		t.Errorf("the id token is %q, %v", token, err)
	}
	if n := in.provider.questions(); n != 2 {
		t.Errorf("asked %d times", n)
	}
	refreshed(t, map[string]float64{refreshChanged: 2}, s)
}

func TestWithoutARefreshTokenNobodyIsAsked(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	id := ada()
	id.RefreshToken = ""
	cookie := create(t, s, id)
	in.age(59 * time.Minute)
	valid(t, s, cookie)
	if n := in.provider.questions(); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

func TestOfManyRequestsOneAsksTheProvider(t *testing.T) {
	t.Parallel()
	for name, unused := range map[string]time.Duration{
		"in the middle of work": 5 * time.Minute, "after a long break, when old roles do not count": 2 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t)
			told := 0
			in.changed = func(context.Context, pgx.Tx, *Principal, []string) error { told++; return nil } // guarded by the row's lock
			replicas := []*Sessions{in.replica(), in.replica()}
			cookie := create(t, replicas[0], ada())
			in.age(unused)
			held := make(chan struct{})
			in.provider.set(func(p *provider) { p.held, p.role = held, RoleAdmin })
			for _, s := range replicas {
				s.waits.request = time.Minute
			}
			answers := make(chan *Principal, 20)
			for i := range 20 {
				go func() {
					p, err := replicas[i%2].Verify(t.Context(), cookie)
					if err != nil {
						t.Error(err)
					}
					answers <- p
				}()
			}
			<-in.provider.begun
			early := 0
			if unused < believed { // the others go on, with what is stored
				for range 19 {
					if p := <-answers; p == nil || !slices.Equal(p.Roles, RolesUpTo(RoleOperator)) {
						t.Errorf("another has %+v", p)
					}
					early++
				}
			}
			close(held)
			for range 20 - early {
				if p := <-answers; p == nil || !slices.Equal(p.Roles, RolesUpTo(RoleAdmin)) {
					t.Errorf("got %+v", p)
				}
			}
			if n := in.provider.questions(); n != 1 || told != 1 {
				t.Errorf("asked %d times, told %d times", n, told)
			}
			refreshed(t, map[string]float64{refreshChanged: 1}, replicas...)
		})
	}
}

func TestARequestWaitsForTheProviderOnlyForAMoment(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	s.waits.request = 20 * time.Millisecond
	cookie := create(t, s, ada())
	in.age(5 * time.Minute)
	held := make(chan struct{})
	in.provider.set(func(p *provider) { p.held, p.role = held, RoleAdmin })
	if p := valid(t, s, cookie); p.Has(ScopeAdminRead) {
		t.Errorf("got %+v", p)
	}
	in.exec("UPDATE session SET checked_at = checked_at - interval '1 hour'")
	p, err := s.Verify(t.Context(), cookie) // the answer is still on its way
	wantKind(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
	if p != nil {
		t.Errorf("got %+v", p)
	}
	close(held)
	s.Close() // waits for the answer
	if p := valid(t, s, cookie); !p.Has(ScopeAdminRead) {
		t.Errorf("then %+v", p)
	}
	in.age(5 * time.Minute)
	valid(t, s, cookie)
	if n := in.provider.questions(); n != 1 {
		t.Errorf("asked %d times, also after the end", n)
	}
	s.Close()
}

func TestAnAnswerIsKeptAlthoughTheBrowserHasGone(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	cookie := create(t, s, ada())
	in.age(5 * time.Minute)
	held := make(chan struct{})
	in.provider.set(func(p *provider) { p.held = held })
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := s.Verify(ctx, cookie)
		gone <- err
	}()
	<-in.provider.begun
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	close(held)
	s.Close()
	refreshed(t, map[string]float64{refreshSame: 1}, s)
	other := in.replica()
	in.age(5 * time.Minute)
	valid(t, other, cookie) // which only the new token makes possible
	refreshed(t, map[string]float64{refreshSame: 1}, other)
}

func TestTheNewRefreshTokenOfAnAnswerThatBrokeOffIsKept(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	cookie := create(t, s, ada())
	s.provider = rotatedAndFailed{in.provider}
	in.age(5 * time.Minute)
	valid(t, s, cookie)
	s.provider = in.provider
	in.age(31 * time.Second)
	valid(t, s, cookie)
	refreshed(t, map[string]float64{refreshUnavailable: 1, refreshSame: 1}, s)
}

type rotatedAndFailed struct{ *provider }

func (p rotatedAndFailed) Refresh(ctx context.Context, token string) (*Identity, error) {
	id, err := p.provider.Refresh(ctx, token)
	return &Identity{RefreshToken: id.RefreshToken}, errors.Join(err, fault.New(fault.Unavailable, fault.ReasonProviderUnavailable, "The provider does not answer."))
}

func TestARefusalEndsTheSession(t *testing.T) {
	t.Parallel()
	in := install(t)
	a, b := in.replica(), in.replica()
	cookie := create(t, a, ada())
	in.age(5 * time.Minute)
	in.provider.set(func(p *provider) { p.next = 7 })
	ended(t, a, cookie)
	ended(t, b, cookie)
	if n := in.count("SELECT count(*) FROM session"); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	refreshed(t, map[string]float64{refreshRefused: 1}, a, b)
	if n := testutil.ToFloat64(a.metrics.ended.WithLabelValues(endedRefused)); n != 1 {
		t.Errorf("%v ended", n)
	}
}

func TestAnAnswerAboutAnotherPersonEndsTheSession(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Identity){
		"another subject": func(id *Identity) { id.Subject = "eve" },
		"another issuer":  func(id *Identity) { id.Issuer = "https://evil.example" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t)
			in.changed = func(context.Context, pgx.Tx, *Principal, []string) error {
				return errors.New("told of another person's roles")
			}
			s := in.replica()
			cookie := create(t, s, ada())
			in.age(5 * time.Minute)
			in.provider.set(func(p *provider) { p.change, p.role = change, RoleAdmin })
			ended(t, s, cookie)
			refreshed(t, map[string]float64{refreshOtherPerson: 1}, s)
		})
	}
}

func TestWhatTheProviderDoesNotSayAgainStays(t *testing.T) {
	t.Parallel()
	in := install(t)
	s := in.replica()
	cookie := create(t, s, ada())
	in.age(5 * time.Minute)
	in.provider.set(func(p *provider) {
		p.change = func(id *Identity) { *id = Identity{Role: id.Role} }
	})
	p := valid(t, s, cookie)
	if p.ID != issuer+"#ada" || p.Name != "Ada" || p.Email != "ada@example.org" {
		t.Errorf("got %+v", p)
	}
	refreshed(t, map[string]float64{refreshSame: 1}, s)
	in.age(5 * time.Minute)
	in.provider.set(func(p *provider) { // the old refresh token goes on
		p.next, p.change = 0, func(id *Identity) { id.Name, id.Email = "Ada L.", "al@example.org" }
	})
	if p = valid(t, s, cookie); p.Name != "Ada L." || p.Email != "al@example.org" {
		t.Errorf("then %+v", p)
	}
	if _, token, err := s.End(t.Context(), p, false, nil); err != nil || token != "id-token-1" {
		t.Errorf("%q, %v", token, err)
	}
}

func TestWhileTheProviderIsAwayRolesAreBelievedForAnHour(t *testing.T) {
	t.Parallel()
	in := install(t)
	a, b := in.replica(), in.replica()
	cookie := create(t, a, ada())
	in.provider.set(func(p *provider) { p.fail = errors.New("connection refused") })
	in.age(5 * time.Minute)
	for _, s := range []*Sessions{a, b, a, b} {
		if p := valid(t, s, cookie); !slices.Equal(p.Roles, RolesUpTo(RoleOperator)) {
			t.Errorf("got %+v", p)
		}
	}
	if n := in.provider.questions(); n != 1 {
		t.Errorf("asked %d times at first", n)
	}
	in.age(20 * time.Second) // of 30
	valid(t, b, cookie)
	in.age(10 * time.Second)
	valid(t, b, cookie)
	if n := in.provider.questions(); n != 2 {
		t.Errorf("asked %d times half a minute later", n)
	}
	in.age(54 * time.Minute)
	valid(t, a, cookie) // 59:30
	in.age(30 * time.Second)
	for _, s := range []*Sessions{b, a} {
		_, err := s.Verify(t.Context(), cookie)
		wantKind(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
		if after := fault.Of(err).RetryAfter; after < 20*time.Second || after > 30*time.Second {
			t.Errorf("retry after %s", after)
		}
	}
	if n := in.provider.questions(); n != 4 {
		t.Errorf("asked %d times in the end", n)
	}
	in.provider.set(func(p *provider) { p.fail, p.role = nil, RoleAnalyst })
	in.age(30 * time.Second)
	if p := valid(t, b, cookie); !slices.Equal(p.Roles, RolesUpTo(RoleAnalyst)) {
		t.Errorf("afterwards %+v", p)
	}
	refreshed(t, map[string]float64{refreshUnavailable: 4, refreshChanged: 1}, a, b)
	if n := testutil.ToFloat64(a.metrics.checks.WithLabelValues("provider_unavailable")); n != 1 {
		t.Errorf("counted %v", n)
	}
}

func TestSigningOutWinsOverAnAnswerOnItsWay(t *testing.T) {
	t.Parallel()
	in := install(t)
	s, other := in.replica(), in.replica()
	cookie := create(t, s, ada())
	person := valid(t, s, cookie)
	in.age(5 * time.Minute)
	held := make(chan struct{})
	in.provider.set(func(p *provider) { p.held = held })
	got := make(chan error)
	go func() {
		_, err := s.Verify(t.Context(), cookie)
		got <- err
	}()
	<-in.provider.begun
	if n, _, err := other.End(t.Context(), person, true, nil); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	close(held)
	wantKind(t, <-got, fault.Unauthenticated, fault.ReasonSessionExpired)
	if n := in.count("SELECT count(*) FROM session"); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	refreshed(t, map[string]float64{refreshLost: 1}, s)
}

func TestAReplicaThatSleptDoesNotOverwriteALaterAnswer(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]error{
		"with an answer": nil, "with a refusal": fault.New(fault.Unauthenticated, fault.ReasonSessionExpired, "no"), "with none": errors.New("away"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := install(t)
			slow, quick := in.replica(), in.replica()
			slow.waits.request = time.Millisecond
			cookie := create(t, slow, ada())
			in.age(5 * time.Minute)
			late := newProvider()
			late.held, late.fail, late.role = make(chan struct{}), fail, RoleAnalyst
			slow.provider = late
			valid(t, slow, cookie)
			in.age(31 * time.Second) // it sleeps through its claim
			valid(t, quick, cookie)
			close(late.held)
			slow.Close()
			refreshed(t, map[string]float64{refreshSame: 1}, quick)
			refreshed(t, map[string]float64{refreshLost: 1}, slow)
			if p := valid(t, quick, cookie); !slices.Equal(p.Roles, RolesUpTo(RoleOperator)) {
				t.Errorf("got %+v", p)
			}
			in.age(5 * time.Minute)
			valid(t, quick, cookie)
			refreshed(t, map[string]float64{refreshSame: 2}, quick)
		})
	}
}

func TestAChangeOfRolesIsToldInItsTransaction(t *testing.T) {
	t.Parallel()
	in := install(t)
	type told struct {
		p      *Principal
		before []string
	}
	var all []told
	fails := 2
	in.changed = func(ctx context.Context, tx pgx.Tx, p *Principal, before []string) error {
		_, err := tx.Exec(ctx, "INSERT INTO audit (operation, phase, action, outcome, actor_kind, actor, actor_id, roles) VALUES (gen_random_uuid(), 'event', 'session.test', 'done', 'system', 'a', 'a', $1)", p.Roles)
		if fails--; fails >= 0 {
			return errors.New("the record is full") // for a moment
		}
		all = append(all, told{p, before})
		return err
	}
	s := in.replica()
	s.waits.poll = time.Millisecond
	cookie := create(t, s, ada())
	in.age(5 * time.Minute)
	valid(t, s, cookie) // nothing has changed
	in.provider.set(func(p *provider) { p.role = RoleAnalyst })
	in.age(5 * time.Minute)
	valid(t, s, cookie)
	if len(all) != 1 || all[0].p.ID != issuer+"#ada" || all[0].p.Session == nil || !slices.Equal(all[0].p.Roles, RolesUpTo(RoleAnalyst)) || !slices.Equal(all[0].before, RolesUpTo(RoleOperator)) {
		t.Errorf("told %+v", all)
	}
	if n := in.count("SELECT count(*) FROM audit WHERE roles = '{analyst}'"); n != 1 {
		t.Errorf("%d are on the record", n)
	}
	in.age(5 * time.Minute)
	valid(t, s, cookie) // the token that came with the change was kept
	refreshed(t, map[string]float64{refreshSame: 2, refreshChanged: 1}, s)
}
