package search

import (
	"flag"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"oriel/server/query"
	"oriel/server/search/reference"
	"oriel/server/search/reference/draw"
)

var (
	agreePairs = flag.Int("pairs", 300, "pairs of events and a filter that searches are compared with the reference on")
	agreeSeed  = flag.Uint64("seed", 1, "of the first events; 0 takes one from the clock")
)

// pairsEach is how many filters the same events are asked with.
const pairsEach = 250

// narrowed makes a few hundred events as many as an installation has.
func narrowed(l *limits) {
	l.walk, l.peek, l.probe, l.dayProbe, l.set, l.types, l.firstChunk, l.lastChunk = 60, 20, 15, 20, 18, 3, 8, 16
}

// window is a range of time around the events, with edges on them or one microsecond beside; one of eight is
// bounded by when events were stored too.
func (w *world) window(n int) reference.Window {
	out := w.occurred(n)
	if n%8 == 5 {
		out.ArrivedFrom = w.events[w.rng.IntN(len(w.events))].Arrived
	}
	if n%8 == 5 && n%3 == 0 || n%8 == 6 && n%3 == 1 {
		out.ArrivedUntil = w.events[w.rng.IntN(len(w.events))].Arrived
	}
	if out.ArrivedUntil != 0 && out.ArrivedUntil <= out.ArrivedFrom {
		out.ArrivedUntil = 0
	}
	return out
}

func (w *world) occurred(n int) reference.Window {
	first, last := w.events[len(w.events)-1].Micros, w.events[0].Micros
	all := reference.Window{From: first - 1 - int64(n%3)*1800_000_000, Until: last + 1 + int64(n%5)*3600_000_000}
	if n%3 == 0 {
		return all
	}
	edge := func() int64 {
		at := w.events[w.rng.IntN(len(w.events))].Micros + int64(w.rng.IntN(3)) - 1
		if w.rng.IntN(4) == 0 {
			at -= at % 3600_000_000
		}
		return at
	}
	a, b := edge(), edge()
	if n%4 == 0 {
		a = all.From
	}
	if a > b {
		a, b = b, a
	}
	if a == b {
		return all
	}
	return reference.Window{From: a, Until: b}
}

func TestSearchesAnswerAsTheReferenceDoes(t *testing.T) {
	t.Parallel()
	seed := *agreeSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	var done, held atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for n := 0; n*pairsEach < *agreePairs; n++ {
			seed := seed + uint64(n)
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				d, events := shop(seed, []int{240, 120, 400, 5}[seed%4])
				w := newWorld(t, seed, d, events)
				for i := range min(pairsEach, *agreePairs-n*pairsEach) {
					a := &inquiry{w: w, svc: w.wide, where: d.Where(w.events), window: w.window(i), seed: seed*1000 + uint64(i)}
					if i%3 == 2 {
						a.svc = w.narrow
					}
					done.Add(1)
					if len(a.truth()) > 0 {
						held.Add(1)
					}
					if a.problem(t.Context()) != "" {
						a.report(t, seed)
						return
					}
				}
			})
		}
	})
	t.Logf("%d pairs from seed %d on; %d filters found something", done.Load(), seed, held.Load())
	if !t.Failed() && held.Load() < done.Load()/4 {
		t.Error("the filters find too little to prove anything")
	}
}

// report fails the test with the smallest filter that still goes wrong, and with the fewest events.
func (a *inquiry) report(t *testing.T, seed uint64) {
	t.Helper()
	small := draw.Shrink(a.where, func(where query.And) bool {
		b := *a
		b.where = where
		return b.problem(t.Context()) != ""
	})
	b := *a
	b.where = small
	problem := b.problem(t.Context())
	limits := "the limits of an installation"
	if a.svc == a.w.narrow {
		limits = "narrow limits"
	}
	t.Errorf("seed %d, %s: %s\nfilter %s\n%#v\nasked for as %v\nfound with %s\n%s", seed, limits, problem, query.Format(small), small, b.params(), query.Format(a.where), b.fewest(t, seed))
}

// fewest stores ever fewer of the events in worlds of their own as long as the answers stay wrong.
func (a *inquiry) fewest(t *testing.T, seed uint64) string {
	t.Helper()
	sent := a.w.sent

	narrow := a.svc == a.w.narrow
	for tries, size := 0, len(sent)/2; size >= 1 && tries < 24; {
		shrunk := false
		for from := 0; from < len(sent) && tries < 24; from += size {
			fewer := slices.Concat(sent[:from], sent[min(from+size, len(sent)):])
			if len(fewer) == 0 {
				continue
			}
			tries++
			wrong := false
			if !t.Run(fmt.Sprintf("with %d events", len(fewer)), func(t *testing.T) {
				b := *a
				b.w = newWorld(t, seed, a.w.draw, fewer)
				if b.svc = b.w.wide; narrow {
					b.svc = b.w.narrow
				}
				wrong = b.problem(t.Context()) != ""
			}) {
				return "and something else went wrong while fewer events were looked for"
			}
			if wrong {
				sent, shrunk = fewer, true
				break
			}
		}
		if !shrunk {
			size /= 2
		}
	}
	out := fmt.Sprintf("of %d events", len(sent))
	if len(sent) <= 6 {
		for _, e := range sent {
			out += "\n" + a.w.show(reference.New(e, nil, reference.DefaultFacets()))
		}
	}
	return out
}
