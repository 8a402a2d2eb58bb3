package main

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"oriel/bench/events"
	"oriel/bench/textvector"
	"oriel/server/lexicon"
)

// row is one event, ready to be written.
type row struct {
	events.Event
	lexemes []int64
	words   []byte // a tsvector in PostgreSQL's binary format
}

// prepared is every row of a kind.
type prepared struct {
	rows                 []row
	size                 int
	lexemes, identifiers float64
	over                 int
}

// familiar is a cache that knows a word from its second occurrence on, as the consumer's does.
type familiar map[int64]struct{}

func (f familiar) Term(h int64) bool {
	_, ok := f[h]
	if !ok {
		f[h] = struct{}{}
	}
	return ok
}

func (f familiar) Path(string, string, int16) bool { return true }

// picks are the paths whose values the consumer takes from the same parse.
func picks() []string { return []string{"severity", "deviceId", "roomId", "personId", "tags"} }

func input(e *events.Event) *lexicon.Input {
	return &lexicon.Input{
		Type: e.Type, ID: e.ID, Source: e.Source, JSON: true, Data: e.Data,
		Attributes: []string{"type", e.Type, "source", e.Source, "subject", e.Subject},
	}
}

func prepare(n int, next func() events.Event, tsvector bool) (p *prepared, err error) {
	p = &prepared{rows: make([]row, n)}
	full, seen, vectors := lexicon.New(lexicon.Key{1}, picks()), familiar{}, textvector.New()
	for i := range p.rows {
		r := &p.rows[i]
		r.Event = next()
		out := full.Analyze(input(&r.Event), seen)
		if out.Over {
			p.over++
		}
		r.lexemes = slices.Clone(out.Lexemes)
		p.lexemes += float64(len(r.lexemes))
		p.identifiers += float64(len(out.Identifiers))
		p.size += len(r.Data)
		if tsvector {
			if r.words, err = vectors.Append(nil, r.Data, r.Type, r.Source, r.Subject, r.ID); err != nil {
				return nil, err
			}
		}
	}
	p.size /= n
	p.lexemes /= float64(n)
	p.identifiers /= float64(n)
	return p, nil
}

// lexing is what reading an event's text costs, in microseconds an event: the parse alone, and parse and
// lexicon together, as the consumer runs it (no identifiers yet) and in full.
type lexing struct{ parse, consumer, full float64 }

const (
	sample = 1000 // events
	passes = 9    // over them; the median counts, as others use the machine too
)

// timeLexing measures with a cache of words that is warm, as it is in a consumer soon after its start. The
// parse is a reader of JSON tokens that keeps nothing.
func timeLexing(rows []row) (l lexing, err error) {
	rows = rows[:min(sample, len(rows))]
	in := make([]*lexicon.Input, len(rows))
	for i := range rows {
		in[i] = input(&rows[i].Event)
	}
	analyze := func(options ...lexicon.Option) func(i int) error {
		a, seen := lexicon.New(lexicon.Key{1}, picks(), options...), familiar{}
		return func(i int) error {
			if a.Analyze(in[i], seen).Invalid {
				return errors.New("the generators make valid JSON")
			}
			return nil
		}
	}
	reader := bytes.NewReader(nil)
	decoder := jsontext.NewDecoder(reader)
	parse := func(i int) error {
		reader.Reset(rows[i].Data)
		decoder.Reset(reader, jsontext.AllowDuplicateNames(true))
		for {
			if _, err := decoder.ReadToken(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	for _, m := range []struct {
		each func(i int) error
		into *float64
	}{{parse, &l.parse}, {analyze(lexicon.WithoutIdentifiers()), &l.consumer}, {analyze(), &l.full}} {
		var took []float64
		for pass := range passes + 1 {
			start := time.Now()
			for i := range rows {
				if err := m.each(i); err != nil {
					return l, err
				}
			}
			if pass > 0 { // the first warms up
				took = append(took, float64(time.Since(start).Nanoseconds())/1000/float64(len(rows)))
			}
		}
		slices.Sort(took)
		*m.into = took[len(took)/2]
	}
	return l, nil
}
