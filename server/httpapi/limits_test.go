package httpapi

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oriel/server/fault"
)

// behind makes the peer, which is this test, a trusted proxy: its clients are who it says.
func behind(l Limits) func(*Deps) {
	return func(d *Deps) {
		d.Config.TrustedProxies, d.Config.Limits = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, l
	}
}

func (e *edge) from(address, method, path, token string, header ...string) reply {
	e.t.Helper()
	return e.do(e.request(method, path, token, append(header, "X-Forwarded-For", address, "Host", "events.example.com")...))
}

func limited(t *testing.T, r reply, limit, most string) {
	t.Helper()
	f := r.failure(t, 429, fault.ReasonRateLimited)
	if d := f.Details[0].Metadata; d["attribute"] != limit || d["limit"] != most || !strings.Contains(f.Message, most) {
		t.Errorf("%+v does not name the limit", f)
	}
	if n, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || n < 1 || n > 60 {
		t.Errorf("retry after %q", r.Header.Get("Retry-After"))
	}
}

// until sends until it is limited, and returns how many went through: on a slow machine some refill.
func until(t *testing.T, send func(i int) reply) (passed int, last reply) {
	t.Helper()
	for ; passed < 1000; passed++ {
		if last = send(passed); last.StatusCode == http.StatusTooManyRequests {
			return passed, last
		} else if last.StatusCode != http.StatusOK {
			t.Fatalf("request %d: %d %s", passed, last.StatusCode, last.body)
		}
	}
	t.Fatal("a thousand requests went through")
	return
}

func TestPublishingIsLimitedByCredential(t *testing.T) {
	t.Parallel()
	p := startPeople(t, behind(Limits{IngestCredential: 3}))
	passed, r := until(t, func(i int) reply { // from another address each time: it is the credential that counts
		return p.from("198.51.100."+strconv.Itoa(i%256), "POST", "/v1/events", writer)
	})
	limited(t, r, "ingest_credential", "3 a second")
	if passed < 3 {
		t.Errorf("%d went through", passed)
	}
	if r := p.from("198.51.100.1", "POST", "/v1/events", "ey.writer"); r.StatusCode != http.StatusOK {
		t.Errorf("another credential: %d %s", r.StatusCode, r.body)
	}
	if n := len(p.publisher.all()); n != passed+1 {
		t.Errorf("%d were published", n)
	}
	if n := p.metric("oriel_http_rate_limited_total", map[string]string{"limit": "ingest_credential"}); n != 1 {
		t.Errorf("counted %v", n)
	}
	if n := p.metric("oriel_http_limit", map[string]string{"limit": "ingest_credential"}); n != 3 {
		t.Errorf("the limit is told as %v", n)
	}
}

func TestPublishingIsLimitedByAddress(t *testing.T) {
	t.Parallel()
	p := startPeople(t, behind(Limits{IngestAddress: 2}))
	passed, r := until(t, func(i int) reply { // with one credential or another, and from one network
		return p.from("2001:db8:1:2::"+strconv.Itoa(i), "POST", "/v1/events:validate", []string{writer, "ey.writer"}[i%2])
	})
	limited(t, r, "ingest_address", "2 a second")
	if passed < 2 {
		t.Errorf("%d went through", passed)
	}
	if r := p.from("2001:db8:1:3::1", "POST", "/v1/events", writer); r.StatusCode != http.StatusOK {
		t.Errorf("the neighbour: %d %s", r.StatusCode, r.body)
	}
	if r := p.from("2001:db8:1:2::1", "GET", "/v1/events", reader); r.StatusCode != http.StatusOK {
		t.Errorf("reading: %d %s", r.StatusCode, r.body)
	}
}

func TestSignInsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	p := startPeople(t, behind(Limits{SignInAddress: 2}))
	for _, path := range []string{"/auth/sign-in", "/auth/callback?code=c&state=s"} {
		if r := p.from("198.51.100.1", "GET", path, ""); r.StatusCode != http.StatusFound && r.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
	// A person is there: they are led to the page that says so.
	for path, back := range map[string]string{"/auth/sign-in?return=%2Fexplore": "/explore", "/auth/callback?code=c&state=s": "/"} {
		r := p.from("198.51.100.1", "GET", path, "")
		to := locationOf(t, r, http.StatusSeeOther)
		if to.Path != "/sign-in" || to.Query().Get("error") != fault.ReasonRateLimited || to.Query().Get("return") != back || to.Query().Get("request") != r.Header.Get("X-Request-Id") {
			t.Errorf("%s: sent to %s", path, to)
		}
	}
	if n := p.metric("oriel_http_rate_limited_total", map[string]string{"limit": "sign_in_address"}); n != 2 {
		t.Errorf("counted %v", n)
	}
	if r := p.from("198.51.100.2", "GET", "/auth/sign-in", ""); r.StatusCode != http.StatusFound {
		t.Errorf("another address: %d %s", r.StatusCode, r.body)
	}
	if n := len(p.desk.began); n != 2 {
		t.Errorf("%d sign-ins were stored", n)
	}
}

