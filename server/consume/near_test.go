package consume

import (
	"log/slog"
	"testing"

	"oriel/server/lexicon"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A worker takes paths for known only once they are stored: a batch whose words were gathered and never
// stored must gather them again.
func TestWhatIsNearIsNeverWhatWasOnlyGathered(t *testing.T) {
	t.Parallel()
	c := New(Config{Consumer: "store", Topic: "t"}, nil, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), nil)
	p := newPreparer(c, lexicon.Key{1})
	prepare := func(payloads ...string) *batch {
		var recs []*kgo.Record
		for _, data := range payloads {
			e := event("x")
			e.Data = []byte(data)
			recs = append(recs, record(e, 0))
		}
		b := p.readAll(false, 0, recs)
		p.indexAll(false, b)
		return b
	}
	const one, other = `{"room":"attic","value":1}`, `{"room":"attic","value":null}`
	stored := func(b *batch) {
		for h := range b.words.terms {
			c.seen.addTerm(h)
		}
		for path, kinds := range b.words.paths {
			c.seen.addPath(path.eventType, path.path, kinds)
		}
	}
	for range 2 { // the first was never stored
		if b := prepare(one, one, one); len(b.words.paths) != 2 || len(b.words.terms) == 0 {
			t.Fatalf("gathered %v and %v", b.words.paths, b.words.terms)
		}
	}
	stored(prepare(one))
	for range 3 {
		if b := prepare(one, one); len(b.words.paths)+len(b.words.terms) != 0 {
			t.Errorf("gathered what is stored: %v, %v", b.words.paths, b.words.terms)
		}
	}
	b := prepare(one, other, one)
	if got := b.words.paths[typePath{"com.example.reading.v1", "value"}]; len(b.words.paths) != 1 || got&lexicon.KindNull == 0 {
		t.Errorf("a kind that is new: %v", b.words.paths)
	}
	if again := prepare(other); len(again.words.paths) != 1 {
		t.Errorf("a kind that was gathered and not stored: %v", again.words.paths)
	}
	stored(b)
	if b := prepare(one, other); len(b.words.paths) != 0 {
		t.Errorf("gathered what is stored: %v", b.words.paths)
	}
	// Another type with the same paths is another thing.
	e := event("x")
	e.Type, e.Data = "com.example.other.v1", []byte(one)
	b = p.readAll(false, 0, []*kgo.Record{record(e, 0)})
	if p.indexAll(false, b); len(b.words.paths) != 2 {
		t.Errorf("of another type: %v", b.words.paths)
	}
}
