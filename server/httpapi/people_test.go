package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/auth/oidc"
	"oriel/server/fault"
	"oriel/server/saved"
)

// opaque is a value of the shape that cookies and states have, always the same for a text.
func opaque(of string) string {
	h := sha256.Sum256([]byte(of))
	return base64.RawURLEncoding.EncodeToString(h[:])
}

// Cookies of the people that every rig knows.
var (
	analystCookie  = opaque("analyst")
	operatorCookie = opaque("operator")
	adminCookie    = opaque("admin")
	guestCookie    = opaque("guest") // signed in, without a role
	expiredCookie  = opaque("expired")
)

var signedInAt = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

func person(name, role string) *auth.Principal {
	return &auth.Principal{
		Kind: auth.KindPerson, ID: "https://login.example.com#" + name, Name: name, Email: name + "@example.com",
		Roles: auth.RolesUpTo(role), Scopes: auth.RoleScopes(role),
		Session: &auth.Session{Created: signedInAt, Expires: time.Now().Add(10 * time.Hour), Idle: 8 * time.Hour},
	}
}

// desk keeps sessions and sign-ins in memory, as *auth.Sessions keeps them in the database.
type desk struct {
	mu       sync.Mutex
	people   map[string]*auth.Principal
	signIns  map[string]auth.SignIn // by state and browser
	began    []auth.SignIn
	verified int
	made     int
	fail     error // of Begin, Finish and Create
}

func newDesk() *desk {
	return &desk{signIns: map[string]auth.SignIn{}, people: map[string]*auth.Principal{
		analystCookie: person("ada", auth.RoleAnalyst), operatorCookie: person("otto", auth.RoleOperator),
		adminCookie: person("adam", auth.RoleAdmin), guestCookie: person("gus", ""),
	}}
}

func (d *desk) Begin(_ context.Context, in auth.SignIn) (state, browser string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return "", "", d.fail
	}
	d.made++
	state, browser = opaque("state"+string(rune(d.made))), in.Browser
	if browser == "" {
		browser = opaque("browser" + string(rune(d.made)))
	}
	d.began = append(d.began, in)
	d.signIns[state+browser] = in
	return state, browser, nil
}

func (d *desk) Finish(_ context.Context, state, browser string) (auth.SignIn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	in, ok := d.signIns[state+browser]
	if !ok {
		return in, fault.New(fault.Unauthenticated, fault.ReasonSignInState, "This sign-in was used.")
	}
	delete(d.signIns, state+browser)
	return in, d.fail
}

func (d *desk) Create(ctx context.Context, id *auth.Identity, old string, with auth.InTx) (string, *auth.Principal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return "", nil, d.fail
	}
	if err := with(ctx, nil); err != nil {
		return "", nil, err
	}
	d.made++
	value, p := opaque("session"+string(rune(d.made))), person(id.Name, id.Role)
	delete(d.people, old)
	d.people[value] = p
	return value, p, nil
}

func (d *desk) Verify(_ context.Context, cookie string) (*auth.Principal, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.verified++
	if p, ok := d.people[cookie]; ok {
		return p, nil
	}
	return nil, fault.New(fault.Unauthenticated, fault.ReasonSessionExpired, "The session has ended. Sign in again.")
}

func (d *desk) End(ctx context.Context, p *auth.Principal, everywhere bool, with auth.InTx) (int, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ended := 0
	for value, other := range d.people {
		if other == p || everywhere && other.ID == p.ID {
			delete(d.people, value)
			ended++
		}
	}
	return ended, "the-id-token", with(ctx, nil)
}

func (d *desk) knows(cookie string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.people[cookie] != nil
}

func (d *desk) last() auth.SignIn {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.began[len(d.began)-1]
}

// issuer is an identity provider that says what its fields say.
type issuer struct {
	mu        sync.Mutex
	away      error
	identity  *auth.Identity
	rejects   error
	noJWTs    bool
	callbacks []oidc.Callback
}

func newIssuer() *issuer {
	return &issuer{identity: &auth.Identity{Issuer: "https://login.example.com", Subject: "7", Name: "Ada", Role: auth.RoleOperator}}
}

func (i *issuer) Begin(_ context.Context, redirect, state string) (*oidc.Start, error) {
	if i.away != nil {
		return nil, i.away
	}
	q := url.Values{"client_id": {"oriel"}, "redirect_uri": {redirect}, "nonce": {"the-nonce"}}
	if state != "" {
		q.Set("state", state)
	}
	return &oidc.Start{URL: "https://login.example.com/authorize?" + q.Encode(), Nonce: "the-nonce", Verifier: "the-verifier"}, nil
}

func (i *issuer) Finish(_ context.Context, back oidc.Callback) (*auth.Identity, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.callbacks = append(i.callbacks, back)
	return i.identity, i.rejects
}

func (i *issuer) SignOutURL(_ context.Context, idToken, redirect string) string {
	return "https://login.example.com/end?" + url.Values{"id_token_hint": {idToken}, "to": {redirect}}.Encode()
}

func (i *issuer) TakesJWTs() bool { return !i.noJWTs }

func (i *issuer) Verify(_ context.Context, jwt string) (*auth.Principal, error) {
	switch jwt {
	case "ey.writer":
		return &auth.Principal{Kind: auth.KindWorkload, ID: "https://login.example.com#job", Name: "job", Scopes: []string{auth.ScopeEventsWrite}}, nil
	case "ey.away":
		return nil, fault.New(fault.Unavailable, fault.ReasonProviderUnavailable, "Its key cannot be had.")
	}
	return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid, "The JWT is for another audience.")
}

