package auth

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

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
