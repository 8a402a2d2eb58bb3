// Command consume measures how much of the limit the product's consumer reaches. The limit is a loop
// kept beside it (limit.go): the same records, the same decoding and lexicon, COPY into a temporary
// table, INSERT … ON CONFLICT, the rollups and the checkpoint in one transaction, into the same tables
// with the same indexes, and nothing else: no group, no vocabulary, no ledger, no verdict on duplicates.
// Both read the same topic and write to databases of their own, turn by turn, and only the ratio of
// one run is worth anything.
//
//	go run ./bench/consume -url postgres://…                 # embedded broker
//	go run ./bench/consume -url postgres://… -brokers h:9092 # another broker
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"oriel/bench/events"
	"oriel/bench/webhooks"
)

// goal is the share of the limit that the product must reach.
const goal = 0.70

type options struct {
	url        string
	brokers    string
	webhooks   string
	events     int
	hooks      int
	spread     time.Duration
	partitions int
	conns      int
	batch      int
	rounds     int
	only       string
	profile    string
	log        bool
	enforce    bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", os.Getenv("ORIEL_DATABASE_URL"), "PostgreSQL, as a role that may create databases; none starts the embedded one")
	flag.StringVar(&o.brokers, "brokers", "", "comma-separated brokers; none starts the embedded one")
	flag.StringVar(&o.webhooks, "webhooks", webhooks.DefaultDir, "folder of npm's @octokit/webhooks-examples")
	flag.IntVar(&o.events, "events", 100_000, "short events")
	flag.IntVar(&o.hooks, "hooks", 40_000, "webhook payloads")
	flag.DurationVar(&o.spread, "spread", 10*time.Minute, "over how long the events' times are spread: how long the backlog took to grow")
	flag.IntVar(&o.partitions, "partitions", 6, "partitions of the topic")
	flag.IntVar(&o.conns, "conns", 2, "connections of the limit loop")
	flag.IntVar(&o.batch, "batch", 500, "records in a transaction of either")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each")
	flag.StringVar(&o.only, "only", "", "run only the workloads whose name contains this")
	flag.StringVar(&o.profile, "profile", "", "file for a CPU profile of the product's turns")
	flag.BoolVar(&o.log, "log", false, "print the product's log")
	flag.BoolVar(&o.enforce, "enforce", false, "fail where the goal is missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "consume:", err)
		stop()
		os.Exit(1)
	}
}

// workload is one kind of events.
type workload struct {
	name string
	n    int
	next func() events.Event
}

func workloads(o options, now time.Time) ([]workload, error) {
	spread := func(rng *rand.Rand) time.Time {
		return now.Add(-time.Duration(rng.Int64N(int64(o.spread)))).Truncate(time.Microsecond)
	}
	var all []workload
	for _, unique := range []int{0, 5} {
		rng := rand.New(rand.NewPCG(1, uint64(unique)))
		g := events.New(rng, now, unique)
		all = append(all, workload{fmt.Sprintf("650 B events, %d unique words", unique), o.events, func() events.Event {
			e := g.Next()
			e.Time = spread(rng)
			return e
		}})
	}
	set, err := webhooks.Load(o.webhooks)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 99))
	return append(all, workload{"varied webhook payloads", o.hooks, func() events.Event { return set.Varied(rng, spread(rng)) }}), nil
}

func run(ctx context.Context, o options, out io.Writer) error {
	log := slog.New(slog.DiscardHandler)
	if o.log {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	s, err := setUp(ctx, &o, log)
	if err != nil {
		return err
	}
	defer s.close()
	all, err := workloads(o, time.Now().UTC())
	if err != nil {
		return err
	}
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		s.profile = f
	}
	missed := false
	for _, w := range all {
		if !strings.Contains(w.name, o.only) {
			continue
		}
		ratio, err := compare(ctx, o, s, w, out)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		missed = missed || ratio < goal
	}
	if missed && o.enforce {
		return fmt.Errorf("the goal of %.2f was missed", goal)
	}
	return nil
}

// compare runs product and limit turn by turn and prints the medians.
func compare(ctx context.Context, o options, s *stage, w workload, out io.Writer) (float64, error) {
	topic, bytes, err := s.publish(ctx, o, w)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "%s: %d records, %.0f B of data each, %d partitions, batches of %d\n",
		w.name, w.n, float64(bytes)/float64(w.n), o.partitions, o.batch)
	var product, limit []turn
	for n := range o.rounds {
		turns := []func() error{
			func() error {
				r, err := s.measure(ctx, o, topic, w.n, s.product)
				product = append(product, r)
				return err
			},
			func() error {
				r, err := s.measure(ctx, o, topic, w.n, s.limit)
				limit = append(limit, r)
				return err
			},
		}
		if n%2 == 1 {
			slices.Reverse(turns)
		}
		for _, t := range turns {
			if err := t(); err != nil {
				return 0, err
			}
		}
	}
	p, l := middle(product), middle(limit)
	report := func(name string, m turn, all []turn) {
		fmt.Fprintf(out, "  %-8s %6.0f records/s %v, processor %.0f + %.0f µs a record (client + server)\n",
			name, m.rate, rates(all), m.own, m.server)
	}
	report("product", p, product)
	report("limit", l, limit)
	ratio := p.rate / l.rate
	fmt.Fprintf(out, "  ratio    %.2f (goal %.2f), by processor time %.2f\n", ratio, goal, (l.own+l.server)/(p.own+p.server))
	return ratio, nil
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
	return turn{
		pick(func(t turn) float64 { return t.rate }), pick(func(t turn) float64 { return t.own }),
		pick(func(t turn) float64 { return t.server }),
	}
}

func rates(ts []turn) []int {
	out := make([]int, len(ts))
	for i, t := range ts {
		out[i] = int(t.rate)
	}
	return out
}

func (s *stage) startProfile() func() {
	if s.profile == nil || s.profiled {
		return func() {}
	}
	s.profiled = true // one turn is enough, and a file holds one profile
	if err := pprof.StartCPUProfile(s.profile); err != nil {
		return func() {}
	}
	return pprof.StopCPUProfile
}