// book keeps what goes on the record.
type book struct {
	mu      sync.Mutex
	entries []audit.Entry
	fail    error
}

func (b *book) Record(_ context.Context, _ pgx.Tx, e audit.Entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return b.fail
	}
	b.entries = append(b.entries, e)
	return nil
}

func (b *book) Begin(context.Context, audit.Entry) (*audit.Operation, error) { return nil, errTold }

func (b *book) List(context.Context, audit.Filter, int, string) (*audit.Page, error) {
	return &audit.Page{}, nil
}

func (b *book) OpenExport(context.Context, audit.Filter) (*audit.Export, error) { return nil, errTold }

// drawer has no tokens and makes none.
type drawer struct{}

func (drawer) Page(context.Context, auth.TokenFilter, int, string) (*auth.TokenPage, error) {
	return &auth.TokenPage{}, nil
}

func (drawer) Create(context.Context, auth.NewToken, auth.WithToken) (*auth.Token, string, error) {
	return nil, "", errTold
}

func (drawer) Revoke(context.Context, int64, string, auth.WithToken) (*auth.Token, error) {
	return nil, errTold
}

// attic has nothing saved and saves nothing.
type attic struct{}

func (attic) List(context.Context, saved.Caller, int, string) (*saved.Page, error) {
	return &saved.Page{}, nil
}

func (attic) Get(context.Context, saved.Caller, int64) (*saved.Search, error) { return nil, errTold }

func (attic) Create(context.Context, saved.Caller, saved.Search, saved.With) (*saved.Search, error) {
	return nil, errTold
}

func (attic) Update(context.Context, saved.Caller, int64, int64, saved.Change, saved.With) (*saved.Search, error) {
	return nil, errTold
}

func (attic) Delete(context.Context, saved.Caller, int64, int64, saved.With) error { return errTold }

func (attic) Link(context.Context, saved.Caller, string) (*saved.Link, error) { return nil, errTold }

func (attic) Follow(context.Context, string) (*saved.Link, error) { return nil, errTold }

func (b *book) all() []audit.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]audit.Entry(nil), b.entries...)
}

// people are the doubles behind an edge where people sign in.
type people struct {
	*edge
	desk   *desk
	issuer *issuer
	book   *book
}

func startPeople(t *testing.T, change ...func(*Deps)) *people {
	t.Helper()
	p := &people{desk: newDesk(), issuer: newIssuer(), book: &book{}}
	p.edge = start(t, append([]func(*Deps){func(d *Deps) {
		d.Sessions, d.Provider, d.Audit, d.TokenAdmin, d.Saved = p.desk, p.issuer, p.book, drawer{}, attic{}
		d.Config.Name, d.Config.Provider, d.Config.Contact = "Test floor", "Example Login", "it@example.com"
		d.Config.Facets = []string{"room", "zone"}
	}}, change...)...)
	return p
}

// deployment is one of the ways in which browsers reach an installation.
type deployment struct {
	public, host, base string
	origin             string
	session, pre, path string // of cookies
	secure             bool
	change             func(*Deps)
	reachedBy          string // what the proxy leaves in front of paths
}

func deployments() map[string]deployment {
	at := func(public string) func(*Deps) { return func(d *Deps) { d.Config.PublicURL = public } }
	return map[string]deployment{
		"https at the root": {
			public: "https://events.example.com", host: "events.example.com", origin: "https://events.example.com",
			session: "__Host-oriel", pre: "__Host-oriel-sign-in", path: "/", secure: true, change: at("https://events.example.com"),
		},
		"https under a base path that the proxy strips": {
			public: "https://example.com/tools/oriel", host: "example.com", base: "/tools/oriel", origin: "https://example.com",
			session: "__Secure-oriel", pre: "__Secure-oriel-sign-in", path: "/tools/oriel", secure: true, change: at("https://example.com/tools/oriel/"),
		},
		"https under a base path that the proxy leaves": {
			public: "https://example.com/oriel", host: "example.com", base: "/oriel", origin: "https://example.com", reachedBy: "/oriel",
			session: "__Secure-oriel", pre: "__Secure-oriel-sign-in", path: "/oriel", secure: true, change: at("https://example.com/oriel"),
		},
		"plain http on loopback": {
			public: "http://127.0.0.1:8099", host: "127.0.0.1:8099", origin: "http://127.0.0.1:8099",
			session: "oriel_8099", pre: "oriel_8099-sign-in", path: "/", change: at("http://127.0.0.1:8099"),
		},
	}
}

// browse sends a browser's navigation, with cookies as "name=value".
func (p *people) browse(d deployment, path string, cookies ...string) reply {
	p.t.Helper()
	header := []string{"Host", d.host, "Sec-Fetch-Site", "cross-site"}
	if len(cookies) > 0 {
		header = append(header, "Cookie", strings.Join(cookies, "; "))
	}
	return p.do(p.request("GET", d.reachedBy+path, "", header...))
}

// cookieNamed is a cookie that the answer sets.
func (r reply) cookieNamed(t *testing.T, name string) *http.Cookie {
	t.Helper()
	for _, c := range r.Cookies() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no cookie %s in %v", name, r.Header["Set-Cookie"])
	return nil
}

func locationOf(t *testing.T, r reply, status int) *url.URL {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("got %d %s", r.StatusCode, r.body)
	}
	u, err := url.Parse(r.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var errTold = errors.New("as told")
