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
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/auth"
	"oriel/server/config"
	"oriel/server/consume"
	"oriel/server/kafka"
	"oriel/server/schema"
)

var errNoDatabase = errors.New("ORIEL_DATABASE_URL: required, such as postgres://oriel@db:5432/oriel")

// Migrate runs `oriel migrate`: the schema under a lock, and the topics where asked for.
func Migrate(ctx context.Context, cfg config.Config, topics bool, out io.Writer, log *slog.Logger) error {
	if cfg.Database.URL == "" {
		return errNoDatabase
	}
	if err := schema.Migrate(ctx, cfg.Database.URL); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "schema: up to date"); err != nil {
		return err
	}
	if !topics {
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

// CreateToken runs `oriel token create` and prints the secret, once.
func CreateToken(ctx context.Context, cfg config.Config, out io.Writer, name string, scopes, sourcePrefixes []string, lasting *time.Duration) error {
	var until *time.Time
	if lasting != nil {
		t := time.Now().Add(*lasting)
		until = &t
	}
	made := auth.NewToken{Name: name, Scopes: scopes, SourcePrefixes: sourcePrefixes, Expires: until, By: actor()}
	if err := auth.CheckNew(made); err != nil {
		return err
	}
	return withTokens(ctx, cfg, func(tokens *auth.Tokens) error {
		_, secret, err := tokens.Create(ctx, made, nil)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, secret)
		return err
	})
}

// ListTokens runs `oriel token list`: one line a token, with a head.
func ListTokens(ctx context.Context, cfg config.Config, out io.Writer) error {
	return withTokens(ctx, cfg, func(tokens *auth.Tokens) error {
		all, err := tokens.List(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		day := func(t *time.Time) string {
			if t == nil {
				return "-"
			}
			return t.UTC().Format(time.RFC3339)
		}
		_, _ = fmt.Fprintln(table, "ID\tPREFIX\tNAME\tSCOPES\tSOURCES\tCREATED\tEXPIRES\tLAST USED\tREVOKED")
		for _, t := range all {
			sources := strings.Join(t.SourcePrefixes, ",")
			if sources == "" {
				sources = "any"
			}
			_, _ = fmt.Fprintf(table, "%d\torl_%s…\t%q\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Prefix, t.Name,
				strings.Join(t.Scopes, ","), sources, day(&t.Created), day(t.Expires), day(t.LastUsed), day(t.Revoked))
		}
		return table.Flush()
	})
}

// RevokeToken runs `oriel token revoke`.
func RevokeToken(ctx context.Context, cfg config.Config, out io.Writer, id int64) error {
	return withTokens(ctx, cfg, func(tokens *auth.Tokens) error {
		if _, err := tokens.Revoke(ctx, id, actor(), nil); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "token %d is revoked\n", id)
		return err
	})
}

// withTokens opens the database for a command about tokens.
func withTokens(ctx context.Context, cfg config.Config, do func(*auth.Tokens) error) error {
	pool, err := openKnown(ctx, cfg, "oriel-token")
	if err != nil {
		return err
	}
	defer pool.Close()
	return do(auth.NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry()))
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

// AdoptTopic runs `oriel consumer adopt-topic`.
func AdoptTopic(ctx context.Context, cfg config.Config, out io.Writer, consumer, reason string) error {
	if len(cfg.Kafka.Brokers) == 0 {
		return errors.New("ORIEL_KAFKA_BROKERS: required")
	}
	if consumer != storeConsumer {
		return fmt.Errorf("--consumer %q: there is only %q", consumer, storeConsumer)
	}
	pool, err := openKnown(ctx, cfg, "oriel-consumer")
	if err != nil {
		return err
	}
	defer pool.Close()
	opts, err := kafka.Options(kafkaConfig(cfg), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := consume.AdoptTopic(ctx, pool, opts, consumer, cfg.Kafka.Topic, reason, actor()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: adopted for consumer %s; its partitions start at offset 0\n", cfg.Kafka.Topic, consumer)
	return err
}

// actor names the person at the command line, for the record.
func actor() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return "cli:" + name
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
