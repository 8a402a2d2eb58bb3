package idp_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"oriel/server/embedded/idp"
)

func TestOneClickSignsAPersonInWithNameAndRoles(t *testing.T) {
	t.Parallel()
	w := start(t)
	verifier := oauth2.GenerateVerifier()
	back := w.browser(t).click(w.begin(verifier), "admin-1")
	if got := back.left.Query(); got.Get("state") != "the state" || got.Get("iss") != w.Issuer() {
		t.Errorf("came back with %v", got)
	}
	token, err := w.oauth.Exchange(t.Context(), back.code(t), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	c := w.idToken(t, token)
	if c.Subject != "admin-1" || c.Name != "Adam" || c.Email != "adam@example.com" || c.Username != "admin-1" || c.Nonce != "the nonce" || c.SID == "" || !slices.Equal(c.Roles, []string{"admin"}) {
		t.Errorf("the ID token says %+v", c)
	}
	info, err := w.provider.UserInfo(t.Context(), oauth2.StaticTokenSource(token))
	if err != nil {
		t.Fatal(err)
	}
	var said claims
	if err := info.Claims(&said); err != nil || said.Subject != "admin-1" || said.Email != "adam@example.com" || !slices.Equal(said.Roles, []string{"admin"}) {
		t.Errorf("userinfo says %+v, %v", said, err)
	}
}

func TestAPasswordSignsInAndAWrongOneIsToldAsText(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.browser(t)
	verifier := oauth2.GenerateVerifier()
	p := b.get(w.begin(verifier))
	for name, form := range map[string]url.Values{
		"a wrong password":     {"username": {"analyst-1"}, "password": {"sesame"}},
		"an unknown name":      {"username": {"nobody"}, "password": {"sesame-1"}},
		"no password":          {"username": {"analyst-1"}},
		"a click on no person": {"person": {"nobody"}},
		"markup as a name":     {"username": {`"><script>`}, "password": {"x"}},
	} {
		form.Set("request", p.hidden(t, "request"))
		refused := b.post("/sign-in", form)
		if refused.status != http.StatusOK || refused.left != nil || !strings.Contains(refused.body, "Username or password is wrong.") || strings.Contains(refused.body, "<script>") {
			t.Errorf("%s gave %d\n%s", name, refused.status, refused.body)
		}
	}
	back := b.post("/sign-in", url.Values{"request": {p.hidden(t, "request")}, "username": {"analyst-1"}, "password": {"sesame-1"}})
	token, err := w.oauth.Exchange(t.Context(), back.code(t), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if c := w.idToken(t, token); c.Subject != "analyst-1" {
		t.Errorf("signed in %+v", c)
	}
}

func TestACodeNeedsItsVerifierAndWorksOnce(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, c := range map[string]struct {
		with []oauth2.AuthCodeOption
		want string
	}{
		"no verifier":      {nil, "invalid_request"},
		"another verifier": {[]oauth2.AuthCodeOption{oauth2.VerifierOption(oauth2.GenerateVerifier())}, "invalid_grant"},
	} {
		verifier := oauth2.GenerateVerifier()
		code := w.browser(t).click(w.begin(verifier), "analyst-1").code(t)
		_, err := w.oauth.Exchange(t.Context(), code, c.with...)
		if got := failure(t, err); got != c.want {
			t.Errorf("%s gave %s", name, got)
		}
	}

	verifier := oauth2.GenerateVerifier()
	code := w.browser(t).click(w.begin(verifier), "analyst-1").code(t)
	token, err := w.oauth.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.oauth.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("the replay gave %s", got)
	}
	_, err = w.refresh(t.Context(), token.RefreshToken)
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("after a replay the first use's refresh token gave %s", got)
	}
}

func TestARequestThatIsNotInOrderGoesBackOrNowhere(t *testing.T) {
	t.Parallel()
	w := start(t)
	good, err := url.Parse(w.begin(oauth2.GenerateVerifier()))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		set  map[string]string
		want string // error at the client; empty: the browser is not sent there
	}{
		"no PKCE":                         {map[string]string{"code_challenge": "", "code_challenge_method": ""}, "invalid_request"},
		"PKCE in the clear":               {map[string]string{"code_challenge_method": "plain"}, "invalid_request"},
		"PKCE without a method":           {map[string]string{"code_challenge_method": ""}, "invalid_request"},
		"a form post":                     {map[string]string{"response_mode": "form_post"}, "invalid_request"},
		"no openid":                       {map[string]string{"scope": "profile"}, "invalid_scope"},
		"the implicit flow":               {map[string]string{"response_type": "id_token token"}, "unauthorized_client"},
		"nobody is signed in, none asked": {map[string]string{"prompt": "none"}, "login_required"},
		"an unknown address":              {map[string]string{"redirect_uri": "http://127.0.0.1:8080/elsewhere"}, ""},
		"another port":                    {map[string]string{"redirect_uri": "http://127.0.0.1:8082/auth/callback"}, ""},
		"an address with more behind it":  {map[string]string{"redirect_uri": redirect + "/../x"}, ""},
		"somebody's address":              {map[string]string{"redirect_uri": "https://evil.example/auth/callback"}, ""},
		"an unknown client":               {map[string]string{"client_id": "other"}, ""},
		"the machine's client":            {map[string]string{"client_id": "oriel-machine"}, ""},
		"no address":                      {map[string]string{"redirect_uri": ""}, ""},
	} {
		q := good.Query()
		for k, v := range c.set {
			if q.Set(k, v); v == "" {
				q.Del(k)
			}
		}
		address := *good
		address.RawQuery = q.Encode()
		p := w.browser(t).get(address.String())
		var said url.Values
		if p.left != nil {
			said = p.left.Query()
			if fragment, err := url.ParseQuery(p.left.EscapedFragment()); err == nil && p.left.Fragment != "" { // of the implicit flow
				said = fragment
			}
		}
		switch {
		case c.want == "" && (p.status != http.StatusBadRequest || p.left != nil):
			t.Errorf("%s gave %d to %v", name, p.status, p.left)
		case c.want != "" && (said.Get("error") != c.want || said.Get("state") != "the state" || !strings.HasPrefix(p.left.String(), redirect)):
			t.Errorf("%s gave %d to %v", name, p.status, p.left)
		case c.want != "" && p.left.Fragment == "" && said.Get("iss") != w.Issuer():
			t.Errorf("%s does not say who answers: %v", name, p.left)
		}
	}
}

