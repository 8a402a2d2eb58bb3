package oidc

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oriel/server/auth"
	"oriel/server/embedded/idp"
	"oriel/server/fault"
)

const (
	demoRedirect = "http://127.0.0.1:8080/auth/callback"
	demoOut      = "http://127.0.0.1:8080/signed-out"
)

// demoBrowser follows everything but the way back to us.
func demoBrowser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "127.0.0.1:8080" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// visit opens an address, clicks on a person where it is asked, and returns where it is led back to us.
func visit(t *testing.T, browser *http.Client, address, person string) *url.URL {
	t.Helper()
	answer, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	if hidden := regexp.MustCompile(`name="request" value="([^"]+)"`).FindSubmatch(page); hidden != nil {
		form := url.Values{"request": {string(hidden[1])}, "person": {person}}
		answer, err = browser.PostForm(answer.Request.URL.ResolveReference(&url.URL{Path: "/sign-in"}).String(), form)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	back, err := answer.Location()
	if err != nil {
		t.Fatalf("%s: %s: %s", address, answer.Status, page)
	}
	return back
}

func TestTheDemosProviderSignsInRefreshesTakesARoleAwayAndSignsOut(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ada := idp.Person{Username: "analyst-1", Password: "sesame", Name: "Ada", Email: "ada@example.com", Roles: []string{"analyst"}}
	var demoted atomic.Bool
	server, err := idp.Start(t.Context(), idp.Config{
		Listener: listener, DataDir: t.TempDir(), ClientID: "oriel-demo", Audience: testAudience,
		Redirects: []string{demoRedirect}, SignedOut: []string{demoOut},
		Machine: idp.Machine{ID: "machine", Secret: "machine secret", Scopes: []string{auth.ScopeEventsWrite}},
		Reread: func() ([]idp.Person, error) {
			now := ada
			if demoted.Load() {
				now.Roles = nil
			}
			return []idp.Person{now}, nil
		},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	p := newProvider(t, Config{
		Issuer: server.Issuer(), ClientID: "oriel-demo", Scopes: []string{"openid", "profile", "email", "offline_access"},
		Audience: testAudience, RoleClaim: "roles", RoleValues: map[string][]string{auth.RoleAnalyst: {"analyst"}},
	})
	browser := demoBrowser(t)
	start, err := p.Begin(t.Context(), demoRedirect, "the state")
	if err != nil {
		t.Fatal(err)
	}
	back := visit(t, browser, start.URL, "analyst-1").Query()
	if back.Get("state") != "the state" || back.Get("iss") != server.Issuer() {
		t.Fatalf("came back with %v", back)
	}
	callback := Callback{Code: back.Get("code"), Issuer: back.Get("iss"), Nonce: start.Nonce, Verifier: start.Verifier, Redirect: demoRedirect}
	mixedUp := callback
	mixedUp.Issuer = "http://127.0.0.1:1"
	_, err = p.Finish(t.Context(), mixedUp)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonSignInRejected)
	who, err := p.Finish(t.Context(), callback)
	if err != nil {
		t.Fatal(err)
	}
	if who.Subject != "analyst-1" || who.Name != "Ada" || who.Role != auth.RoleAnalyst || who.RefreshToken == "" || who.IDToken == "" {
		t.Errorf("got %+v", who)
	}
	_, err = p.Finish(t.Context(), callback)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonSignInRefused)

	// A code that was used twice may have cost its refresh token, so sign in anew.
	start, err = p.Begin(t.Context(), demoRedirect, "s")
	if err != nil {
		t.Fatal(err)
	}
	back = visit(t, browser, start.URL, "analyst-1").Query()
	wrong := Callback{Code: back.Get("code"), Issuer: back.Get("iss"), Nonce: random(), Verifier: start.Verifier, Redirect: demoRedirect}
	_, err = p.Finish(t.Context(), wrong)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonSignInRejected)
	start, err = p.Begin(t.Context(), demoRedirect, "s")
	if err != nil {
		t.Fatal(err)
	}
	back = visit(t, browser, start.URL, "analyst-1").Query()
	who, err = p.Finish(t.Context(), Callback{Code: back.Get("code"), Issuer: back.Get("iss"), Nonce: start.Nonce, Verifier: start.Verifier, Redirect: demoRedirect})
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Refresh(t.Context(), who.RefreshToken)
	if err != nil || again.Role != auth.RoleAnalyst || again.Subject != who.Subject || again.RefreshToken == who.RefreshToken || again.RefreshToken == "" {
		t.Fatalf("got %+v, %v", again, err)
	}
	demoted.Store(true)
	again, err = p.Refresh(t.Context(), again.RefreshToken)
	if err != nil || again.Role != "" {
		t.Fatalf("without the role: %+v, %v", again, err)
	}
	idToken := again.IDToken
	if out := visit(t, browser, p.SignOutURL(t.Context(), idToken, demoOut), ""); !strings.HasPrefix(out.String(), demoOut) {
		t.Errorf("signed out to %s", out)
	}
	_, err = p.Refresh(t.Context(), again.RefreshToken)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonSessionExpired)

	machine, err := p.Verify(t.Context(), machineJWT(t, server.Issuer()))
	if err != nil {
		t.Fatal(err)
	}
	if machine.Name != "machine" || !slices.Equal(machine.Scopes, []string{auth.ScopeEventsWrite}) {
		t.Errorf("got %+v", machine)
	}
	_, err = p.Verify(t.Context(), idToken)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
}

// machineJWT is a JWT that a machine gets for itself.
func machineJWT(t *testing.T, issuer string) string {
	t.Helper()
	client := demoBrowser(t)
	var metadata struct {
		Token string `json:"token_endpoint"`
	}
	answer, err := client.Get(issuer + pathMetadata)
	if err != nil {
		t.Fatal(err)
	}
	err = json.NewDecoder(answer.Body).Decode(&metadata)
	answer.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {auth.ScopeEventsWrite}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, metadata.Token, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("machine", url.QueryEscape("machine secret"))
	answer, err = client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var token struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&token); err != nil || token.Access == "" {
		t.Fatalf("%s: %v", answer.Status, err)
	}
	return token.Access
}
