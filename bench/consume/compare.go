package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"oriel/bench/goal"
)

// player is a contender and its turns so far.
type player struct {
	name  string
	play  contender
	turns []turn
}

// rounds lets the players take turns at new records each and prints their medians.
func (s *stage) rounds(ctx context.Context, o options, w workload, out io.Writer, players ...*player) error {
	fmt.Fprintf(out, "%s: %d records, %d partitions, batches of %d, load %s\n", w.name, w.n, o.partitions, o.batch, goal.Load())
	order := slices.Clone(players)
	for range o.rounds {
		for _, p := range order {
			r, err := s.turn(ctx, o, w, p.play)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			p.turns = append(p.turns, r)
		}
		slices.Reverse(order)
	}
	for _, p := range players {
		m := middle(p.turns)
		fmt.Fprintf(out, "  %-8s %6.0f records/s %v, %.0f B of data each, processor %.0f + %.0f µs a record (client + server)\n",
			p.name, m.rate, rates(p.turns), m.bytes, m.own, m.server)
	}
	fmt.Fprintf(out, "  load %s\n", goal.Load())
	return nil
}

// turn publishes a workload and has a contender read it.
func (s *stage) turn(ctx context.Context, o options, w workload, play contender) (r turn, err error) {
	topic, bytes, err := s.publish(ctx, o, w)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.forget(context.WithoutCancel(ctx), topic)) }()
	r, err = s.measure(ctx, o, topic, w.n, play)
	r.bytes = float64(bytes) / float64(w.n)
	return r, err
}

func compare(ctx context.Context, o options, s *stage, w workload, out io.Writer, goals *goal.Sheet) error {
	product := &player{name: "product", play: contender{run: s.product, again: s.productAgain}}
	limit := &player{name: "limit", play: contender{run: s.limit(lexemes{})}}
	asItIs := &player{name: "as it is", play: contender{run: s.asItIs}}
	if err := s.rounds(ctx, o, w, out, product, limit, asItIs); err != nil {
		return err
	}
	ours, best := middle(product.turns), middle(limit.turns)
	fmt.Fprintf(out, "  product ÷ limit by processor time %.2f\n", (best.own+best.server)/(ours.own+ours.server))
	goals.AtLeast(w.name+": product ÷ limit", ours.rate/best.rate, goalLimit, "")
	fmt.Fprintf(out, "  met again %.0f records/s\n", ours.again)
	goals.AtLeast(w.name+": met again ÷ fresh", ours.again/ours.rate, goalAgain, "")
	return nil
}

// compareVector begins with empty databases: the past has no tsvector.
func compareVector(ctx context.Context, o options, s *stage, w workload, out io.Writer, goals *goal.Sheet) error {
	product := &player{name: "product", play: contender{run: s.product, empty: true}}
	vector := &player{name: "tsvector", play: contender{run: s.limit(newVectors()), empty: true, setup: vectorColumn}}
	if err := s.rounds(ctx, o, w, out, product, vector); err != nil {
		return err
	}
	ours, slow := middle(product.turns), middle(vector.turns)
	fmt.Fprintf(out, "  product ÷ tsvector by processor time %.2f\n", (slow.own+slow.server)/(ours.own+ours.server))
	goals.AtLeast(w.name+": product ÷ loop with a tsvector", ours.rate/slow.rate, goalTSVector, "")
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
		pick(func(t turn) float64 { return t.bytes }),
	}
}

func rates(ts []turn) []int {
	out := make([]int, len(ts))
	for i, t := range ts {
		out[i] = int(t.rate)
	}
	return out
}
