// Command shape measures what indexing text costs in PostgreSQL, in the product's own event table: no
// text index, our lexemes, and a tsvector of every word, on the same events in the same run. Compare
// the ratios of one run; single cells repeat within a fifth.
//
//	go run ./bench/shape -url postgres://… -events 20000
//
// It makes databases named oriel_shape_* on that server and drops them. What is timed is writing ready
// rows: two connections, COPY into a staging table, INSERT … ON CONFLICT, the checkpoint in the same
// transaction, and merging the index's pending list at the end. Lexing is timed by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"time"

	"oriel/bench/events"
	"oriel/bench/goal"
	"oriel/bench/webhooks"
	"oriel/server/embedded"
)

// The goals, on varied webhook payloads: microseconds of lexing an event beyond the parse, and what an
// event takes on disk in the product's shape, as a share of its payload, where the server compresses
// with lz4.
const (
	goalLexing = 60
	goalDisk   = 0.6
)

type options struct {
	url     string
	dir     string
	events  int
	conns   int
	batch   int
	seed    uint64
	parts   string
	shapes  string
	enforce bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", os.Getenv("ORIEL_DATABASE_URL"), "PostgreSQL, as a superuser; none starts the embedded one")
	flag.StringVar(&o.dir, "webhooks", webhooks.DefaultDir, "folder of npm's @octokit/webhooks-examples")
	flag.IntVar(&o.events, "events", 20000, "events of each kind")
	flag.IntVar(&o.conns, "conns", 2, "connections")
	flag.IntVar(&o.batch, "batch", 2000, "events a transaction")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the events")
	flag.StringVar(&o.parts, "parts", "webhooks,events", "kinds of events to measure")
	flag.StringVar(&o.shapes, "shapes", "none,lexemes,tsvector", "shapes to measure")
	flag.BoolVar(&o.enforce, "enforce", false, "fail where a goal is missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		slog.Error("shape", "error", err)
		os.Exit(1)
	}
}

// startEmbedded starts a server in a folder of its own, with the settings of the product.
func (o *options) startEmbedded(ctx context.Context) (stop func(), err error) {
	dir, err := os.MkdirTemp("", "oriel-shape-")
	if err != nil {
		return nil, err
	}
	// The server's user must pass through it.
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, err
	}
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir, Log: slog.Default()})
	if err != nil {
		return nil, err
	}
	o.url = pg.URL("postgres")
	return func() {
		if err := pg.Stop(context.WithoutCancel(ctx)); err != nil {
			slog.Error("stop the database", "error", err)
		}
		_ = os.RemoveAll(dir)
	}, nil
}

func run(ctx context.Context, o options) error {
	if o.url == "" {
		stop, err := o.startEmbedded(ctx)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := describe(ctx, o); err != nil {
		return err
	}
	goals := goal.NewSheet(os.Stdout)
	until := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	if strings.Contains(o.parts, "webhooks") {
		set, err := webhooks.Load(o.dir)
		if err != nil {
			return err
		}
		rng := rand.New(rand.NewPCG(o.seed, 1))
		next := func() events.Event { return set.Varied(rng, until.Add(time.Duration(rng.Int64N(int64(day))))) }
		if err := measure(ctx, o, "varied webhooks", next, goals); err != nil {
			return err
		}
	}
	if strings.Contains(o.parts, "events") {
		for _, unique := range []int{0, 5, 20} {
			rng := rand.New(rand.NewPCG(o.seed, uint64(unique)))
			g := events.New(rng, until, unique)
			next := func() events.Event {
				e := g.Next()
				e.Time = until.Add(time.Duration(rng.Int64N(int64(day))))
				return e
			}
			if err := measure(ctx, o, fmt.Sprintf("short events, %d unique", unique), next, nil); err != nil {
				return err
			}
		}
	}
	return goals.Err(o.enforce)
}

// measure prints one kind of events in every shape, and holds it to the goals where there are any.
func measure(ctx context.Context, o options, title string, next func() events.Event, goals *goal.Sheet) error {
	set, err := prepare(o.events, next, strings.Contains(o.shapes, "tsvector"))
	if err != nil {
		return err
	}
	lex, err := timeLexing(set.rows)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %d events of %d B, %.0f lexemes, %.0f identifiers, over the bound %d\n",
		title, o.events, set.size, set.lexemes, set.identifiers, set.over)
	fmt.Printf("lexing %.1f µs an event as the consumer does it (%.1f with identifiers), of it the parse alone %.1f, beyond the parse %.1f (%.1f)\n",
		lex.consumer, lex.full, lex.parse, lex.consumer-lex.parse, lex.full-lex.parse)
	if goals != nil {
		goals.AtMost("lexing a webhook payload beyond the parse", lex.consumer-lex.parse, goalLexing, " µs")
	}
	fmt.Printf("%-10s %9s %7s %10s %9s %9s %9s %9s %9s  %s\n", "shape", "rows/s", "ratio", "B/event", "heap", "toast", "text idx", "(spare)", "other idx", "of payload")
	base, disk := 0.0, func() {}
	for _, s := range shapes {
		if !strings.Contains(o.shapes, s.name) {
			continue
		}
		r, err := write(ctx, o, s, set)
		if err != nil {
			return fmt.Errorf("%s in shape %s: %w", title, s.name, err)
		}
		if base == 0 {
			base = r.rate
		}
		per := func(bytes int64) int64 { return bytes / int64(o.events) }
		share := float64(per(r.total())) / float64(set.size)
		fmt.Printf("%-10s %9.0f %7.2f %10d %9d %9d %9d %9d %9d  %.2f\n", s.name, r.rate, r.rate/base, per(r.total()),
			per(r.heap), per(r.toast), per(r.text), per(r.spare), per(r.other), share)
		if goals != nil && s.index == "lexemes" {
			lean := float64(per(r.total()-r.spare)) / float64(set.size)
			disk = func() {
				fmt.Printf("disk as a share of the payload without the spare pages of the text index: %.2f\n", lean)
				goals.AtMost("disk as a share of the payload, TOAST "+r.compression, share, goalDisk, "")
			}
		}
	}
	disk()
	return nil
}
