// Command peers measures the product's consumer beside programs that people would use in its place: the
// same broker, an Apache Kafka; the same PostgreSQL; the same events; turn by turn; and only the ratios of
// one run are worth anything. The peers are Kafka Connect with Debezium's JDBC sink, into a table that is
// as searchable as the product's and into a plain one, and Bento into the searchable one, on a backlog that
// is balanced over the partitions and on one that is skewed to one. They are fetched into ORIEL_CACHE_DIR.
//
// All begin with the same past (bench/stored), of the kind of the events that follow, in three databases: the
// product's, one with the searchable table and one with the plain table; whoever plays adds new events to it,
// as many each time. What the peers are spared: the product's dedup with a verdict, its
// ledger, rollups and identifiers, and its path=value terms. What the plain table spares its peer beside that is
// most of the product's work: of the 40 µs that a short event costs PostgreSQL, btrees take about 9, the words
// under GIN 12, and rollups 3.
//
// As smaller pasts scale, those of the long form take some 43 GB of disk: the short events first, then the webhooks.
//
//	go run ./bench/peers -url postgres://…
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"oriel/bench/goal"
	"oriel/bench/webhooks"
	"oriel/server/dbtest/kafkatest"
)

// The goals: how many times a peer's rate the product must reach.
const (
	goalSearchable = 2
	goalPlain      = 0.6
	goalBento      = 1
)

