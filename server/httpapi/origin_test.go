package httpapi

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"oriel/server/fault"
)

func TestHostsUnderWhichNobodyIsServed(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, c := range map[string]struct {
		path, host, token string
		code              int
	}{
		"the public host":                        {"/", "events.example.com", "", 200},
		"the public host in capitals":            {"/", "EVENTS.Example.com", "", 200},
		"the public host with its own port":      {"/", "events.example.com:443", "", 200},
		"the public host with another port":      {"/", "events.example.com:8080", "", 403},
		"a name that a stranger points at us":    {"/", "rebound.example.net", "", 403},
		"a stranger's name for the API":          {"/v1/session", "rebound.example.net", "", 403},
		"loopback, which is public only in demo": {"/", "127.0.0.1", "", 403},
		"a bearer token under any name":          {"/v1/session", "rebound.example.net", reader, 200},
		"a probe under any name":                 {"/health/ready", "10.0.0.7:8080", "", 200},
		"a scrape under any name":                {"/metrics", "10.0.0.7:8080", "", 200},
		"a path that only begins like a probe's": {"/healthy", "rebound.example.net", "", 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := e.do(e.request("GET", c.path, c.token, "Host", c.host))
			if c.code == 403 {
				f := r.failure(t, 403, fault.ReasonHostNotAllowed)
				if !strings.Contains(f.Details[0].Metadata["accepted"], "events.example.com") {
					t.Errorf("%v does not say what is accepted", f.Details[0].Metadata)
				}
			} else if r.StatusCode != c.code {
				t.Errorf("got %d %s", r.StatusCode, r.body)
			}
		})
	}
	t.Run("an absolute target counts before the Host header", func(t *testing.T) {
		t.Parallel()
		r, _ := e.raw(lines("GET http://rebound.example.net/ HTTP/1.1", "Host: events.example.com", ""))
		r.failure(t, 403, fault.ReasonHostNotAllowed)
	})
}

func TestUnsafeMethodsComeFromOurOwnPageOrCarryAToken(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, c := range map[string]struct {
		header []string
		pass   bool
	}{
		"our own page":                         {[]string{"Origin", "https://events.example.com", "Sec-Fetch-Site", "same-origin"}, true},
		"our own page in an old browser":       {[]string{"Origin", "https://events.example.com"}, true},
		"fetch metadata alone":                 {[]string{"Sec-Fetch-Site", "same-origin"}, true},
		"neither":                              {nil, false},
		"another site":                         {[]string{"Origin", "https://evil.example.net", "Sec-Fetch-Site", "cross-site"}, false},
		"a sibling of the site":                {[]string{"Origin", "https://other.example.com", "Sec-Fetch-Site", "same-site"}, false},
		"an origin that lies about the scheme": {[]string{"Origin", "http://events.example.com"}, false},
		"an opaque origin":                     {[]string{"Origin", "null"}, false},
		"metadata and origin that disagree":    {[]string{"Origin", "https://evil.example.net", "Sec-Fetch-Site", "same-origin"}, false},
		"typed by a person, which no write is": {[]string{"Sec-Fetch-Site", "none"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := e.do(e.request("POST", "/v1/session", "", append(c.header, "Host", "events.example.com")...))
			if c.pass {
				r.failure(t, 405, fault.ReasonMethodNotAllowed) // it came as far as the routes
			} else {
				r.failure(t, 403, fault.ReasonOriginNotAllowed)
			}
		})
	}
	t.Run("a machine with a token says where it comes from, and may", func(t *testing.T) {
		t.Parallel()
		r := e.do(e.request("POST", "/v1/events", writer, "Sec-Fetch-Mode", "cors", "Sec-Fetch-Site", "cross-site", "Origin", "https://a.example"))
		if r.StatusCode != http.StatusOK {
			t.Errorf("got %d %s", r.StatusCode, r.body)
		}
	})
}

func TestASessionIsForPagesOfOurOwn(t *testing.T) {
	t.Parallel()
	p := startPeople(t, demo)
	_, port, _ := net.SplitHostPort(p.addr)
	for name, c := range map[string]struct {
		method, path string
		header       []string
		code         int
		reason       string
	}{
		"reading":                           {"GET", "/v1/events", nil, 200, ""},
		"reading by the name":               {"GET", "/v1/events", []string{"Host", "localhost:" + port}, 200, ""},
		"reading over IPv6":                 {"GET", "/v1/events", []string{"Host", "[::1]:" + port}, 200, ""},
		"reading from our own page":         {"GET", "/v1/events", []string{"Sec-Fetch-Site", "same-origin"}, 200, ""},
		"reading from the address bar":      {"GET", "/v1/events", []string{"Sec-Fetch-Site", "none"}, 200, ""},
		"another port's name":               {"GET", "/v1/events", []string{"Host", "localhost:1"}, 403, fault.ReasonHostNotAllowed},
		"a rebound name":                    {"GET", "/v1/events", []string{"Host", "evil.example.net:" + port}, 403, fault.ReasonHostNotAllowed},
		"reading from another local server": {"GET", "/v1/events", []string{"Sec-Fetch-Site", "same-site"}, 403, fault.ReasonOriginNotAllowed},
		"reading from a foreign page":       {"GET", "/v1/events", []string{"Origin", "https://evil.example.net"}, 403, fault.ReasonOriginNotAllowed},
		"reading by the name from its page": {"GET", "/v1/events", []string{"Host", "localhost:" + port, "Origin", "http://localhost:" + port, "Sec-Fetch-Site", "same-origin"}, 200, ""},
		"reading by a name from another's":  {"GET", "/v1/events", []string{"Host", "127.0.0.1:" + port, "Origin", "http://localhost:" + port}, 403, fault.ReasonOriginNotAllowed},
		"publishing without a token":        {"POST", "/v1/events", nil, 401, fault.ReasonTokenMissing},
		"publishing from our own page":      {"POST", "/v1/events", []string{"Sec-Fetch-Site", "same-origin"}, 401, fault.ReasonTokenMissing},
		"a bad token does not fall back":    {"GET", "/v1/events", []string{"Authorization", "Bearer orl_x"}, 401, fault.ReasonTokenInvalid},
		"an odd scheme does not fall back":  {"GET", "/v1/events", []string{"Authorization", "Basic YTpi"}, 401, fault.ReasonTokenInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := p.do(p.request(c.method, c.path, "", append(c.header, "Cookie", "oriel_"+port+"="+analystCookie)...))
			if c.reason != "" {
				r.failure(t, c.code, c.reason)
			} else if r.StatusCode != c.code {
				t.Errorf("got %d %s", r.StatusCode, r.body)
			}
		})
	}
}