func TestEachLoopbackNameOfTheClientIsAnAddress(t *testing.T) {
	t.Parallel()
	w := start(t)
	for _, at := range []string{redirect, "http://localhost:8080/auth/callback", "http://[::1]:8080/auth/callback"} {
		w.oauth.RedirectURL = at
		p := w.browser(t).click(w.begin(oauth2.GenerateVerifier()), "analyst-1")
		if p.left == nil || !strings.HasPrefix(p.left.String(), at+"?code=") {
			t.Errorf("for %s it went to %v", at, p.left)
		}
	}
}

func TestARefreshTokenIsReplacedAndAnOldOneEndsThemAll(t *testing.T) {
	t.Parallel()
	w := start(t)
	first := w.browser(t).signIn("analyst-1")
	w.setPeople(idp.Person{Username: "analyst-1", Password: "x", Name: "Ada", Roles: []string{"operator"}})
	second, err := w.refresh(t.Context(), first.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	if c := w.idToken(t, second); !slices.Equal(c.Roles, []string{"operator"}) || c.SID != w.idToken(t, first).SID {
		t.Errorf("after the change of role: %+v", c)
	}
	if second.RefreshToken == "" || second.RefreshToken == first.RefreshToken {
		t.Errorf("the refresh token was not replaced")
	}
	for name, token := range map[string]string{"made up": "abc.def", "no token at all": "x", "of an unknown sign-in": "." + second.RefreshToken} {
		_, err := w.refresh(t.Context(), token)
		if got := failure(t, err); got != "invalid_grant" {
			t.Errorf("one that is %s gave %s", name, got)
		}
	}
	third, err := w.refresh(t.Context(), second.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.refresh(t.Context(), first.RefreshToken)
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("a used one gave %s", got)
	}
	_, err = w.refresh(t.Context(), third.RefreshToken)
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("after a used one came back, the newest gave %s", got)
	}
}

func TestAPersonWhoIsTakenOutGetsNothingMore(t *testing.T) {
	t.Parallel()
	w := start(t)
	b := w.browser(t)
	token := b.signIn("analyst-1")
	w.setPeople(adam())
	_, err := w.refresh(t.Context(), token.RefreshToken)
	if got := failure(t, err); got != "invalid_grant" {
		t.Errorf("the refresh token gave %s", got)
	}
	if _, err := w.provider.UserInfo(t.Context(), oauth2.StaticTokenSource(token)); err == nil {
		t.Error("userinfo knows the person still")
	}
	if p := b.get(w.begin(oauth2.GenerateVerifier())); p.status != http.StatusOK || strings.Contains(p.body, "analyst-1") {
		t.Errorf("the next sign-in gave %d to %v", p.status, p.left)
	}
}

func TestAMachineGetsJWTsForItsAudience(t *testing.T) {
	t.Parallel()
	w := start(t)
	ask := func(user, secret, scope string) page {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.provider.Endpoint().TokenURL,
			strings.NewReader(url.Values{"grant_type": {"client_credentials"}, "scope": {scope}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth(user, url.QueryEscape(secret))
		return w.browser(t).do(r)
	}
	for name, c := range map[string]struct{ user, secret, scope, want string }{
		"some of its scopes":         {"oriel-machine", "machine secret", "events:read", "events:read"},
		"all where it asks for none": {"oriel-machine", "machine secret", "", "events:write events:read"},
	} {
		token := answer(t, ask(c.user, c.secret, c.scope))
		verified, err := w.provider.Verifier(&gooidc.Config{ClientID: "oriel"}).Verify(t.Context(), token.AccessToken)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var said struct {
			Scope  string `json:"scope"`
			Client string `json:"client_id"`
		}
		if err := verified.Claims(&said); err != nil || said.Scope != c.want || said.Client != "oriel-machine" || verified.Subject != "oriel-machine" {
			t.Errorf("%s: %+v, %v", name, said, err)
		}
	}
	for name, c := range map[string]struct{ user, secret, scope, want string }{
		"a wrong secret":          {"oriel-machine", "x", "", "invalid_client"},
		"the people's client":     {clientID, "", "", "invalid_client"},
		"a scope that it has not": {"oriel-machine", "machine secret", "admin:write", "invalid_scope"},
	} {
		if got := answer(t, ask(c.user, c.secret, c.scope)); got.Error != c.want || got.AccessToken != "" {
			t.Errorf("%s gave %+v", name, got)
		}
	}
}

func TestAPersonsAccessTokenIsNotForMachines(t *testing.T) {
	t.Parallel()
	w := start(t)
	token := w.browser(t).signIn("admin-1")
	if _, err := w.provider.Verifier(&gooidc.Config{ClientID: "oriel"}).Verify(t.Context(), token.AccessToken); err == nil {
		t.Error("it has the machines' audience")
	}
	if _, err := w.provider.Verifier(&gooidc.Config{ClientID: clientID}).Verify(t.Context(), token.AccessToken); err != nil {
		t.Errorf("it is no JWT of the client: %v", err)
	}
}
