// Command consume measures how much of the limit the product's consumer reaches. The limit is a loop
// kept beside it (limit.go): the same records, the same decoding and lexicon, COPY into the event table,
// blocks, rollups and checkpoint in one transaction, into the same tables with the same indexes, and
// nothing else: no group, no vocabulary, no ledger, no verdict on duplicates.
// They take turns on one database that has a past (bench/stored), or on an empty one each where it has none,
// at as many new records of a kind each time, and only the ratio of one run is worth anything. The product
// then reads the same records once more, which are all duplicates.
//
// Beside that: the product against the limit's loop with a tsvector of every word and path=value under GIN in
// place of the lexemes, on webhook payloads and empty databases (text.go); whether unique words change the
// rate (spread.go); what memory a backlog takes (backlog.go); and how batches fare while partitions are
// created, a vacuum and a long query run (disturb.go).
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
	partVector  = "tsvector"
	partSpread  = "spread"
	partDisturb = "disturb"
	partBacklog = "backlog"
)

type options struct {
	url         string
	brokers     string
	webhooks    string
	events      int
	hooks       int
	vectors     int
	spread      time.Duration
	partitions  int
	conns       int
	batch       int
	rounds      int
	parts       string
	uniques     int
	disturb     time.Duration
	rate        int
	query       time.Duration
	backlog     int
	stored      int
	storedHooks int
	child       string
	only        string
	profile     string
	log         bool
	enforce     bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", os.Getenv("ORIEL_DATABASE_URL"), "PostgreSQL, as a superuser; none starts the embedded one")
	flag.StringVar(&o.brokers, "brokers", "", "comma-separated brokers; none starts the embedded one")
	flag.StringVar(&o.webhooks, "webhooks", webhooks.DefaultDir, "folder of npm's @octokit/webhooks-examples")
	flag.IntVar(&o.events, "events", 100_000, "short events")
	flag.IntVar(&o.hooks, "hooks", 40_000, "webhook payloads")
	flag.IntVar(&o.vectors, "vectors", 10_000, "webhook payloads that the product and the loop with a tsvector read")
	flag.DurationVar(&o.spread, "spread", 10*time.Minute, "over how long the events' times are spread: how long the backlog took to grow")
	flag.IntVar(&o.partitions, "partitions", 6, "partitions of the topic")
	flag.IntVar(&o.conns, "conns", 2, "connections of the limit loop")
	flag.IntVar(&o.batch, "batch", 500, "records in a transaction of either")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each")
	flag.StringVar(&o.parts, "parts", strings.Join([]string{partCompare, partVector, partSpread, partBacklog, partDisturb}, ","), "what to run, comma-separated")
	flag.IntVar(&o.uniques, "uniques", 60_000, "events of each number of unique words, where only those differ")
	flag.DurationVar(&o.disturb, "disturb", time.Minute, "how long batches are watched while others work on the database")
	flag.IntVar(&o.rate, "rate", 1500, "events a second meanwhile")
	flag.DurationVar(&o.query, "query", 30*time.Second, "how long the query beside them may run")
	flag.IntVar(&o.backlog, "backlog", 100_000, "records of the backlog whose memory is watched; 1,000,000 is the long form")
	flag.IntVar(&o.stored, "stored", 20_000, "650 B events of thirty days that are stored beforehand; 5,000,000 is the long form")
	flag.IntVar(&o.storedHooks, "storedhooks", 2_000, "webhook payloads that are stored beforehand; 500,000 is the long form")
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
	next func() events.Event
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
	return append(all, workload{"varied webhook payloads", o.hooks, func() events.Event {
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
	return workload{fmt.Sprintf("650 B events, %d unique words", unique), n, func() events.Event {
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
	s, err := setUp(ctx, &o, log, out)
	if err != nil {
		return err
	}
	defer s.close()
	all, err := workloads(o, s.began)
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
	if o.parts != partVector {
		if err := s.fill(ctx, o); err != nil {
			return fmt.Errorf("fill the database: %w", err)
		}
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
	if hooks := all[len(all)-1]; slices.Contains(parts, partVector) && strings.Contains(hooks.name, o.only) {
		hooks.n = min(o.vectors, o.hooks)
		if err := compareVector(ctx, o, s, hooks, out, goals); err != nil {
			return fmt.Errorf("tsvector: %w", err)
		}
	}
	for _, p := range []struct {
		name string
		run  func(context.Context, options, *stage, io.Writer, *goal.Sheet) error
	}{{partSpread, spreadOfUniques}, {partBacklog, backlogged}, {partDisturb, disturbed}} {
		if !slices.Contains(parts, p.name) {
			continue
		}
		if err := p.run(ctx, o, s, out, goals); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return goals.Err(o.enforce)
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
