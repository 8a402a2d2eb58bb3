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

	broker, err := kafka.StartEmbedded(filepath.Join(dir, "kafka"), 0,
		map[string]int{cfg.Kafka.Topic: cfg.Kafka.Partitions, kafka.DeadLetterTopic(cfg.Kafka.Topic): cfg.Kafka.Partitions}, log)
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

	if err := schema.Migrate(ctx, pg.URL(demoDatabase)); err != nil {
		return err
	}
	if cfg.Database.URL, cfg.Database.ReadURL, err = demoRoles(ctx, pg.URL(demoDatabase), dir); err != nil {
		return err
	}
	say("schema is up to date")
	// Behind a proxy of this machine only with a provider that can be told of the addresses there.
	if cfg.SignIn.Issuer == "" || cfg.HTTP.PublicURL == "" {
		cfg.HTTP.PublicURL = "http://" + cfg.HTTP.Addr
	}
	file := filepath.Join(dir, demoJSON)
	known := readDemoFile(file)
	if err := demoTokens(ctx, cfg, &known); err != nil {
		return err
	}
	if err := demoSecretKey(&cfg.SignIn, dir); err != nil {
		return err
	}
	known.forget(cfg.SignIn.Issuer != "")
	if cfg.SignIn.Issuer == "" {
		provider, failed := startDemoProvider(ctx, &cfg, &known, dir, log)
		if failed != nil {
			return failed
		}
		// After all that asks it: the program has stopped when run returns.
		defer func() { err = errors.Join(err, stopWithin(ctx, 5*time.Second, provider.Stop)) }()
		say("identity provider is up")
	}
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
		if _, err := fmt.Fprintf(out, "\n  Open %s and sign in %s\n  Address, tokens and passwords: %s\n  Ctrl-C stops; the data stays.\n\n", cfg.HTTP.PublicURL, known.who(cfg.SignIn), file); err != nil {
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

// loopbackOnly refuses a demo that other machines could reach: people sign in there at a click.
func loopbackOnly(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("ORIEL_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("ORIEL_ADDR: the demo signs people in at a click, so it listens on loopback only, such as 127.0.0.1:8080; %q is not", addr)
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
