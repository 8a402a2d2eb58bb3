// Command consume measures how much of the limit the product's consumer reaches. The limit is a loop
// kept beside it (limit.go): the same records, the same decoding and lexicon, COPY into the event table,
// the rollups and the checkpoint in one transaction, into the same tables with the same indexes, and
// nothing else: no group, no vocabulary, no ledger, no verdict on duplicates.
// Both read the same topic and write to databases of their own, turn by turn, and only the ratio of
// one run is worth anything. The product then reads the same records once more, which are all duplicates.
// On the webhook payloads a third plays: the limit's loop with a tsvector of
// every word and path=value under GIN in place of the lexemes (text.go).
//
// Beside that: whether unique words change the rate (spread.go), how batches fare while partitions are
// created, a vacuum and a long query run (disturb.go), and what memory a backlog takes (backlog.go).
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
	"oriel/bench/goal"
	"oriel/bench/webhooks"
)

// The goals: the share of the limit that the product must reach, how many times the loop with a tsvector,
// and how many times its own fresh rate where all is met again.
const (
	goalLimit    = 0.85
	goalTSVector = 3
	goalAgain    = 2
)

// The parts of a run.
const (
	partCompare = "compare"
	partSpread  = "spread"
	partDisturb = "disturb"
	partBacklog = "backlog"
)

type options struct {
	url        string
	brokers    string
	webhooks   string
	events     int
	hooks      int
	vectors    int
	spread     time.Duration
	partitions int
	conns      int
	batch      int
	rounds     int
	parts      string
	uniques    int
	disturb    time.Duration
	rate       int
	query      time.Duration
	backlog    int
	child      string
	only       string
	profile    string
	log        bool
	enforce    bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", os.Getenv("ORIEL_DATABASE_URL"), "PostgreSQL, as a superuser; none starts the embedded one")
	flag.StringVar(&o.brokers, "brokers", "", "comma-separated brokers; none starts the embedded one")
	flag.StringVar(&o.webhooks, "webhooks", webhooks.DefaultDir, "folder of npm's @octokit/webhooks-examples")
	flag.IntVar(&o.events, "events", 100_000, "short events")
	flag.IntVar(&o.hooks, "hooks", 40_000, "webhook payloads")
	flag.IntVar(&o.vectors, "vectors", 10_000, "how many of the webhook payloads the slow loop with a tsvector reads; 0 leaves it out")
	flag.DurationVar(&o.spread, "spread", 10*time.Minute, "over how long the events' times are spread: how long the backlog took to grow")
	flag.IntVar(&o.partitions, "partitions", 6, "partitions of the topic")
	flag.IntVar(&o.conns, "conns", 2, "connections of the limit loop")
	flag.IntVar(&o.batch, "batch", 500, "records in a transaction of either")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each")
	flag.StringVar(&o.parts, "parts", strings.Join([]string{partCompare, partSpread, partDisturb, partBacklog}, ","), "what to run, comma-separated")
	flag.IntVar(&o.uniques, "uniques", 60_000, "events of each number of unique words, where only those differ")
	flag.DurationVar(&o.disturb, "disturb", time.Minute, "how long batches are watched while others work on the database")
	flag.IntVar(&o.rate, "rate", 1500, "events a second meanwhile")
	flag.DurationVar(&o.query, "query", 30*time.Second, "how long the query beside them may run")
	flag.IntVar(&o.backlog, "backlog", 100_000, "records of the backlog whose memory is watched; 1,000,000 is the long form")
	flag.StringVar(&o.child, "child", "", "the program's own, to consume a topic as a process of its own")
	flag.StringVar(&o.only, "only", "", "run only the workloads whose name contains this")
	flag.StringVar(&o.profile, "profile", "", "file for a CPU profile of the product's turns")
	flag.BoolVar(&o.log, "log", false, "print the product's log")
	flag.BoolVar(&o.enforce, "enforce", false, "fail where a goal is missed")
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
	// vectors is how many of them the loop with a tsvector reads.
	vectors int
	next    func() events.Event
}

func workloads(o options, now time.Time) ([]workload, error) {
	var all []workload
	for _, unique := range []int{0, 5} {
		all = append(all, short(o, now, unique, o.events))
	}
	set, err := webhooks.Load(o.webhooks)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 99))
	return append(all, workload{"varied webhook payloads", o.hooks, min(o.vectors, o.hooks), func() events.Event {
		return set.Varied(rng, within(o.spread, now, rng))
	}}), nil
}

