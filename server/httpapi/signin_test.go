package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/fault"
)

func TestSigningInWhereverBrowsersReachUs(t *testing.T) {
	t.Parallel()
	for name, d := range deployments() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPeople(t, d.change)
			begun := p.browse(d, "/auth/sign-in?return=%2Fexplore%3Fq%3Ddoor")
			to := locationOf(t, begun, http.StatusFound)
			state := to.Query().Get("state")
			if to.Host != "login.example.com" || to.Query().Get("redirect_uri") != d.public+"/auth/callback" || !auth.WellFormed(state) {
				t.Errorf("sent to %s", to)
			}
			pre := begun.cookieNamed(t, d.pre)
			if pre.MaxAge < 590 || pre.MaxAge > 600 {
				t.Errorf("the pre-login cookie lasts %d s", pre.MaxAge)
			}
			if in := p.desk.last(); in.Origin != d.origin || in.ReturnTo != "/explore?q=door" || in.Nonce != "the-nonce" || in.Verifier != "the-verifier" {
				t.Errorf("stored %+v", in)
			}

			back := p.browse(d, "/auth/callback?code=the-code&iss=the-issuer&state="+state, pre.Name+"="+pre.Value)
			if at := locationOf(t, back, http.StatusSeeOther); at.String() != d.base+"/explore?q=door" {
				t.Errorf("back at %s", at)
			}
			session := back.cookieNamed(t, d.session)
			if session.MaxAge < 9*3600 || session.MaxAge > 10*3600 {
				t.Errorf("the session's cookie lasts %d s", session.MaxAge)
			}
			for _, c := range []*http.Cookie{pre, session} {
				if c.Path != d.path || c.Domain != "" || !c.HttpOnly || c.Secure != d.secure || c.SameSite != http.SameSiteLaxMode {
					t.Errorf("the cookie is %s", c.Raw)
				}
			}
			if got := p.issuer.callbacks[0]; got.Redirect != d.public+"/auth/callback" || got.Code != "the-code" || got.Issuer != "the-issuer" || got.Nonce != "the-nonce" || got.Verifier != "the-verifier" {
				t.Errorf("the provider was asked with %+v", got)
			}
			for _, r := range []reply{begun, back} {
				if r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Referrer-Policy") != "no-referrer" {
					t.Errorf("headers %v", r.Header)
				}
			}
			known := p.do(p.request("GET", d.reachedBy+"/v1/session", "", "Host", d.host, "Sec-Fetch-Site", "same-origin", "Cookie", session.Name+"="+session.Value))
			if known.StatusCode != http.StatusOK || !strings.Contains(string(known.body), `"roles":["analyst","operator"]`) {
				t.Errorf("then %d %s", known.StatusCode, known.body)
			}
		})
	}
}

func TestASignInIsOnTheRecord(t *testing.T) {
	t.Parallel()
	p, d := startPeople(t), deployments()["https at the root"]
	_, back := p.signIn(d, "")
	entries := p.book.all()
	if len(entries) != 1 {
		t.Fatalf("%d entries", len(entries))
	}
	e := entries[0]
	if e.Action != audit.ActionSignIn || e.Outcome != audit.Done || e.Actor.Kind != "person" || e.Actor.ID != "https://login.example.com#7" ||
		e.Actor.Name != "Ada" || strings.Join(e.Actor.Roles, " ") != "analyst operator" || e.Address != "127.0.0.1" ||
		e.RequestID != back.Header.Get("X-Request-Id") || len(e.After["roles"].([]string)) != 2 {
		t.Errorf("got %+v", e)
	}
}

// signIn goes the whole way with the cookies that the browser has, and returns the session's value.
func (p *people) signIn(d deployment, cookies string) (value string, back reply) {
	p.t.Helper()
	begun := p.browse(d, "/auth/sign-in?return=%2Fexplore", cookies)
	state, pre := locationOf(p.t, begun, http.StatusFound).Query().Get("state"), begun.cookieNamed(p.t, d.pre)
	back = p.browse(d, "/auth/callback?code=c&state="+state, pre.Name+"="+pre.Value, cookies)
	return back.cookieNamed(p.t, d.session).Value, back
}

