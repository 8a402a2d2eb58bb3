// Package httpapi is the edge: Fiber, the routes of openapi.yaml, who may call them, and the one
// place where an error becomes an answer.
//
// It promises that a request is copied out of the framework's buffers before anything else sees it,
// that nothing is decoded before its sender is known and its size is within bounds, that every
// route states its access in one table, and that every answer carries a request id of ours. It must
// not know how events are decoded, published, stored or searched.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"oriel/server/auth"
	"oriel/server/auth/oidc"
	"oriel/server/ingest"
	"oriel/server/saved"
	"oriel/server/search"
	"oriel/server/telemetry"
)

// Config is what the edge must be told.
type Config struct {
	// PublicURL is the address under which browsers reach this installation, such as
	// https://events.example.com or https://example.com/oriel. Without one only health, metrics and
	// bearer requests are served.
	PublicURL string
	// Demo takes loopback's names for ours, and Listen then refuses any listener that is not on loopback.
	Demo    bool
	Version string
	Topic   string

	Name     string   // of this installation; empty: none
	Facets   []string // names of the facet fields
	Provider string   // what the sign-in button calls the identity provider
	Contact  string   // whom to ask for a role; empty: nobody is named

	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	Limits         Limits
	// Deadline bounds a read; publishing has its own. 0 is 30 s.
	Deadline time.Duration
	// ReadTimeout bounds how long a request, its body included, may take to arrive. 0 is 30 s.
	ReadTimeout time.Duration
	// Recheck is how often a stream asks whether its caller still may. 0 is 15 s.
	Recheck time.Duration
}

type publisher interface {
	Publish(ctx context.Context, req *ingest.Request) (*ingest.Response, error)
}

type searcher interface {
	Snapshot(ctx context.Context, params url.Values) (*search.Snapshot, error)
	List(ctx context.Context, params url.Values) (*search.Page, error)
	Get(ctx context.Context, name string, params url.Values) (*search.Detail, error)
	Count(ctx context.Context, params url.Values) (*search.Count, error)
	Facets(ctx context.Context, params url.Values) (*search.Facets, error)
	Histogram(ctx context.Context, params url.Values) (*search.Histogram, error)
	Fields(ctx context.Context, params url.Values) (*search.Fields, error)
	Suggest(ctx context.Context, params url.Values) (*search.Suggestions, error)
	Context(ctx context.Context, name string, params url.Values) (*search.Neighbours, error)
	Export(ctx context.Context, params url.Values) (*search.Export, error)
}

// savedStore is a *saved.Store.
type savedStore interface {
	List(ctx context.Context, c saved.Caller, size int, token string) (*saved.Page, error)
	Get(ctx context.Context, c saved.Caller, id int64) (*saved.Search, error)
	Create(ctx context.Context, c saved.Caller, n saved.Search, with saved.With) (*saved.Search, error)
	Update(ctx context.Context, c saved.Caller, id, version int64, change saved.Change, with saved.With) (*saved.Search, error)
	Delete(ctx context.Context, c saved.Caller, id, version int64, with saved.With) error
	Link(ctx context.Context, c saved.Caller, params string) (*saved.Link, error)
	Follow(ctx context.Context, slug string) (*saved.Link, error)
}

type verifier interface {
	Verify(ctx context.Context, bearer string) (*auth.Principal, error)
}

// sessions are *auth.Sessions.
type sessions interface {
	Begin(ctx context.Context, in auth.SignIn) (state, browser string, err error)
	Finish(ctx context.Context, state, browser string) (auth.SignIn, error)
	Create(ctx context.Context, id *auth.Identity, old string, with auth.InTx) (cookie string, p *auth.Principal, err error)
	Verify(ctx context.Context, cookie string) (*auth.Principal, error)
	End(ctx context.Context, p *auth.Principal, everywhere bool, with auth.InTx) (ended int, idToken string, err error)
}

// provider is an *oidc.Provider.
type provider interface {
	Begin(ctx context.Context, redirect, state string) (*oidc.Start, error)
	Finish(ctx context.Context, back oidc.Callback) (*auth.Identity, error)
	SignOutURL(ctx context.Context, idToken, redirect string) string
	Verify(ctx context.Context, jwt string) (*auth.Principal, error)
	TakesJWTs() bool
}

type readiness interface {
	Readiness() telemetry.Readiness
}

// Deps are the parts behind the edge. A nil Publisher, Search, Saved, SPA, TokenAdmin or Audit leaves its routes
// unserved: a replica without that role answers 404 there. Without Sessions and Provider nobody signs in; a Provider
// alone verifies JWTs. Sessions and Saved need an Audit.
type Deps struct {
	Config     Config
	Publisher  publisher
	Search     searcher
	Saved      savedStore
	SPA        fiber.Handler
	Tokens     verifier
	TokenAdmin tokenAdmin
	Sessions   sessions
	Provider   provider
	Audit      record
	Health     readiness
	Tracer     trace.Tracer
	Log        *slog.Logger
	Registry   *prometheus.Registry
}

