package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/user"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/audit"
	"oriel/server/config"
	"oriel/server/kafka"
	"oriel/server/schema"
)

var errNoDatabase = errors.New("ORIEL_DATABASE_URL: required, such as postgres://oriel_write@db:5432/oriel")

// MigrateOptions are what `oriel migrate` does besides the schema.
type MigrateOptions struct {
	Topics              bool
	WriteRole, ReadRole string // database roles to give what they need; empty: none
}

// Migrate runs `oriel migrate`: the schema under a lock, and grants and topics where asked for.
func Migrate(ctx context.Context, cfg config.Config, opts MigrateOptions, out io.Writer, log *slog.Logger) error {
	url := cfg.Database.MigrateURL
	if url == "" {
		url = cfg.Database.URL
	}
	if url == "" {
		return errNoDatabase
	}
	if err := schema.Migrate(ctx, url); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "schema: up to date"); err != nil {
		return err
	}
	if opts.WriteRole != "" || opts.ReadRole != "" {
		if err := schema.Grant(ctx, url, opts.WriteRole, opts.ReadRole); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, "grants: up to date"); err != nil {
			return err
		}
	}
	if !opts.Topics {
		return nil
	}
	if len(cfg.Kafka.Brokers) == 0 {
		return errors.New("ORIEL_KAFKA_BROKERS: required for --topics")
	}
	if err := kafka.EnsureTopics(ctx, kafkaConfig(cfg), log); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "topics: up to date")
	return err
}

// openKnown opens the database of a command and checks that its schema is ours.
func openKnown(ctx context.Context, cfg config.Config, name string) (*pgxpool.Pool, error) {
	if cfg.Database.URL == "" {
		return nil, errNoDatabase
	}
	pool, err := openPool(ctx, cfg.Database.URL, 4, name, controlSession())
	if err != nil {
		return nil, err
	}
	if err := schema.Check(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// actor names the person at the command line, for the record.
func actor() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return "cli:" + name
}

// commandLine is who runs a command, for the record.
func commandLine() audit.Actor {
	name := actor()
	return audit.Actor{Kind: "cli", ID: name, Name: name}
}

// Healthcheck runs `oriel healthcheck` against the local server's readiness.
func Healthcheck(ctx context.Context, cfg config.Config) error {
	host, port, err := net.SplitHostPort(cfg.HTTP.Addr)
	if err != nil {
		return fmt.Errorf("ORIEL_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/health/ready", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %d %s", resp.StatusCode, body)
	}
	return nil
}
