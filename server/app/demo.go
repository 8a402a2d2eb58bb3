package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/config"
	"oriel/server/demo"
	"oriel/server/embedded"
	"oriel/server/kafka"
	"oriel/server/schema"
)

// errPostgresEnded is why a demo ends by itself.
var errPostgresEnded = errors.New("the embedded PostgreSQL has ended; what was acknowledged is kept: start the demo again")

// demoJSON is the file of demoFile in the data folder.
const demoJSON = "demo.json"

// demoDatabase is the embedded server's database.
const demoDatabase = "oriel"

// demoFile is what `oriel demo` writes for the people and programs that use it.
type demoFile struct {
	URL           string `json:"url"`
	ProducerToken string `json:"producerToken"`
	ReaderToken   string `json:"readerToken"`
}

// Demo runs `oriel demo`: embedded parts with their data kept between runs, loopback only, sample
// traffic. It prints what it does and how long each step took.
func Demo(ctx context.Context, cfg config.Config, out io.Writer, log *slog.Logger, version string) (err error) {
	if err := loopbackOnly(cfg.HTTP.Addr); err != nil {
		return err
	}
	if err := cfg.ValidateDemo(); err != nil {
		return err
	}
	// First, so that a busy port is told before anything is started.
	listener, err := listen(ctx, cfg.HTTP.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	cfg.HTTP.Addr = listener.Addr().String()
	dir, err := demoDir(cfg.DataDir, out)
	if err != nil {
		return err
	}
	say := progress(out)
	say("data in %s", dir)

	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopWithin(ctx, 20*time.Second, pg.Stop)) }()
	say("PostgreSQL is up")
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	go func() {
		select {
		case <-pg.Done():
			fail(errPostgresEnded)
		case <-ctx.Done():
		}
	}()
	defer func() {
		if cause := context.Cause(ctx); errors.Is(cause, errPostgresEnded) {
			err = errors.Join(cause, err)
		}
	}()
	if err := ensureDatabase(ctx, pg.URL("postgres"), demoDatabase); err != nil {
		return err
	}
	cfg.Database.URL = pg.URL(demoDatabase)

	broker, err := kafka.StartEmbedded(filepath.Join(dir, "kafka"), 0,
		map[string]int{cfg.Kafka.Topic: cfg.Kafka.Partitions}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, broker.Close()) }()
	say("broker is up")
	cfg.Kafka = config.Kafka{
		Brokers: broker.Brokers(), Topic: cfg.Kafka.Topic, Group: cfg.Kafka.Group, Partitions: cfg.Kafka.Partitions,
		// After a kill the next run waits this long for the partitions of the one before.
		SessionTimeout: 6 * time.Second,
	}

	if err := schema.Migrate(ctx, cfg.Database.URL); err != nil {
		return err
	}
	say("schema is up to date")
	file := filepath.Join(dir, demoJSON)
	known, err := demoTokens(ctx, cfg, file)
	if err != nil {
		return err
	}
	cfg.HTTP.PublicURL = "http://" + cfg.HTTP.Addr
	opts := Options{Version: version, Demo: true, Listener: listener, TrimLog: func(ctx context.Context, lowest map[int32]int64) error {
		if size, err := broker.LogBytes(); err != nil || size <= cfg.Demo.LogBytes {
			return err
		}
		return broker.TrimTo(ctx, cfg.Kafka.Topic, lowest)
	}}

	trafficCtx, stopTraffic := context.WithCancel(ctx)
	trafficDone := make(chan struct{})
	close(trafficDone)
	defer func() { stopTraffic(); <-trafficDone }()
	return run(ctx, cfg, opts, log, func(a *App) error {
		known.URL = "http://" + a.Addr()
		if err := writeDemoFile(file, known); err != nil {
			return err
		}
		say("Oriel is up")
		if _, err := fmt.Fprintf(out, "\n  Open %s\n  Tokens and address: %s\n  Ctrl-C stops; the data stays.\n\n", known.URL, file); err != nil {
			return err
		}
		if cfg.Demo.Traffic == "off" {
			return nil
		}
		trafficDone = make(chan struct{})
		go func() {
			defer close(trafficDone)
			if err := sampleTraffic(trafficCtx, cfg, known, dir, log); err != nil {
				log.Error("sample traffic ended", "error", err)
			}
		}()
		return nil
	})
}

// sampleTraffic sends until ctx ends.
func sampleTraffic(ctx context.Context, cfg config.Config, known demoFile, dir string, log *slog.Logger) error {
	opts, err := kafka.Options(kafkaConfig(cfg), log)
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer client.Close()
	return demo.Run(ctx, demo.Config{
		BaseURL: known.URL, Token: known.ProducerToken, WebhooksDir: webhooksDir(dir, log),
		Marker: filepath.Join(dir, "demo-history"), Poison: client, Topic: cfg.Kafka.Topic, Log: log,
	})
}

// ensureDatabase makes the named database where it does not exist.
func ensureDatabase(ctx context.Context, url, name string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the embedded database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&exists); err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	return err
}

// loopbackOnly refuses a demo that other machines could reach: everyone is signed in there.
func loopbackOnly(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("ORIEL_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("ORIEL_ADDR: the demo signs everyone in, so it listens on loopback only, such as 127.0.0.1:8080; %q is not", addr)
	}
	return nil
}

// progress prints steps with the time since the start.
func progress(out io.Writer) func(string, ...any) {
	began := time.Now()
	return func(format string, args ...any) {
		_, _ = fmt.Fprintf(out, "%6.1fs  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
}

func stopWithin(ctx context.Context, bound time.Duration, stop func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	return stop(ctx)
}