// within is an instant of the time over which a backlog grew.
func within(spread time.Duration, now time.Time, rng *rand.Rand) time.Time {
	return now.Add(-time.Duration(rng.Int64N(int64(spread)))).Truncate(time.Microsecond)
}

// short are n events of 650 B, each with so many words that occur in no other.
func short(o options, now time.Time, unique, n int) workload {
	rng := rand.New(rand.NewPCG(1, uint64(unique)))
	g := events.New(rng, now, unique)
	return workload{fmt.Sprintf("650 B events, %d unique words", unique), n, 0, func() events.Event {
		e := g.Next()
		e.Time = within(o.spread, now, rng)
		return e
	}}
}

func run(ctx context.Context, o options, out io.Writer) error {
	log := slog.New(slog.DiscardHandler)
	if o.log {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if o.child != "" {
		return runChild(ctx, o, log)
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
	goals := goal.NewSheet(out)
	parts := strings.Split(o.parts, ",")
	for _, w := range all {
		if !slices.Contains(parts, partCompare) || !strings.Contains(w.name, o.only) {
			continue
		}
		if err := compare(ctx, o, s, w, out, goals); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	for _, p := range []struct {
		name string
		run  func(context.Context, options, *stage, io.Writer, *goal.Sheet) error
	}{{partSpread, spreadOfUniques}, {partDisturb, disturbed}, {partBacklog, backlogged}} {
		if !slices.Contains(parts, p.name) {
			continue
		}
		if err := p.run(ctx, o, s, out, goals); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return goals.Err(o.enforce)
}

// player is a contender, how many records it reads, and its turns so far.
type player struct {
	name  string
	n     int
	play  contender
	turns []turn
}

// compare runs the contenders turn by turn and prints the medians.
func compare(ctx context.Context, o options, s *stage, w workload, out io.Writer, goals *goal.Sheet) error {
	topic, bytes, err := s.publish(ctx, o, w)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d records, %.0f B of data each, %d partitions, batches of %d\n",
		w.name, w.n, float64(bytes)/float64(w.n), o.partitions, o.batch)
	product := &player{name: "product", n: w.n, play: contender{run: s.product, again: s.productAgain}}
	limit := &player{name: "limit", n: w.n, play: contender{run: s.limit(lexemes{})}}
	asItIs := &player{name: "as it is", n: w.n, play: contender{run: s.asItIs}}
	all := []*player{product, limit, asItIs}
	var vector *player
	if w.vectors > 0 {
		vector = &player{name: "tsvector", n: w.vectors, play: contender{setup: vectorColumn, run: s.limit(newVectors())}}
		all = append(all, vector)
	}
	for range o.rounds {
		for _, p := range all {
			r, err := s.measure(ctx, o, topic, p.n, p.play)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			p.turns = append(p.turns, r)
		}
		slices.Reverse(all)
	}
	for _, p := range []*player{product, limit, asItIs, vector} {
		if p != nil {
			m := middle(p.turns)
			fmt.Fprintf(out, "  %-8s %6.0f records/s %v of %d, processor %.0f + %.0f µs a record (client + server)\n",
				p.name, m.rate, rates(p.turns), p.n, m.own, m.server)
		}
	}
	ours, best := middle(product.turns), middle(limit.turns)
	fmt.Fprintf(out, "  product ÷ limit by processor time %.2f\n", (best.own+best.server)/(ours.own+ours.server))
	goals.AtLeast(w.name+": product ÷ limit", ours.rate/best.rate, goalLimit, "")
	fmt.Fprintf(out, "  met again %.0f records/s\n", ours.again)
	goals.AtLeast(w.name+": met again ÷ fresh", ours.again/ours.rate, goalAgain, "")
	if vector != nil {
		slow := middle(vector.turns)
		fmt.Fprintf(out, "  product ÷ tsvector by processor time %.2f\n", (slow.own+slow.server)/(ours.own+ours.server))
		goals.AtLeast(w.name+": product ÷ loop with a tsvector", ours.rate/slow.rate, goalTSVector, "")
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
	return turn{
		pick(func(t turn) float64 { return t.rate }), pick(func(t turn) float64 { return t.again }),
		pick(func(t turn) float64 { return t.own }), pick(func(t turn) float64 { return t.server }),
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
