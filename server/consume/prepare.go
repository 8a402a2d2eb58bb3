package consume

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/fault"
	"oriel/server/lexicon"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The time window of an event around its record's Kafka timestamp, inclusive.
const (
	windowPast   = 90 * 24 * time.Hour
	windowFuture = 24 * time.Hour
)

// fate is what is known of a record before the database is asked.
type fate uint8

const (
	candidate fate = iota // to be inserted
	repeated              // of an identity that this batch has already, at an earlier offset
	met                   // of an identity that was stored before, by its holder
	dead
	expired
	control // a marker of Kafka's: it moves the offset and is no record
)

// row is one record on its way into the database.
type row struct {
	record *kgo.Record
	fate   fate
	first  int     // of a repeated row: the index of its candidate
	holder *holder // of a row that was met before

	event    *cloudevents.Event
	headers  []cloudevents.Header // what is no part of the event
	micros   int64                // the instant, Unix microseconds
	flags    cloudevents.Flags
	severity int16
	tags     []string
	facets   []string
	lexemes  []int64
	keys     []uint64 // of its identifiers
	trace    []byte
	digest   int64
	reason   string // why it is dead
	detail   string
}

// preparer turns records into rows. It holds scratch space: one goroutine at a time.
type preparer struct {
	plan      *facetPlan
	retention time.Duration
	decode    func(cloudevents.Record) (*cloudevents.Event, []cloudevents.Header, error)
	fresh     func() *lexicon.Analyzer
	analyzer  *lexicon.Analyzer
	seen      *seen
	near      *near
	now       func() time.Time
	oldest    time.Time // of the batch in hand: what happened before has expired
	attrs     []string
	headers   []cloudevents.Header
}

func newPreparer(c *Consumer, key lexicon.Key) *preparer {
	p := &preparer{
		plan: &c.facets, retention: c.cfg.Retention, seen: c.seen, near: new(near), now: time.Now, decode: c.decode,
		fresh: func() *lexicon.Analyzer { return lexicon.New(key, c.facets.picks) },
	}
	p.analyzer = p.fresh()
	return p
}

// batch is a contiguous range of offsets of one partition and its rows in the order of offsets.
type batch struct {
	from, to    int64
	leaderEpoch int32
	rows        []row
	order       []int // candidates, sorted by (occurred_at, source, id)
	staged      []byte
	blocks      []dayBlock // of all candidates
	starts      []int      // where each staged row begins
	stamped     int64      // the commit that the staged rows carry; 0 is none yet
	words       vocabulary
	days        []int64 // days since 1970 that rows fall on, sorted
	panics      int     // how often our own code has panicked over it
}

// readAll begins a batch: what each record is. Nothing is derived yet and nobody is asked. careful meets a
// panic over a record with its letter.
func (p *preparer) readAll(careful bool, from int64, records []*kgo.Record) *batch {
	last := records[len(records)-1]
	b := &batch{from: from, to: last.Offset + 1, leaderEpoch: last.LeaderEpoch, rows: make([]row, len(records))}
	b.words.start(p.near)
	p.oldest = p.now().Add(-p.retention)
	for i, rec := range records {
		r := &b.rows[i]
		r.record = rec
		if rec.Attrs.IsControl() {
			r.fate = control
			continue
		}
		p.do(careful, r, p.read)
	}
	return b
}

// indexAll derives what makes the batch's candidates findable, and puts them in order.
func (p *preparer) indexAll(careful bool, b *batch) {
	index := func(r *row) {
		p.index(r, &b.words)
		if careful {
			new(copyWriter).row(r) // staging is none of this record's undoing either
		}
	}
	for i := range b.rows {
		if r := &b.rows[i]; r.fate == candidate {
			p.do(careful, r, index)
		}
	}
	b.arrange()
}

// read decodes and judges one record.
func (p *preparer) read(r *row) {
	p.headers = p.headers[:0]
	for i := range r.record.Headers {
		h := &r.record.Headers[i]
		p.headers = append(p.headers, cloudevents.Header{Key: h.Key, Value: h.Value})
	}
	e, rest, err := p.decode(cloudevents.Record{Key: r.record.Key, Value: r.record.Value, Headers: p.headers})
	if err != nil {
		var ce *cloudevents.Error
		if errors.As(err, &ce) {
			r.bury(ce.Violations[0].Reason, describe(ce.Violations))
		} else {
			r.bury(fault.ReasonUndecodable, err.Error())
		}
		return
	}
	r.event = e
	if vs := cloudevents.Validate(e); len(vs) > 0 {
		r.bury(vs[0].Reason, describe(vs))
		return
	}
	at := kafkaTime(r.record)
	if e.Time.Before(at.Add(-windowPast)) || e.Time.After(at.Add(windowFuture)) {
		r.bury(fault.ReasonTimeOutOfWindow, fmt.Sprintf(
			"time %s is outside of 90 days before and 24 hours after the record's own timestamp, %s.",
			e.TimeText, at.Format(time.RFC3339Nano)))
		return
	}
	r.micros = e.Time.UnixMicro()
	if e.Time.Before(p.oldest) {
		r.fate = expired
		return
	}
	// rest aliases the scratch that the next record reuses.
	r.headers = slices.Clone(rest)
}

