package search

import (
	"context"
	"io"
	"time"
)

// Relation says what a number is.
type Relation string

// The relations.
const (
	IsExact   Relation = "exact"   // of everything in the covered range
	IsAtLeast Relation = "atLeast" // there may be more
	IsSampled Relation = "sampled" // of a sample, the newest events of the covered range
)

// Covered is the range of event time that an answer looked at; Until is zero where open.
type Covered struct{ From, Until time.Time }

// Count is a number with what it is. In the API a count is a number below 2^53.
type Count struct {
	Value    int64
	Relation Relation
	Covered  Covered
	Snapshot string
}

// FacetValue is one value of a facet field and how many events have it. Errors are those of severity
// error and above.
type FacetValue struct {
	Value         string
	Count, Errors int64
	Selected      bool
}

// FacetCounts is what values a field has among the events of a filter, without the filter's own
// conditions on that field. Values are by falling count, then by value; selected ones are always there.
type FacetCounts struct {
	Field    string
	Values   []FacetValue
	More     bool  // there are values beyond the asked-for number
	Missing  int64 // events without the field
	Relation Relation
	Covered  Covered
	Sample   int64 // events counted, where sampled
}

// Facets answers facet counts of one snapshot.
type Facets struct {
	Facets   []FacetCounts
	Snapshot string
}

// Bucket is one span of the histogram. Split is by the values of Histogram.Split, in its order, and the rest.
type Bucket struct {
	From, Until   time.Time // From with the zone's offset
	Count, Errors int64
	Split         []int64
	Rest          int64
}

// Histogram is counts over time in whole units of a zone: at most 120 buckets, gapless over the covered
// range. The sum of its buckets is Total.
type Histogram struct {
	Buckets  []Bucket
	Interval string // 1s 5s 10s 30s 1m 5m 10m 15m 30m 1h 3h 6h 12h 1d 7d 1M
	Zone     string
	SplitBy  string
	Split    []string
	Total    Count
	Snapshot string
}

// FieldStatistics is what the events of a filter have in one field, on a stated sample.
type FieldStatistics struct {
	Field       string
	Kinds       []string // string number boolean null object array
	Present     int64    // of Fields.Sample events
	Distinct    int64
	DistinctIs  Relation
	Top         []FacetValue
	Least, Most string // smallest and largest number, exact spelling; "" where there is none
	FirstSeen   time.Time
	LastSeen    time.Time
}

// Fields is the fields of a filter's events, on a sample of the newest. More says that paths beyond the limit exist.
type Fields struct {
	Fields   []FieldStatistics
	More     bool
	Sample   int64
	Covered  Covered
	Snapshot string
}

// Suggestion completes a query: Insert replaces the characters [From, Until) of the text.
type Suggestion struct {
	Kind   string // field, path, value, word, operator
	Text   string // as shown
	Insert string // as written in the language, quoted where it must be
	Detail string
}

// Suggestions answers what may stand at a place of a query.
type Suggestions struct {
	From, Until int // characters of the text, from 0
	Items       []Suggestion
}

// Neighbours is the events around one, each side nearest first.
type Neighbours struct {
	Anchor                  Event
	Before, After           []Event // earlier and later in the order of lists
	BeforeToken, AfterToken string  // page tokens that go on, "" at the end
	Covered                 Covered
	Snapshot                string
}

// Export is a prepared export: Write streams it.
type Export struct {
	ContentType, FileName string
	Snapshot              string
	SaysEnd               bool // a cut one says so in its last line
	write                 func(ctx context.Context, w io.Writer) error
	close                 func()
}

// Close gives back what the export held. Every export is closed once, written or not.
func (e *Export) Close() { e.close() }

// Write streams the export until its end, an error, or the end of ctx. A CSV cut short ends with an error and
// must not be closed as a whole one; NDJSON says so in its trailer.
func (e *Export) Write(ctx context.Context, w io.Writer) error { return e.write(ctx, w) }

// match is one event of a set, with what facets and histograms are made of.
type match struct {
	key                   key
	commit                int64
	severity              int16
	kind, source, subject string
	tags, facets          []string
}

// set is the newest events that a filter found in a view. Exact: all there are. AtLeast: the bound was
// reached, or the walk ended; covered is what it looked at whole, and the matches are all that lie there.
type set struct {
	matches  []match // newest first, at most limits.set
	relation Relation
	covered  Covered

	found  []match   // and those of the microsecond in which it ended, of which there may be more
	next   *cut      // where to go on; nil where there is nothing or no room left
	walked bool      // as of a scan
	rounds int       // budgets that it took
	again  time.Time // when it is worth another one; zero is never
}

// sample is the newest events that were found, and what they are of: where a single microsecond has more than a
// set, some of those.
func (s *set) sample() ([]match, Covered) {
	if len(s.matches) > 0 || len(s.found) == 0 {
		return s.matches, s.covered
	}
	return s.found, Covered{time.UnixMicro(s.found[len(s.found)-1].key.at).UTC(), s.covered.Until}
}
