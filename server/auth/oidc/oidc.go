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
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/oauth2"

	"oriel/server/auth"
	"oriel/server/fault"
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
	Client       *http.Client // nil: one with our bounds; NewClient makes one that trusts other authorities
	Now          func() time.Time
}

// Provider is safe for concurrent use. It is made without the provider's answer: discovery happens when
// it is first needed, and again until it succeeds.
type Provider struct {
	cfg       Config
	log       *slog.Logger
	client    *http.Client
	metrics   *metrics
	discovery *discovery
	keys      *keySet
	inBody    atomic.Bool // the token endpoint wanted the secret in the body, not in the header
}

// New makes a provider and speaks with nobody.
func New(cfg Config, log *slog.Logger, reg prometheus.Registerer) *Provider {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if !slices.Contains(cfg.Scopes, "openid") {
		cfg.Scopes = append([]string{"openid"}, cfg.Scopes...)
	}
	p := &Provider{cfg: cfg, log: log, client: bounded(cfg.Client), metrics: newMetrics(reg)}
	p.discovery = newDiscovery(cfg.Issuer, p.client, cfg.Now, log, p.metrics)
	p.keys = newKeySet(p.discovery, p.client, cfg.Now, log, p.metrics)
	return p
}

// Close ends what goes on in the background and waits for it. Nothing is asked of the provider afterwards.
func (p *Provider) Close() {
	p.keys.asker.close()
	p.discovery.asker.close()
	p.client.CloseIdleConnections()
}

// Start is what a sign-in needs: where the browser goes, and what must be kept until it is back.
type Start struct{ URL, Nonce, Verifier string }

// Begin makes a sign-in. redirect is our callback's address. fault.Unavailable where the provider does
// not answer.
func (p *Provider) Begin(ctx context.Context, redirect, state string) (*Start, error) {
	m, err := p.discovery.metadata(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	if m.authorization == "" {
		return nil, unavailable(errNoAuthorizationEndpoint)
	}
	start := &Start{Nonce: random(), Verifier: oauth2.GenerateVerifier()}
	options := []oauth2.AuthCodeOption{
		oauth2.S256ChallengeOption(start.Verifier),
		oauth2.SetAuthURLParam("nonce", start.Nonce),
	}
	if slices.Contains(p.cfg.Scopes, "offline_access") {
		// OpenID Connect Core 11: without it a provider ignores the scope and gives no refresh token.
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	start.URL = p.flow(m, redirect, oauth2.AuthStyleInParams).AuthCodeURL(state, options...)
	return start, nil
}

// unavailable is the public side of a provider that cannot be asked.
func unavailable(err error) error {
	e := fault.Wrap(err, fault.Unavailable, fault.ReasonProviderUnavailable,
		"The identity provider does not answer as it should.")
	e.RetryAfter = 5 * time.Second
	return e
}

// rejected is the public side of an answer that does not hold.
func rejected(err error) error {
	return fault.Wrap(err, fault.Unauthenticated, fault.ReasonSignInRejected,
		"What the identity provider sent does not hold, so nobody was signed in: "+publicly(err)+".")
}

var _ auth.Refresher = (*Provider)(nil)
