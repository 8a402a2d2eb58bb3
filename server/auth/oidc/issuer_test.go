package oidc

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"oriel/server/auth"
	"oriel/server/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testClient   = "oriel"
	testSecret   = "s3cret: with+signs&more"
	testAudience = "https://oriel.example/api"
	testRedirect = "https://oriel.example/auth/callback"
)

// issuer is a provider over HTTP whose every answer a test may change.
type issuer struct {
	*httptest.Server
	hits sync.Map // path → *atomic.Int64

	mu         sync.Mutex
	metadata   map[string]any
	jwks       map[string]any
	key        signer
	idClaims   map[string]any // added to the usual ones; nil takes one away
	noIDToken  bool
	userinfo   map[string]any
	access     string
	refresh    string // the refresh token given; empty: none
	codes      map[string]url.Values
	accept     func(r *http.Request, form url.Values) string // an OAuth error; empty: fine
	answers    map[string]http.HandlerFunc                   // by path, in place of the usual
	lastForm   url.Values
	lastHeader http.Header
}

const (
	pathMetadata = "/.well-known/openid-configuration"
	pathKeys     = "/keys"
	pathToken    = "/token"
	pathUserinfo = "/userinfo"
)

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	i := &issuer{
		key: newSigner(t, "first", jose.ES256), idClaims: map[string]any{}, codes: map[string]url.Values{},
		answers: map[string]http.HandlerFunc{}, access: "opaque-access", refresh: "refresh-1",
		userinfo: map[string]any{"sub": "ada-1"},
	}
	i.jwks = map[string]any{"keys": []any{i.key.jwk()}}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	i.metadata = map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + pathToken,
		"userinfo_endpoint": i.URL + pathUserinfo, "jwks_uri": i.URL + pathKeys, "end_session_endpoint": i.URL + "/end?realm=staff",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		"response_types_supported":              []string{"code"}, "subject_types_supported": []string{"public"},
	}
	return i
}

// set changes the issuer while it serves.
func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *issuer) count(path string) int64 {
	n, _ := i.hits.LoadOrStore(path, new(atomic.Int64))
	return n.(*atomic.Int64).Load()
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := i.hits.LoadOrStore(r.URL.Path, new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	i.mu.Lock()
	answer := i.answers[r.URL.Path]
	i.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch r.URL.Path {
	case pathMetadata:
		writeJSON(w, 200, i.metadata)
	case pathKeys:
		writeJSON(w, 200, i.jwks)
	case pathToken:
		i.serveToken(w, r)
	case pathUserinfo:
		if r.Header.Get("Authorization") != "Bearer "+i.access {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		writeJSON(w, 200, i.userinfo)
	default:
		http.NotFound(w, r)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (i *issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	i.lastForm, i.lastHeader = r.PostForm, r.Header.Clone()
	if i.accept != nil {
		if code := i.accept(r, r.PostForm); code != "" {
			writeJSON(w, 400, map[string]string{"error": code})
			return
		}
	}
	nonce := ""
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		asked, known := i.codes[r.PostForm.Get("code")]
		delete(i.codes, r.PostForm.Get("code")) // once
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !known || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") || r.PostForm.Get("redirect_uri") != asked.Get("redirect_uri") {
			writeJSON(w, 400, map[string]string{"error": "invalid_grant"})
			return
		}
		nonce = asked.Get("nonce")
	case "refresh_token":
		if r.PostForm.Get("refresh_token") != i.refresh || i.refresh == "" {
			writeJSON(w, 400, map[string]string{"error": "invalid_grant"})
			return
		}
		i.refresh += "+"
	}
	answer := map[string]any{"access_token": i.access, "token_type": "bearer", "expires_in": 300}
	if i.refresh != "" {
		answer["refresh_token"] = i.refresh
	}
	if !i.noIDToken {
		claims := map[string]any{
			"iss": i.URL, "aud": testClient, "sub": "ada-1", "exp": now().Unix() + 300, "iat": now().Unix(),
			"at_hash": halfHash(i.key.algorithm, i.access), "name": "Ada Analyst", "email": "ada@example.com",
		}
		if nonce != "" {
			claims["nonce"] = nonce
		}
		for name, value := range i.idClaims {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
		answer["id_token"] = i.key.token(claims, nil)
	}
	writeJSON(w, 200, answer)
}

// authorize is what the browser's visit to the provider comes to: a code for what was asked.
func (i *issuer) authorize(t testing.TB, address string) (code string, asked url.Values) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	code = "code-" + random()
	i.set(func() { i.codes[code] = u.Query() })
	return code, u.Query()
}

// now is a fixed time, so that a test says how far a token is from its edges.
func now() time.Time { return time.Unix(1_800_000_000, 0) }

// hand is a clock that a test moves.
type hand struct{ moved atomic.Int64 }

func (h *hand) now() time.Time           { return now().Add(time.Duration(h.moved.Load())) }
func (h *hand) forward(by time.Duration) { h.moved.Add(int64(by)) }

func (i *issuer) config() Config {
	return Config{
		Issuer: i.URL, ClientID: testClient, ClientSecret: testSecret, Scopes: []string{"openid", "profile", "email"},
		Audience: testAudience, RoleClaim: "roles", Now: now,
		RoleValues: map[string][]string{
			auth.RoleAnalyst: {"analyst", "/staff/readers"}, auth.RoleOperator: {"operator"}, auth.RoleAdmin: {"admin", "root"},
		},
	}
}

func newProvider(t testing.TB, cfg Config) *Provider {
	t.Helper()
	p := New(cfg, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	t.Cleanup(p.Close)
	return p
}

// signIn is the whole flow; change may spoil what the browser brings back.
func signIn(t testing.TB, i *issuer, p *Provider, change func(*Callback)) (*auth.Identity, error) {
	t.Helper()
	start, err := p.Begin(t.Context(), testRedirect, "state-1")
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	code, _ := i.authorize(t, start.URL)
	back := Callback{Code: code, Nonce: start.Nonce, Verifier: start.Verifier, Redirect: testRedirect}
	if change != nil {
		change(&back)
	}
	return p.Finish(t.Context(), back)
}

// wantFault checks the public side of an error.
func wantFault(t testing.TB, err error, kind fault.Kind, reason string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %s", reason)
	}
	got := fault.Of(err)
	if got.Kind != kind || got.Violations[0].Reason != reason {
		t.Fatalf("got %s %s (%v), want %s %s", got.Kind.Status(), got.Violations[0].Reason, err, kind.Status(), reason)
	}
}

func with(base map[string]any, changes ...any) map[string]any {
	all := maps.Clone(base)
	for at := range slices.Chunk(changes, 2) {
		if all[at[0].(string)] = at[1]; at[1] == nil {
			delete(all, at[0].(string))
		}
	}
	return all
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func body(media, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		_, _ = io.WriteString(w, text)
	}
}
