package auth

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

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
	begun := time.Now()
	for _, s := range []*Sessions{b, a} {
		s.waits.request = time.Minute // which nobody waits who knows that nobody asks
		_, err := s.Verify(t.Context(), cookie)
		wantKind(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
		if after := fault.Of(err).RetryAfter; after < 20*time.Second || after > 30*time.Second {
			t.Errorf("retry after %s", after)
		}
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("they waited %s", took)
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
