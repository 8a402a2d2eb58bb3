package idp

import (
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const tokenLife = 5 * time.Minute

// client is the browser app, or the machine.
type client struct {
	id        string
	redirects []string
	signedOut []string
	machine   bool
}

func (c *client) GetID() string                    { return c.id }
func (c *client) RedirectURIs() []string           { return c.redirects }
func (c *client) PostLogoutRedirectURIs() []string { return c.signedOut }

// ApplicationType is not the native one, whose loopback addresses would match at any port.
func (c *client) ApplicationType() op.ApplicationType { return op.ApplicationTypeUserAgent }

// DevMode lets the addresses be plain http, which they are on loopback.
func (c *client) DevMode() bool { return true }

func (c *client) AuthMethod() oidc.AuthMethod {
	if c.machine {
		return oidc.AuthMethodBasic
	}
	return oidc.AuthMethodNone
}

func (c *client) ResponseTypes() []oidc.ResponseType {
	if c.machine {
		return nil
	}
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}

func (c *client) GrantTypes() []oidc.GrantType {
	if c.machine {
		return []oidc.GrantType{oidc.GrantTypeClientCredentials}
	}
	return []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken}
}

func (c *client) LoginURL(request string) string { return signInPath + "?request=" + request }

// AccessTokenType is a JWT: nothing has to be kept until it expires.
func (c *client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

func (c *client) IDTokenLifetime() time.Duration { return tokenLife }
func (c *client) ClockSkew() time.Duration       { return 0 }

func (c *client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return slices.Clone[[]string]
}

func (c *client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return slices.Clone[[]string]
}
func (c *client) IsScopeAllowed(string) bool { return false }

// IDTokenUserinfoClaimsAssertion puts name, email and roles into the ID token as well.
func (c *client) IDTokenUserinfoClaimsAssertion() bool { return true }
