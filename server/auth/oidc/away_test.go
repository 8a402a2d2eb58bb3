package oidc

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

// impatient is a client for providers that do not answer.
func impatient() *http.Client {
	c := NewClient(nil)
	c.Timeout = 700 * time.Millisecond
	return c
}

// hang does not answer until the client has left, which a server notices once the body is read.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// drip answers a byte at a time, for ever.
func drip(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// flood answers as much as the client takes.
func flood(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"x":"`))
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	for r.Context().Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestAProviderThatFailsAnywhereIsUnavailableAndNobodyHangs(t *testing.T) {
	t.Parallel()
	ills := map[string]http.HandlerFunc{
		"error 500": status(500), "error 404": status(404), "error 429": status(429), "nothing": status(200),
		"hangs": hang, "drips": drip, "floods": flood,
		"a page":     body("text/html", "<html>Welcome</html>"),
		"half JSON":  body("application/json", `{"issuer":`),
		"an array":   body("application/json", `[]`),
		"null":       body("application/json", `null`),
		"other JSON": body("application/json", `{"hello":"world"}`),
		"hangs up": func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		},
		"to another scheme": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+r.Host+r.URL.Path, http.StatusFound)
		},
		"round and round": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		},
	}
	for _, path := range []string{pathMetadata, pathKeys, pathToken, pathUserinfo} {
		for name, ill := range ills {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				i := newIssuer(t)
				i.answers[path] = ill
				cfg := i.config()
				if name == "hangs" || name == "drips" {
					cfg.Client = impatient()
				}
				p := newProvider(t, cfg)
				began := time.Now()
				start, err := p.Begin(t.Context(), testRedirect, "s")
				if path == pathMetadata {
					wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
				} else {
					if err != nil {
						t.Fatal(err)
					}
					code, _ := i.authorize(t, start.URL)
					_, err = p.Finish(t.Context(), Callback{Code: code, Nonce: start.Nonce, Verifier: start.Verifier, Redirect: testRedirect})
					if path == pathUserinfo && name == "other JSON" { // sound, and about nobody
						wantFault(t, err, fault.Unauthenticated, fault.ReasonSignInRejected)
						return
					}
					wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
				}
				if fault.Of(err).RetryAfter <= 0 {
					t.Error("it is not said when to come again")
				}
				if len(err.Error()) > 1000 {
					t.Errorf("an error of %d bytes", len(err.Error()))
				}
				_, err = p.Refresh(t.Context(), "refresh-1")
				if path != pathUserinfo || name != "other JSON" {
					wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
				}
				if path == pathMetadata || path == pathKeys {
					_, err = p.Verify(t.Context(), i.key.token(machineClaims(i), nil))
					wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
				}
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("took %s", took)
				}
			})
		}
	}
}

func TestMetadataMustBeTheIssuersAndItsAddressesSound(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m map[string]any){
		"another issuer":          func(m map[string]any) { m["issuer"] = "https://evil.example" },
		"the issuer with a slash": func(m map[string]any) { m["issuer"] = m["issuer"].(string) + "/" },
		"no issuer":               func(m map[string]any) { delete(m, "issuer") },
		"no keys":                 func(m map[string]any) { delete(m, "jwks_uri") },
		"keys in a file":          func(m map[string]any) { m["jwks_uri"] = "file:///etc/passwd" },
		"keys without a host":     func(m map[string]any) { m["jwks_uri"] = "/keys" },
		"a script to go to":       func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)" },
		"a script to sign out":    func(m map[string]any) { m["end_session_endpoint"] = "javascript:alert(1)" },
		"nowhere to go to":        func(m map[string]any) { delete(m, "authorization_endpoint") },
		"methods as a text":       func(m map[string]any) { m["token_endpoint_auth_methods_supported"] = "client_secret_basic" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newIssuer(t)
			change(i.metadata)
			_, err := newProvider(t, i.config()).Begin(t.Context(), testRedirect, "s")
			wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
		})
	}
}

