package block_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"oriel/bench/events"
	"oriel/bench/webhooks"
	"oriel/server/block"
	"oriel/server/lexicon"
)

// real are rows of events as they come, and the mean size of their data.
func real(b *testing.B, n int, next func(i int) events.Event) (rows []block.Row, payload float64) {
	b.Helper()
	a := lexicon.New(lexicon.Key{1}, nil)
	rows = make([]block.Row, n)
	size := 0
	for i := range rows {
		e := next(i)
		size += len(e.Data)
		out := a.Analyze(&lexicon.Input{
			Type: e.Type, ID: e.ID, Source: e.Source, JSON: true, Data: e.Data,
			Attributes: []string{"type", e.Type, "source", e.Source, "subject", e.Subject},
		}, nil)
		rows[i] = block.Row{Micros: int64(i) * 1000, Offset: int64(i), Keys: append([]uint64(nil), out.Identifiers...)}
	}
	return rows, float64(size) / float64(n)
}

// BenchmarkBuild makes blocks of real keys, and says how large they are and how often a key that is nobody's
// finds something.
func BenchmarkBuild(b *testing.B) {
	for _, unique := range []int{0, 4} {
		for _, n := range []int{500, 16_384, 65_536} {
			b.Run(fmt.Sprintf("events of 650 bytes with %d tokens of their own/%d rows", unique, n), func(b *testing.B) {
				g := events.New(rand.New(rand.NewPCG(1, 2)), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), unique)
				rows, payload := real(b, n, func(int) events.Event { return g.Next() })
				build(b, rows, payload)
			})
		}
	}
	set := hooks(b)
	for _, n := range []int{500, 4096, 11_000} {
		b.Run(fmt.Sprintf("webhooks/%d rows", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			rows, payload := real(b, n, func(i int) events.Event {
				return set.Varied(rng, time.Date(2026, 11, 1, 0, 0, i, 0, time.UTC))
			})
			build(b, rows, payload)
		})
	}
}

func build(b *testing.B, rows []block.Row, payload float64) {
	var made *block.Block
	for b.Loop() {
		var err error
		made, err = block.Build(rows)
		must(b, err)
	}
	n := float64(len(rows))
	size := float64(len(made.Keys) + len(made.Lists) + len(made.Places))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(made.Entries), "ns/entry")
	b.ReportMetric(float64(made.Entries)/n, "entries/row")
	b.ReportMetric(size/n, "B/row")
	b.ReportMetric(float64(len(made.Keys)+len(made.Lists))/float64(made.Entries), "B/entry")
	b.ReportMetric(100*size/n/payload, "%payload")
	b.ReportMetric(float64(len(made.Lists))/n, "Blists/row")
	const probes = 1_000_000
	rng, found := rand.New(rand.NewPCG(5, 5)), 0
	for range probes {
		o, err := made.Probe(uint32(rng.Uint64N(1 << block.KeyBits)))
		must(b, err)
		found += len(o)
	}
	b.ReportMetric(float64(found)/probes, "false-rows/probe")
}

func BenchmarkProbe(b *testing.B) {
	g := events.New(rand.New(rand.NewPCG(1, 2)), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 4)
	rows, _ := real(b, 65_536, func(int) events.Event { return g.Next() })
	made, err := block.Build(rows)
	must(b, err)
	i := 0
	for b.Loop() {
		_, err := made.Probe(uint32(hash(uint64(i)) >> 36))
		must(b, err)
		i++
	}
}

func BenchmarkMerge(b *testing.B) {
	b.Run("events of 650 bytes", func(b *testing.B) {
		g := events.New(rand.New(rand.NewPCG(1, 2)), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), 4)
		rows, _ := real(b, 65_536, func(int) events.Event { return g.Next() })
		merge(b, rows)
	})
	b.Run("webhooks", func(b *testing.B) {
		set, rng := hooks(b), rand.New(rand.NewPCG(1, 2))
		rows, _ := real(b, 11_000, func(i int) events.Event { return set.Varied(rng, time.Date(2026, 11, 1, 0, 0, i, 0, time.UTC)) })
		merge(b, rows)
	})
}

func merge(b *testing.B, rows []block.Row) {
	var parts []*block.Block
	for i := 0; i < len(rows); i += 500 {
		part, err := block.Build(rows[i:min(i+500, len(rows))])
		must(b, err)
		parts = append(parts, part)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := block.Merge(parts)
		must(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(rows)), "µs/row")
}

func hooks(b *testing.B) *webhooks.Set {
	b.Helper()
	dir := os.Getenv("ORIEL_WEBHOOKS")
	if dir == "" {
		dir = "../../" + webhooks.DefaultDir
	}
	set, err := webhooks.Load(dir)
	if err != nil {
		b.Skipf("NOT RUN: %v", err)
	}
	return set
}
