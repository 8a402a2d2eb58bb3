package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/fault"
)

// own are the headers of our own page's request with a session.
func own(cookie string) []string {
	return []string{
		"Host", "events.example.com", "Origin", "https://events.example.com", "Sec-Fetch-Site", "same-origin",
		"Cookie", "__Host-oriel=" + cookie, "Content-Type", "application/json",
	}
}

func (p *people) signOut(cookie, body string) reply {
	p.t.Helper()
	return p.do(withBody(p.request("POST", "/v1/session:signOut", "", own(cookie)...), body))
}

func TestWhoIsAsking(t *testing.T) {
	t.Parallel()
	p := startPeople(t, func(d *Deps) { d.Config.TraceURL = "https://traces.example.com/{traceId}" })
	for name, c := range map[string]struct {
		header []string
		want   map[string]any
	}{
		"an operator": {own(operatorCookie), map[string]any{
			"name": "otto", "id": "https://login.example.com#otto", "kind": "person", "email": "otto@example.com",
			"roles": []any{"analyst", "operator"}, "scopes": []any{"events:read", "operate"},
			"createTime": "2026-11-30T08:00:00Z", "idleSeconds": 28800.,
		}},
		"a person without a role": {own(guestCookie), map[string]any{
			"name": "gus", "kind": "person", "roles": []any{}, "scopes": []any{}, "contact": "it@example.com",
		}},
		"a token": {[]string{"Authorization", "Bearer " + reader}, map[string]any{
			"name": "reader", "id": "tokens/2", "kind": "token", "roles": []any{}, "scopes": []any{"events:read"}, "createTime": nil, "expireTime": nil,
		}},
		"a workload": {[]string{"Authorization", "Bearer ey.writer"}, map[string]any{"kind": "workload", "id": "https://login.example.com#job"}},
	} {
		r := p.do(p.request("GET", "/v1/session", "", c.header...))
		var got map[string]any
		if err := json.Unmarshal(r.body, &got); err != nil {
			t.Fatalf("%s: %d %s", name, r.StatusCode, r.body)
		}
		c.want["installation"], c.want["demo"], c.want["version"], c.want["topic"] = "Test floor", false, "1.2.3", "events"
		c.want["facets"], c.want["traceUrl"] = []string{"room", "zone"}, "https://traces.example.com/{traceId}"
		for field, want := range c.want {
			a, _ := json.Marshal(got[field])
			b, _ := json.Marshal(want)
			if string(a) != string(b) {
				t.Errorf("%s: %s is %s, want %s", name, field, a, b)
			}
		}
		if r.Header.Get("Cache-Control") != "no-store" || len(r.Header["Set-Cookie"]) != 0 {
			t.Errorf("%s: headers %v", name, r.Header)
		}
	}
}

func TestWhatTheSignInPageShows(t *testing.T) {
	t.Parallel()
	p := startPeople(t, func(d *Deps) { d.Config.TraceURL = "https://traces.example.com/{traceId}" })
	r := p.do(p.request("GET", "/v1/installation", "", "Host", "events.example.com"))
	if string(r.body) != `{"contact":"it@example.com","demo":false,"name":"Test floor","provider":"Example Login","signIn":true}` {
		t.Errorf("got %s", r.body)
	}
	e := start(t)
	if r := e.do(e.request("GET", "/v1/installation", "", "Host", "events.example.com")); string(r.body) != `{"demo":false,"signIn":false}` {
		t.Errorf("without a provider %s", r.body)
	}
}

func TestSigningOutEndsTheSessionAndTheProvidersOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body   string
		ended  int
		action string
	}{
		"here":          {`{}`, 1, audit.ActionSignOut},
		"here, said so": {`{"everywhere":false}`, 1, audit.ActionSignOut},
		"everywhere":    {`{"everywhere":true}`, 2, audit.ActionSignOutEverywhere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPeople(t)
			other := opaque("another browser")
			p.desk.people[other] = person("adam", auth.RoleAdmin)
			r := p.signOut(adminCookie, c.body)
			var got SignOutResponse
			if err := json.Unmarshal(r.body, &got); err != nil || r.StatusCode != http.StatusOK || int(got.Sessions) != c.ended {
				t.Fatalf("%d %s", r.StatusCode, r.body)
			}
			next, err := url.Parse(got.Next)
			if err != nil || next.Host != "login.example.com" || next.Query().Get("id_token_hint") != "the-id-token" || next.Query().Get("to") != "https://events.example.com/signed-out" {
				t.Errorf("next is %s", got.Next)
			}
			gone := r.cookieNamed(t, "__Host-oriel")
			if gone.Value != "" || gone.MaxAge >= 0 || gone.Path != "/" || !gone.Secure || !gone.HttpOnly {
				t.Errorf("the cookie becomes %s", gone.Raw)
			}
			if p.desk.knows(adminCookie) || p.desk.knows(other) != (c.ended == 1) || !p.desk.knows(analystCookie) {
				t.Error("other sessions ended, or not all of theirs")
			}
			e := p.book.all()
			if len(e) != 1 || e[0].Action != c.action || e[0].Outcome != audit.Done || e[0].Actor.Name != "adam" || e[0].Actor.Kind != "person" ||
				strings.Join(e[0].Actor.Roles, " ") != "analyst operator admin" || e[0].RequestID != r.Header.Get("X-Request-Id") || e[0].Address != "127.0.0.1" {
				t.Errorf("on the record %+v", e)
			}
			p.signOut(adminCookie, c.body).failure(t, 401, fault.ReasonSessionExpired)
		})
	}
}

