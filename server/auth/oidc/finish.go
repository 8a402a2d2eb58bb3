package oidc

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/oauth2"

	"oriel/server/auth"
	"oriel/server/fault"
)

// signInTime bounds all the questions of one sign-in or refresh.
const signInTime = 20 * time.Second

// Callback is what the browser brought back.
type Callback struct {
	Code, Issuer              string // Issuer is the iss parameter (RFC 9207); empty where there was none
	Nonce, Verifier, Redirect string
}

// Finish exchanges the code and checks what comes: fault.Unauthenticated with SIGN_IN_REFUSED or
// SIGN_IN_REJECTED, fault.Unavailable.
func (p *Provider) Finish(ctx context.Context, back Callback) (*auth.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, signInTime)
	defer cancel()
	m, err := p.discovery.metadata(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	if err := p.answered(m, back.Issuer); err != nil {
		return nil, rejected(err)
	}
	token, err := p.exchange(ctx, m, func(ctx context.Context, style oauth2.AuthStyle) (*oauth2.Token, error) {
		return p.flow(m, back.Redirect, style).Exchange(ctx, back.Code, oauth2.VerifierOption(back.Verifier))
	})
	if err != nil {
		return nil, p.notSignedIn(err)
	}
	idToken, _ := token.Extra("id_token").(string)
	if idToken == "" {
		return nil, rejected(refuse(resultClaims, "there is no ID token in it"))
	}
	c, err := p.idToken(ctx, idToken, token.AccessToken, &back.Nonce)
	if err != nil {
		return nil, p.notSignedIn(err)
	}
	who, err := p.identify(ctx, m, c, token.AccessToken)
	if err != nil {
		return nil, p.notSignedIn(err)
	}
	who.RefreshToken, who.IDToken = token.RefreshToken, idToken
	return who, nil
}

// answered checks that the callback is this provider's (RFC 9207, 2.4).
func (p *Provider) answered(m *metadata, issuer string) error {
	switch {
	case issuer == "" && m.namesItself:
		return refuse(resultIssuer, "the callback has no iss, which this provider always sends")
	case issuer != "" && issuer != p.cfg.Issuer:
		return refuse(resultIssuer, "the callback is of another issuer than %s", p.cfg.Issuer)
	}
	return nil
}

// notSignedIn is the public side of a sign-in that failed once the browser was back.
func (p *Provider) notSignedIn(err error) error {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return rejected(err)
	}
	code, ours := refused(err)
	if code == "" {
		p.discovery.doubt()
		return unavailable(err)
	}
	if ours {
		p.log.Warn("identity provider does not take us as its client", "client", p.cfg.ClientID, "error", err)
	}
	return fault.Wrap(err, fault.Unauthenticated, fault.ReasonSignInRefused,
		"The identity provider refused the sign-in: "+code+".")
}

// idToken checks an ID token (OpenID Connect Core 3.1.3.7). No nonce is asked for where nonce is nil.
func (p *Provider) idToken(ctx context.Context, raw, accessToken string, nonce *string) (claims, error) {
	token, err := p.open(ctx, raw, idTokenKind())
	if err != nil {
		return nil, about("the ID token", err)
	}
	if err := p.idClaims(token, accessToken, nonce); err != nil {
		return nil, about("the ID token", err)
	}
	return token.claims, nil
}

func (p *Provider) idClaims(token *jwt, accessToken string, nonce *string) error {
	c := token.claims
	if err := c.meantFor(p.cfg.ClientID); err != nil {
		return err
	}
	party, there, err := c.text("azp")
	if err != nil {
		return err
	}
	if audiences, _, _ := c.texts("aud"); there && party != p.cfg.ClientID || !there && len(audiences) > 1 {
		return refuse(resultAudience, "was not given to %s, which azp must say", p.cfg.ClientID)
	}
	if subject, err := c.subject(); err != nil {
		return err
	} else if subject == "" {
		return refuse(resultClaims, "has no sub")
	}
	issued, there, err := c.time("iat")
	if err != nil {
		return err
	}
	if expires, _, _ := c.time("exp"); !there || issued.After(expires.Add(leeway)) {
		return refuse(resultClaims, "has no iat, or one after its exp")
	}
	if nonce != nil {
		own, _, err := c.text("nonce")
		if err != nil {
			return err
		}
		if *nonce == "" || subtle.ConstantTimeCompare([]byte(own), []byte(*nonce)) != 1 {
			return refuse(resultClaims, "has another nonce than this sign-in's")
		}
	}
	hash, there, err := c.text("at_hash")
	if err != nil {
		return err
	}
	if there && subtle.ConstantTimeCompare([]byte(hash), []byte(halfHash(token.algorithm, accessToken))) != 1 {
		return refuse(resultClaims, "came with another access token than its at_hash is of")
	}
	return nil
}

// halfHash is the left half of a token's hash, with the hash of the signature's algorithm.
func halfHash(algorithm jose.SignatureAlgorithm, token string) string {
	var sum []byte
	switch {
	case slices.Contains([]jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256}, algorithm):
		s := sha256.Sum256([]byte(token))
		sum = s[:]
	case slices.Contains([]jose.SignatureAlgorithm{jose.RS384, jose.PS384, jose.ES384}, algorithm):
		s := sha512.Sum384([]byte(token))
		sum = s[:]
	default: // with EdDSA's own curve too
		s := sha512.Sum512([]byte(token))
		sum = s[:]
	}
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

// about says what a refusal is about.
func about(what string, err error) error {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return &refusal{r.result, what + " " + r.text, r.cause}
	}
	return err
}
