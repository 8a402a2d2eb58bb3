package idp

import (
	"context"
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// claimsOf are what is said about a person, in the ID token and at userinfo alike.
func claimsOf(info *oidc.UserInfo, p Person) {
	info.Subject = p.Username
	info.Name, info.PreferredUsername = p.Name, p.Username
	info.Email, info.EmailVerified = p.Email, true
	if len(p.Roles) > 0 { // who has none has no such claim either, as with other providers
		info.AppendClaims("roles", p.Roles)
	}
}

// SetUserinfoFromRequest fills an ID token.
func (s *store) SetUserinfoFromRequest(_ context.Context, info *oidc.UserInfo, in op.IDTokenRequest, _ []string) error {
	p, ok := s.people.find(in.GetSubject())
	if !ok {
		return oidc.ErrInvalidGrant().WithDescription("the person is gone")
	}
	claimsOf(info, p)
	switch r := in.(type) {
	case *request:
		info.AppendClaims("sid", r.session.id)
	case *refresh:
		info.AppendClaims("sid", r.grant.Session)
	}
	return nil
}

// SetUserinfoFromToken answers userinfo; a machine has none.
func (s *store) SetUserinfoFromToken(_ context.Context, info *oidc.UserInfo, _, subject, _ string) error {
	p, ok := s.people.find(subject)
	if !ok {
		return oidc.ErrAccessDenied().WithDescription("the token is no person's")
	}
	claimsOf(info, p)
	return nil
}

// GetPrivateClaimsFromRequest are an access token's claims beside the standard ones.
func (s *store) GetPrivateClaimsFromRequest(_ context.Context, in op.TokenRequest, _ []string) (map[string]any, error) {
	return map[string]any{"scope": strings.Join(in.GetScopes(), " ")}, nil
}

// What follows the library asks for and this provider has no use of, or no route to.

func (s *store) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil // SetUserinfoFromRequest does it
}

func (s *store) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return nil, errNotOffered // GetPrivateClaimsFromRequest does it
}

func (s *store) TerminateSession(context.Context, string, string) error { return errNotOffered }

func (s *store) RevokeToken(context.Context, string, string, string) *oidc.Error {
	return oidc.ErrServerError().WithParent(errNotOffered)
}

func (s *store) GetRefreshTokenInfo(context.Context, string, string) (string, string, error) {
	return "", "", errors.Join(op.ErrInvalidRefreshToken, errNotOffered)
}

func (s *store) SetIntrospectionFromToken(context.Context, *oidc.IntrospectionResponse, string, string, string) error {
	return errNotOffered
}

func (s *store) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return nil, errNotOffered
}

func (s *store) ValidateJWTProfileScopes(context.Context, string, []string) ([]string, error) {
	return nil, errNotOffered
}

func (s *store) Health(context.Context) error { return nil }
