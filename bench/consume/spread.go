package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"oriel/bench/goal"
)

// goalSpread is how many times the slowest rate the fastest may be, over the numbers of unique words.
const goalSpread = 1.25

// spreadOfUniques asks whether words that occur in one event alone slow the product down. They take
// turns, so that the machine's moods are shared.
func spreadOfUniques(ctx context.Context, o options, s *stage, out io.Writer, goals *goal.Sheet) error {
	numbers := []int{0, 5, 20}
	turns := make([][]turn, len(numbers))
	for range o.rounds {
		for i, unique := range numbers {
			r, err := s.turn(ctx, o, short(o, time.Now().UTC(), unique, o.uniques), contender{run: s.asItIs})
			if err != nil {
				return err
			}
			turns[i] = append(turns[i], r)
		}
	}
	medians, used := make([]float64, len(numbers)), make([]float64, len(numbers))
	fmt.Fprintf(out, "unique words in 650 B events, %d of each\n", o.uniques)
	for i, unique := range numbers {
		m := middle(turns[i])
		medians[i], used[i] = m.rate, m.own+m.server
		fmt.Fprintf(out, "  %2d words %6.0f records/s %v, processor %.0f + %.0f µs a record (client + server)\n",
			unique, m.rate, rates(turns[i]), m.own, m.server)
	}
	fmt.Fprintf(out, "  by processor time the dearest is %.2f × the cheapest\n", slices.Max(used)/slices.Min(used))
	goals.Below("unique words: fastest ÷ slowest", slices.Max(medians)/slices.Min(medians), goalSpread, "")
	return nil
}
