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

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/auth"
	"oriel/server/config"
	"oriel/server/consume"
	"oriel/server/kafka"
	"oriel/server/schema"
)

// Migrate runs `oriel migrate`: the schema under a lock, and the topics where asked for.
func Migrate(ctx context.Context, cfg config.Config, topics bool, out io.Writer, log *slog.Logger) error {
	if cfg.Database.URL == "" {
		return errors.New("ORIEL_DATABASE_URL: required")
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
func CreateToken(ctx context.Context, cfg config.Config, out io.Writer, name string, scopes, sourcePrefixes []string, expires *time.Duration) error {
	pool, err := openPool(ctx, cfg.Database.URL, 4, "oriel-token", controlSession())
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := schema.Check(ctx, pool); err != nil {
		return err
	}
	var until *time.Time
	if expires != nil {
		if *expires <= 0 {
			return fmt.Errorf("--expires %s: must be above 0", *expires)
		}
		t := time.Now().Add(*expires)
		until = &t
	}
	secret, err := auth.NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).
		Create(ctx, name, scopes, sourcePrefixes, until)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, secret)
	return err
}

// AdoptTopic runs `oriel consumer adopt-topic`.
func AdoptTopic(ctx context.Context, cfg config.Config, out io.Writer, consumer, reason string) error {
	if len(cfg.Kafka.Brokers) == 0 {
		return errors.New("ORIEL_KAFKA_BROKERS: required")
	}
	if consumer != storeConsumer {
		return fmt.Errorf("--consumer %q: there is only %q", consumer, storeConsumer)
	}
	pool, err := openPool(ctx, cfg.Database.URL, 4, "oriel-consumer", controlSession())
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := schema.Check(ctx, pool); err != nil {
		return err
	}
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
