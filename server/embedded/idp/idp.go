// Package idp is the demo's identity provider: OpenID Connect with the authorization code flow, PKCE and
// three people, on loopback only. It promises nothing to production and must not know Oriel's parts.
package idp

import (
	"context"
	"log/slog"
	"net"
)

// Person is one who can sign in.
type Person struct {
	Username string   `json:"username"`
	Password string   `json:"password"`
	Name     string   `json:"name"`
	Email    string   `json:"email"`
	Roles    []string `json:"roles"`
}

// Config is what the provider is made of.
type Config struct {
	Listener  net.Listener // loopback, or Start refuses
	DataDir   string       // holds the signing key, 0600, so that sessions survive a restart
	ClientID  string
	Redirects []string // exact callback addresses
	SignedOut []string // exact addresses after sign-out
	Audience  string   // of access tokens for machines
	People    []Person
	Log       *slog.Logger
}

// Server is a running provider.
type Server struct{}

// Start serves until Stop.
func Start(ctx context.Context, cfg Config) (*Server, error) { panic("outline") }

// Issuer is its address, "http://127.0.0.1:port".
func (s *Server) Issuer() string { panic("outline") }

// Stop ends it within ctx.
func (s *Server) Stop(ctx context.Context) error { panic("outline") }
