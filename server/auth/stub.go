// Package auth says who is asking: API tokens, scopes and the demo's fixed analyst. It knows no HTTP
// framework.
package auth

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// The scopes a token may have.
const (
	ScopeEventsWrite = "events:write"
	ScopeEventsRead  = "events:read"
	ScopeOperate     = "operate"
	ScopeAdminRead   = "admin:read"
	ScopeAdminWrite  = "admin:write"
)

// Principal is an authenticated caller.
type Principal struct {
	Name           string
	Roles          []string
	Scopes         []string
	SourcePrefixes []string // nil: any source
}

// Has tells whether the caller holds a scope.
func (p *Principal) Has(scope string) bool { panic("unbuilt") }

// Tokens verifies and makes API tokens.
type Tokens struct{}

// NewTokens makes a verifier; a token seen valid within 10 minutes stays valid while the database is away.
func NewTokens(pool *pgxpool.Pool, log *slog.Logger, reg prometheus.Registerer) *Tokens {
	panic("unbuilt")
}

// Create stores a new token's hash and returns its secret, once.
func (t *Tokens) Create(ctx context.Context, name string, scopes, sourcePrefixes []string, expires *time.Time) (string, error) {
	panic("unbuilt")
}

// Verify finds the caller of a bearer token: fault.Unauthenticated where unknown, expired or revoked,
// fault.Unavailable where the database is away and the token was not seen.
func (t *Tokens) Verify(ctx context.Context, bearer string) (*Principal, error) { panic("unbuilt") }
