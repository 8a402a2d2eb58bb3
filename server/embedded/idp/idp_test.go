package idp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"oriel/server/embedded/idp"
)

const (
	clientID  = "oriel-demo"
	redirect  = "http://127.0.0.1:8080/auth/callback"
	signedOut = "http://127.0.0.1:8080/signed-out"
)

// world is a provider and what a client and a browser need to use it.
type world struct {
	*idp.Server
	provider *gooidc.Provider
	oauth    *oauth2.Config
	dir      string

	mu     sync.Mutex
	people []idp.Person
}

func (w *world) setPeople(people ...idp.Person) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.people = people
}

func ada() idp.Person {
	return idp.Person{Username: "analyst-1", Password: "sesame-1", Name: "Ada", Email: "ada@example.com", Roles: []string{"analyst"}}
}

func adam() idp.Person {
	return idp.Person{Username: "admin-1", Password: "sesame-3", Name: "Adam", Email: "adam@example.com", Roles: []string{"admin"}}
}

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func start(t *testing.T) *world {
	t.Helper()
	return startIn(t, t.TempDir(), listen(t, "127.0.0.1:0"))
}

func startIn(t *testing.T, dir string, l net.Listener) *world {
	t.Helper()
	w := &world{dir: dir, people: []idp.Person{ada(), adam()}}
	var err error
	w.Server, err = idp.Start(t.Context(), idp.Config{
		Listener: l, DataDir: dir, ClientID: clientID, Audience: "oriel",
		Redirects: []string{redirect, "http://localhost:8080/auth/callback", "http://[::1]:8080/auth/callback"},
		SignedOut: []string{signedOut},
		Machine:   idp.Machine{ID: "oriel-machine", Secret: "machine secret", Scopes: []string{"events:write", "events:read"}},
		Reread: func() ([]idp.Person, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.Clone(w.people), nil
		},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.stop(t) })
	if w.provider, err = gooidc.NewProvider(t.Context(), w.Issuer()); err != nil {
		t.Fatal(err)
	}
	w.oauth = &oauth2.Config{
		ClientID: clientID, Endpoint: w.provider.Endpoint(), RedirectURL: redirect,
		Scopes: []string{"openid", "profile", "email", "offline_access"},
	}
	w.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	return w
}

func (w *world) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	if err := w.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// browser keeps cookies, stops at redirects that leave the provider, and reads forms.
type browser struct {
	t    *testing.T
	w    *world
	http *http.Client
}

func (w *world) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, w, &http.Client{Jar: jar, Timeout: 10 * time.Second, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), w.Issuer()+"/") {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
}

// page is where a browser has arrived.
type page struct {
	status int
	body   string
	left   *url.URL // where the provider sent it away to
	header http.Header
}

func (b *browser) do(r *http.Request) page {
	b.t.Helper()
	res, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	p := page{res.StatusCode, string(body), nil, res.Header}
	if to := res.Header.Get("Location"); to != "" {
		if p.left, err = url.Parse(to); err != nil {
			b.t.Fatal(err)
		}
	}
	return p
}

func (b *browser) get(address string) page {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r)
}

func (b *browser) post(path string, form url.Values, header ...string) page {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.w.Issuer()+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return b.do(r)
}

// hidden is a hidden field of the page.
func (p page) hidden(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`<input type="hidden" name="` + name + `" value="([^"]*)">`).FindStringSubmatch(p.body)
	if m == nil {
		t.Fatalf("no field %s on the page (%d):\n%s", name, p.status, p.body)
	}
	return m[1]
}

// code is what the browser brings back to the client.
func (p page) code(t *testing.T) string {
	t.Helper()
	if p.left == nil || !strings.HasPrefix(p.left.String(), redirect+"?") || p.left.Query().Get("code") == "" {
		t.Fatalf("no code came back: %d, %v\n%s", p.status, p.left, p.body)
	}
	return p.left.Query().Get("code")
}

func (w *world) begin(verifier string, more ...oauth2.AuthCodeOption) string {
	return w.oauth.AuthCodeURL("the state", append(more, gooidc.Nonce("the nonce"), oauth2.S256ChallengeOption(verifier))...)
}

// click signs in by the button of a person.
func (b *browser) click(begin, person string) page {
	b.t.Helper()
	p := b.get(begin)
	return b.post("/sign-in", url.Values{"request": {p.hidden(b.t, "request")}, "person": {person}})
}

// signIn is the whole flow.
func (b *browser) signIn(person string) *oauth2.Token {
	b.t.Helper()
	verifier := oauth2.GenerateVerifier()
	token, err := b.w.oauth.Exchange(b.t.Context(), b.click(b.w.begin(verifier), person).code(b.t), oauth2.VerifierOption(verifier))
	if err != nil {
		b.t.Fatal(err)
	}
	return token
}

// claims are a token's, verified.
type claims struct {
	Subject  string   `json:"sub"`
	Name     string   `json:"name"`
	Email    string   `json:"email"`
	Username string   `json:"preferred_username"`
	Nonce    string   `json:"nonce"`
	SID      string   `json:"sid"`
	Roles    []string `json:"roles"`
}

func (w *world) idToken(t *testing.T, token *oauth2.Token) claims {
	t.Helper()
	raw, _ := token.Extra("id_token").(string)
	verified, err := w.provider.Verifier(&gooidc.Config{ClientID: clientID}).Verify(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	var c claims
	if err := verified.Claims(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) refresh(ctx context.Context, token string) (*oauth2.Token, error) {
	return w.oauth.TokenSource(ctx, &oauth2.Token{RefreshToken: token}).Token()
}

// failure is the error that a token request was refused with.
func failure(t *testing.T, err error) string {
	t.Helper()
	e := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("no refusal: %v", err)
	}
	var answer struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(e.Body, &answer) != nil {
		t.Fatalf("not JSON: %s", e.Body)
	}
	return answer.Error
}