func TestEverySignInHasANewSessionAndEndsTheOldOne(t *testing.T) {
	t.Parallel()
	p, d := startPeople(t), deployments()["https at the root"]
	value, _ := p.signIn(d, d.session+"="+analystCookie)
	if value == analystCookie || !p.desk.knows(value) || p.desk.knows(analystCookie) {
		t.Error("the session that the browser had before goes on, or no new one is there")
	}
	planted := opaque("chosen by an attacker")
	if value, _ := p.signIn(d, d.session+"="+planted); value == planted || p.desk.knows(planted) {
		t.Error("a value that somebody planted became a session")
	}
}

func TestTwoTabsSignInAtOnce(t *testing.T) {
	t.Parallel()
	p, d := startPeople(t), deployments()["https at the root"]
	first := p.browse(d, "/auth/sign-in")
	pre := first.cookieNamed(t, d.pre)
	second := p.browse(d, "/auth/sign-in", pre.Name+"="+pre.Value)
	for _, begun := range []reply{first, second} {
		state := locationOf(t, begun, http.StatusFound).Query().Get("state")
		back := p.browse(d, "/auth/callback?code=c&state="+state, pre.Name+"="+second.cookieNamed(t, d.pre).Value)
		if to := locationOf(t, back, http.StatusSeeOther); to.Path != "/" {
			t.Errorf("one of the tabs is at %s", to)
		}
	}
}

func TestSignInsThatFail(t *testing.T) {
	t.Parallel()
	unavailable := fault.New(fault.Unavailable, fault.ReasonProviderUnavailable, "The identity provider does not answer.")
	rejected := fault.New(fault.Unauthenticated, fault.ReasonSignInRejected, "The nonce is another.")
	for name, c := range map[string]struct {
		callback string // after code and state; empty: fails before
		change   func(p *people)
		reason   string
		outcome  string // on the record; empty: not there
		to       string
	}{
		"the provider is away at the start": {"", func(p *people) { p.issuer.away = unavailable }, fault.ReasonProviderUnavailable, "", "/explore"},
		"the database is away at the start": {"", func(p *people) {
			p.desk.fail = fault.New(fault.Unavailable, fault.ReasonDatabaseUnavailable, "Away.")
		}, fault.ReasonDatabaseUnavailable, "", "/explore"},
		"an error that was not meant for anyone": {"", func(p *people) { p.desk.fail = errTold }, fault.ReasonInternal, "", "/explore"},
		"the person may not":                     {"error=access_denied&state=", nil, fault.ReasonSignInRefused, audit.Refused, "/explore"},
		"the provider says that it cannot":       {"error=temporarily_unavailable&state=", nil, fault.ReasonProviderUnavailable, audit.Failed, "/explore"},
		"neither code nor error":                 {"state=", nil, fault.ReasonSignInRejected, audit.Refused, "/explore"},
		"two codes":                              {"code=a&code=b&state=", nil, fault.ReasonSignInRejected, audit.Refused, "/explore"},
		"what the provider sent does not hold":   {"code=c&state=", func(p *people) { p.issuer.rejects = rejected }, fault.ReasonSignInRejected, audit.Refused, "/explore"},
		"the provider is away at the exchange":   {"code=c&state=", func(p *people) { p.issuer.rejects = unavailable }, fault.ReasonProviderUnavailable, audit.Failed, "/explore"},
		"a state of nobody's":                    {"code=c&state=x", nil, fault.ReasonSignInState, "", ""},
		"two states":                             {"code=c&state=x&state=", nil, fault.ReasonSignInState, "", ""},
		"a query that cannot be read":            {"code=%zz&error=%zz&state=%zz", nil, fault.ReasonSignInState, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deployments()["https under a base path that the proxy leaves"]
			p := startPeople(t, d.change)
			if c.callback == "" {
				c.change(p)
			}
			r := p.browse(d, "/auth/sign-in?return=%2Fexplore")
			if c.callback != "" {
				state, pre := locationOf(t, r, http.StatusFound).Query().Get("state"), r.cookieNamed(t, d.pre)
				if c.change != nil {
					c.change(p)
				}
				r = p.browse(d, "/auth/callback?"+c.callback+state, pre.Name+"="+pre.Value, d.session+"="+analystCookie)
			}
			to := locationOf(t, r, http.StatusSeeOther)
			if to.Path != "/oriel/sign-in" || to.Host != "" || to.Query().Get("error") != c.reason ||
				to.Query().Get("request") != r.Header.Get("X-Request-Id") || to.Query().Get("return") != c.to {
				t.Errorf("sent to %s", to)
			}
			if got := r.Header["Set-Cookie"]; len(got) != 0 || !p.desk.knows(analystCookie) {
				t.Errorf("cookies %q, and the session that was there is %v", got, p.desk.knows(analystCookie))
			}
			if n := p.metric("oriel_http_errors_total", map[string]string{"reason": c.reason}); n != 1 {
				t.Errorf("counted %v times", n)
			}
			entries := p.book.all()
			if c.outcome == "" && len(entries) != 0 || c.outcome != "" && (len(entries) != 1 || entries[0].Outcome != c.outcome ||
				!strings.Contains(entries[0].Detail, c.reason) || entries[0].RequestID == "" || entries[0].Actor.Kind == "") {
				t.Errorf("on the record: %+v", entries)
			}
		})
	}
}

