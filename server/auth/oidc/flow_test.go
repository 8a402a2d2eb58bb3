package oidc

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"oriel/server/auth"
	"oriel/server/fault"
)

func TestAPersonSignsInRefreshesAndSignsOut(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.idClaims["roles"] = []string{"analyst", "operator"}
	p := newProvider(t, i.config())
	if i.count(pathMetadata) != 0 {
		t.Fatal("New spoke with the provider")
	}
	start, err := p.Begin(t.Context(), testRedirect, "state-1")
	if err != nil {
		t.Fatal(err)
	}
	code, asked := i.authorize(t, start.URL)
	want := map[string]string{
		"response_type": "code", "client_id": testClient, "redirect_uri": testRedirect, "state": "state-1",
		"scope": "openid profile email", "code_challenge_method": "S256", "nonce": start.Nonce,
	}
	for name, value := range want {
		if asked.Get(name) != value {
			t.Errorf("%s is %q, want %q", name, asked.Get(name), value)
		}
	}
	if len(asked) != len(want)+1 || len(start.Nonce) != 43 || asked.Get("code_challenge") == start.Verifier {
		t.Errorf("asked %v", asked)
	}
	who, err := p.Finish(t.Context(), Callback{Code: code, Nonce: start.Nonce, Verifier: start.Verifier, Redirect: testRedirect})
	if err != nil {
		t.Fatal(err)
	}
	if who.IDToken == "" {
		t.Error("the ID token is not kept")
	}
	idToken := who.IDToken
	who.IDToken = ""
	if *who != (auth.Identity{Issuer: i.URL, Subject: "ada-1", Name: "Ada Analyst", Email: "ada@example.com", Role: auth.RoleOperator, RefreshToken: "refresh-1"}) {
		t.Errorf("got %+v", who)
	}
	user, password, _ := (&http.Request{Header: i.lastHeader}).BasicAuth()
	if secret, _ := url.QueryUnescape(password); user != testClient || secret != testSecret || i.lastForm.Has("client_secret") {
		t.Errorf("client authentication %q %q %v", user, password, i.lastForm)
	}
	if i.count(pathUserinfo) != 0 {
		t.Error("userinfo was asked though the ID token said all")
	}

	i.set(func() { i.idClaims["roles"] = "admin" })
	again, err := p.Refresh(t.Context(), who.RefreshToken)
	if err != nil || again.Role != auth.RoleAdmin || again.RefreshToken != "refresh-1+" || again.Subject != "ada-1" || again.IDToken == "" {
		t.Fatalf("got %+v, %v", again, err)
	}
	_, err = p.Refresh(t.Context(), who.RefreshToken)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonSessionExpired)

	out, err := url.Parse(p.SignOutURL(t.Context(), idToken, "https://oriel.example/signed-out"))
	if err != nil {
		t.Fatal(err)
	}
	wantQuery := url.Values{
		"realm": {"staff"}, "id_token_hint": {idToken}, "client_id": {testClient},
		"post_logout_redirect_uri": {"https://oriel.example/signed-out"},
	}
	if out.Path != "/end" || out.RawQuery != wantQuery.Encode() {
		t.Errorf("sign out at %s", out)
	}
}

func TestWhatTheBrowserBringsBackMustHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Callback)
		before func(*issuer)
		reason string
	}{
		"another nonce":    {change: func(b *Callback) { b.Nonce = random() }, reason: fault.ReasonSignInRejected},
		"no nonce kept":    {change: func(b *Callback) { b.Nonce = "" }, reason: fault.ReasonSignInRejected},
		"another verifier": {change: func(b *Callback) { b.Verifier = random() }, reason: fault.ReasonSignInRefused},
		"another callback": {change: func(b *Callback) { b.Redirect += "x" }, reason: fault.ReasonSignInRefused},
		"no nonce kept, none in the ID token": {
			change: func(b *Callback) { b.Nonce = "" }, before: func(i *issuer) { i.idClaims["nonce"] = nil },
			reason: fault.ReasonSignInRejected,
		},
		"an invented code":     {change: func(b *Callback) { b.Code = "x" }, reason: fault.ReasonSignInRefused},
		"another issuer's iss": {change: func(b *Callback) { b.Issuer = "https://evil.example" }, reason: fault.ReasonSignInRejected},
		"no iss where the provider always sends it": {
			before: func(i *issuer) { i.metadata["authorization_response_iss_parameter_supported"] = true },
			reason: fault.ReasonSignInRejected,
		},
		"no ID token": {before: func(i *issuer) { i.noIDToken = true }, reason: fault.ReasonSignInRejected},
		"we are not known": {
			before: func(i *issuer) { i.accept = func(*http.Request, url.Values) string { return "invalid_client" } },
			reason: fault.ReasonSignInRefused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			if c.before != nil {
				c.before(i)
			}
			_, err := signIn(t, i, newProvider(t, i.config()), c.change)
			wantFault(t, err, fault.Unauthenticated, c.reason)
			if c.change != nil && c.reason == fault.ReasonSignInRejected && strings.Contains(name, "iss") && i.count(pathToken) != 0 {
				t.Error("the code of another issuer was sent to this one")
			}
		})
	}
}

func TestACodeWorksOnce(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := newProvider(t, i.config())
	var used Callback
	if _, err := signIn(t, i, p, func(b *Callback) { used = *b }); err != nil {
		t.Fatal(err)
	}
	_, err := p.Finish(t.Context(), used)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonSignInRefused)
}

func TestTheIssuerInTheCallbackIsAcceptedWhereItIsTheProviders(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.metadata["authorization_response_iss_parameter_supported"] = true
	if _, err := signIn(t, i, newProvider(t, i.config()), func(b *Callback) { b.Issuer = i.URL }); err != nil {
		t.Fatal(err)
	}
}

func TestAnIDTokenMustHold(t *testing.T) {
	t.Parallel()
	at := func(by time.Duration) float64 { return float64(now().Add(by).UnixMilli()) / 1000 }
	for name, c := range map[string]struct {
		claims []any
		ok     bool
	}{
		"for us among others, given to us":     {[]any{"aud", []string{"other", testClient}, "azp", testClient}, true},
		"for us among others, to nobody":       {[]any{"aud", []string{"other", testClient}}, false},
		"for us among others, given to them":   {[]any{"aud", []string{"other", testClient}, "azp", "other"}, false},
		"for us alone, given to another":       {[]any{"azp", "other"}, false},
		"for us alone in an array":             {[]any{"aud", []string{testClient}}, true},
		"for another":                          {[]any{"aud", "other"}, false},
		"for a name that begins with ours":     {[]any{"aud", testClient + "x"}, false},
		"for nobody":                           {[]any{"aud", nil}, false},
		"aud as an object":                     {[]any{"aud", map[string]any{testClient: true}}, false},
		"of another issuer":                    {[]any{"iss", "https://evil.example"}, false},
		"of no issuer":                         {[]any{"iss", nil}, false},
		"without sub":                          {[]any{"sub", nil}, false},
		"with an empty sub":                    {[]any{"sub", ""}, false},
		"with sub as a number":                 {[]any{"sub", 7}, false},
		"with a sub of 256 characters":         {[]any{"sub", strings.Repeat("x", 256)}, false},
		"with a sub of two lines":              {[]any{"sub", "a\nb"}, false},
		"without exp":                          {[]any{"exp", nil}, false},
		"expired 29.9 s ago":                   {[]any{"exp", at(-29900 * time.Millisecond), "iat", at(-time.Minute)}, true},
		"expired 30 s ago":                     {[]any{"exp", at(-30 * time.Second), "iat", at(-time.Minute)}, false},
		"without iat":                          {[]any{"iat", nil}, false},
		"issued in 30 s":                       {[]any{"iat", at(30 * time.Second)}, true},
		"issued in 30.1 s":                     {[]any{"iat", at(30100 * time.Millisecond)}, false},
		"issued after its end":                 {[]any{"iat", at(20 * time.Second), "exp", at(10 * time.Second)}, false},
		"valid in 31 s":                        {[]any{"nbf", at(31 * time.Second)}, false},
		"without nonce":                        {[]any{"nonce", nil}, false},
		"with nonce as a number":               {[]any{"nonce", 1}, false},
		"without at_hash":                      {[]any{"at_hash", nil}, true},
		"with another access token's at_hash":  {[]any{"at_hash", halfHash(jose.ES256, "other")}, false},
		"with an at_hash of another algorithm": {[]any{"at_hash", halfHash(jose.ES384, "opaque-access")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			i.idClaims = with(map[string]any{"roles": "analyst"}, c.claims...)
			for k := range slices.Chunk(c.claims, 2) {
				i.idClaims[k[0].(string)] = k[1] // nil takes a claim away
			}
			who, err := signIn(t, i, newProvider(t, i.config()), nil)
			if c.ok {
				if err != nil || who.Role != auth.RoleAnalyst {
					t.Fatalf("got %+v, %v", who, err)
				}
				return
			}
			wantFault(t, err, fault.Unauthenticated, fault.ReasonSignInRejected)
		})
	}
}

