// Package auth says who is asking: people by their sessions, machines by API tokens, and what each may do.
//
// It promises that a revoked token stops working within two seconds on every replica while the
// database answers, and that a token seen valid within ten minutes keeps working while it does not; that
// a session that was ended is refused at the next request on every replica, and that roles taken away at
// the identity provider are gone at the next check. Secrets of ours are stored as hashes, the provider's
// are sealed. It knows neither HTTP nor the provider's protocol and never sees a request.
package auth

import "slices"

// The scopes a token may have.
const (
	ScopeEventsWrite = "events:write"
	ScopeEventsRead  = "events:read"
	ScopeOperate     = "operate"
	ScopeAdminRead   = "admin:read"
	ScopeAdminWrite  = "admin:write"
)

// Scopes lists every scope there is.
func Scopes() []string {
	return []string{ScopeEventsWrite, ScopeEventsRead, ScopeOperate, ScopeAdminRead, ScopeAdminWrite}
}

// The roles of a person, each including the one before.
const (
	RoleAnalyst  = "analyst"
	RoleOperator = "operator"
	RoleAdmin    = "admin"
)

// RoleScopes are the scopes of a person with a role: reading for an analyst, and so on upwards. Nobody
// writes events by hand.
func RoleScopes(role string) []string {
	switch role {
	case RoleAnalyst:
		return []string{ScopeEventsRead}
	case RoleOperator:
		return []string{ScopeEventsRead, ScopeOperate}
	case RoleAdmin:
		return []string{ScopeEventsRead, ScopeOperate, ScopeAdminRead, ScopeAdminWrite}
	}
	return nil
}

// RoleFor is the lowest role that has a scope; empty where no role has.
func RoleFor(scope string) string {
	for _, role := range []string{RoleAnalyst, RoleOperator, RoleAdmin} {
		if slices.Contains(RoleScopes(role), scope) {
			return role
		}
	}
	return ""
}

// Kind says what a caller is.
type Kind string

// The kinds of callers.
const (
	KindPerson   Kind = "person"   // signed in at the identity provider
	KindToken    Kind = "token"    // an API token
	KindWorkload Kind = "workload" // a JWT of the identity provider
)

// Principal is an authenticated caller. It is shared between requests: nobody changes one.
type Principal struct {
	Kind           Kind
	ID             string // stable and unique: "tokens/7", or issuer#subject
	Name           string
	Email          string
	Roles          []string // of a person, each with the ones before it
	Scopes         []string
	SourcePrefixes []string // nil: any source
	Session        *Session // of a person
}

// Has tells whether the caller holds a scope.
func (p *Principal) Has(scope string) bool { return slices.Contains(p.Scopes, scope) }

// Identity is what the identity provider says about a person.
type Identity struct {
	Issuer, Subject, Name, Email string
	Role                         string // the highest; empty: none
	RefreshToken                 string // empty: the provider gave none
	IDToken                      string // for the provider's own sign-out
}

// RolesUpTo are a role and the ones it includes, lowest first; none for an empty one.
func RolesUpTo(role string) []string {
	all := []string{RoleAnalyst, RoleOperator, RoleAdmin}
	return all[:slices.Index(all, role)+1]
}
