package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/auth"
	"oriel/server/config"
	"oriel/server/demo"
	"oriel/server/embedded"
	"oriel/server/kafka"
	"oriel/server/schema"
)

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
	if cfg.Demo.Traffic != "on" && cfg.Demo.Traffic != "off" {
		return fmt.Errorf("ORIEL_DEMO_TRAFFIC: %q is none of on, off", cfg.Demo.Traffic)
	}
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
	if err := ensureDatabase(ctx, pg.URL("postgres"), demoDatabase); err != nil {
		return err
	}
	cfg.Database.URL, cfg.Database.ReadURL = pg.URL(demoDatabase), ""

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
	file := filepath.Join(dir, "demo.json")
	known, err := demoTokens(ctx, cfg, file)
	if err != nil {
		return err
	}
	cfg.HTTP.PublicURL = "http://" + cfg.HTTP.Addr
	cfg.HTTP.Roles = config.AllRoles()
	opts := Options{Version: version, Demo: true, TrimLog: func(ctx context.Context, lowest map[int32]int64) error {
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

// demoDir makes the data folder: the one asked for or, where another user could not reach it (a
// checkout under a closed home, as root), one that it can.
func demoDir(want string, out io.Writer) (string, error) {
	dir, err := filepath.Abs(want)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", err
	}
	if closed := (&embedded.ClosedDirError{}); errors.As(embedded.Enterable(dir), &closed) {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(dir))
		other := fmt.Sprintf("/var/lib/oriel-demo-%08x", sum.Sum32())
		if err := os.MkdirAll(other, 0o711); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(out, "%s is closed to the user %s, as whom PostgreSQL must run: the data goes to %s\n", closed.Dir, closed.User, other); err != nil {
			return "", err
		}
		dir = other
	}
	// PostgreSQL's user must pass through it.
	return dir, os.Chmod(dir, 0o711)
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

// demoTokens keeps the tokens of an earlier run where the database still knows them.
func demoTokens(ctx context.Context, cfg config.Config, file string) (demoFile, error) {
	pool, err := openPool(ctx, cfg.Database.URL, 4, "oriel-demo", controlSession())
	if err != nil {
		return demoFile{}, err
	}
	defer pool.Close()
	tokens := auth.NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	var known demoFile
	if text, err := os.ReadFile(file); err == nil {
		// A damaged file is written anew: its tokens then fail to verify below.
		_ = json.Unmarshal(text, &known)
	}
	for _, t := range []struct {
		secret *string
		name   string
		scope  string
	}{
		{&known.ProducerToken, "demo producer", auth.ScopeEventsWrite},
		{&known.ReaderToken, "demo reader", auth.ScopeEventsRead},
	} {
		if p, err := tokens.Verify(ctx, *t.secret); err == nil && p.Has(t.scope) {
			continue
		}
		if *t.secret, err = tokens.Create(ctx, t.name, []string{t.scope}, nil, nil); err != nil {
			return demoFile{}, err
		}
	}
	return known, nil
}

// writeDemoFile replaces the file at once, readable by its owner alone.
func writeDemoFile(file string, content demoFile) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".demo-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(f.Chmod(0o600), writeAll(f, append(text, '\n')), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func writeAll(w io.Writer, text []byte) error {
	_, err := w.Write(text)
	return err
}

// webhooksDir finds the sample payloads: a copy in the data folder, else the npm package beside the
// working folder or the program, which is copied so that the program alone suffices next time.
func webhooksDir(dir string, log *slog.Logger) string {
	kept := filepath.Join(dir, "webhooks-examples")
	if _, err := os.Stat(kept); err == nil {
		return kept
	}
	places := []string{"."}
	if exe, err := os.Executable(); err == nil {
		places = append(places, filepath.Dir(exe), filepath.Dir(filepath.Dir(exe)))
	}
	for _, place := range slices.Compact(places) {
		found := filepath.Join(place, "node_modules", "@octokit", "webhooks-examples")
		if _, err := os.Stat(found); err != nil {
			continue
		}
		part := kept + ".part"
		_ = os.RemoveAll(part)
		if err := errors.Join(os.CopyFS(part, os.DirFS(found)), os.Rename(part, kept)); err != nil {
			log.Warn("sample payloads were not copied", "error", err)
			return found
		}
		return kept
	}

	return kept
}