func TestACallbackIsForTheBrowserThatBegan(t *testing.T) {
	t.Parallel()
	p, d := startPeople(t), deployments()["https at the root"]
	begun := p.browse(d, "/auth/sign-in")
	state, pre := locationOf(t, begun, http.StatusFound).Query().Get("state"), begun.cookieNamed(t, d.pre)
	for name, cookies := range map[string]string{
		"without the cookie":             "a=b",
		"with another's":                 d.pre + "=" + opaque("another"),
		"with two":                       d.pre + "=" + opaque("another") + "; " + d.pre + "=" + pre.Value,
		"with one of another deployment": "__Secure-oriel-sign-in=" + pre.Value,
		"with a prefix of the name":      d.pre + "x=" + pre.Value,
	} {
		r := p.browse(d, "/auth/callback?code=c&state="+state, cookies)
		if to := locationOf(t, r, http.StatusSeeOther); to.Query().Get("error") != fault.ReasonSignInState {
			t.Errorf("%s: sent to %s", name, to)
		}
	}
	for _, query := range []string{"code=c&state=" + state + "&state=" + opaque("x"), "code=c&state=" + state + "x", "code=c&State=" + state} {
		if r := p.browse(d, "/auth/callback?"+query, d.pre+"="+pre.Value); locationOf(t, r, http.StatusSeeOther).Query().Get("error") != fault.ReasonSignInState {
			t.Errorf("%s: sent to %s", query, r.Header.Get("Location"))
		}
	}
	if r := p.browse(d, "/auth/callback?code=c&state="+state, d.pre+"="+pre.Value); locationOf(t, r, http.StatusSeeOther).Path != "/" {
		t.Errorf("the browser itself is at %s", r.Header.Get("Location"))
	}
}

func TestAStepBackToTheCallbackSignsNobodyOut(t *testing.T) {
	t.Parallel()
	p, d := startPeople(t), deployments()["https at the root"]
	begun := p.browse(d, "/auth/sign-in")
	state, pre := locationOf(t, begun, http.StatusFound).Query().Get("state"), begun.cookieNamed(t, d.pre)
	path := "/auth/callback?code=c&state=" + state
	session := p.browse(d, path, d.pre+"="+pre.Value).cookieNamed(t, d.session)
	again := p.browse(d, path, d.pre+"="+pre.Value, d.session+"="+session.Value)
	if to := locationOf(t, again, http.StatusSeeOther); to.Path != "/sign-in" || to.Query().Get("error") != fault.ReasonSignInState {
		t.Errorf("sent to %s", to)
	}
	if len(again.Header["Set-Cookie"]) != 0 || !p.desk.knows(session.Value) {
		t.Error("the session is gone")
	}
}

func TestASignInThatCannotBeRecordedDoesNotHappen(t *testing.T) {
	t.Parallel()
	p, d := startPeople(t), deployments()["https at the root"]
	begun := p.browse(d, "/auth/sign-in")
	state, pre := locationOf(t, begun, http.StatusFound).Query().Get("state"), begun.cookieNamed(t, d.pre)
	p.book.fail = errTold
	r := p.browse(d, "/auth/callback?code=c&state="+state, d.pre+"="+pre.Value)
	if to := locationOf(t, r, http.StatusSeeOther); to.Query().Get("error") != fault.ReasonInternal || len(r.Header["Set-Cookie"]) != 0 {
		t.Errorf("sent to %s with %q", to, r.Header["Set-Cookie"])
	}
}

