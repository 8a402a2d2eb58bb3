package oidc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"oriel/server/auth"
	"oriel/server/fault"
)

// Verify checks a JWT that a machine sent: fault.Unauthenticated with TOKEN_INVALID, fault.Unavailable
// where its key cannot be had.
func (p *Provider) Verify(ctx context.Context, jwt string) (*auth.Principal, error) {
	caller, err := p.machine(ctx, jwt)
	if err == nil {
		p.metrics.verifies.WithLabelValues(resultValid).Inc()
		return caller, nil
	}
	if r := (*refusal)(nil); errors.As(err, &r) {
		p.metrics.verifies.WithLabelValues(r.result).Inc()
		return nil, fault.Wrap(err, fault.Unauthenticated, fault.ReasonTokenInvalid, "The bearer token "+r.text+".")
	}
	p.metrics.verifies.WithLabelValues(resultUnavailable).Inc()
	if errors.Is(err, errNotYet) {
		e := fault.Wrap(err, fault.Unavailable, fault.ReasonProviderUnavailable,
			"The bearer token is signed with a key that is not known here yet. If the identity provider has just begun to use it, try again.")
		e.RetryAfter = max(time.Second, p.keys.asker.until(p.keys.apart))
		return nil, e
	}
	return nil, unavailable(err)
}

// TakesJWTs says whether machines may send JWTs.
func (p *Provider) TakesJWTs() bool { return p.cfg.Audience != "" }

func (p *Provider) machine(ctx context.Context, raw string) (*auth.Principal, error) {
	if !p.TakesJWTs() {
		return nil, refuse(resultOff, "is a JWT, and none is accepted here")
	}
	token, err := p.open(ctx, raw, machineKind())
	if err != nil {
		return nil, err
	}
	c := token.claims
	if err := c.meantFor(p.cfg.Audience); err != nil {
		return nil, err
	}
	if err := c.isAccess(); err != nil {
		return nil, err
	}
	subject, err := c.subject()
	if err != nil {
		return nil, err
	}
	client := c.client()
	if subject == "" {
		subject = client
	}
	if subject == "" {
		return nil, refuse(resultClaims, "has no sub and no client_id")
	}
	scopes, err := c.scopes()
	if err != nil {
		return nil, err
	}
	name := client
	if name == "" {
		name = subject
	}
	return &auth.Principal{
		Kind: auth.KindWorkload, ID: p.cfg.Issuer + "#" + subject, Name: name, Scopes: scopes,
	}, nil
}

// isAccess refuses a JWT of the provider that is no access token, for a provider and a configuration that
// give both the same audience.
func (c claims) isAccess() error {
	for _, only := range []string{"at_hash", "c_hash", "events"} { // ID tokens, logout tokens
		if _, there := c[only]; there {
			return refuse(resultClaims, "is no access token: it has %s", only)
		}
	}
	switch c["typ"] { // as Keycloak says it
	case "ID", "Refresh", "Offline", "Logout":
		return refuse(resultClaims, "is no access token")
	}
	return nil
}

// client is the name of the client that a token was given to; empty where it has no clean one.
func (c claims) client() string {
	for _, name := range []string{"azp", "client_id"} {
		if text, ok := c[name].(string); ok && text != "" && len(text) <= mostSubject && clean(text, mostSubject) == text {
			return text
		}
	}
	return ""
}

// scopes are the ones of ours that a token has.
func (c claims) scopes() ([]string, error) {
	values, there, err := c.texts("scope")
	if err == nil && !there {
		values, _, err = c.texts("scp")
	}
	if err != nil {
		return nil, err
	}
	var has []string
	for _, value := range values {
		has = append(has, strings.Fields(value)...)
	}
	ours := auth.Scopes()
	return slices.DeleteFunc(ours, func(scope string) bool { return !slices.Contains(has, scope) }), nil
}
