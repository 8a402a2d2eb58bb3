package oidc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/oauth2"
)

// The ways to send the client's secret (OpenID Connect Core 9).
const (
	secretBasic = "client_secret_basic"
	secretPost  = "client_secret_post"
)

// flow is our side of the code flow.
func (p *Provider) flow(m *metadata, redirect string, style oauth2.AuthStyle) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Scopes: p.cfg.Scopes, RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: m.authorization, TokenURL: m.token, AuthStyle: style},
	}
}

// grant is a question to the token endpoint, in one style.
type grant func(ctx context.Context, style oauth2.AuthStyle) (*oauth2.Token, error)

// exchange asks the token endpoint. The secret goes where the metadata says: into the header where both
// ways are named, and into the body where that is refused, as a provider may allow a client one alone.
func (p *Provider) exchange(ctx context.Context, m *metadata, ask grant) (*oauth2.Token, error) {
	if m.token == "" {
		return nil, errNoTokenEndpoint
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, p.client)
	basic := len(m.authMethods) == 0 || slices.Contains(m.authMethods, secretBasic) // Discovery 3: the default
	post := slices.Contains(m.authMethods, secretPost)
	style := oauth2.AuthStyleInHeader
	switch {
	case p.cfg.ClientSecret == "":
		style, post = oauth2.AuthStyleInParams, false
	case !basic && !post:
		return nil, fmt.Errorf("the token endpoint takes none of %s, %s: %.200q", secretBasic, secretPost, m.authMethods)
	case !basic, post && p.inBody.Load():
		style, post = oauth2.AuthStyleInParams, false
	}
	token, err := ask(ctx, style)
	if no := (*oauth2.RetrieveError)(nil); post && errors.As(err, &no) && no.ErrorCode == "invalid_client" {
		if token, err = ask(ctx, oauth2.AuthStyleInParams); err == nil {
			p.inBody.Store(true)
		}
	}
	if err != nil {
		return nil, cut{err}
	}
	if kind := token.Type(); kind != "Bearer" {
		return nil, refuse(resultHeader, "is an access token of the type %.40q, not Bearer", kind)
	}
	return token, nil
}

// refused is the code with which a token endpoint said no; empty where the question had no such answer,
// and ours where it is we who are not known or not as we should be.
func refused(err error) (code string, ours bool) {
	no := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &no) || no.Response.StatusCode >= 500 {
		return "", false
	}
	switch no.ErrorCode { // RFC 6749, 5.2
	case "invalid_grant", "access_denied",
		"login_required", "interaction_required", "consent_required": // OpenID Connect Core 3.1.2.6, where a policy wants the person back
		return no.ErrorCode, false
	case "invalid_client", "unauthorized_client", "invalid_request", "unsupported_grant_type", "invalid_scope":
		return no.ErrorCode, true
	}
	return "", false
}

// looksSigned tells a JWT from an opaque token.
func looksSigned(token string) bool {
	return strings.Count(token, ".") == 2 && strings.HasPrefix(token, "eyJ")
}
