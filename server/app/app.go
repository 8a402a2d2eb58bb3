// Package app wires the parts into one process and takes them down again in order. It is the only
// package that knows all others, and holds no logic of theirs.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"oriel"
	"oriel/server/auth"
	"oriel/server/config"
	"oriel/server/fault"
	"oriel/server/httpapi"
	"oriel/server/kafka"
	"oriel/server/query"
	"oriel/server/saved"
	"oriel/server/schema"
	"oriel/server/search"
	"oriel/server/spa"
	"oriel/server/telemetry"
)

// storeConsumer is the name of the consumer that fills the event table.
const storeConsumer = "store"

// Options are what demo mode and tests add to the configuration.
type Options struct {
	Version string
	Demo    bool
	// Listener is used instead of one of ORIEL_ADDR's; the App closes it.
	Listener net.Listener
	// TrimLog lets the maintain job bound the embedded broker's log: nothing below lowest is needed.
	TrimLog func(ctx context.Context, lowest map[int32]int64) error
}

// App is one running process.
type App struct {
	log      *slog.Logger
	health   *telemetry.Health
	listener net.Listener
	steps    []step
	serveErr chan error
	start    []func(context.Context) error
}

// step is one thing to undo, in the order of the graceful stop.
type step struct {
	name  string
	bound time.Duration
	stop  func(context.Context) error
}

// New wires an App and undoes what it built if a later step fails.
func New(ctx context.Context, cfg config.Config, opts Options, log *slog.Logger) (_ *App, err error) {
	a := &App{log: log, serveErr: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
		}
	}()
	fields, err := cfg.Store.FacetFields()
	if err != nil {
		return nil, err
	}
	reg := telemetry.NewRegistry(opts.Version)
	tracing, err := telemetry.NewTracing(ctx, opts.Version, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	// Steps are pushed in the order of building and run in reverse.
	a.push("traces", 5*time.Second, tracing.Shutdown)

	pool, err := openPool(ctx, cfg.Database.URL, cfg.Database.MaxConns, "oriel", controlSession())
	if err != nil {
		return nil, err
	}
	a.push("database", 5*time.Second, closePool(pool))
	if err := schema.Check(ctx, pool); err != nil {
		return nil, err
	}
	if err := schema.CheckAudit(ctx, pool); err != nil {
		return nil, err
	}
	a.health = telemetry.NewHealth(telemetry.DefaultProbeBounds(), log, reg)
	a.health.Register("postgresql", func(ctx context.Context) error {
		return public(pool.Ping(ctx), fault.ReasonDatabaseUnavailable, "The database does not answer.")
	})
	a.push("health", time.Second, func(context.Context) error { a.health.Stop(); return nil })
	a.start = append(a.start, func(context.Context) error { a.health.Start(); return nil })

	var kopts []kgo.Opt
	var probe *kgo.Client
	if cfg.HTTP.UsesKafka() || opts.TrimLog != nil {
		if kopts, err = kafka.Options(kafkaConfig(cfg), log); err != nil {
			return nil, err
		}
		if probe, err = a.addBroker(ctx, cfg, kopts); err != nil {
			return nil, err
		}
	}
	if cfg.HTTP.Has(config.RoleMaintain) {
		a.addMaintain(cfg, opts, pool, probe, log, reg)
	}
	buried := func() {} // told of new messages in the outbox
	if cfg.HTTP.Has(config.RoleRelay) {
		relay, err := a.addRelay(ctx, cfg, kopts, log, reg)
		if err != nil {
			return nil, err
		}
		buried = relay.Wake
	}
	if cfg.HTTP.Has(config.RoleConsume) {
		if err := a.addConsumer(ctx, cfg, fields, kopts, buried, log, reg); err != nil {
			return nil, err
		}
	}
	tokens := auth.NewTokens(pool, log, reg)
	a.push("tokens", 5*time.Second, func(context.Context) error { tokens.Close(); return nil })
	deps := httpapi.Deps{
		Config: httpapi.Config{
			PublicURL: cfg.HTTP.PublicURL, Demo: opts.Demo, Version: opts.Version, Topic: cfg.Kafka.Topic,
			Name: cfg.HTTP.Name, Facets: fields.Names(), Provider: providerName(cfg.SignIn), Contact: cfg.SignIn.Contact,
			TrustedProxies: cfg.HTTP.TrustedProxies, Limits: httpapi.Limits(cfg.Limits),
		},
		Tokens: tokens, TokenAdmin: tokens, Health: a.health, Tracer: tracing.Tracer("oriel/server/httpapi"),
		Log: log, Registry: reg,
	}
	if err := a.addPeople(cfg, pool, &deps, log, reg); err != nil {
		return nil, err
	}
	if cfg.HTTP.Has(config.RoleIngest) {
		if deps.Publisher, err = a.addPublisher(cfg, kopts, tracing.Provider(), log, reg); err != nil {
			return nil, err
		}
	}
	if cfg.HTTP.Has(config.RoleWeb) {
		read, primary, err := a.addReader(ctx, cfg)
		if err != nil {
			return nil, err
		}
		searches := search.New(read, search.Config{
			Retention: time.Duration(cfg.Store.Retention), Facets: fields.Names(), Primary: primary,
		}, log, reg)
		deps.Search = searches
		if primary != nil {
			a.addStandby(searches, log)
		}
		deps.Saved = saved.New(pool, query.Schema{Facets: fields.Names()}, reg)
		dist, err := fs.Sub(oriel.Frontend, "frontend/dist")
		if err != nil {
			return nil, fmt.Errorf("embedded app: %w", err)
		}
		base, err := httpapi.BasePath(cfg.HTTP.PublicURL)
		if err != nil {
			return nil, err
		}
		pages, err := spa.New(dist, spa.Config{Base: base, Report: base + httpapi.ReportPath})
		if err != nil {
			return nil, fmt.Errorf("embedded app: %w", err)
		}
		deps.SPA = pages.Handle
	}
	return a, a.addHTTP(ctx, cfg, opts, deps)
}

