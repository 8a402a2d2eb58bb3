package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/dbtest/kafkatest"
	"oriel/server/embedded"
)

// stage is the broker and the server that all play on.
type stage struct {
	url     string
	brokers []string
	dir     string
	log     *slog.Logger
	closers []func(context.Context) error
	topics  int
	past    map[string]*database // by the statements of their table
}

func (s *stage) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i](ctx); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
		}
	}
}

func setUp(ctx context.Context, o options, log *slog.Logger) (_ *stage, err error) {
	s := &stage{url: o.url, log: log}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "oriel-bench-peers-"); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func(context.Context) error { return os.RemoveAll(s.dir) })
	if err := os.Chmod(s.dir, 0o711); err != nil { // the server runs as another user
		return nil, err
	}
	if s.url == "" {
		pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: s.dir + "/pg", Log: log})
		if err != nil {
			return nil, fmt.Errorf("start PostgreSQL: %w", err)
		}
		s.closers = append(s.closers, pg.Stop)
		s.url = pg.URL("postgres")
	}
	if o.brokers != "" {
		s.brokers = strings.Split(o.brokers, ",")
		return s, nil
	}
	cluster, err := kafkatest.Start(ctx, 1)
	if err != nil {
		return nil, fmt.Errorf("start Apache Kafka: %w", err)
	}
	s.closers = append(s.closers, cluster.Stop)
	s.brokers = cluster.Brokers()
	return s, nil
}

// describe says what the server is.
func (s *stage) describe(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var version, compression, pending string
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('default_toast_compression'),
		current_setting('gin_pending_list_limit')`).Scan(&version, &compression, &pending)
	return fmt.Sprintf("PostgreSQL %s, TOAST %s, gin_pending_list_limit %s", version, compression, pending), err
}