func TestEveryAlgorithmThatIsAcceptedSignsIn(t *testing.T) {
	t.Parallel()
	for _, algorithm := range algorithms() {
		t.Run(string(algorithm), func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			i.key = newSigner(t, "k", algorithm)
			i.jwks = map[string]any{"keys": []any{i.key.jwk()}}
			if who, err := signIn(t, i, newProvider(t, i.config()), nil); err != nil || who.Subject != "ada-1" {
				t.Fatalf("got %+v, %v", who, err)
			}
		})
	}
}

func TestOfflineAccessAsksForConsentAsTheSpecificationDemands(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	cfg := i.config()
	cfg.Scopes = []string{"profile", "offline_access"}
	start, err := newProvider(t, cfg).Begin(t.Context(), testRedirect, "s")
	if err != nil {
		t.Fatal(err)
	}
	_, asked := i.authorize(t, start.URL)
	if asked.Get("prompt") != "consent" || asked.Get("scope") != "openid profile offline_access" {
		t.Errorf("asked %v", asked)
	}
}

func TestNamesAreCleanAndBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims map[string]any
		want   string
	}{
		"the name":                           {map[string]any{}, "Ada Analyst"},
		"else the user name":                 {map[string]any{"name": nil, "preferred_username": "ada"}, "ada"},
		"else the address":                   {map[string]any{"name": "  "}, "ada@example.com"},
		"else the subject":                   {map[string]any{"name": 7, "email": nil}, "ada-1"},
		"without line ends and turned text":  {map[string]any{"name": "Ada\r\n\x00\u202eB\u200b"}, "AdaB"},
		"with at most 200 bytes, none split": {map[string]any{"name": "x" + strings.Repeat("é", 150)}, "x" + strings.Repeat("é", 99)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			i.idClaims = c.claims
			i.idClaims["roles"] = "analyst"
			who, err := signIn(t, i, newProvider(t, i.config()), nil)
			if err != nil || who.Name != c.want {
				t.Fatalf("got %+v, %v", who, err)
			}
		})
	}
}

func TestSignOutIsOurOwnWhereTheProviderHasNone(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	delete(i.metadata, "end_session_endpoint")
	if got := newProvider(t, i.config()).SignOutURL(t.Context(), "x", "y"); got != "" {
		t.Errorf("got %q", got)
	}
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	cfg := i.config()
	cfg.Issuer = away.URL
	if got := newProvider(t, cfg).SignOutURL(t.Context(), "x", "y"); got != "" {
		t.Errorf("got %q", got)
	}
}
