package events_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"oriel/bench/events"
)

var until = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func TestStreamHasItsShape(t *testing.T) {
	t.Parallel()
	for n, unique := range []int{0, 5, 20, 2} {
		g := events.New(rand.New(rand.NewPCG(1, 2)), until, unique)
		if n == 3 {
			g.Identified()
		}
		types, sources, subjects, refs := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
		size := 0
		const n = 20000
		for range n {
			e := g.Next()
			var data struct {
				Severity string   `json:"severity"`
				Refs     []string `json:"refs"`
			}
			if err := json.Unmarshal(e.Data, &data); err != nil || data.Severity == "" || len(data.Refs) != unique {
				t.Fatalf("%s: %v", e.Data, err)
			}
			for _, r := range data.Refs {
				refs[r]++
			}
			if len(e.Data) < 450 || len(e.Data) > 950 {
				t.Fatalf("%d bytes", len(e.Data))
			}
			if e.Time.After(until) || e.Time.Before(until.AddDate(0, 0, -events.Days)) {
				t.Fatalf("time %v", e.Time)
			}
			size += len(e.Data)
			types[e.Type]++
			sources[e.Source]++
			subjects[e.Subject]++
		}
		if len(types) != events.Types || len(sources) != events.Sources || len(refs) != n*unique {
			t.Errorf("%d types, %d sources, %d unique tokens", len(types), len(sources), len(refs))
		}
		most := 0
		for _, c := range subjects {
			most = max(most, c)
		}
		if most < 20*n/len(subjects) {
			t.Errorf("the busiest of %d subjects has %d of %d events", len(subjects), most, n)
		}
		if mean := size / n; mean < 580 || mean > 720 {
			t.Errorf("mean size %d", mean)
		}
	}
}

func TestSameSeedSameStream(t *testing.T) {
	t.Parallel()
	a, b := events.New(rand.New(rand.NewPCG(3, 4)), until, 5), events.New(rand.New(rand.NewPCG(3, 4)), until, 5)
	for range 100 {
		x, y := a.Next(), b.Next()
		if x.ID != y.ID || x.Subject != y.Subject || !x.Time.Equal(y.Time) || !bytes.Equal(x.Data, y.Data) {
			t.Fatalf("%+v and %+v", x, y)
		}
	}
}