func TestSigningInStaysOnTheNameThatTheDemoWasReachedBy(t *testing.T) {
	t.Parallel()
	p := startPeople(t, demo)
	port := p.addr[strings.LastIndex(p.addr, ":"):]
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		d := deployment{host: host + port, session: "oriel_" + port[1:], pre: "oriel_" + port[1:] + "-sign-in"}
		begun := p.browse(d, "/auth/sign-in")
		to := locationOf(t, begun, http.StatusFound).Query()
		if want := "http://" + host + port + "/auth/callback"; to.Get("redirect_uri") != want {
			t.Errorf("comes back to %s, want %s", to.Get("redirect_uri"), want)
		}
		pre := begun.cookieNamed(t, d.pre)
		if back := p.browse(d, "/auth/callback?code=c&state="+to.Get("state"), d.pre+"="+pre.Value); back.cookieNamed(t, d.session).Secure {
			t.Error("a secure cookie, which a browser refuses on plain http")
		}
	}
}

func TestASignInThatBeganUnderAnotherNameIsNotFinished(t *testing.T) {
	t.Parallel()
	p := startPeople(t, demo)
	port := p.addr[strings.LastIndex(p.addr, ":"):]
	one, other := deployment{host: "localhost" + port}, deployment{host: "127.0.0.1" + port}
	begun := p.browse(one, "/auth/sign-in")
	pre := begun.cookieNamed(t, "oriel_"+port[1:]+"-sign-in")
	r := p.browse(other, "/auth/callback?code=c&state="+locationOf(t, begun, http.StatusFound).Query().Get("state"), pre.Name+"="+pre.Value)
	if to := locationOf(t, r, http.StatusSeeOther); to.Query().Get("error") != fault.ReasonSignInState {
		t.Errorf("sent to %s", to)
	}
}

func TestAHostThatIsNotOursBeginsNoSignIn(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for _, host := range []string{"evil.example.net", "events.example.com.evil.example.net", "events.example.com:8443", "127.0.0.1"} {
		for _, header := range [][]string{{"Host", host}, {"Host", host, "Authorization", "Bearer " + reader}, {"Host", host, "X-Forwarded-Host", "events.example.com"}} {
			p.do(p.request("GET", "/auth/sign-in", "", header...)).failure(t, 403, fault.ReasonHostNotAllowed)
			p.do(p.request("GET", "/auth/callback?code=c&state=s", "", header...)).failure(t, 403, fault.ReasonHostNotAllowed)
		}
	}
	r := p.do(p.request("GET", "/auth/sign-in", "", "Host", "events.example.com", "X-Forwarded-Host", "evil.example.net", "X-Forwarded-Proto", "http", "Forwarded", "host=evil.example.net"))
	if to := locationOf(t, r, http.StatusFound); to.Query().Get("redirect_uri") != "https://events.example.com/auth/callback" {
		t.Errorf("a header of the sender's made the address %s", to)
	}
}

func TestWithoutAProviderNobodySignsIn(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, path := range []string{"/auth/sign-in", "/auth/callback?code=c&state=s"} {
		f := e.do(e.request("GET", path, "", "Host", "events.example.com")).failure(t, 404, fault.ReasonNotFound)
		if !strings.Contains(f.Message, "identity provider") {
			t.Errorf("the message is %q", f.Message)
		}
	}
	for _, path := range []string{"/auth", "/auth/", "/auth/other", "/auth/sign-in/"} {
		e.do(e.request("GET", path, "", "Host", "events.example.com")).failure(t, 404, fault.ReasonNotFound)
	}
	for _, path := range []string{"/auth/sign-in", "/auth/callback"} { // a preview must not use up a sign-in
		if r := e.do(e.request("HEAD", path, "", "Host", "events.example.com")); r.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("HEAD %s answers %d", path, r.StatusCode)
		}
	}
}

func TestPeopleSignInOverPlainHTTPOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	for public, ok := range map[string]bool{
		"http://events.example.com": false, "http://10.0.0.7:8080": false, "http://localhost.example.com": false,
		"http://localhost:8080": true, "http://127.0.0.1": true, "http://[::1]:8080": true, "https://events.example.com": true,
	} {
		_, err := New(Deps{
			Config: Config{PublicURL: public}, Sessions: newDesk(), Provider: newIssuer(), Audit: &book{}, Tokens: callers{}, Registry: newRegistry(),
		})
		if (err == nil) != ok {
			t.Errorf("%s: %v", public, err)
		}
	}
}