func TestAnUnsafeRequestWithASessionComesFromOurOwnPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header []string
		pass   bool
	}{
		"our own page":                                 {[]string{"Origin", "https://events.example.com", "Sec-Fetch-Site", "same-origin"}, true},
		"our own page in an old browser":               {[]string{"Origin", "https://events.example.com"}, true},
		"neither Origin nor fetch metadata":            {nil, false},
		"another site":                                 {[]string{"Origin", "https://evil.example.net", "Sec-Fetch-Site", "cross-site"}, false},
		"another site in an old browser":               {[]string{"Origin", "https://evil.example.net"}, false},
		"a sibling subdomain":                          {[]string{"Origin", "https://blog.example.com", "Sec-Fetch-Site", "same-site"}, false},
		"a sibling that names no origin":               {[]string{"Sec-Fetch-Site", "same-site"}, false},
		"a subdomain of ours":                          {[]string{"Origin", "https://x.events.example.com"}, false},
		"an opaque origin":                             {[]string{"Origin", "null"}, false},
		"another scheme":                               {[]string{"Origin", "http://events.example.com"}, false},
		"another port":                                 {[]string{"Origin", "https://events.example.com:8443"}, false},
		"a form that a person typed to":                {[]string{"Sec-Fetch-Site", "none"}, false},
		"an empty bearer token does not open the gate": {[]string{"Origin", "https://evil.example.net", "Authorization", "Bearer"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPeople(t)
			req := p.request("POST", "/v1/session:signOut", "", append(c.header, "Host", "events.example.com", "Cookie", "__Host-oriel="+analystCookie, "Content-Type", "application/json")...)
			req.Body, req.ContentLength = io.NopCloser(strings.NewReader("{}")), 2
			r := p.do(req)
			if c.pass {
				if r.StatusCode != http.StatusOK || p.desk.knows(analystCookie) {
					t.Errorf("got %d %s", r.StatusCode, r.body)
				}
				return
			}
			r.failure(t, 403, fault.ReasonOriginNotAllowed)
			if !p.desk.knows(analystCookie) {
				t.Error("the session has ended")
			}
		})
	}
}

func TestDemoRefusesAListenerThatOthersReach(t *testing.T) {
	t.Parallel()
	e := start(t, demo)
	s, err := New(Deps{Config: Config{Demo: true}, Tokens: callers{}, Registry: newRegistry(), Tracer: e.deps.Tracer, Log: e.deps.Log, Health: e.deps.Health})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(ln); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("got %v", err)
	}
	if _, err := ln.Accept(); err == nil {
		t.Error("the listener is still open")
	}
}

func TestThePathOfAPublicURL(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"": "", "https://a": "", "https://a/": "", "https://a/oriel": "/oriel", "https://a/oriel/": "/oriel", "https://a:1/x/y-1_2.3~4/": "/x/y-1_2.3~4", "https://a/x/v1": "/x/v1",
	} {
		if got, err := BasePath(public); got != want || err != nil {
			t.Errorf("%s has %q, %v", public, got, err)
		}
	}
}

func TestWithATokenTheCookieMeansNothing(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	header := []string{"Host", "events.example.com", "Origin", "https://a.example", "Sec-Fetch-Site", "cross-site", "Cookie", "__Host-oriel=" + adminCookie}
	if r := p.do(p.request("GET", "/v1/session", reader, header...)); r.StatusCode != http.StatusOK || !strings.Contains(string(r.body), `"tokens/2"`) {
		t.Errorf("got %d %s", r.StatusCode, r.body)
	}
	p.do(p.request("GET", "/v1/tokens", reader, header...)).failure(t, 403, fault.ReasonScopeMissing)
}

func TestPublicURLsThatMakeNoOrigin(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"events.example.com", "ftp://events.example.com", "https://", "https://u:p@a", "https://a?x=1", "https://a#x", "https://:80",
		"https://a/v1", "https://a/auth/x", "https://a/health", "https://a/metrics", "https://a/x//y", "https://a/../x", "https://a/./x",
		"https://a/x%20y", "https://a/x%2fy", "https://a/<x>", "https://a/é", "https://a/a;b",
	} {
		if _, err := siteOf(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
