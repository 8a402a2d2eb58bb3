// Command explorer measures the built program as an analyst's browser meets it: a million short events over
// thirty days, stored by the product's consumer, and one event with 1 MiB of JSON, looked at in headless Chromium.
// It tells how soon the first rows stand, how much script that took, how long the page's thread is held while
// somebody types and scrolls, and how soon a large event and the rows of a picked value are there. Goals are held
// against the median of some rounds; printed too are the best and the worst, what a page without scripts takes in the
// same browser, and what the page's thread computed, which beside others' work on the machine says more than the
// clock. Times are the machine's: they are for a person to judge.
//
//	go run ./bench/explorer                  # after make build
//	go run ./bench/explorer -keep DIR        # fills a data folder, or looks at the one that is there
//	go run ./bench/explorer -keep DIR -trace OUT   # also leaves traces for the browser's own Performance panel
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
	"slices"
	"syscall"

	"oriel/bench/goal"
)

type options struct {
	program string
	assets  string
	keep    string
	trace   string
	events  int
	rows    int
	rounds  int
	log     bool
	enforce bool
}

// The goals. ms, and KiB of scripts as they are sent, compressed with gzip.
const (
	goalFirstRows    = 1000 // ms from navigation to the first rows, nothing of the page in a cache
	goalFirstScripts = 170
	goalScripts      = 260
	goalTask         = 50 // ms that a task may hold the page's thread
	goalOpen         = 300
	goalPick         = 250
)

func main() {
	var o options
	flag.StringVar(&o.program, "program", "bin/oriel", "the built program")
	flag.StringVar(&o.assets, "assets", "frontend/dist/assets", "the scripts that the program was built with")
	flag.StringVar(&o.keep, "keep", "", "folder that the filled database stays in; none is a folder that goes")
	flag.StringVar(&o.trace, "trace", "", "folder for traces with a profile, which slow down what is measured")
	flag.IntVar(&o.events, "events", 1_000_000, "short events")
	flag.IntVar(&o.rows, "rows", 10_000, "rows that are loaded before somebody types and scrolls")
	flag.IntVar(&o.rounds, "rounds", 10, "how often each is measured")
	flag.BoolVar(&o.log, "log", false, "print the product's log")
	flag.BoolVar(&o.enforce, "enforce", false, "fail where a goal is missed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "explorer:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	log := slog.New(slog.DiscardHandler)
	if o.log {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "oriel-bench-explorer-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	p, err := fill(ctx, dir, o.events, log, out)
	if err != nil {
		return err
	}
	d, err := start(ctx, o, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.sendLarge(ctx, p.Until); err != nil {
		return err
	}
	fmt.Fprintf(out, "the machine's load: %s\n", goal.Load())
	seen, err := d.browse(ctx, o, p)
	if err != nil {
		return err
	}
	goals := goal.NewSheet(out)
	if err := report(out, goals, o, seen); err != nil {
		return err
	}
	return goals.Err(o.enforce)
}

// series is what one thing took, round by round.
type series []float64

func (s series) String() string {
	return fmt.Sprintf("%.0f ms, best %.0f, worst %.0f, %d rounds", s.median(), slices.Min(s), slices.Max(s), len(s))
}

func (s series) median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[len(sorted)/2]
}

// report prints each figure and holds it against its goal.
func report(out io.Writer, goals *goal.Sheet, o options, seen *seen) error {
	for what, s := range map[string]series{
		"bare": seen.Bare, "first rows": seen.FirstRows, "typing": seen.Typing.Wall, "scrolling": seen.Scrolling.Wall,
		"open": seen.Open.Wall, "pick": seen.Pick.Wall,
	} {
		if len(s) == 0 {
			return fmt.Errorf("the browser measured nothing: %s", what)
		}
	}
	before, all, err := scripts(o.assets, seen.Scripts)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a page without scripts, for comparison: %s\n", seen.Bare)
	fmt.Fprintf(out, "navigation to first rows: %s\n", seen.FirstRows)
	goals.AtMost("from navigation to the first rows, nothing cached", seen.FirstRows.median(), goalFirstRows, " ms")
	goals.AtMost("scripts before the first rows", before, goalFirstScripts, " KiB")
	goals.AtMost("scripts in all", all, goalScripts, " KiB")
	for _, t := range []struct {
		what  string
		took  took
		limit float64
	}{
		{fmt.Sprintf("longest task while typing a query, %d rows loaded", seen.Rows), seen.Typing, goalTask},
		{fmt.Sprintf("longest task while scrolling, %d rows loaded", seen.Rows), seen.Scrolling, goalTask},
		{"from a click to the tree of an event of 1 MiB", seen.Open, goalOpen},
		{"from a click on a value to its rows", seen.Pick, goalPick},
	} {
		fmt.Fprintf(out, "%s: %s; computed by the page: %s\n", t.what, t.took.Wall, t.took.CPU)
		goals.AtMost(t.what, t.took.Wall.median(), t.limit, " ms")
	}
	return nil
}
