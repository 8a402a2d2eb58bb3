package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/auth/oidc"
	"oriel/server/config"
	"oriel/server/httpapi"
)

// addPeople gives the edge what it knows callers by: sessions and JWTs of the identity provider, where
// one is configured. API tokens are there in any case.
func (a *App) addPeople(cfg config.Config, pool *pgxpool.Pool, deps *httpapi.Deps, log *slog.Logger, reg *prometheus.Registry) error {
	record := audit.New(pool, reg)
	deps.Audit = record
	if cfg.SignIn.Issuer == "" {
		return nil
	}
	client, err := providerClient(cfg.SignIn.CAFile)
	if err != nil {
		return err
	}
	provider := oidc.New(oidc.Config{
		Issuer: cfg.SignIn.Issuer, ClientID: cfg.SignIn.ClientID, ClientSecret: cfg.SignIn.ClientSecret,
		Scopes: cfg.SignIn.Scopes, Audience: cfg.SignIn.Audience, RoleClaim: cfg.SignIn.RoleClaim,
		RoleValues: map[string][]string{
			auth.RoleAnalyst: cfg.SignIn.Analysts, auth.RoleOperator: cfg.SignIn.Operators, auth.RoleAdmin: cfg.SignIn.Admins,
		},
		DefaultRole: cfg.SignIn.DefaultRole, Client: client,
	}, log, reg)
	deps.Provider = provider
	a.push("identity provider", 5*time.Second, func(context.Context) error { provider.Close(); return nil })
	if !cfg.HTTP.Has(config.RoleWeb) {
		return nil
	}
	keys, _ := cfg.SignIn.Keys() // Validate has seen them
	sessions, err := auth.NewSessions(pool, auth.SessionConfig{
		Keys: keys, Idle: cfg.SignIn.Idle, Longest: cfg.SignIn.Longest, RoleCheck: cfg.SignIn.RoleCheck,
	}, provider, rolesChanged(record), log, reg)
	if err != nil {
		return err
	}
	deps.Sessions = sessions
	a.push("sessions", 25*time.Second, func(context.Context) error { sessions.Close(); return nil })
	a.sweep(sessions, log)
	return nil
}

// sweepEvery is how often expired sessions and sign-ins are deleted.
const sweepEvery = time.Minute

// sweep deletes expired sessions and sign-ins now and then, on every replica that makes some.
func (a *App) sweep(sessions *auth.Sessions, log *slog.Logger) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	a.start = append(a.start, func(context.Context) error {
		go func() {
			defer close(done)
			tick := time.NewTicker(sweepEvery)
			defer tick.Stop()
			for {
				if err := sessions.Sweep(ctx); err != nil && ctx.Err() == nil {
					log.Warn("expired sessions were not deleted", "error", err)
				}
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		}()
		return nil
	})
	a.push("session sweep", 5*time.Second, func(ctx context.Context) error {
		stop()
		select {
		case <-done:
		case <-ctx.Done():
		}
		return nil
	})
}

// rolesChanged puts what the provider told anew on the record, with the session that it changes.
func rolesChanged(record *audit.Log) func(context.Context, pgx.Tx, *auth.Principal, []string) error {
	return func(ctx context.Context, tx pgx.Tx, p *auth.Principal, before []string) error {
		return record.Record(ctx, tx, audit.Entry{
			Action: audit.ActionRolesChanged, Outcome: audit.Done,
			Actor:  audit.Actor{Kind: "system", ID: "system", Name: "identity provider"},
			Target: p.Name, Detail: p.ID,
			Before: map[string]any{"roles": before}, After: map[string]any{"roles": p.Roles},
		})
	}
}

// providerClient reaches the identity provider, with authorities of its own where a file names some.
func providerClient(caFile string) (*http.Client, error) {
	if caFile == "" {
		return oidc.NewClient(nil), nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("ORIEL_OIDC_CA_FILE: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ORIEL_OIDC_CA_FILE: %s holds no certificate in PEM form", caFile)
	}
	return oidc.NewClient(roots), nil
}

// providerName is what the sign-in button calls the identity provider.
func providerName(s config.SignIn) string {
	if s.Provider != "" || s.Issuer == "" {
		return s.Provider
	}
	u, err := url.Parse(s.Issuer)
	if err != nil {
		return s.Issuer
	}
	return u.Hostname()
}
