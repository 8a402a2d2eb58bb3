package oidc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"

	"oriel/server/auth"
)

// identify says who a person is and looks the role up: in the ID token, at userinfo, in the access token.
// id may be nil, as a refresh need not bring one; then the subject is what the others say.
func (p *Provider) identify(ctx context.Context, m *metadata, id claims, accessToken string) (*auth.Identity, error) {
	subject, _ := id["sub"].(string)
	value, there := find(id, p.cfg.RoleClaim)
	var info claims
	if m.userinfo != "" && (!there || called(id) == "") {
		var err error
		if info, err = p.userinfo(ctx, m, accessToken, subject); err != nil {
			if !there { // a person must not lose a role because an endpoint is away
				return nil, err
			}
			p.log.Warn("a person's name could not be asked for", "error", err)
		}
		if !there {
			value, there = find(info, p.cfg.RoleClaim)
		}
		if subject == "" {
			subject, _ = info["sub"].(string)
		}
	}
	if !there && looksSigned(accessToken) {
		token, err := p.ownAccess(ctx, accessToken, subject)
		if err != nil {
			return nil, err
		}
		value, there = find(token, p.cfg.RoleClaim)
		if subject == "" {
			subject, _ = token["sub"].(string)
		}
	}
	if !there && (p.distributed(id) || p.distributed(info)) {
		p.log.Warn("the role claim is in a source of its own, which is not asked: let the provider put it into the token",
			"claim", p.cfg.RoleClaim, "subject", subject)
	}
	if subject == "" || !there && id == nil {
		return nil, errNoSource
	}
	who := &auth.Identity{
		Issuer: p.cfg.Issuer, Subject: subject, Name: called(id, info), Email: emailOf(id, info), Role: p.role(value),
	}
	if who.Name == "" {
		who.Name = subject
	}
	return who, nil
}

// errNoSource says that a refresh brought nothing that the person and the role could be read from: not
// that there is no role.
var errNoSource = errors.New("the refresh brought no ID token, and the role claim with its subject is nowhere else")

// userinfo asks for the claims of a person who is, where subject is known, this one.
func (p *Provider) userinfo(ctx context.Context, m *metadata, accessToken, subject string) (claims, error) {
	answer, err := get(ctx, p.client, m.userinfo, accessToken, "application/json, application/jwt")
	if err != nil {
		return nil, fmt.Errorf("ask userinfo: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("read userinfo: %w", err)
	}
	var c claims
	if media, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err == nil && media == "application/jwt" {
		if c, err = p.signedUserinfo(ctx, string(body)); err != nil {
			return nil, about("the userinfo", err)
		}
	} else if c, err = readClaims(body); err != nil {
		return nil, fmt.Errorf("read userinfo: %w", err) // an endpoint that answers with garbage is one that is away
	}
	got, err := c.subject()
	switch {
	case err != nil:
		return nil, about("the userinfo", err)
	case got == "" || subject != "" && got != subject: // OpenID Connect Core 5.3.2
		return nil, refuse(resultClaims, "the userinfo is about another person than the ID token")
	}
	return c, nil
}

// signedUserinfo is userinfo as a JWT: iss and aud should be in it, exp need not.
func (p *Provider) signedUserinfo(ctx context.Context, raw string) (claims, error) {
	k := idTokenKind()
	k.exp, k.iss = false, false
	token, err := p.open(ctx, raw, k)
	if err != nil {
		return nil, err
	}
	if _, there := token.claims["aud"]; there {
		if err := token.claims.meantFor(p.cfg.ClientID); err != nil {
			return nil, err
		}
	}
	return token.claims, nil
}

// ownAccess are the claims of an access token that is a JWT of the provider and ours; none of one that is
// not, as many providers' are for themselves alone.
func (p *Provider) ownAccess(ctx context.Context, raw, subject string) (claims, error) {
	token, err := p.open(ctx, raw, accessTokenKind())
	if r := (*refusal)(nil); errors.As(err, &r) || errors.Is(err, errNotYet) {
		p.log.Debug("no role is read from the access token", "error", err)
		return nil, nil //nolint:nilnil // no claims
	}
	if err != nil {
		return nil, err
	}
	c := token.claims
	own := c["azp"] == p.cfg.ClientID || c["client_id"] == p.cfg.ClientID
	if party, there := c["azp"]; there && party != p.cfg.ClientID {
		own = false
	}
	got, _, _ := c.text("sub")
	if !own || got != "" && subject != "" && got != subject {
		p.log.Debug("no role is read from the access token: it is another client's or person's")
		return nil, nil //nolint:nilnil // no claims
	}
	return c, nil
}
