// Package idp is the demo's identity provider: OpenID Connect with the authorization code flow, PKCE and
// a few people, on loopback only. The protocol is github.com/zitadel/oidc's; the people, what is kept
// about them and the sign-in page are ours.
//
// It promises to the demo what a company's provider promises to an installation: exact addresses, a code
// that works once, PKCE with S256, refresh tokens that are replaced at each use, single sign-on and
// sign-out. It promises nothing to production, where people are not listed on the sign-in page, and must
// not know Oriel's parts.
package idp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/zitadel/oidc/v3/pkg/op"
)

// Person is one who can sign in.
type Person struct {
	Username string   `json:"username"`
	Password string   `json:"password"`
	Name     string   `json:"name"`
	Email    string   `json:"email"`
	Roles    []string `json:"roles"`
}

// Machine is a program that gets JWTs for itself, by client_credentials.
type Machine struct {
	ID     string
	Secret string
	Scopes []string // that it may ask for; all of them where it asks for none
}

// Config is what the provider is made of.
type Config struct {
	Listener  net.Listener // loopback, or Start refuses; the Server closes it
	DataDir   string       // holds the signing key and what refresh tokens stand for, 0600, so that sessions survive a restart
	ClientID  string       // of the public client that people sign in to
	Redirects []string     // exact callback addresses
	SignedOut []string     // exact addresses after sign-out
	Audience  string       // of access tokens for machines
	Machine   Machine      // none without an ID
	People    []Person
	// Reread, where given, is asked for the people each time one is needed: who is taken out, and a role
	// that is taken away, count at once. While it fails, the people of before stay.
	Reread func() ([]Person, error)
	Log    *slog.Logger
}

// maxBody bounds what a request may carry; forms are small.
const maxBody = 64 << 10

// Server is a running provider.
type Server struct {
	issuer string
	cfg    Config
	store  *store
	oidc   *op.Provider
	pages  *pages
	same   *http.CrossOriginProtection
	cookie string // their names' start; cookies know no ports, so the name has ours
	http   *http.Server
	served chan struct{}
}

// Start serves until Stop.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	addr, ok := cfg.Listener.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("the demo's identity provider signs people in at a click, so it listens on loopback only: %s is not", cfg.Listener.Addr())
	}
	if cfg.ClientID == "" || len(cfg.Redirects) == 0 || len(cfg.People) == 0 && cfg.Reread == nil {
		return nil, errors.New("the demo's identity provider needs a client, its callback addresses and people")
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of the demo's identity provider: %w", err)
	}
	key, err := loadKey(filepath.Join(cfg.DataDir, "key.pem"))
	if err != nil {
		return nil, err
	}
	s := &Server{
		issuer: "http://" + addr.String(), cfg: cfg, pages: newPages(), same: http.NewCrossOriginProtection(),
		cookie: "oriel_idp_" + strconv.Itoa(addr.Port), served: make(chan struct{}),
	}
	s.store = newStore(cfg, key, loadGrants(filepath.Join(cfg.DataDir, "grants.json"), cfg.Log), time.Now)
	settings := &op.Config{
		CodeMethodS256: true, GrantTypeRefreshToken: true, DefaultLogoutRedirectURI: s.issuer + signedOutPath,
	}
	// Seals codes, which no restart needs to survive.
	if _, err := rand.Read(settings.CryptoKey[:]); err != nil {
		return nil, err
	}
	if s.oidc, err = op.NewProvider(settings, s.store, op.StaticIssuer(s.issuer), op.WithAllowInsecure(), op.WithCORSOptions(nil)); err != nil {
		return nil, fmt.Errorf("the demo's identity provider: %w", err)
	}
	s.http = &http.Server{
		Handler: s.handler(addr), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 20 * time.Second,
		WriteTimeout: 20 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog:    slog.NewLogLogger(cfg.Log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(cfg.Listener); !errors.Is(err, http.ErrServerClosed) {
			cfg.Log.Error("the demo's identity provider ended", "error", err)
		}
	}()
	return s, nil
}

// Issuer is its address, "http://127.0.0.1:port".
func (s *Server) Issuer() string { return s.issuer }

// Stop ends it within ctx.
func (s *Server) Stop(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("stop the demo's identity provider: %w", err), s.http.Close())
	}
	<-s.served
	return err
}