func (a *App) push(name string, bound time.Duration, stop func(context.Context) error) {
	a.steps = append(a.steps, step{name, bound, stop})
}

// Addr is the address that the HTTP server listens on.
func (a *App) Addr() string { return a.listener.Addr().String() }

// Start starts the parts; what follows a failure is Stop's to undo.
func (a *App) Start(ctx context.Context) error {
	for _, start := range a.start {
		if err := start(ctx); err != nil {
			return err
		}
	}
	a.log.Info("oriel is up", "addr", a.Addr())
	return nil
}

// Wait returns when ctx ends or the HTTP server fails.
func (a *App) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.serveErr:
		return err
	}
}

// Stop takes the parts down: readiness says no, HTTP drains, producers flush, consumers finish the
// batch in hand, jobs, pools, traces. Each step has its own bound within ctx. Safe twice.
func (a *App) Stop(ctx context.Context) error {
	var errs []error
	for i := len(a.steps) - 1; i >= 0; i-- {
		s := a.steps[i]
		began := time.Now()
		bounded, cancel := context.WithTimeout(ctx, s.bound)
		err := s.stop(bounded)
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", s.name, err))
		}
		a.log.Info("stopped", "step", s.name, "seconds", time.Since(began).Seconds(), "failed", err != nil)
	}
	a.steps = nil
	return errors.Join(errs...)
}

// Serve runs `oriel serve` until ctx ends.
func Serve(ctx context.Context, cfg config.Config, log *slog.Logger, version string) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	return run(ctx, cfg, Options{Version: version}, log, nil)
}

// run starts an App, calls up once it runs, waits for ctx and stops within the configured time.
func run(ctx context.Context, cfg config.Config, opts Options, log *slog.Logger, up func(*App) error) error {
	a, err := New(ctx, cfg, opts, log)
	if err != nil {
		return err
	}
	err = a.Start(ctx)
	if err == nil && up != nil {
		err = up(a)
	}
	if err == nil {
		err = a.Wait(ctx)
	}
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.HTTP.StopTimeout)
	defer cancel()
	return errors.Join(err, a.Stop(stopCtx))
}
