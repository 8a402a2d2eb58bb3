package consume

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"oriel/server/db"
	"oriel/server/failpoint"
	"oriel/server/lexicon"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// maxPathEntry bounds type and path together, so that a row fits an index entry. A path that is
// longer is found by verification, not by completion.
const maxPathEntry = 2048

// vocabulary gathers the words and paths that a batch brings and the database may not have.
type vocabulary struct {
	global *seen
	near   *near
	typ    string // of the last path asked for: one event asks for hundreds
	hash   uint64
	terms  map[int64]string
	paths  map[typePath]int16
	values map[dimensionValue]struct{}
}

type typePath struct{ eventType, path string }

func (v *vocabulary) start(near *near) {
	v.near = near
	v.terms, v.paths, v.values = map[int64]string{}, map[typePath]int16{}, map[dimensionValue]struct{}{}
}

// knows is the batch's view of what is seen: committed before, or gathered already.
func (v *vocabulary) knows(s *seen) lexicon.Seen {
	v.global = s
	return v
}

// Term implements lexicon.Seen.
func (v *vocabulary) Term(hash int64) bool {
	if v.near.term(hash) {
		return true
	}
	if v.global.term(hash) {
		v.near.addTerm(hash)
		return true
	}
	_, ok := v.terms[hash]
	return ok
}

// Path implements lexicon.Seen.
func (v *vocabulary) Path(eventType, path string, kinds int16) bool {
	if v.global.path(v.of(eventType), path, kinds) {
		return true
	}
	return len(v.paths) > 0 && kinds&^v.paths[typePath{eventType, path}] == 0
}

// Shape implements lexicon.Shapes.
func (v *vocabulary) Shape(eventType string, shape uint64) bool {
	return v.near.shape(v.of(eventType) ^ shape)
}

// of is the hash of a type.
func (v *vocabulary) of(eventType string) uint64 {
	if v.typ != eventType || v.hash == 0 {
		v.typ, v.hash = eventType, typeHash(eventType)
	}
	return v.hash
}

func (v *vocabulary) add(eventType string, out *lexicon.Output) {
	// Known, and none of it known from this very batch alone, which may never be stored.
	if len(out.NewPaths) == 0 && len(v.paths) == 0 && out.Shape != 0 {
		v.near.addShape(v.of(eventType) ^ out.Shape)
	}
	for _, t := range out.NewTerms {
		v.terms[t.Hash] = t.Word
	}
	for _, p := range out.NewPaths {
		v.paths[typePath{eventType, p.Path}] |= p.Kinds
	}
}

// storable says whether PostgreSQL's text and the index take a word or path.
func storable(limit int, parts ...string) bool {
	n := 0
	for _, s := range parts {
		n += len(s)
		if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
			return false
		}
	}
	return n <= limit
}

// storeVocabulary commits new words and paths, sorted, in a transaction of its own before the batch's
// begins, and only then lets the process remember them: inside the batch's transaction two consumers
// deadlock on the same words. A word without an event is harmless.
//
// Workers take turns: what one has just stored, the next need not. On a new topic all of them meet the
// same words at once.
func (c *Consumer) storeVocabulary(ctx context.Context, v *vocabulary) error {
	if len(v.terms) == 0 && len(v.paths) == 0 && len(v.values) == 0 {
		return nil
	}
	select {
	case c.vocabulary <- struct{}{}:
		defer func() { <-c.vocabulary }()
	case <-ctx.Done():
		return ctx.Err()
	}
	terms, paths := c.unseen(v)
	values := c.unseenValues(v)
	if err := c.insertVocabulary(ctx, v, terms, paths, values); err != nil {
		if classify(err) != recordCaused {
			return err
		}
		// A word that PostgreSQL refuses must stop neither its event nor the other words.
		if err := c.insertOneByOne(ctx, v, terms, paths, values); err != nil {
			return err
		}
	}
	failpoint.Hit("con.words_stored") // a transaction of their own, before the batch's
	for h := range v.terms {
		c.seen.addTerm(h)
	}
	for p, kinds := range v.paths {
		c.seen.addPath(p.eventType, p.path, kinds)
	}
	for d := range v.values {
		c.seen.addValue(d.hash())
	}
	return nil
}

// unseen are the words and paths that nobody has stored meanwhile and that can be stored, sorted.
func (c *Consumer) unseen(v *vocabulary) ([]lexicon.Term, []typePath) {
	terms := make([]lexicon.Term, 0, len(v.terms))
	for h, w := range v.terms {
		switch {
		case c.seen.term(h):
		case storable(maxPathEntry, w):
			terms = append(terms, lexicon.Term{Word: w, Hash: h})
		default:
			c.metrics.termsSkipped.Inc()
		}
	}
	slices.SortFunc(terms, func(a, b lexicon.Term) int { return strings.Compare(a.Word, b.Word) })
	paths := make([]typePath, 0, len(v.paths))
	for p, kinds := range v.paths {
		switch {
		case c.seen.path(typeHash(p.eventType), p.path, kinds):
		case storable(maxPathEntry, p.eventType, p.path):
			paths = append(paths, p)
		default:
			c.metrics.termsSkipped.Inc()
		}
	}
	slices.SortFunc(paths, func(a, b typePath) int {
		return cmp.Or(strings.Compare(a.eventType, b.eventType), strings.Compare(a.path, b.path))
	})
	return terms, paths
}