// What a person's browser is led to after signing in, by what the link said.
func TestTheReturnPathLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"/": "/", "/explore": "/explore", "/explore?q=a%20b&type=x#row": "/explore?q=a%20b&type=x#row",
		"/events/https%3A%2F%2Fa.example%2Fx:1?time=2026-11-30T10:00:00Z": "/events/https%3A%2F%2Fa.example%2Fx:1?time=2026-11-30T10:00:00Z",
		"/explore?source=https://a.example/x":                             "/explore?source=https://a.example/x",
		"/explore?q=é":                                                    "/explore?q=é",
		"/authors":                                                        "/authors",
		"/v1x":                                                            "/v1x",
		"/admin/tokens":                                                   "/admin/tokens",
		"/%E4%BD%A0":                                                      "/%E4%BD%A0",
		"/a%2F..%2Fb":                                                     "/a%2F..%2Fb", // one segment, to browsers too
		"/%2Fevil.example":                                                "/%2Fevil.example",
		"/@evil.example":                                                  "/@evil.example",
		"/.evil.example":                                                  "/.evil.example",
		"/:80":                                                            "/:80",
		"":                                                                "/",
		"explore":                                                         "/",
		"?q=a":                                                            "/",
		"#a":                                                              "/",
		"//evil.example":                                                  "/",
		"///evil.example":                                                 "/",
		"/\\evil.example":                                                 "/",
		"\\\\evil.example":                                                "/",
		"/explore\\..":                                                    "/",
		"/a//b":                                                           "/",
		"https://evil":                                                    "/",
		"https:evil":                                                      "/",
		"javascript:a":                                                    "/",
		"JavaScript:a":                                                    "/",
		" /explore":                                                       "/",
		"\t//evil":                                                        "/",
		"/\t/evil.example":                                                "/",
		"/\n/evil.example":                                                "/",
		"/\r\nSet-Cookie: a":                                              "/",
		"/\x00":                                                           "/",
		"/a\x7f":                                                          "/",
		"/a\u0085":                                                        "/",
		"/\xff":                                                           "/",
		"/%zz":                                                            "/",
		"/..":                                                             "/",
		"/../evil":                                                        "/",
		"/a/../../b":                                                      "/",
		"/./b":                                                            "/",
		"/%2e%2e/b":                                                       "/",
		"/.%2E/b":                                                         "/",
		"/%2e":                                                            "/",
		"/auth":                                                           "/",
		"/auth/sign-in":                                                   "/",
		"/%61uth/sign-in":                                                 "/",
		"/auth?x":                                                         "/",
		"/v1":                                                             "/",
		"/v1/session":                                                     "/",
		"/v1:x":                                                           "/",
		"/v1#a":                                                           "/",
		"/health/live":                                                    "/",
		"/metrics":                                                        "/",
		"/" + strings.Repeat("a", 10_000):                                 "/",
	} {
		got := returnPath(raw)
		if got != want {
			t.Errorf("%.80q becomes %.80q, want %q", raw, got, want)
		}
		for _, base := range []string{"", "/oriel"} {
			ours, err := url.Parse("https://events.example.com" + base + "/sign-in")
			if err != nil {
				t.Fatal(err)
			}
			to, err := ours.Parse(escaped(base + got))
			if err != nil || to.Host != "events.example.com" || to.Scheme != "https" || !strings.HasPrefix(to.Path, base+"/") {
				t.Errorf("%q leads to %s, %v", raw, to, err)
			}
		}
	}
}

func TestAddressesInHeadersAreASCII(t *testing.T) {
	t.Parallel()
	if got := escaped("/explore?q=é \"<x>\r\n`{|}^\\#a%20b"); got != "/explore?q=%C3%A9%20%22%3Cx%3E%0D%0A%60%7B%7C%7D%5E%5C#a%20b" {
		t.Errorf("got %s", got)
	}
}

func TestTheSessionsCookieEndsWithTheSession(t *testing.T) {
	t.Parallel()
	if got := time.Until(endOf(person("a", ""))); got < 9*time.Hour || got > 10*time.Hour {
		t.Errorf("%s", got)
	}
}
