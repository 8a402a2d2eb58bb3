// Package embedded runs the parts that demo and tests bring along: PostgreSQL from the npm package's
// binaries. It must not know the schema.
package embedded

import (
	"context"
	"log/slog"
)

// PostgresConfig says where the binaries are and where the data goes.
type PostgresConfig struct {
	Native  string // the npm package's native folder; "" finds it
	DataDir string // created; binaries are copied beside it where another user must run them
	Fast    bool   // tests only: no fsync
	Log     *slog.Logger
}

// Postgres is a running server.
type Postgres struct{}

// StartPostgres initialises where needed and starts the server on a Unix socket.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) { panic("unbuilt") }

// URL is a connection string for the named database of the superuser.
func (p *Postgres) URL(database string) string { panic("unbuilt") }

// Stop stops the server (fast shutdown) and waits.
func (p *Postgres) Stop(ctx context.Context) error { panic("unbuilt") }