func TestAnIssuerOverTLSHasAllItsAddressesThereAndAnAuthorityOfItsOwn(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.idClaims["roles"] = "analyst"
	secure := httptest.NewUnstartedServer(i)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of the client that does not trust it
	secure.StartTLS()
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	plain := i.metadata["jwks_uri"]
	i.URL = secure.URL
	for name, path := range map[string]string{"issuer": "", "authorization_endpoint": "/authorize", "token_endpoint": pathToken, "jwks_uri": pathKeys, "userinfo_endpoint": pathUserinfo} {
		i.metadata[name] = secure.URL + path
	}
	delete(i.metadata, "end_session_endpoint")
	cfg := i.config()
	_, err := newProvider(t, cfg).Begin(t.Context(), testRedirect, "s")
	wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable) // an unknown authority
	cfg.Client = NewClient(roots)
	if _, err := signIn(t, i, newProvider(t, cfg), nil); err != nil {
		t.Fatal(err)
	}
	i.set(func() {
		i.answers[pathKeys] = func(w http.ResponseWriter, r *http.Request) {
			if r.TLS != nil {
				http.Redirect(w, r, plain.(string), http.StatusFound)
				return
			}
			writeJSON(w, http.StatusOK, i.jwks)
		}
	})
	_, err = signIn(t, i, newProvider(t, cfg), nil)
	wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
	i.set(func() { i.metadata["jwks_uri"] = plain })
	_, err = newProvider(t, cfg).Begin(t.Context(), testRedirect, "s")
	wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
	if !strings.Contains(err.Error(), "jwks_uri") {
		t.Errorf("it does not say what is wrong: %v", err)
	}
}

func TestSecretsAreNotRedirected(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.URL.Path, true)
		writeJSON(w, 200, map[string]any{"access_token": "x", "sub": "ada-1"})
	}))
	t.Cleanup(thief.Close)
	for _, path := range []string{pathToken, pathUserinfo} {
		i := newIssuer(t)
		i.answers[path] = func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}
		_, err := signIn(t, i, newProvider(t, i.config()), nil)
		wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
		if _, ok := seen.Load(path); ok {
			t.Errorf("%s went along", path)
		}
	}
}

