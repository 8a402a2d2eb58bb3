package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/config"
	"oriel/server/schema"
	"oriel/server/search"
)

// Session settings by kind of work (docs/operations.md): whatever hangs is ended by the server, and
// a commit is never acknowledged before it is on disk. The consumers have their own: consume.Session.
func session(extra map[string]string) map[string]string {
	s := map[string]string{
		"synchronous_commit":                  "on",
		"lock_timeout":                        "2s",
		"idle_in_transaction_session_timeout": "10s",
		"jit":                                 "off",
		// Where a line went dead the server holds our locks until it learns that we are gone.
		"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "30000",
	}
	maps.Copy(s, extra)
	return s
}

func controlSession() map[string]string {
	return session(map[string]string{"statement_timeout": "30s"})
}

func relaySession() map[string]string {
	return session(map[string]string{"statement_timeout": "10s"})
}

func readSession() map[string]string {
	return session(map[string]string{"statement_timeout": "10s", "default_transaction_read_only": "on"})
}

// A connection that was idle is asked whether it lives, and a dead one costs no more than this; so does an
// address that nobody answers at. A shorter connect_timeout of the URL's own stays.
const (
	pingIn    = 5 * time.Second
	connectIn = 10 * time.Second
)

// openPool opens a pool whose connections carry the settings, and proves that the database answers.
func openPool(ctx context.Context, url string, maxConns int32, name string, settings map[string]string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		// pgx's own text redacts the password.
		return nil, fmt.Errorf("ORIEL_DATABASE_URL: %w", err)
	}
	cfg.MaxConns = maxConns
	maps.Copy(cfg.ConnConfig.RuntimeParams, settings)
	cfg.ConnConfig.RuntimeParams["application_name"] = name
	cfg.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}).DialContext
	cfg.ConnConfig.ConnectTimeout = cmp.Or(min(cfg.ConnConfig.ConnectTimeout, connectIn), connectIn)
	cfg.PingTimeout = pingIn
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("database does not answer: %w", err)
	}
	return pool, nil
}

// closePool waits for the connections in use, within ctx.
func closePool(pool *pgxpool.Pool) func(context.Context) error {
	return func(ctx context.Context) error {
		done := make(chan struct{})
		go func() { pool.Close(); close(done) }()
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("connections are still in use: %w", ctx.Err())
		}
	}
}

// addReader opens the pool of searches, as the role that can only read where one is configured. Where that is of a
// standby, there is one of the primary's too, which is nil otherwise.
func (a *App) addReader(ctx context.Context, cfg config.Config) (read, primary *pgxpool.Pool, err error) {
	url := cfg.Database.ReadURL
	if url == "" {
		url = cfg.Database.URL
	}
	if read, err = openPool(ctx, url, cfg.Database.MaxConns, "oriel-read", readSession()); err != nil {
		return nil, nil, err
	}
	a.push("read pool", 5*time.Second, closePool(read))
	if cfg.Database.ReadURL == "" {
		return read, nil, nil
	}
	if err := schema.CheckReader(ctx, read); err != nil {
		return nil, nil, err
	}
	if primary, err = openPool(ctx, cfg.Database.URL, cfg.Database.MaxConns, "oriel-read-primary", readSession()); err != nil {
		return nil, nil, err
	}
	standby, err := search.Standby(ctx, read, primary)
	if err != nil || !standby {
		primary.Close()
		return read, nil, err
	}
	a.push("primary's read pool", 5*time.Second, closePool(primary))
	return read, primary, nil
}
