package oidc

import (
	"context"
	"net/url"
	"time"
)

const (
	signOutTime = 3 * time.Second
	mostHint    = 4 << 10 // of an ID token in an address, which servers bound
)

// SignOutURL is the provider's own sign-out that leads back to redirect; empty where it has none or cannot
// be asked.
func (p *Provider) SignOutURL(ctx context.Context, idToken, redirect string) string {
	ctx, cancel := context.WithTimeout(ctx, signOutTime)
	defer cancel()
	m, err := p.discovery.metadata(ctx)
	if err != nil || m.endSession == "" {
		return ""
	}
	u, err := url.Parse(m.endSession)
	if err != nil {
		return ""
	}
	q := u.Query()
	if idToken != "" && len(idToken) <= mostHint {
		q.Set("id_token_hint", idToken)
	}
	q.Set("client_id", p.cfg.ClientID)
	q.Set("post_logout_redirect_uri", redirect)
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String()
}