// index derives what makes the event findable.
func (p *preparer) index(r *row, words *vocabulary) {
	e := r.event
	r.flags = cloudevents.ModeFlags(e.Mode)
	if e.DataContentType == "" {
		r.flags |= cloudevents.FlagContentTypeAbsent
	}
	r.trace = traceID(e, r.headers)
	in := lexicon.Input{Type: e.Type, Source: e.Source, ID: e.ID, Data: e.Data}
	if r.trace != nil {
		in.TraceID = hex.EncodeToString(r.trace)
	}
	in.JSON, in.Text = cloudevents.Claims(e.DataContentType, r.flags)
	p.attrs = append(p.attrs[:0], "type", e.Type, "source", e.Source)
	if e.Subject != "" {
		p.attrs = append(p.attrs, "subject", e.Subject)
	}
	for i := range e.Extensions {
		p.attrs = append(p.attrs, e.Extensions[i].Name, e.Extensions[i].Value)
	}
	in.Attributes = p.attrs
	out := p.analyzer.Analyze(&in, words.knows(p.seen))
	r.lexemes = append(make([]int64, 0, len(out.Lexemes)), out.Lexemes...)
	r.keys = append(make([]uint64, 0, len(out.Identifiers)), out.Identifiers...)
	if out.Invalid {
		r.flags |= cloudevents.FlagDataInvalid
	}
	words.add(e.Type, out)
	p.plan.derive(r, out)
	words.offer(r)
	r.digest = e.Digest()
}

func (r *row) bury(reason, detail string) {
	r.fate, r.reason, r.detail = dead, reason, fit(detail, maxDetail)
}

// describe is every violation in one text.
func describe(vs []cloudevents.Violation) string {
	texts := make([]string, len(vs))
	for i := range vs {
		texts[i] = vs[i].Message
	}
	return strings.Join(texts, " ")
}

// fit makes a text of any origin fit for a column: valid UTF-8, no U+0000, bounded.
func fit(s string, limit int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) <= limit {
		return s
	}
	s = s[:limit]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// kafkaTime is the record's timestamp, kept within the years 1 to 9999: a foreign producer may send
// any 64-bit number, and the row that buries its record must not fail for it.
func kafkaTime(rec *kgo.Record) time.Time {
	const first, last = -62135596800000, 253402300799999
	return time.UnixMilli(min(max(rec.Timestamp.UnixMilli(), first), last)).UTC()
}

// arrange sorts the candidates, finds identities that occur twice, and lists the days.
func (b *batch) arrange() {
	b.order, b.days = b.order[:0], b.days[:0]
	for i := range b.rows {
		r := &b.rows[i]
		if r.fate == repeated {
			r.fate = candidate // of a larger batch, before it was split
		}
		if r.fate == candidate {
			b.order = append(b.order, i)
		}
	}
	slices.SortFunc(b.order, func(x, y int) int {
		if c := compareIdentity(&b.rows[x], &b.rows[y]); c != 0 {
			return c
		}
		return x - y
	})
	kept := b.order[:0]
	for _, i := range b.order {
		if n := len(kept); n > 0 && compareIdentity(&b.rows[kept[n-1]], &b.rows[i]) == 0 {
			b.rows[i].fate, b.rows[i].first = repeated, kept[n-1]
			continue
		}
		kept = append(kept, i)
		if day := floorDiv(b.rows[i].micros, microsPerDay); len(b.days) == 0 || b.days[len(b.days)-1] != day {
			b.days = append(b.days, day)
		}
	}
	b.order = kept
}

func compareIdentity(a, b *row) int {
	switch {
	case a.micros != b.micros:
		if a.micros < b.micros {
			return -1
		}
		return 1
	case a.event.Source != b.event.Source:
		return strings.Compare(a.event.Source, b.event.Source)
	default:
		return strings.Compare(a.event.ID, b.event.ID)
	}
}

const microsPerDay = 24 * 3600 * 1_000_000

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
