package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/auth/oidc"
	"oriel/server/dbtest"
	"oriel/server/embedded/idp"
	"oriel/server/fault"
)

// company is an installation with nothing doubled that people meet: a proxy where TLS ends, sessions and the
// record in PostgreSQL, and an identity provider on a socket.
type company struct {
	*office
	public  string
	browser *http.Client
}

// startCompany serves under a base path, which the proxy takes away or leaves.
func startCompany(t *testing.T, base string, strip bool) *company {
	t.Helper()
	c := &company{}
	var backend string
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", backend, r.In.Host
		if strip {
			r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimPrefix(r.In.URL.Path, base), strings.TrimPrefix(r.In.URL.EscapedPath(), base)
		}
		r.Out.Header["X-Forwarded-For"] = []string{"203.0.113.5"}
	}}
	front := httptest.NewTLSServer(proxy)
	t.Cleanup(front.Close)
	c.public = front.URL + base

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	people, err := idp.Start(t.Context(), idp.Config{
		Listener: ln, DataDir: t.TempDir(), ClientID: "oriel", Redirects: []string{c.public + "/auth/callback"}, SignedOut: []string{c.public + "/signed-out"},
		People: []idp.Person{{Username: "operator-1", Password: "x", Name: "Otto", Email: "otto@example.com", Roles: []string{"operator"}}},
		Log:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := people.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	c.office = &office{pool: dbtest.New(t)}
	c.edge = start(t, func(d *Deps) {
		log := slog.New(slog.DiscardHandler)
		c.log = audit.New(c.pool, d.Registry)
		d.Audit = c.log
		provider := oidc.New(oidc.Config{
			Issuer: people.Issuer(), ClientID: "oriel", Scopes: []string{"openid", "profile", "email"}, RoleClaim: "roles",
			RoleValues: map[string][]string{auth.RoleAnalyst: {"analyst"}, auth.RoleOperator: {"operator"}, auth.RoleAdmin: {"admin"}},
		}, log, d.Registry)
		t.Cleanup(provider.Close)
		sessions, err := auth.NewSessions(c.pool, auth.SessionConfig{Keys: [][]byte{key}, Idle: time.Hour, Longest: 8 * time.Hour}, provider, nil, log, d.Registry)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sessions.Close)
		d.Sessions, d.Provider = sessions, provider
		d.Config.PublicURL, d.Config.TrustedProxies = c.public, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	backend = c.addr
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c.browser = &http.Client{Transport: front.Client().Transport, Jar: jar, Timeout: 20 * time.Second}
	return c
}

// visit follows redirects, as a browser does, and returns where it came to.
func (c *company) visit(method, address, contentType, body string, header ...string) (reply, *url.URL) {
	c.t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.browser.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply{resp, got}, resp.Request.URL
}

func (c *company) get(address string) (reply, *url.URL) {
	c.t.Helper()
	return c.visit("GET", address, "", "")
}

func TestAPersonSignsInAndOutThroughAProxyWithTLS(t *testing.T) {
	t.Parallel()
	for name, strip := range map[string]bool{"that takes the base path away": true, "that leaves the base path": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCompany(t, "/tools/oriel", strip)
			r, _ := c.get(c.public + "/v1/session")
			r.failure(t, 401, fault.ReasonSignInNeeded)

			page, at := c.get(c.public + "/auth/sign-in?return=" + url.QueryEscape("/explore?q=a b"))
			request := regexp.MustCompile(`name="request" value="([^"]+)"`).FindSubmatch(page.body)
			if request == nil {
				t.Fatalf("at %s: %d %s", at, page.StatusCode, page.body)
			}
			sign := *at
			sign.Path, sign.RawQuery = "/sign-in", ""
			app, at := c.visit("POST", sign.String(), "application/x-www-form-urlencoded", url.Values{"request": {string(request[1])}, "person": {"operator-1"}}.Encode())
			if at.String() != c.public+"/explore?q=a%20b" || app.StatusCode != http.StatusOK || !bytes.Contains(app.body, []byte("<title>Oriel</title>")) {
				t.Fatalf("signed in, and at %s: %d %s", at, app.StatusCode, app.body)
			}

			r, _ = c.get(c.public + "/v1/session")
			var who Session
			if err := json.Unmarshal(r.body, &who); err != nil || who.Name != "Otto" || who.Kind != "person" || len(who.Roles) != 2 || who.ExpireTime == nil || *who.IdleSeconds != 3600 {
				t.Errorf("got %d %s", r.StatusCode, r.body)
			}
			done := c.entries(audit.Filter{Actions: []string{audit.ActionSignIn}})
			if len(done) != 1 || done[0].Outcome != audit.Done || done[0].Actor.Name != "Otto" || done[0].Actor.ID != who.Id || done[0].Address != "203.0.113.5" {
				t.Errorf("on the record %+v", done)
			}

			origin := c.public[:strings.Index(c.public, "/tools")]
			for _, from := range []string{"https://evil.example.net", origin + ".evil.example.net", "null"} {
				r, _ = c.visit("POST", c.public+"/v1/session:signOut", "application/json", "{}", "Origin", from)
				r.failure(t, 403, fault.ReasonOriginNotAllowed)
			}
			r, _ = c.visit("POST", c.public+"/v1/session:signOut", "application/json", "{}", "Origin", origin)
			out := into[SignOutResponse](t, r)
			if out.Sessions != 1 || !strings.Contains(out.Next, url.QueryEscape(c.public+"/signed-out")) {
				t.Fatalf("got %s", r.body)
			}
			if _, at := c.get(out.Next); at.String() != c.public+"/signed-out" {
				t.Errorf("after the provider's own sign-out at %s", at)
			}
			r, _ = c.get(c.public + "/v1/session")
			r.failure(t, 401, fault.ReasonSignInNeeded)
			if n := len(c.entries(audit.Filter{Actions: []string{audit.ActionSignOut}})); n != 1 {
				t.Errorf("%d entries of signing out", n)
			}
			page, _ = c.get(c.public + "/auth/sign-in")
			if !bytes.Contains(page.body, []byte("operator-1")) {
				t.Errorf("the provider still has its session: %s", page.body)
			}
		})
	}
}
