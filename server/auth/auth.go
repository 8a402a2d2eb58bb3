// Package auth says who is asking: API tokens, scopes and the demo's fixed analyst.
//
// It promises that a revoked token stops working within two seconds on every replica while the
// database answers, and that a token seen valid within ten minutes keeps working while it does not.
// It knows no HTTP framework and never sees a request.
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

// Principal is an authenticated caller. It is shared between requests: nobody changes one.
type Principal struct {
	Name           string
	Roles          []string
	Scopes         []string
	SourcePrefixes []string // nil: any source
}

// Has tells whether the caller holds a scope.
func (p *Principal) Has(scope string) bool { return slices.Contains(p.Scopes, scope) }

// DemoAnalyst is who a browser on the demo's own machine is: it may read events and nothing else.
func DemoAnalyst() *Principal {
	return &Principal{Name: "Demo analyst", Roles: []string{RoleAnalyst}, Scopes: []string{ScopeEventsRead}}
}