type options struct {
	url      string
	brokers  string
	webhooks string
	events   int
	hooks    int
	warm     int
	rounds   int
	stored   int
	hookPast int
	only     string
	fetch    bool
	log      bool
	enforce  bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", os.Getenv("ORIEL_DATABASE_URL"), "PostgreSQL, as a superuser; none starts the embedded one")
	flag.StringVar(&o.brokers, "brokers", "", "comma-separated brokers; none starts an Apache Kafka")
	flag.StringVar(&o.webhooks, "webhooks", webhooks.DefaultDir, "folder of npm's @octokit/webhooks-examples")
	flag.IntVar(&o.events, "events", 100_000, "short events")
	flag.IntVar(&o.hooks, "hooks", 12_000, "webhook payloads")
	flag.IntVar(&o.warm, "warm", 1, "turns of each before any is measured: the worker's JVM compiles what it runs")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each")
	flag.IntVar(&o.stored, "stored", 20_000, "650 B events of thirty days that are stored before any are added; 5,000,000 is the long form")
	flag.IntVar(&o.hookPast, "storedhooks", 2_000, "webhook payloads that are stored before any are added; 500,000 is the long form")
	flag.StringVar(&o.only, "only", "", "run only the workloads whose name contains this")
	flag.BoolVar(&o.fetch, "fetch", true, "build Bento where the cache lacks it, which takes minutes")
	flag.BoolVar(&o.log, "log", false, "print each turn, and the product's log")
	flag.BoolVar(&o.enforce, "enforce", false, "fail where a goal is missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

// player is a contender, the backlog it reads and its turns so far.
type player struct {
	name   string
	play   contender
	skewed bool
	turns  []turn
}

// comparison is the product's rate over a peer's, and the goal; none where it only informs.
type comparison struct {
	what       string
	ours, peer string
	goal       float64
}

// The players' names.
const (
	ours          = "product"
	connectSearch = "Connect, searchable"
	connectPlain  = "Connect, plain"
	rowsSearch    = "rows, searchable"
	rowsPlain     = "rows, plain"
	theirBento    = "Bento, searchable"
	oursSkewed    = "product, skewed"
	bentoSkewed   = "Bento, skewed"
)

func comparisons() []comparison {
	return []comparison{
		{"product ÷ Kafka Connect into a searchable table", ours, connectSearch, goalSearchable},
		{"product ÷ Kafka Connect into a plain table", ours, connectPlain, goalPlain},
		{"product ÷ Kafka Connect from rows into a searchable table", ours, rowsSearch, 0},
		{"product ÷ Kafka Connect from rows into a plain table", ours, rowsPlain, 0},
		{"product ÷ Bento into a searchable table", ours, theirBento, goalBento},
		{"product ÷ Bento into a searchable table, skewed to one partition", oursSkewed, bentoSkewed, goalBento},
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	log := slog.New(slog.DiscardHandler)
	if o.log {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	all, err := workloads(o, time.Now().UTC())
	if err != nil {
		return err
	}
	goals := goal.NewSheet(out)
	// Fetched before anything is started: a build beside it would be measured too.
	if o.brokers == "" {
		if _, err := kafkatest.Fetch(ctx); err != nil {
			fmt.Fprintf(out, "NOT RUN: %v\n", err)
			for _, c := range comparisons() {
				goals.Unmeasured(c.what, "there is no broker")
			}
			return goals.Err(o.enforce)
		}
	}
	connect, noConnect := fetchConnect(ctx)
	program, noBento := fetchBento(ctx, o.fetch)
	if err := ctx.Err(); err != nil {
		return err
	}
	if noConnect != nil {
		fmt.Fprintf(out, "NOT RUN: Kafka Connect: %v\n", noConnect)
	}
	if noBento != nil {
		fmt.Fprintf(out, "NOT RUN: Bento: %v\n", noBento)
	}
	s, err := setUp(ctx, o, log)
	if err != nil {
		return err
	}
	defer s.close()
	server, err := s.describe(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s; Kafka Connect %s with Debezium's JDBC sink %s, %d tasks, batches of %d; Bento %s, batches of %d, %d in flight\n",
		server, connectVersion, debeziumVersion, connectTasks, connectBatch, bentoVersion, bentoBatch, bentoInFlight)
	fmt.Fprintln(out, "As rows, Kafka Connect is spared the making of its rows: its topic has the events as JSON objects of a known schema.")
	players := []*player{{name: ours, play: &product{}}, {name: oursSkewed, play: &product{}, skewed: true}}
	if noConnect == nil {
		w, err := startWorker(ctx, s, connect)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, func(context.Context) error {
			fmt.Fprintf(out, "Kafka Connect: %.0f MB resident at most\n", peak(w.process.Pid()))
			w.process.stop()
			return nil
		})
		players = append(players, &player{name: connectSearch, play: &sink{worker: w, ddl: searchable, key: "occurred_at,source,id"}},
			&player{name: connectPlain, play: &sink{worker: w, ddl: plain, key: "source,id"}},
			&player{name: rowsSearch, play: &sink{worker: w, ddl: searchable, key: "occurred_at,source,id", rows: true}},
			&player{name: rowsPlain, play: &sink{worker: w, ddl: plain, key: "source,id", rows: true}})
	}
	if noBento == nil {
		n := &bento{program: program}
		s.closers = append(s.closers, func(context.Context) error {
			fmt.Fprintf(out, "Bento: %.0f MB resident at most\n", n.peak)
			return nil
		})
		players = append(players, &player{name: theirBento, play: n}, &player{name: bentoSkewed, play: n, skewed: true})
	}
	for _, w := range all {
		if !strings.Contains(w.name, o.only) {
			continue
		}
		if err := s.fill(ctx, w, players, out); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		for ; o.warm > 0; o.warm-- {
			if _, err := s.round(ctx, w, players); err != nil {
				return fmt.Errorf("warm up: %w", err)
			}
		}
		if err := s.compare(ctx, o, w, players, out, goals); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if err := s.empty(ctx); err != nil {
			return err
		}
	}
	return goals.Err(o.enforce)
}

// round is a turn of each.
func (s *stage) round(ctx context.Context, w workload, players []*player) ([]turn, error) {
	turns := make([]turn, len(players))
	for i, p := range players {
		b, err := s.publish(ctx, w, p.play.form(p.skewed))
		if err != nil {
			return nil, err
		}
		t, err := s.measure(ctx, &b, p.play)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		s.log.InfoContext(ctx, "turn", "contender", p.name, "rate", int(t.rate), "own_us", int(t.own), "server_us", int(t.server))
		turns[i] = t
	}
	return turns, nil
}

// compare runs the players turn by turn and prints the medians.
func (s *stage) compare(ctx context.Context, o options, w workload, players []*player, out io.Writer, goals *goal.Sheet) error {
	fmt.Fprintf(out, "%s: %d records, %d partitions, load %s\n", w.name, w.n, partitions, goal.Load())
	order := slices.Clone(players)
	for _, p := range players {
		p.turns = nil
	}
	for range o.rounds {
		turns, err := s.round(ctx, w, order)
		if err != nil {
			return err
		}
		for i, p := range order {
			p.turns = append(p.turns, turns[i])
		}
		slices.Reverse(order)
	}
	rates := map[string]turn{}
	for _, p := range players {
		m := middle(p.turns)
		rates[p.name] = m
		fmt.Fprintf(out, "  %-20s %6.0f records/s %v, %.0f B of data each, processor %.0f + %.0f µs a record (client + server)\n",
			p.name, m.rate, each(p.turns), m.bytes, m.own, m.server)
	}
	fmt.Fprintf(out, "  load %s\n", goal.Load())
	for _, c := range comparisons() {
		a, b := rates[c.ours], rates[c.peer]
		if c.goal == 0 {
			if b.rate > 0 {
				fmt.Fprintf(out, "  %s %.2f, by processor time %.2f\n", c.what, a.rate/b.rate, (b.own+b.server)/(a.own+a.server))
			}
			continue
		}
		if b.rate == 0 {
			goals.Unmeasured(w.name+": "+c.what, "the peer did not run")
			continue
		}
		fmt.Fprintf(out, "  %s by processor time %.2f\n", c.what, (b.own+b.server)/(a.own+a.server))
		goals.AtLeast(w.name+": "+c.what, a.rate/b.rate, c.goal, "")
	}
	return nil
}

// middle is the median of each figure by itself.
func middle(ts []turn) turn {
	pick := func(f func(turn) float64) float64 {
		v := make([]float64, len(ts))
		for i, t := range ts {
			v[i] = f(t)
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return turn{pick(func(t turn) float64 { return t.rate }), pick(func(t turn) float64 { return t.own }), pick(func(t turn) float64 { return t.server }), pick(func(t turn) float64 { return t.bytes })}
}

func each(ts []turn) []int {
	out := make([]int, len(ts))
	for i, t := range ts {
		out[i] = int(t.rate)
	}
	return out
}