func TestDiscoveryIsTriedAgainUntilItSucceedsButNotByEveryCaller(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.answers[pathMetadata] = status(503)
	clock := new(hand)
	cfg := i.config()
	cfg.Now = clock.now
	p := newProvider(t, cfg)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			_, err := p.Begin(t.Context(), testRedirect, "s")
			if fault.Of(err).Kind != fault.Unavailable {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	if n := i.count(pathMetadata); n != 1 {
		t.Errorf("%d discoveries at a time", n)
	}
	for failures := int64(2); failures < 8; failures++ {
		clock.forward(10 * time.Second)
		for range 5 {
			if _, err := p.Begin(t.Context(), testRedirect, "s"); err == nil {
				t.Fatal("no error")
			}
		}
		if n := i.count(pathMetadata); n != failures {
			t.Fatalf("%d discoveries after %d pauses", n, failures-1)
		}
	}
	i.set(func() { delete(i.answers, pathMetadata) })
	clock.forward(10 * time.Second)
	if _, err := p.Begin(t.Context(), testRedirect, "s"); err != nil {
		t.Fatal(err)
	}
	if f, d := testutil.ToFloat64(p.metrics.discoveries.WithLabelValues(failed)), testutil.ToFloat64(p.metrics.discoveries.WithLabelValues(done)); f != 7 || d != 1 {
		t.Errorf("counted %v failed, %v done", f, d)
	}
}

func TestMetadataIsAskedForAgainHourlyAndAfterAFailureAndKeptMeanwhile(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	clock := new(hand)
	cfg := i.config()
	cfg.Now = clock.now
	p := newProvider(t, cfg)
	begin := func() *Start {
		t.Helper()
		start, err := p.Begin(t.Context(), testRedirect, "s")
		if err != nil {
			t.Fatal(err)
		}
		settle(t, p.discovery.asker)
		return start
	}
	begin()
	clock.forward(59 * time.Minute)
	begin()
	if n := i.count(pathMetadata); n != 1 {
		t.Fatalf("%d discoveries within the hour", n)
	}
	i.set(func() { i.metadata["authorization_endpoint"] = i.URL + "/moved" })
	clock.forward(2 * time.Minute)
	begin() // with the old one
	if start := begin(); !strings.HasPrefix(start.URL, i.URL+"/moved?") {
		t.Errorf("still to %s", start.URL)
	}
	i.set(func() { i.answers[pathMetadata] = status(500); i.answers[pathToken] = status(404) })
	clock.forward(time.Minute)
	if _, err := p.Refresh(t.Context(), "refresh-1"); err == nil {
		t.Fatal("no error")
	}
	begin()
	if n := i.count(pathMetadata); n != 3 {
		t.Errorf("%d discoveries, the last after a failure", n)
	}
	i.set(func() { delete(i.answers, pathMetadata) })
	clock.forward(time.Minute)
	begin()
	clock.forward(time.Minute)
	begin()
	if n := i.count(pathMetadata); n != 4 {
		t.Errorf("%d discoveries, the last with success", n)
	}
}

func TestACallerThatLeavesSpoilsNothingForTheOthers(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	asked, let := make(chan struct{}), make(chan struct{})
	var once sync.Once
	i.answers[pathMetadata] = func(w http.ResponseWriter, _ *http.Request) {
		once.Do(func() { close(asked) })
		<-let
		i.mu.Lock()
		defer i.mu.Unlock()
		writeJSON(w, 200, i.metadata)
	}
	p := newProvider(t, i.config())
	ctx, leave := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := p.Begin(ctx, testRedirect, "s")
		if fault.Of(err).Kind != fault.Unavailable {
			t.Errorf("who left got %v", err)
		}
	})
	<-asked
	leave()
	wg.Wait()
	wg.Go(func() {
		if _, err := p.Begin(t.Context(), testRedirect, "s"); err != nil {
			t.Errorf("who stayed got %v", err)
		}
	})
	close(let)
	wg.Wait()
	if n := i.count(pathMetadata); n != 1 {
		t.Errorf("%d discoveries", n)
	}
}

func TestNothingSecretIsLogged(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	i.idClaims["name"], i.idClaims["email"] = nil, nil
	i.idClaims["_claim_names"] = map[string]any{"roles": "src1"}
	var said lockedBuffer
	cfg := i.config()
	p := New(cfg, slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug})), prometheus.NewRegistry())
	t.Cleanup(p.Close)
	who, err := signIn(t, i, p, nil)
	if err != nil || who.Role != "" || who.Name != "ada-1" {
		t.Fatalf("got %+v, %v", who, err)
	}
	if !strings.Contains(said.String(), "role claim is in a source of its own") {
		t.Error("nobody is told why there is no role")
	}
	i.set(func() { i.answers[pathUserinfo] = status(500) })
	_, _ = p.Refresh(t.Context(), who.RefreshToken)
	i.set(func() { i.accept = func(*http.Request, url.Values) string { return "invalid_client" } })
	_, _ = signIn(t, i, p, nil)
	_, _ = p.Refresh(t.Context(), who.RefreshToken)
	_, _ = p.Verify(t.Context(), i.key.token(machineClaims(i), nil)+"x")
	text := said.String()
	for _, secret := range []string{testSecret, "refresh-1", "opaque-access", "eyJ", who.IDToken} {
		if strings.Contains(text, secret) {
			t.Errorf("%.20s… is logged: %s", secret, text)
		}
	}
	if !strings.Contains(text, "invalid_client") {
		t.Errorf("what the provider refused is not logged: %s", text)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