// Server is the HTTP server.
type Server struct {
	deps     Deps
	app      *fiber.App
	routes   []route
	metrics  *metrics
	sayer    sayer
	limits   *limits
	refusals refusals
	csp      *reports
	site     atomic.Pointer[site]
	conns    atomic.Pointer[listener]
	ending   atomic.Bool
	streams  sync.WaitGroup // answers that go on after their handler
	stall    time.Duration  // a client of a stream that takes nothing for so long is gone

	base   context.Context // ends only when a stop runs out of time
	cancel context.CancelFunc
}

const (
	// Long cookies plus CloudEvents headers, 16 KiB of attributes at most, pass the framework's default
	// of 4 KiB. Each connection holds a buffer of this size.
	headerBytes    = 32 << 10
	idleTimeout    = 2 * time.Minute // above the 90 s of Go's client, so that the client closes first
	defaultBound   = 30 * time.Second
	defaultRecheck = 15 * time.Second
	defaultStall   = 30 * time.Second
	noFrameworkCap = 1 << 40 // the framework's body limit; ours is in body.go
)

// New wires the routes. Nothing listens yet.
func New(deps Deps) (*Server, error) {
	if deps.Config.Deadline == 0 {
		deps.Config.Deadline = defaultBound
	}
	if deps.Config.ReadTimeout == 0 {
		deps.Config.ReadTimeout = defaultBound
	}
	if deps.Config.Recheck == 0 {
		deps.Config.Recheck = defaultRecheck
	}
	at, err := siteOf(deps.Config.PublicURL)
	if err != nil {
		return nil, err
	}
	if host := at.plain(); host != "" && deps.Sessions != nil {
		return nil, fmt.Errorf("public URL %q: cookies of people would travel in the open: it must be https", deps.Config.PublicURL)
	}
	if deps.Sessions != nil && deps.Audit == nil {
		return nil, errors.New("sessions without a record of who signs in")
	}
	s := &Server{deps: deps, stall: defaultStall, metrics: newMetrics(deps.Registry), limits: newLimits(deps.Config.Limits, deps.Registry)}
	s.csp, s.refusals = newReports(deps.Log, deps.Registry), newRefusals(deps.Registry)
	s.sayer.log = deps.Log
	s.site.Store(at)
	s.base, s.cancel = context.WithCancel(context.Background())
	s.app = fiber.New(fiber.Config{
		AppName:                      "Oriel",
		DisableStartupMessage:        true,
		CaseSensitive:                true,
		StrictRouting:                true,
		StreamRequestBody:            true,
		DisablePreParseMultipartForm: true,
		BodyLimit:                    noFrameworkCap,
		ReadBufferSize:               headerBytes,
		ReadTimeout:                  deps.Config.ReadTimeout,
		WriteTimeout:                 0, // it would cut streams
		IdleTimeout:                  idleTimeout,
		ErrorHandler:                 s.unroutable,
	})
	s.app.Server().HeaderReceived = passOver
	s.app.Server().Handler = s.outermost(s.app.Server().Handler)
	if s.routes, err = s.table(); err != nil {
		return nil, err
	}
	s.app.Use(s.entry)
	for i := range s.routes {
		r := &s.routes[i]
		for _, method := range r.methods() {
			s.app.Add(method, r.pattern, s.guard(r), r.handler)
		}
	}
	s.app.Use(s.unrouted)
	return s, nil
}

// Listen serves ln until Shutdown and closes it. It returns nil after a Shutdown, and refuses demo
// mode on an address that other machines reach.
func (s *Server) Listen(ln net.Listener) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return errors.Join(fmt.Errorf("serve %s: only TCP is served", ln.Addr()), ln.Close())
	}
	if s.deps.Config.Demo {
		if !addr.IP.IsLoopback() {
			return errors.Join(fmt.Errorf("demo mode has passwords that everybody knows and serves loopback only, not %s: "+
				"set ORIEL_ADDR to 127.0.0.1:%d, or run oriel serve", addr, addr.Port), ln.Close())
		}
		s.site.Store(s.site.Load().withLoopback(addr.Port))
	}
	tracked := newListener(ln)
	if !s.conns.CompareAndSwap(nil, tracked) {
		return errors.Join(fmt.Errorf("serve %s: this server has a listener", addr), ln.Close())
	}
	if s.ending.Load() { // before there was anything to close
		return tracked.Close()
	}
	if err := s.app.Listener(tracked); err != nil {
		return fmt.Errorf("serve %s: %w", addr, err)
	}
	return nil
}

// Shutdown stops accepting, lets requests in hand finish within ctx, and then cuts what is left. It
// returns when no connection is open. Readiness should have said no for a moment before.
func (s *Server) Shutdown(ctx context.Context) error {
	s.ending.Store(true)
	tracked := s.conns.Load()
	if tracked == nil {
		s.cancel()
		return nil
	}
	// The framework forgets a listener that it does not serve yet.
	if err := tracked.Close(); err != nil {
		s.deps.Log.WarnContext(ctx, "the listener did not close", "error", err)
	}
	tracked.closeUnused()
	err := s.app.ShutdownWithContext(ctx)
	s.cancel()
	tracked.closeAll()
	s.streams.Wait() // their connections are closed and their context has ended
	if err != nil {
		return fmt.Errorf("drain http: %w", err)
	}
	return nil
}
