// Command ingest measures how much of the bare limit the product's ingest reaches. The limit is a
// reference kept beside it: a Fiber handler that parses the JSON and produces with acks=all, and
// nothing else. Both write to the same broker, from processes of their own, turn by turn, and only
// the ratio of one run is worth anything.
//
//	go run ./bench/ingest                     # embedded broker, its log on disk, every write synced
//	go run ./bench/ingest -brokers host:9092  # another broker
//	go run ./bench/ingest -dir /dev/shm/bench # without the disk: what the servers themselves cost
//
// Where the disk is the limit both wait for it alike and the ratio says little; the processor time an
// event costs each server is printed beside it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"oriel/bench/goal"
)

// goalLimit is the share of the limit at 64 connections that the product must reach.
const goalLimit = 0.60

type options struct {
	role       string
	brokers    string
	topic      string
	dir        string
	partitions int
	linger     time.Duration
	turn       time.Duration
	rounds     int
	only       string
	profile    string
	enforce    bool
}

func main() {
	var o options
	flag.StringVar(&o.role, "role", "", "internal: the part that this process plays")
	flag.StringVar(&o.brokers, "brokers", "", "comma-separated brokers; none starts the embedded one")
	flag.StringVar(&o.topic, "topic", "bench.ingest", "topic to write to")
	flag.StringVar(&o.dir, "dir", "", "folder for the embedded broker's log; a temporary one by default")
	flag.IntVar(&o.partitions, "partitions", 6, "partitions of the topic")
	flag.DurationVar(&o.linger, "linger", 0, "how long the producers of both wait for company")
	turn, rounds := 4*time.Second, 3
	if os.Getenv("SHORT") != "" { // only prove that it runs
		turn, rounds = 300*time.Millisecond, 1
	}
	flag.DurationVar(&o.turn, "turn", turn, "how long one turn is measured; short where SHORT is set")
	flag.IntVar(&o.rounds, "rounds", rounds, "turns of each; one where SHORT is set")
	flag.StringVar(&o.only, "only", "", "run only the workloads whose name contains this")
	flag.StringVar(&o.profile, "profile", "", "file for a CPU profile of the product's process")
	flag.BoolVar(&o.enforce, "enforce", false, "fail where a goal is missed")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if o.role != "" {
		err = play(ctx, o)
	} else {
		err = measure(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench ingest:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

// measure starts the parts, runs the workloads and prints the ratios.
func measure(ctx context.Context, o options) error {
	if o.brokers == "" {
		if o.dir == "" {
			dir, err := os.MkdirTemp("", "oriel-bench-")
			if err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(dir) }()
			o.dir = dir
		}
		broker, err := startPart(ctx, o, "broker")
		if err != nil {
			return err
		}
		defer broker.stop()
		o.brokers = broker.address
	}
	bare, err := startPart(ctx, o, "bare")
	if err != nil {
		return err
	}
	defer bare.stop()
	product, err := startPart(ctx, o, "product")
	if err != nil {
		return err
	}
	defer product.stop()

	const line = "%-30s  %9s  %9s  %5s  %16s  %16s  %9s  %9s\n"
	fmt.Printf(line, "workload", "limit/s", "product/s", "ratio", "limit p50, p99", "product p50, p99", "limit CPU", "our CPU")
	goals := goal.NewSheet(os.Stdout)
	for _, w := range workloads() {
		if !strings.Contains(w.name, o.only) {
			continue
		}
		limit, ours, ratio, err := compare(ctx, o, w, bare, product)
		if err != nil {
			return err
		}
		fmt.Printf(line, w.name, fmt.Sprintf("%.0f", limit.rate), fmt.Sprintf("%.0f", ours.rate), fmt.Sprintf("%.2f", ratio),
			limit.latency(), ours.latency(), limit.cost(), ours.cost())
		if w.goal {
			goals.AtLeast(w.name+": product ÷ limit", ratio, goalLimit, "")
		}
	}
	return goals.Err(o.enforce)
}

// compare runs limit and product turn by turn and returns the median of each and of their ratios.
func compare(ctx context.Context, o options, w workload, bare, product *part) (limit, ours result, ratio float64, err error) {
	warm := min(time.Second, o.turn)
	if _, err = run(ctx, bare, w, warm); err == nil {
		_, err = run(ctx, product, w, warm)
	}
	var limits, products []result
	var ratios []float64
	for range o.rounds {
		if err != nil {
			return limit, ours, 0, err
		}
		var a, b result
		if a, err = run(ctx, bare, w, o.turn); err != nil {
			continue
		}
		if b, err = run(ctx, product, w, o.turn); err != nil {
			continue
		}
		limits, products, ratios = append(limits, a), append(products, b), append(ratios, b.rate/a.rate)
	}
	if err != nil {
		return limit, ours, 0, err
	}
	byRate := func(a, b result) int { return int(a.rate - b.rate) }
	slices.SortFunc(limits, byRate)
	slices.SortFunc(products, byRate)
	slices.Sort(ratios)
	mid := len(ratios) / 2
	return limits[mid], products[mid], ratios[mid], nil
}
