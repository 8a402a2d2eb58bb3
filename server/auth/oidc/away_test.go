package oidc

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
