// Command search measures how long the questions of an analyst take: ten million short events over thirty
// days and half a million webhook payloads, stored by the product's consumer and kept by its maintenance, asked
// through the product's search service. Every question is asked once as it comes (cold is only the search's own
// caches: the server may know the pages) and then again and again with other values, and p50 and p95 of those are
// printed beside what is wanted. Times are the machine's: they are for a person to judge.
//
//	go run ./bench/search -keep DIR                   # fills a database in DIR, or goes on filling it, and asks
//	go run ./bench/search -keep DIR -serve            # starts it for psql and ends with Ctrl-C
//	go run ./bench/search -url postgres://…/name      # in a database that exists
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/bench/goal"
	"oriel/bench/webhooks"
	"oriel/server/embedded"
	"oriel/server/schema"
)

type options struct {
	url      string
	keep     string
	webhooks string
	only     string
	events   int
	hooks    int
	rounds   int
	fill     bool
	serve    bool
	log      bool
	enforce  bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "", "a database of PostgreSQL's, as a superuser; none starts the embedded server")
	flag.StringVar(&o.keep, "keep", "", "folder that the filled database stays in; none is a folder that goes")
	flag.StringVar(&o.webhooks, "webhooks", webhooks.DefaultDir, "folder of npm's @octokit/webhooks-examples")
	flag.StringVar(&o.only, "only", "", "ask only the questions whose name contains this")
	flag.IntVar(&o.events, "events", 10_000_000, "short events")
	flag.IntVar(&o.hooks, "hooks", 500_000, "webhook payloads")
	flag.IntVar(&o.rounds, "rounds", 40, "how often each question is asked warm")
	flag.BoolVar(&o.fill, "fill", false, "fill the database and ask nothing")
	flag.BoolVar(&o.serve, "serve", false, "start the kept database, print its URL and wait")
	flag.BoolVar(&o.log, "log", false, "print the product's log")
	flag.BoolVar(&o.enforce, "enforce", false, "fail where a goal is missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	log := slog.New(slog.DiscardHandler)
	if o.log {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	s := &stage{dir: o.keep, url: o.url, log: log}
	defer func() { err = errors.Join(err, s.close(context.WithoutCancel(ctx))) }()
	if err := s.open(ctx); err != nil {
		return err
	}
	if o.serve {
		fmt.Fprintln(out, s.url)
		<-ctx.Done()
		return nil
	}
	f, err := s.fill(ctx, o, out)
	if err != nil || o.fill {
		return err
	}
	goals := goal.NewSheet(out)
	if err := ask(ctx, o, s, f, out, goals); err != nil {
		return err
	}
	return goals.Err(o.enforce)
}

// stage is the database that is asked.
type stage struct {
	dir, url string
	log      *slog.Logger
	pool     *pgxpool.Pool
	closers  []func(context.Context) error
}

const databaseName = "oriel_bench_search"

func (s *stage) open(ctx context.Context) error {
	if s.dir == "" {
		dir, err := os.MkdirTemp("", "oriel-bench-search-")
		if err != nil {
			return err
		}
		s.dir = dir
		s.closers = append(s.closers, func(context.Context) error { return os.RemoveAll(dir) })
	}
	if err := os.MkdirAll(s.dir, 0o711); err != nil {
		return err
	}
	if err := os.Chmod(s.dir, 0o711); err != nil { // the server runs as another user
		return err
	}
	if s.url == "" {
		pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: filepath.Join(s.dir, "pg"), Log: s.log})
		if err != nil {
			return fmt.Errorf("start PostgreSQL: %w", err)
		}
		s.closers = append(s.closers, pg.Stop)
		if err := create(ctx, pg.URL("postgres")); err != nil {
			return err
		}
		s.url = pg.URL(databaseName)
	}
	if err := schema.Migrate(ctx, s.url); err != nil {
		return err
	}
	cfg, err := pgxpool.ParseConfig(s.url)
	if err != nil {
		return err
	}
	cfg.MaxConns = 12
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return err
	}
	s.closers = append(s.closers, func(context.Context) error { s.pool.Close(); return nil })
	return nil
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

func (s *stage) close(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for i := len(s.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closers[i](ctx))
	}
	return err
}