func TestGuessingIsLimitedAndLocksNobodyElseOut(t *testing.T) {
	t.Parallel()
	p := startPeople(t, behind(Limits{RefusedAddress: 3}))
	const at = "198.51.100.1"
	cookie := func(value string) []string { return []string{"Cookie", "__Host-oriel=" + value} }

	// Known before the guessing began.
	if r := p.from(at, "GET", "/v1/session", reader); r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	if r := p.from(at, "GET", "/v1/session", "", cookie(analystCookie)...); r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	p.from(at, "GET", "/v1/events", "orl_unknown").failure(t, 401, fault.ReasonTokenInvalid)
	p.from(at, "GET", "/v1/events", "ey.other").failure(t, 401, fault.ReasonTokenInvalid)
	p.from(at, "GET", "/v1/session", "", cookie(opaque("guess"))...).failure(t, 401, fault.ReasonSessionExpired)

	limited(t, p.from(at, "GET", "/v1/session", "", cookie(opaque("another guess"))...), "refused_address", "3 a minute")
	limited(t, p.from(at, "GET", "/v1/session", "", "Authorization", "Basic YTpi"), "refused_address", "3 a minute")
	limited(t, p.from(at, "POST", "/v1/events", "orl_unknown"), "refused_address", "3 a minute")
	limited(t, p.from(at, "GET", "/v1/events", "ey.other"), "refused_address", "3 a minute")
	for name, r := range map[string]reply{
		"a token that was seen valid":   p.from(at, "GET", "/v1/session", reader),
		"a session that was seen valid": p.from(at, "GET", "/v1/session", "", cookie(analystCookie)...),
		"a token that is new here":      p.from(at, "POST", "/v1/events", writer),
		"a JWT that is new here":        p.from(at, "POST", "/v1/events", "ey.writer"),
		"a session that is new here":    p.from(at, "GET", "/v1/session", "", cookie(adminCookie)...),
		"another address":               p.from("198.51.100.2", "GET", "/v1/session", keeper),
	} {
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	p.from(at, "GET", "/v1/session", "").failure(t, 401, fault.ReasonSignInNeeded) // nothing was guessed
	if n := p.metric("oriel_http_rate_limited_total", map[string]string{"limit": "refused_address"}); n != 4 {
		t.Errorf("counted %v", n)
	}
}

func TestACredentialThatNobodyCouldCheckIsNoGuess(t *testing.T) {
	t.Parallel()
	p := startPeople(t, behind(Limits{RefusedAddress: 1}))
	for range 3 {
		p.from("198.51.100.1", "GET", "/v1/session", "orl_away").failure(t, 503, fault.ReasonDatabaseUnavailable)
	}
}

func TestACredentialThatEndedIsUnknownAgain(t *testing.T) {
	t.Parallel()
	l := newLimits(Limits{RefusedAddress: 1}, newRegistry())
	at := netip.MustParseAddr("198.51.100.1")
	unknown := fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid, "It is not known.")
	for i, c := range []struct {
		told error
		want fault.Kind
	}{{nil, 0}, {unknown, fault.Unauthenticated}, {unknown, fault.Exhausted}, {nil, 0}, {unknown, fault.Unauthenticated}} {
		err := l.try(t.Context(), at, "a", func() error { return c.told })
		if (err == nil) != (c.want == 0) || err != nil && fault.Of(err).Kind != c.want {
			t.Errorf("try %d: %v", i, err)
		}
	}
}

// Who guesses gets few lookups at a time, and whoever finds none free is told to come again.
func TestGuessesBeyondTheLimitShareFewLookups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(Limits{RefusedAddress: 1}, newRegistry())
		at := netip.MustParseAddr("198.51.100.1")
		unknown := fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid, "It is not known.")
		if err := l.try(t.Context(), at, "first", func() error { return unknown }); fault.Of(err).Kind != fault.Unauthenticated {
			t.Fatal(err)
		}
		var looking, looked atomic.Int64
		answer := make(chan struct{})
		var guesses sync.WaitGroup
		for n := range 50 {
			guesses.Go(func() {
				err := l.try(t.Context(), at, strconv.Itoa(n), func() error {
					looked.Add(1)
					if looking.Add(1) > gateWidth {
						t.Error("too many are looked up at once")
					}
					<-answer
					looking.Add(-1)
					return unknown
				})
				if fault.Of(err).Kind != fault.Exhausted {
					t.Errorf("got %v", err)
				}
			})
		}
		time.Sleep(gateWait) // of the bubble's clock
		synctest.Wait()
		close(answer)
		guesses.Wait()
		if n := looked.Load(); n != gateWidth {
			t.Errorf("%d were looked up", n)
		}
		if err := l.try(t.Context(), at, "good", func() error { return nil }); err != nil {
			t.Errorf("afterwards a good one: %v", err)
		}
	})
}

func TestNoLimitIsNone(t *testing.T) {
	t.Parallel()
	p := startPeople(t, behind(Limits{}))
	for range 200 {
		if r := p.from("198.51.100.1", "POST", "/v1/events", writer); r.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
}

func TestALimitRefillsAndForgetsWhoAskedLongAgo(t *testing.T) {
	t.Parallel()
	l := newLimits(Limits{IngestAddress: 1}, newRegistry()).ingestAddress
	first := netip.AddrFrom4([4]byte{10, 0, 0, 0})
	if l.take(first) != nil || l.take(first) == nil {
		t.Fatal("one is allowed, and no more")
	}
	if e := fault.Of(l.take(first)); e.RetryAfter <= 0 || e.RetryAfter > time.Second {
		t.Errorf("again after %s", e.RetryAfter)
	}
	for i := 1; i <= remembered; i++ {
		if err := l.take(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.clients.Len(); n != remembered {
		t.Errorf("%d clients are remembered", n)
	}
	if err := l.take(first); err != nil {
		t.Errorf("the first is remembered after %d others: %v", remembered, err)
	}
}
