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
