package webhooks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	goccy "github.com/goccy/go-json"

	"oriel/bench/events"
	"oriel/bench/webhooks"
	"oriel/server/lexicon"
)

func load(b testing.TB) *webhooks.Set {
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

// sample is varied events and their mean size.
func sample(b *testing.B, n int) []events.Event {
	set, rng := load(b), rand.New(rand.NewPCG(1, 2))
	all, size := make([]events.Event, n), 0
	for i := range all {
		all[i] = set.Varied(rng, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
		size += len(all[i].Data)
	}
	b.SetBytes(int64(size / n))
	b.ReportAllocs()
	return all
}

// known is a cache that has seen everything that came twice.
type known struct {
	terms map[int64]struct{}
	paths map[string]int16
}

func (k *known) Term(h int64) bool {
	_, ok := k.terms[h]
	if !ok {
		k.terms[h] = struct{}{}
	}
	return ok
}

func (k *known) Path(eventType, path string, kinds int16) bool {
	seen := k.paths[path]
	if seen|kinds != seen {
		k.paths[path] = seen | kinds
		return false
	}
	return true
}

func input(e *events.Event) *lexicon.Input {
	return &lexicon.Input{
		Type: e.Type, ID: e.ID, Source: e.Source, JSON: true, Data: e.Data,
		Attributes: []string{"type", e.Type, "source", e.Source, "subject", e.Subject},
	}
}

func analyze(b *testing.B, options ...lexicon.Option) {
	all := sample(b, 1000)
	a := lexicon.New(lexicon.Key{1}, []string{"severity", "deviceId", "roomId", "personId", "tags"}, options...)
	seen := &known{map[int64]struct{}{}, map[string]int16{}}
	lexemes, identifiers, over := 0, 0, 0
	for i := range all {
		out := a.Analyze(input(&all[i]), seen)
		lexemes += len(out.Lexemes)
		identifiers += len(out.Identifiers)
		if out.Over {
			over++
		}
		if out.Invalid {
			b.Fatal("a webhook is valid")
		}
	}
	in := make([]*lexicon.Input, len(all))
	for i := range all {
		in[i] = input(&all[i])
	}
	b.ResetTimer()
	for i := range b.N {
		a.Analyze(in[i%len(in)], seen)
	}
	b.ReportMetric(float64(lexemes)/1000, "lexemes/op")
	b.ReportMetric(float64(identifiers)/1000, "identifiers/op")
	b.ReportMetric(float64(over), "over")
}

func BenchmarkAnalyze(b *testing.B)                   { analyze(b) }
func BenchmarkAnalyzeWithoutIdentifiers(b *testing.B) { analyze(b, lexicon.WithoutIdentifiers()) }

func BenchmarkMatch(b *testing.B) {
	all := sample(b, 1000)
	w := lexicon.Compile(lexicon.Key{1}, "absent-word")
	var m lexicon.Matcher
	b.ResetTimer()
	for i := range b.N {
		m.Load(input(&all[i%len(all)]))
		m.Match(w)
	}
}

// The parsers that were measured beside the lexicon's own scanner.

func BenchmarkValid(b *testing.B) {
	all := sample(b, 1000)
	b.ResetTimer()
	for i := range b.N {
		if !json.Valid(all[i%len(all)].Data) {
			b.Fatal("invalid")
		}
	}
}

func BenchmarkGoccy(b *testing.B) {
	all := sample(b, 1000)
	b.ResetTimer()
	for i := range b.N {
		var v any
		if err := goccy.Unmarshal(all[i%len(all)].Data, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSONText(b *testing.B) {
	all := sample(b, 1000)
	r := bytes.NewReader(nil)
	d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true))
	b.ResetTimer()
	for i := range b.N {
		r.Reset(all[i%len(all)].Data)
		d.Reset(r, jsontext.AllowDuplicateNames(true))
		for {
			if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkVaried(b *testing.B) {
	set, rng := load(b), rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		set.Varied(rng, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	}
}