func TestSigningOutThatIsNotRecordedDoesNotSucceed(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	p.book.fail = errTold
	r := p.signOut(adminCookie, `{}`)
	r.failure(t, 500, fault.ReasonInternal)
	if len(r.Header["Set-Cookie"]) != 0 {
		t.Errorf("the cookie is taken: %v", r.Header["Set-Cookie"])
	}
}

func TestOnlyAPersonSignsOut(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for _, token := range []string{keeper, "ey.writer"} {
		p.send("/v1/session:signOut", token, "application/json", `{}`).failure(t, 403, fault.ReasonScopeMissing)
	}
	f := p.signOut(adminCookie, `{"everywhere":"yes","x":1}`).failure(t, 400, fault.ReasonInvalidField)
	if len(f.Details) != 2 || !p.desk.knows(adminCookie) {
		t.Errorf("%+v", f)
	}
}

func TestCookiesAreReadAsTheyCame(t *testing.T) {
	t.Parallel()
	a, b := opaque("a"), opaque("b")
	for header, want := range map[string]string{
		"":                               "",
		"n=" + a:                         a,
		"x=1; n=" + a + "; y=2":          a,
		"x=1;n=" + a:                     a,
		"n=" + a + ";":                   a,
		"\tn=" + a + " ":                 a,
		"n=" + a + "; n=" + a:            a, // planted, but the same
		"n=" + a + "; n=" + b:            "",
		"n=" + a + "; n=planted":         a,
		"n=" + a[:42]:                    "",
		"n=" + a + "x":                   "",
		`n="` + a + `"`:                  "",
		"N=" + a:                         "",
		"n =" + a:                        "",
		"xn=" + a:                        "",
		"n":                              "",
		"n=":                             "",
		"n=" + strings.Repeat("a", 5000): "",
		"n=" + a[:20] + "\x00" + a[21:]:  "",
		"n=" + a[:20] + "=" + a[21:]:     "",
	} {
		if got := readCookie(header, "n"); got != want {
			t.Errorf("%.80q has %q, want %q", header, got, want)
		}
	}
}

func TestACookieHeaderInPartsIsOne(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	r, _ := p.raw(lines("GET /v1/session HTTP/1.1", "Host: events.example.com", "Cookie: a=b", "Cookie: __Host-oriel="+analystCookie, ""))
	if r.StatusCode != http.StatusOK {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	r, _ = p.raw(lines("GET /v1/session HTTP/1.1", "Host: events.example.com", "Cookie: __Host-oriel="+adminCookie, "Cookie: __Host-oriel="+analystCookie, ""))
	r.failure(t, 401, fault.ReasonSignInNeeded)
}

func TestUnderABasePathEverythingAnswersWithAndWithoutIt(t *testing.T) {
	t.Parallel()
	p := startPeople(t, func(d *Deps) { d.Config.PublicURL = "https://example.com/tools/oriel" })
	for path, want := range map[string]int{
		"/health/live": 200, "/metrics": 200, "/v1/session": 401, "/v1/installation": 200, "/": 200, "/explore": 200, "/auth/sign-in": 302,
		"/v1/nothing": 404, "/assets/none.js": 404, "/assets/app-1.js": 200, "/events/a%2Fb:1": 200,
	} {
		for _, base := range []string{"", "/tools/oriel"} {
			if r := p.do(p.request("GET", base+path, "", "Host", "example.com")); r.StatusCode != want {
				t.Errorf("%s answers %d, want %d", base+path, r.StatusCode, want)
			}
		}
	}
	for path, want := range map[string]int{"/tools/oriel": 200, "/tools/orielx/v1/session": 200, "/tools/orielv1/session": 200, "/tools": 200, "/tools/oriel/tools/oriel/v1/session": 200, "/Tools/Oriel/v1/session": 200} {
		r := p.do(p.request("GET", path, "", "Host", "example.com"))
		if r.StatusCode != want || !strings.Contains(string(r.body), "<title>Oriel") {
			t.Errorf("%s, which is a page: %d %.80s", path, r.StatusCode, r.body)
		}
	}
	r := p.do(p.request("GET", "/tools/oriel/v1/events/a%2Fb%3Ac:d/data", reader))
	r.failure(t, 404, fault.ReasonNotFound)
	p.do(p.request("POST", "/tools/oriel/v1/events", writer))
	if n := p.metric("oriel_http_requests_total", map[string]string{"route": "/v1/events", "method": "POST"}); n != 1 {
		t.Errorf("publishing under the base was counted %v times", n)
	}
}

func TestNamesStayEscapedUnderABasePath(t *testing.T) {
	t.Parallel()
	p := startPeople(t, func(d *Deps) { d.Config.PublicURL = "https://example.com/oriel" })
	var asked string
	p.shelf.get = notFound(&asked)
	p.do(p.request("GET", "/oriel/v1/events/https%3A%2F%2Fa%2F%2e%2e:1?time=x", reader))
	if asked != "https%3A%2F%2Fa%2F%2e%2e:1" {
		t.Errorf("asked for %q", asked)
	}
}
