package search

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/lexicon"
	"oriel/server/query"
)

// model is what was stored, to be filtered by the plainest means: a loop and the verifier.
type model struct {
	*store
	rand    *rand.Rand
	stored  []sample
	commit  [3]int64 // of each partition
	counter int
}

// newModel is days of events that share timestamps, words and values, in several partitions.
func newModel(t testing.TB, seed uint64) *model {
	m := &model{store: newStore(t), rand: rand.New(rand.NewPCG(seed, 1))}
	m.grow(240)
	return m
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// grow stores n more events, each partition's as further commits; some arrive late, and some at offsets
// below those stored before, as after a rewind.
func (m *model) grow(n int) {
	m.t.Helper()
	var batch []sample
	for p := range m.commit {
		m.commit[p]++
		for range n / len(m.commit) {
			batch = append(batch, m.draw(int32(p)))
		}
	}
	m.add(batch...)
	m.stored = append(m.stored, batch...)
}

func (m *model) draw(partition int32) sample {
	r := m.rand
	m.counter++
	s := sample{
		at:        noon().Add(-time.Duration(r.IntN(40)) * 2 * time.Hour).Add(time.Duration(r.IntN(3)) * time.Microsecond),
		partition: partition, commit: m.commit[partition], offset: int64(m.counter*7919%100_003) + 1,
		id: fmt.Sprint("e", m.counter), kind: pick(r, "order.paid", "order.lost", "door.open"), source: pick(r, "/shop", "/home", "/hub"),
		subject: pick(r, "", "s-1", "s-2"), severity: int16(r.IntN(9)),
	}
	var words []string
	for range 1 + r.IntN(3) {
		words = append(words, pick(r, "tea", "green", "hot", "kettle", "72", "ref-80123456789", "Ünï", "日本語", "1e2"))
	}
	if r.IntN(40) == 0 {
		words = append(words, "rare")
	}
	room := pick(r, "", "kitchen", "Attic 2", "room-80123456789")
	data := map[string]any{"note": strings.Join(words, " "), "n": r.IntN(4), "tags": words, "room": room}
	if room != "" {
		s.facets, s.tags = []string{"room=" + room}, words
	}
	if r.IntN(5) == 0 {
		data["gone"] = pick[any](r, nil, "", true, 1.5e2, map[string]any{"deep": "tea"}, []any{})
	}
	s.data = jsonOf(data)
	if r.IntN(3) == 0 {
		s.extensions = []string{"zone", "string", pick(r, "north", "zone-80123456789"), "n", "integer", pick(r, "1", "72")}
	}
	if r.IntN(4) == 0 {
		s.traceID = bytes.Repeat([]byte{byte(r.IntN(3))}, 16)
	}
	switch r.IntN(12) {
	case 0:
		s.contentType, s.data, s.tags, s.facets = "text/plain", []byte(strings.Join(words, "\n")), nil, nil
	case 1:
		s.data, s.tags, s.facets = []byte(`{"note": "tea`), nil, nil // malformed: found by its attributes alone
	case 2:
		s.data, s.tags, s.facets = nil, nil, nil
	case 3:
		s.over = true
	}
	return s
}

// answer is the answer, newest first: what fulfils the condition, lies in the window and was stored when
// the partitions had come to the commits.
func (m *model) answer(where query.Node, w query.Window, commits [3]int64) []string {
	v := query.NewVerifier(where)
	var hits []sample
	for i := range m.stored {
		s := &m.stored[i]
		at := s.at.UnixMicro()
		if s.commit <= commits[s.partition] && at >= w.From.Micros && (!w.Until.Given || at < w.Until.Micros) && v.Match(s.candidate()) {
			hits = append(hits, *s)
		}
	}
	slices.SortFunc(hits, func(a, b sample) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.partition, a.partition), cmp.Compare(b.offset, a.offset))
	})
	out := make([]string, len(hits))
	for i := range hits {
		out[i] = hits[i].id
	}
	return out
}

func (s *sample) candidate() *query.Candidate {
	return &query.Candidate{
		Source: s.source, ID: s.id, Type: s.kind, Subject: s.subject, Severity: s.severity, Flags: s.flags,
		ContentType: s.contentType, DataSchema: s.schema, Attributes: s.extensions, Tags: s.tags, Facets: s.facets,
		TraceID: s.traceID, Data: s.data,
	}
}

// inputOf is the event as the consumer indexes it.
func inputOf(c *query.Candidate) *lexicon.Input {
	in := &lexicon.Input{Type: c.Type, Source: c.Source, ID: c.ID, Data: c.Data}
	in.JSON, in.Text = cloudevents.Claims(c.ContentType, c.Flags)
	in.Attributes = append(in.Attributes, "type", c.Type, "source", c.Source)
	if c.Subject != "" {
		in.Attributes = append(in.Attributes, "subject", c.Subject)
	}
	for i := 0; i+2 < len(c.Attributes); i += 3 {
		in.Attributes = append(in.Attributes, c.Attributes[i], c.Attributes[i+2])
	}
	if len(c.TraceID) > 0 {
		in.TraceID = hex.EncodeToString(c.TraceID)
	}
	return in
}
