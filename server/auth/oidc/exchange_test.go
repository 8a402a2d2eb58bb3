package oidc

import (
	"net/http"
	"net/url"
	"testing"

	"oriel/server/fault"
)

func TestTheSecretGoesWhereTheProviderTakesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		methods []string
		secret  string
		accept  func(r *http.Request, form url.Values) string
		inBody  bool
		asks    int64
	}{
		"in the header by default":     {nil, testSecret, nil, false, 1},
		"in the header where both are": {[]string{"client_secret_post", "client_secret_basic"}, testSecret, nil, false, 1},
		"in the body where that alone": {[]string{"client_secret_post"}, testSecret, nil, true, 1},
		"in the body where the header is refused for this client": {[]string{"client_secret_basic", "client_secret_post"}, testSecret, func(r *http.Request, form url.Values) string {
			if form.Get("client_secret") != testSecret {
				return "invalid_client"
			}
			return ""
		}, true, 2},
		"nowhere for a public client": {[]string{"client_secret_basic"}, "", nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			if c.methods != nil {
				i.metadata["token_endpoint_auth_methods_supported"] = c.methods
			}
			i.accept = c.accept
			cfg := i.config()
			cfg.ClientSecret = c.secret
			p := newProvider(t, cfg)
			who, err := signIn(t, i, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if i.count(pathToken) != c.asks {
				t.Errorf("asked %d times, want %d", i.count(pathToken), c.asks)
			}
			if inBody := i.lastForm.Get("client_secret") == testSecret; inBody != c.inBody {
				t.Errorf("secret in the body: %t", inBody)
			}
			if header := i.lastHeader.Get("Authorization") != ""; header == (c.inBody || c.secret == "") {
				t.Errorf("secret in the header: %t", header)
			}
			if c.secret == "" && i.lastForm.Get("client_id") != testClient {
				t.Errorf("a public client says who it is: %v", i.lastForm)
			}
			if _, err := p.Refresh(t.Context(), who.RefreshToken); err != nil || i.count(pathToken) != c.asks+1 {
				t.Errorf("refreshed with %d questions in all, %v", i.count(pathToken), err)
			}
		})
	}
	t.Run("not at all where it takes another way", func(t *testing.T) {
		t.Parallel()
		i := newIssuer(t)
		i.metadata["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"}
		_, err := signIn(t, i, newProvider(t, i.config()), nil)
		wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
	})
}
