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
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"oriel/server/auth"
	"oriel/server/ingest"
	"oriel/server/search"
	"oriel/server/telemetry"
)

// Config is what the edge must be told.
type Config struct {
	// PublicURL is the origin under which browsers reach this installation, such as
	// https://events.example.com. Without one only health, metrics and bearer requests are served.
	PublicURL string
	// Demo makes a browser on this machine the demo analyst. Listen then refuses any listener that
	// is not on loopback.
	Demo    bool
	Version string
	Topic   string
	// Deadline bounds a read; publishing has its own. 0 is 30 s.
	Deadline time.Duration
	// ReadTimeout bounds how long a request, its body included, may take to arrive. 0 is 30 s.
	ReadTimeout time.Duration
}

type publisher interface {
	Publish(ctx context.Context, req *ingest.Request) (*ingest.Response, error)
}

type searcher interface {
	Snapshot(ctx context.Context, params url.Values) (*search.Snapshot, error)
	List(ctx context.Context, params url.Values) (*search.Page, error)
	Get(ctx context.Context, name string, params url.Values) (*search.Detail, error)
}

type verifier interface {
	Verify(ctx context.Context, bearer string) (*auth.Principal, error)
}

type readiness interface {
	Readiness() telemetry.Readiness
}

// Deps are the parts behind the edge. A nil Publisher, Search or SPA leaves its routes unserved: a
// replica without that role answers 404 there.
type Deps struct {
	Config    Config
	Publisher publisher
	Search    searcher
	SPA       fiber.Handler
	Tokens    verifier
	Health    readiness
	Tracer    trace.Tracer
	Log       *slog.Logger
	Registry  *prometheus.Registry
}

// Server is the HTTP server.
type Server struct {
	deps    Deps
	app     *fiber.App
	routes  []route
	metrics *metrics
	sayer   sayer
	origins atomic.Pointer[origins]
	conns   atomic.Pointer[listener]
	ending  atomic.Bool

	base   context.Context // ends only when a stop runs out of time
	cancel context.CancelFunc
}

const (
	// Long cookies plus CloudEvents headers, 16 KiB of attributes at most, pass the framework's default
	// of 4 KiB. Each connection holds a buffer of this size.
	headerBytes    = 32 << 10
	idleTimeout    = 2 * time.Minute // above the 90 s of Go's client, so that the client closes first
	defaultBound   = 30 * time.Second
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
	o, err := originsOf(deps.Config.PublicURL)
	if err != nil {
		return nil, err
	}
	s := &Server{deps: deps, metrics: newMetrics(deps.Registry)}
	s.sayer.log = deps.Log
	s.origins.Store(o)
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
	s.routes = s.table()
	s.app.Use(s.entry)
	for _, r := range s.routes {
		for _, method := range r.methods() {
			s.app.Add(method, r.pattern, s.guard(&r), r.handler)
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
			return errors.Join(fmt.Errorf("demo mode has no sign-in and serves loopback only, not %s: "+
				"set ORIEL_ADDR to 127.0.0.1:%d, or run oriel serve", addr, addr.Port), ln.Close())
		}
		s.origins.Store(s.origins.Load().withLoopback(addr.Port))
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
	if err != nil {
		return fmt.Errorf("drain http: %w", err)
	}
	return nil
}