func (c *Consumer) insertVocabulary(ctx context.Context, v *vocabulary, terms []lexicon.Term, paths []typePath, values []dimensionValue) error {
	t := db.InsertTermsParams{Version: lexicon.Version, Words: make([]string, len(terms)), Hashes: make([]int64, len(terms))}
	for i := range terms {
		t.Words[i], t.Hashes[i] = terms[i].Word, terms[i].Hash
	}
	p := db.InsertTypePathsParams{
		Types: make([]string, len(paths)), Paths: make([]string, len(paths)), Kinds: make([]int16, len(paths)),
	}
	for i := range paths {
		p.Types[i], p.Paths[i], p.Kinds[i] = paths[i].eventType, paths[i].path, v.paths[paths[i]]
	}
	if len(terms) == 0 && len(paths) == 0 && len(values) == 0 {
		return nil
	}
	conn, err := c.acquire(ctx)
	if err != nil {
		return err
	}
	defer giveBack(ctx, conn)
	var full []string
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) (err error) {
		q := c.queries.WithTx(tx)
		if len(terms) > 0 {
			if err := q.InsertTerms(ctx, t); err != nil {
				return fmt.Errorf("insert words: %w", err)
			}
		}
		if len(paths) > 0 {
			if err := q.InsertTypePaths(ctx, p); err != nil {
				return fmt.Errorf("insert paths: %w", err)
			}
		}
		full, err = insertValues(ctx, q, values)
		return err
	})
	if err == nil {
		for _, dimension := range full {
			c.seen.fill(dimension)
		}
	}
	return err
}

func (c *Consumer) insertOneByOne(ctx context.Context, v *vocabulary, terms []lexicon.Term, paths []typePath, values []dimensionValue) error {
	refused := func(err error, what, text string) error {
		if err == nil {
			return nil
		}
		if classify(err) != recordCaused {
			return err
		}
		c.metrics.termsSkipped.Inc()
		c.log.Warn("PostgreSQL refused an entry of the vocabulary", "kind", what, "text", text, "error", err)
		return nil
	}
	for i := range terms {
		err := c.insertVocabulary(ctx, v, terms[i:i+1], nil, nil)
		if err := refused(err, "word", terms[i].Word); err != nil {
			return err
		}
	}
	for i := range paths {
		err := c.insertVocabulary(ctx, v, nil, paths[i:i+1], nil)
		if err := refused(err, "path", paths[i].eventType+" "+paths[i].path); err != nil {
			return err
		}
	}
	for i := range values {
		err := c.insertVocabulary(ctx, v, nil, nil, values[i:i+1])
		if err := refused(err, "value", values[i].dimension+" "+values[i].value); err != nil {
			return err
		}
	}
	return nil
}

// days remembers which day partitions exist. It is told of a missing one by the database alone, when
// a row has no place to go.
type days struct {
	mu     sync.Mutex
	events map[int64]bool
	ledger int64 // the day whose ledger partition, and the next one's, was made
}

func newDays() *days { return &days{events: map[int64]bool{}, ledger: -1} }

// forget makes the next batch look again: a partition that was there is gone.
func (d *days) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.events)
	d.ledger = -1
}

// missing are the days not known to exist, and whether the ledger's must be looked at.
func (d *days) missing(want []int64, today int64) (events []int64, ledger bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, day := range want {
		if !d.events[day] {
			events = append(events, day)
		}
	}
	return events, d.ledger != today
}

func (d *days) made(events []int64, today int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, day := range events {
		d.events[day] = true
	}
	d.ledger = today
}

// ensureDays makes the day partitions that a batch needs, each day in a transaction of its own.
func (c *Consumer) ensureDays(ctx context.Context, want []int64) error {
	today := floorDiv(time.Now().UnixMicro(), microsPerDay)
	events, ledger := c.days.missing(want, today)
	if ledger {
		if err := c.queries.EnsureLedgerDays(ctx); err != nil {
			return fmt.Errorf("make the ledger's day partitions: %w", err)
		}
	}
	for _, day := range events {
		at := pgtype.Date{Time: time.UnixMicro(day * microsPerDay).UTC(), Valid: true}
		if err := c.queries.EnsureEventDay(ctx, at); err != nil {
			return fmt.Errorf("make the day partitions of %s: %w", at.Time.Format(time.DateOnly), err)
		}
	}
	if ledger || len(events) > 0 {
		failpoint.Hit("con.days_made")
		c.days.made(events, today)
	}
	return nil
}
