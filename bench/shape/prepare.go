package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"

	"oriel/bench/events"
	"oriel/server/lexicon"
)

// row is one event, ready to be written.
type row struct {
	events.Event
	lexemes []int64
	words   []byte // a tsvector in PostgreSQL's binary format
}

// prepared is every row of a kind, and what making them ready cost, in microseconds an event.
type prepared struct {
	rows                     []row
	size                     int
	lexemes, identifiers     float64
	over                     int
	lexing, lexingVocabulary float64
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

func prepare(n int, next func() events.Event, tsvector bool) *prepared {
	p := &prepared{rows: make([]row, n)}
	seen := familiar{}
	full := lexicon.New(lexicon.Key{1}, nil)
	lean := lexicon.New(lexicon.Key{1}, []string{"severity", "deviceId", "roomId", "personId", "tags"}, lexicon.WithoutIdentifiers())
	var both, one time.Duration
	for i := range p.rows {
		r := &p.rows[i]
		r.Event = next()
		in := &lexicon.Input{
			Type: r.Type, ID: r.ID, Source: r.Source, JSON: true, Data: r.Data,
			Attributes: []string{"type", r.Type, "source", r.Source, "subject", r.Subject},
		}
		start := time.Now()
		out := full.Analyze(in, seen)
		both += time.Since(start)
		p.identifiers += float64(len(out.Identifiers))
		if out.Over {
			p.over++
		}
		start = time.Now()
		out = lean.Analyze(in, seen)
		one += time.Since(start)
		r.lexemes = append(r.lexemes, out.Lexemes...)
		p.lexemes += float64(len(r.lexemes))
		p.size += len(r.Data)
		if tsvector {
			r.words = vector(r.Event)
		}
	}
	p.size /= n
	p.lexemes /= float64(n)
	p.identifiers /= float64(n)
	micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(n) }
	p.lexing, p.lexingVocabulary = micros(both), micros(one)
	return p
}

// vector is what a text search column of the usual kind holds: every word and every path=value, whatever
// it is, as a tsvector.
func vector(e events.Event) []byte {
	set := map[string]struct{}{}
	words := func(s string) {
		for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			set[w[:min(len(w), 1000)]] = struct{}{}
		}
	}
	for _, a := range []string{e.Type, e.Source, e.Subject, e.ID} {
		words(a)
	}
	d := json.NewDecoder(bytes.NewReader(e.Data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err) // the generators make valid JSON
	}
	var walk func(path string, v any)
	scalar := func(path, s string) {
		words(s)
		if pair := path + "=" + strings.ToLower(s); len(pair) < 1000 {
			set[pair] = struct{}{}
		}
	}
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, c := range v {
				walk(path+"."+k, c)
			}
		case []any:
			for _, c := range v {
				walk(path+"[*]", c)
			}
		case string:
			scalar(path, v)
		case json.Number:
			scalar(path, v.String())
		case bool:
			scalar(path, strconv.FormatBool(v))
		}
	}
	walk("data", v)
	sorted := make([]string, 0, len(set))
	for w := range set {
		sorted = append(sorted, strings.ReplaceAll(w, "\x00", " "))
	}
	sort.Strings(sorted)
	out := binary.BigEndian.AppendUint32(nil, uint32(len(sorted)))
	for _, w := range sorted {
		out = append(append(out, w...), 0, 0, 0) // no positions
	}
	return out
}
