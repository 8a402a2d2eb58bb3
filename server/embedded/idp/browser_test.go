package idp_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	Error       string `json:"error"`
}

func answer(t *testing.T, p page) tokenAnswer {
	t.Helper()
	var a tokenAnswer
	if err := json.Unmarshal([]byte(p.body), &a); err != nil {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	return a
}

func TestWhoIsSignedInIsNotAskedAgainUnlessTheClientWishesIt(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.browser(t)
	b.signIn("analyst-1")
	for name, c := range map[string]struct {
		more  []oauth2.AuthCodeOption
		asked bool
	}{
		"nothing said":              {nil, false},
		"none may be asked":         {[]oauth2.AuthCodeOption{oauth2.SetAuthURLParam("prompt", "none")}, false},
		"signed in within the hour": {[]oauth2.AuthCodeOption{oauth2.SetAuthURLParam("max_age", "3600")}, false},
		"ask":                       {[]oauth2.AuthCodeOption{oauth2.SetAuthURLParam("prompt", "login")}, true},
		"let them choose":           {[]oauth2.AuthCodeOption{oauth2.SetAuthURLParam("prompt", "select_account")}, true},
		"signed in this instant":    {[]oauth2.AuthCodeOption{oauth2.SetAuthURLParam("max_age", "0")}, true},
	} {
		p := b.get(w.begin(oauth2.GenerateVerifier(), c.more...))
		if asked := p.left == nil; asked != c.asked || p.left != nil && p.left.Query().Get("code") == "" {
			t.Errorf("%s: asked %v, went to %v", name, asked, p.left)
		}
	}
	if p := w.browser(t).get(w.begin(oauth2.GenerateVerifier())); p.left != nil {
		t.Error("another browser is signed in as well")
	}
	// Asked again, they may be somebody else.
	verifier := oauth2.GenerateVerifier()
	code := b.click(w.begin(verifier, oauth2.SetAuthURLParam("prompt", "login")), "admin-1").code(t)
	token, err := w.oauth.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
	if err != nil || w.idToken(t, token).Subject != "admin-1" {
		t.Errorf("signed in as %v, %v", token, err)
	}
}

func TestSignOutEndsTheSessionAndItsRefreshTokens(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.browser(t)
	token, other := b.signIn("analyst-1"), w.browser(t).signIn("analyst-1")
	hint, _ := token.Extra("id_token").(string)
	end := w.Issuer() + "/end_session?" + url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {signedOut}, "state": {"s 1"}}.Encode()
	if p := b.get(end); p.left == nil || p.left.String() != signedOut+"?state=s+1" {
		t.Fatalf("went to %v, %d %s", p.left, p.status, p.body)
	}
	if p := b.get(w.begin(oauth2.GenerateVerifier())); p.left != nil {
		t.Error("still signed in")
	}
	_, err := w.refresh(t.Context(), token.RefreshToken)
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("the refresh token gave %s", got)
	}
	if _, err := w.refresh(t.Context(), other.RefreshToken); err != nil {
		t.Errorf("another browser was signed out as well: %v", err)
	}
}

func TestSignOutGoesToKnownAddressesOnly(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.browser(t)
	hint, _ := b.signIn("analyst-1").Extra("id_token").(string)
	for name, q := range map[string]url.Values{
		"an unknown address":       {"id_token_hint": {hint}, "post_logout_redirect_uri": {"https://evil.example/"}},
		"another path":             {"id_token_hint": {hint}, "post_logout_redirect_uri": {signedOut + "/x"}},
		"another port":             {"client_id": {clientID}, "post_logout_redirect_uri": {"http://127.0.0.1:8082/signed-out"}},
		"a token that is not ours": {"id_token_hint": {hint[:len(hint)-8] + "AAAAAAAA"}, "post_logout_redirect_uri": {signedOut}},
	} {
		if p := b.get(w.Issuer() + "/end_session?" + q.Encode()); p.status != http.StatusBadRequest || p.left != nil {
			t.Errorf("%s gave %d to %v", name, p.status, p.left)
		}
	}
	if p := b.get(w.begin(oauth2.GenerateVerifier())); p.left == nil {
		t.Error("a refused sign-out signed out")
	}
}

