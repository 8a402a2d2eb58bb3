package auth

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Session is a person's signed-in browser, as one request sees it.
type Session struct {
	hash    digest
	Created time.Time
	Expires time.Time // at the latest
	Idle    time.Duration
}

// InTx is work of the caller that commits together with ours, such as its entry in the record; nil: none.
type InTx func(ctx context.Context, tx pgx.Tx) error

// Refresher asks the identity provider again: an *oidc.Provider. fault.Unauthenticated where the provider
// ended the grant, fault.Unavailable where it does not answer.
type Refresher interface {
	Refresh(ctx context.Context, refreshToken string) (*Identity, error)
}

// SessionConfig bounds sessions.
type SessionConfig struct {
	Keys    [][]byte // 32 bytes each; the first seals, all open
	Idle    time.Duration
	Longest time.Duration
}

// Sessions keeps who is signed in, in PostgreSQL: every replica sees an end at the next request.
type Sessions struct{}

// NewSessions checks the keys.
//
// rolesChanged, where not nil, is told of a person whose roles are other than before, in the transaction
// that stores them.
func NewSessions(pool *pgxpool.Pool, cfg SessionConfig, provider Refresher, rolesChanged func(ctx context.Context, tx pgx.Tx, p *Principal, before []string) error, log *slog.Logger, reg prometheus.Registerer) (*Sessions, error) {
	panic("outline")
}

// SignIn is a sign-in between its start and the provider's answer.
type SignIn struct {
	Nonce, Verifier, Origin, ReturnTo string
}

// Begin stores a sign-in for 10 minutes. state goes into the address, browser into the pre-login cookie.
func (s *Sessions) Begin(ctx context.Context, in SignIn) (state, browser string, err error) {
	panic("outline")
}

// Finish takes the sign-in, once, for the browser that began it: fault.Unauthenticated with
// SIGN_IN_STATE where it is unknown, used, expired or another browser's.
func (s *Sessions) Finish(ctx context.Context, state, browser string) (SignIn, error) {
	panic("outline")
}

// Create starts a session and returns the cookie's value, new at every sign-in; old, the value of the
// cookie that the browser had, ends with it. with runs in the same transaction.
func (s *Sessions) Create(ctx context.Context, id *Identity, old string, with InTx) (cookie string, p *Principal, err error) {
	panic("outline")
}

// Verify finds the person of a cookie, and lets the provider tell the roles again where that is due:
// fault.Unauthenticated with SESSION_EXPIRED, fault.Unavailable where the database does not answer.
func (s *Sessions) Verify(ctx context.Context, cookie string) (*Principal, error) { panic("outline") }

// End ends one session, or all of the same person, and returns how many and the id token for the
// provider's own sign-out. with runs in the same transaction.
func (s *Sessions) End(ctx context.Context, p *Principal, everywhere bool, with InTx) (ended int, idToken string, err error) {
	panic("outline")
}

// Sweep deletes what has expired.
func (s *Sessions) Sweep(ctx context.Context) error { panic("outline") }
