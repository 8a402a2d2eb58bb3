package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/bench/events"
	"oriel/bench/stored"
	"oriel/server/embedded"
	"oriel/server/schema"
)

// databaseName is the one that `oriel demo` keeps its events in.
const databaseName = "oriel"

// past is what the data folder holds, kept beside it.
type past struct {
	Until  time.Time
	Events int
	Whole  bool
}

func (p past) from() time.Time { return p.Until.Add(-events.Days * 24 * time.Hour) }

// fill makes the data folder of a demo that has run for thirty days, or goes on making it.
func fill(ctx context.Context, dir string, n int, log *slog.Logger, out io.Writer) (p past, err error) {
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return p, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // PostgreSQL runs as another user
		return p, err
	}
	file := filepath.Join(dir, "past.json")
	switch text, err := os.ReadFile(file); {
	case errors.Is(err, fs.ErrNotExist):
		p = past{Until: time.Now().UTC().Truncate(time.Microsecond), Events: n}
		if err := p.write(file); err != nil {
			return p, err
		}
	case err != nil:
		return p, err
	default:
		if err := json.Unmarshal(text, &p); err != nil {
			return p, fmt.Errorf("%s: %w", file, err)
		}
	}
	fmt.Fprintf(out, "%d events until %s\n", p.Events, p.Until.Format(time.RFC3339))
	if p.Whole {
		return p, nil
	}
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir, Log: log})
	if err != nil {
		return p, fmt.Errorf("start PostgreSQL: %w", err)
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, pg.Stop(stopping))
	}()
	if err := create(ctx, pg.URL("postgres")); err != nil {
		return p, err
	}
	url := pg.URL(databaseName)
	if err := schema.Migrate(ctx, url); err != nil {
		return p, err
	}
	if err := store(ctx, url, p, log, out); err != nil {
		return p, err
	}
	p.Whole = true
	return p, p.write(file)
}

func store(ctx context.Context, url string, p past, log *slog.Logger, out io.Writer) error {
	own, err := pgxpool.New(ctx, url) // the consumer leaves its settings on its connections
	if err != nil {
		return err
	}
	defer own.Close()
	if err := stored.Fill(ctx, own, stored.Past{Until: p.Until, Events: p.Events}, log, out); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	return stored.Settle(ctx, pool, log)
}

func (p past) write(file string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func create(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", databaseName).Scan(&there); err != nil || there {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+databaseName)
	return err
}
