package oidc

import (
	"context"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

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
