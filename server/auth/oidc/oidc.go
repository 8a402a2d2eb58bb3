// Package oidc speaks with one OpenID Connect identity provider: sign-in by authorization code with PKCE,
// roles from a configured claim, and the JWTs that machines call with.
//
// It promises that nothing a provider or a caller sends is believed before its signature, issuer,
// audience and times hold, with algorithms pinned by us. It keeps nothing and knows no HTTP framework.
package oidc

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/auth"
)

// Config is one provider and what we are to it.
type Config struct {
	Issuer       string
	ClientID     string
	ClientSecret string              // empty: a public client
	Scopes       []string            // with openid
	Audience     string              // aud of machine JWTs; empty: none is accepted
	RoleClaim    string              // a path such as realm_access.roles
	RoleValues   map[string][]string // by role, the values that give it
	DefaultRole  string
	Client       *http.Client // nil: one with our bounds
	Now          func() time.Time
}

// Provider is safe for concurrent use. It is made without the provider's answer: discovery happens when
// it is first needed, and again until it succeeds.
type Provider struct{}

// New makes a provider and speaks with nobody.
func New(cfg Config, log *slog.Logger, reg prometheus.Registerer) *Provider { panic("outline") }

// Start is what a sign-in needs: where the browser goes, and what must be kept until it is back.
type Start struct{ URL, Nonce, Verifier string }

// Begin makes a sign-in. redirect is our callback's address. fault.Unavailable where the provider does
// not answer.
func (p *Provider) Begin(ctx context.Context, redirect, state string) (*Start, error) {
	panic("outline")
}

// Callback is what the browser brought back.
type Callback struct {
	Code, Issuer              string // Issuer is the iss parameter (RFC 9207); empty where there was none
	Nonce, Verifier, Redirect string
}

// Finish exchanges the code and checks what comes: fault.Unauthenticated with SIGN_IN_REFUSED or
// SIGN_IN_REJECTED, fault.Unavailable.
func (p *Provider) Finish(ctx context.Context, back Callback) (*auth.Identity, error) {
	panic("outline")
}

// Refresh asks for the person's roles again.
func (p *Provider) Refresh(ctx context.Context, refreshToken string) (*auth.Identity, error) {
	panic("outline")
}

// SignOutURL is the provider's own sign-out that leads back to redirect; empty where it has none.
func (p *Provider) SignOutURL(ctx context.Context, idToken, redirect string) string { panic("outline") }

// Verify checks a JWT that a machine sent: fault.Unauthenticated with TOKEN_INVALID, fault.Unavailable
// where its key cannot be had.
func (p *Provider) Verify(ctx context.Context, jwt string) (*auth.Principal, error) { panic("outline") }