func TestSignOutWithoutATokenAsksFirst(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.browser(t)
	b.signIn("analyst-1")
	p := b.get(w.Issuer() + "/end_session?" + url.Values{"client_id": {clientID}, "post_logout_redirect_uri": {signedOut}}.Encode())
	if p.left != nil || !strings.Contains(p.body, "analyst-1") {
		t.Fatalf("%d to %v\n%s", p.status, p.left, p.body)
	}
	form := url.Values{
		"client_id": {p.hidden(t, "client_id")}, "post_logout_redirect_uri": {p.hidden(t, "post_logout_redirect_uri")},
		"state": {p.hidden(t, "state")}, "confirm": {"yes"},
	}
	if p := b.post("/end_session", form, "Origin", "https://evil.example"); p.left != nil {
		t.Error("another site confirmed it")
	}
	if p := b.get(w.begin(oauth2.GenerateVerifier())); p.left == nil {
		t.Fatal("signed out without being asked")
	}
	if p := b.post("/end_session", form, "Origin", w.Issuer()); p.left == nil || p.left.String() != signedOut {
		t.Fatalf("%d to %v", p.status, p.left)
	}
	if p := b.get(w.begin(oauth2.GenerateVerifier())); p.left != nil {
		t.Error("still signed in")
	}
}

func TestASignInBelongsToTheBrowserThatBeganIt(t *testing.T) {
	t.Parallel()
	w := start(t)
	attacker, victim := w.browser(t), w.browser(t)
	verifier := oauth2.GenerateVerifier()
	request := attacker.get(w.begin(verifier)).hidden(t, "request")
	victim.signIn("admin-1") // the victim knows the provider and has its cookies
	if p := victim.get(w.Issuer() + "/sign-in?request=" + request); p.status != http.StatusGone || p.left != nil {
		t.Errorf("the lure gave %d to %v", p.status, p.left)
	}
	if p := victim.post("/sign-in", url.Values{"request": {request}, "person": {"admin-1"}}); p.status != http.StatusGone {
		t.Errorf("the form gave %d to %v", p.status, p.left)
	}
	if p := attacker.post("/sign-in", url.Values{"request": {request}, "person": {"analyst-1"}}, "Origin", "https://evil.example"); p.status != http.StatusForbidden {
		t.Errorf("another site's form gave %d to %v", p.status, p.left)
	}
	if p := attacker.post("/sign-in", url.Values{"request": {request}, "person": {"analyst-1"}}, "Sec-Fetch-Site", "same-site"); p.status != http.StatusForbidden {
		t.Errorf("another port's form gave %d to %v", p.status, p.left)
	}
	if p := w.browser(t).post("/sign-in", url.Values{"person": {"admin-1"}}); p.status != http.StatusGone {
		t.Errorf("no request at all gave %d to %v", p.status, p.left)
	}
}

func TestAFinishedSignInIsOverAndASecondClickBeforeThatDoesNoHarm(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.browser(t)
	verifier := oauth2.GenerateVerifier()
	request := b.get(w.begin(verifier)).hidden(t, "request")
	form := url.Values{"request": {request}, "person": {"analyst-1"}}
	b.post("/sign-in", form).code(t)
	if _, err := w.oauth.Exchange(t.Context(), b.post("/sign-in", form).code(t), oauth2.VerifierOption(verifier)); err != nil {
		t.Fatal(err)
	}
	if p := b.post("/sign-in", form); p.status != http.StatusGone || !strings.Contains(p.body, "start again") {
		t.Errorf("the button of a sign-in that is over gave %d", p.status)
	}
}

func TestPagesHaveNoScriptAndAStrictPolicy(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.browser(t).get(w.begin(oauth2.GenerateVerifier()))
	policy := p.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self' http://127.0.0.1:8080"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%q is missing in %q", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") || strings.Contains(p.body, "<script") || strings.Contains(p.body, " style=") {
		t.Errorf("scripts or inline styles: %s", policy)
	}
	for _, want := range []string{"identity provider", "Ada", "analyst-1", "Adam", "admin-1", `type="password"`} {
		if !strings.Contains(p.body, want) {
			t.Errorf("%q is missing on the page", want)
		}
	}
	if got := p.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the page may be kept: %q", got)
	}
	for _, path := range []string{"/style.css", "/mark.svg", "/signed-out"} {
		if p := w.browser(t).get(w.Issuer() + path); p.status != http.StatusOK || p.body == "" {
			t.Errorf("%s gave %d", path, p.status)
		}
	}
	for _, path := range []string{"/oauth/introspect", "/revoke", "/device_authorization", "/authorize/callback?id=x", "/healthz", "/"} {
		if p := w.browser(t).get(w.Issuer() + path); p.status != http.StatusNotFound {
			t.Errorf("%s gave %d", path, p.status)
		}
	}
}

func TestAForeignHostIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(w.Issuer(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		"127.0.0.1:" + port: 200, "localhost:" + port: 200, "[::1]:" + port: 200,
		"evil.example:" + port: 403, "127.0.0.1": 403, "127.0.0.1.evil.example:" + port: 403, "localhost:1": 403,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.Issuer()+"/.well-known/openid-configuration", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		if p := w.browser(t).do(r); p.status != want {
			t.Errorf("Host %s gave %d", host, p.status)
		}
	}
}
