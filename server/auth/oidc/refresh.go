package oidc

import (
	"context"
	"errors"
	"time"

	"golang.org/x/oauth2"

	"oriel/server/auth"
	"oriel/server/fault"
)

// Refresh asks for the person's roles again: fault.Unauthenticated with SESSION_EXPIRED where the provider
// ended the grant or what it sends does not hold, fault.Unavailable where it cannot be asked.
//
// The identity's RefreshToken is the one to use next; the one given may not be used again. So it is there
// with fault.Unavailable too, in an identity that is else empty, where the provider gave a new one before
// it failed: keep it. Nor does a caller that leaves cut a refresh short, for the new token would be lost;
// a deadline of ctx counts.
//
// Whether it is still the same person the caller must look at. IDToken is empty where no new one came.
func (p *Provider) Refresh(ctx context.Context, refreshToken string) (*auth.Identity, error) {
	latest := time.Now().Add(signInTime)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(latest) {
		latest = deadline
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), latest)
	defer cancel()
	m, err := p.discovery.metadata(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	token, err := p.exchange(ctx, m, func(ctx context.Context, style oauth2.AuthStyle) (*oauth2.Token, error) {
		return p.flow(m, "", style).TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
	})
	if err != nil {
		return nil, p.notRefreshed(err)
	}
	who, err := p.again(ctx, m, token)
	if err != nil {
		err = p.notRefreshed(err)
		if fault.Of(err).Kind == fault.Unavailable {
			return &auth.Identity{RefreshToken: token.RefreshToken}, err
		}
		return nil, err
	}
	who.RefreshToken = token.RefreshToken
	return who, nil
}

func (p *Provider) again(ctx context.Context, m *metadata, token *oauth2.Token) (*auth.Identity, error) {
	raw, _ := token.Extra("id_token").(string)
	var c claims
	if raw != "" {
		var err error
		if c, err = p.idToken(ctx, raw, token.AccessToken, nil); err != nil { // no nonce: Core 12.2
			return nil, err
		}
	}
	who, err := p.identify(ctx, m, c, token.AccessToken)
	if err != nil {
		return nil, err
	}
	who.IDToken = raw
	return who, nil
}

// notRefreshed is the public side of a refresh that failed.
func (p *Provider) notRefreshed(err error) error {
	code, ours := refused(err)
	r := (*refusal)(nil)
	switch {
	case errors.As(err, &r), errors.Is(err, errNoSource):
		p.log.Warn("a session ends: its refresh does not hold", "error", err)
	case code == "" || ours:
		// We who are not known is a mistake in the provider's configuration or ours, not the person's end.
		p.discovery.doubt()
		p.log.Warn("a session was not refreshed", "error", err)
		return unavailable(err)
	}
	return fault.Wrap(err, fault.Unauthenticated, fault.ReasonSessionExpired, "The identity provider ended the session.")
}
