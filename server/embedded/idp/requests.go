package idp

import (
	"context"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// session is a browser that somebody has signed in from. It lives in memory.
type session struct {
	id       string // sid in tokens; not the cookie's value
	person   string
	authTime time.Time
}

// request is one sign-in under way. It is never changed: done makes another one.
type request struct {
	id      string
	browser string // digest of the cookie of the browser that began it, and that alone may go on
	in      oidc.AuthRequest
	hinted  string // the person of the id_token_hint
	session session
}

func (r *request) done(s session) *request {
	finished := *r
	finished.session = s
	return &finished
}

// suits tells whether the person need not be asked again.
func (r *request) suits(s session, now time.Time) bool {
	if s.person == "" || r.hinted != "" && r.hinted != s.person || slices.Contains(r.in.Prompt, oidc.PromptSelectAccount) {
		return false
	}
	return r.in.MaxAge == nil || now.Sub(s.authTime) < time.Duration(*r.in.MaxAge)*time.Second
}

func (r *request) GetID() string                      { return r.id }
func (r *request) GetACR() string                     { return "" }
func (r *request) GetAMR() []string                   { return []string{"pwd"} }
func (r *request) GetAudience() []string              { return []string{r.in.ClientID} }
func (r *request) GetAuthTime() time.Time             { return r.session.authTime }
func (r *request) GetClientID() string                { return r.in.ClientID }
func (r *request) GetNonce() string                   { return r.in.Nonce }
func (r *request) GetRedirectURI() string             { return r.in.RedirectURI }
func (r *request) GetResponseType() oidc.ResponseType { return r.in.ResponseType }
func (r *request) GetResponseMode() oidc.ResponseMode { return r.in.ResponseMode }
func (r *request) GetScopes() []string                { return r.in.Scopes }
func (r *request) GetState() string                   { return r.in.State }
func (r *request) GetSubject() string                 { return r.session.person }
func (r *request) Done() bool                         { return r.session.person != "" }
func (r *request) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: r.in.CodeChallenge, Method: r.in.CodeChallengeMethod}
}

// refresh is a use of a refresh token.
type refresh struct {
	grant  grant
	client string
	scopes []string
}

func (r *refresh) GetAMR() []string                 { return []string{"pwd"} }
func (r *refresh) GetAudience() []string            { return []string{r.client} }
func (r *refresh) GetAuthTime() time.Time           { return r.grant.AuthTime }
func (r *refresh) GetClientID() string              { return r.client }
func (r *refresh) GetScopes() []string              { return r.scopes }
func (r *refresh) GetSubject() string               { return r.grant.Subject }
func (r *refresh) SetCurrentScopes(scopes []string) { r.scopes = scopes }

// machineRequest is a machine's wish for a token of its own.
type machineRequest struct {
	id, audience string
	scopes       []string
}

func (m *machineRequest) GetSubject() string    { return m.id }
func (m *machineRequest) GetAudience() []string { return []string{m.audience} }
func (m *machineRequest) GetScopes() []string   { return m.scopes }

// asking is what the storage must know of the browser behind an authorization request, and of the sign-in
// that gets a code. The library passes a context alone.
type asking struct {
	browser string
	session session
	done    *request
}

type askingKey struct{}

func withAsking(ctx context.Context, a asking) context.Context {
	return context.WithValue(ctx, askingKey{}, a)
}

func askingFrom(ctx context.Context) asking {
	a, _ := ctx.Value(askingKey{}).(asking)
	return a
}
