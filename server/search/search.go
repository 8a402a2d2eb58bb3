// Package search answers questions about stored events: one filter AST, its SQL compiler, its Go
// verifier, snapshots and keyset pages.
//
// It promises that a page is exact: every row on it fulfils the filter and lies in the snapshot, no row
// between two pages is lost or shown twice, and where a search was ended by its budget the page says how
// far it looked. It knows no HTTP framework and nothing of how events come to be stored.
package search

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Position is where an event came from.
type Position struct {
	Topic     string
	Log       int16
	Partition int32
	Offset    int64
	Commit    int64
}

// Event is one stored event as a list shows it.
type Event struct {
	Source, ID, Type, Subject string
	TimeText                  string
	OccurredAt, KafkaTime     time.Time
	Severity                  int16 // 0 is none; 1 trace … 8 emergency
	Tags                      []string
	Facets                    map[string][]string
	Summary                   string
	DataContentType           string
	DataSize                  int
	DataKind                  string
	Position                  Position
}

// Detail is one event in full.
type Detail struct {
	Event
	DataSchema string
	Mode       cloudevents.Mode
	Extensions []cloudevents.Extension
	Headers    []cloudevents.Header
	RecordKey  []byte
	TraceID    string
	Data       []byte // nil is absent
	ErasedAt   *time.Time
	Others     []time.Time // the identity's other times, newest first, at most MaxOthers
	// OthersFrom is how far back Others was looked for, where that was not everything.
	OthersFrom time.Time
}

// Snapshot is a frozen view: its token, and absolute bounds. Until is zero where open.
type Snapshot struct {
	Token       string
	From, Until time.Time
}

// Page is one page of a search. Covered is the range of OccurredAt that was looked at, from inclusive,
// until exclusive; pages meet within one microsecond.
type Page struct {
	Events               []Event
	CoveredFrom          time.Time
	CoveredUntil         time.Time // zero where open
	NextToken, PrevToken string
	Snapshot             string
}

// limits bound the work of one request.
type limits struct {
	slots      int           // searches at once
	wait       time.Duration // for a slot and a connection, then SEARCH_BUSY
	statement  time.Duration // any one statement, then QUERY_TIMEOUT
	probing    time.Duration // counting hits; a word that takes longer is dense
	budget     time.Duration // of a walk; then the page says how far it looked
	others     time.Duration // for the other times of an identity
	walk       int           // rows that a walk examines
	peek       int           // rows of the page index tried before a dense word is probed by days
	probe      int           // hits above which a word is dense
	dayProbe   int           // the same within one day
	newer      int           // rows dropped as newer, then SNAPSHOT_TOO_OLD
	age        time.Duration // of a snapshot, then SNAPSHOT_EXPIRED
	firstChunk int           // rows of a walk's first statement, doubled up to lastChunk
	lastChunk  int
}

func defaultLimits(conns int32) limits {
	return limits{
		slots: max(1, int(conns)-1), wait: 2 * time.Second, statement: 8 * time.Second, probing: 2 * time.Second,
		budget: 300 * time.Millisecond, others: 100 * time.Millisecond, walk: 20_000, peek: 2_000, probe: 1_000, dayProbe: 10_000,
		newer: 20_000, age: time.Hour, firstChunk: 500, lastChunk: 5_000,
	}
}

// Service answers searches over one pool. It is safe for concurrent use.
type Service struct {
	pool      *pgxpool.Pool
	retention time.Duration
	log       *slog.Logger
	metrics   *metrics
	limits    limits
	slots     chan struct{}
	topics    *topics
	now       func() time.Time // what relative bounds and ages are measured by
}

// New makes a service. It uses at most the pool's connections but one, so that others are not starved.
func New(pool *pgxpool.Pool, retention time.Duration, log *slog.Logger, reg prometheus.Registerer) *Service {
	l := defaultLimits(pool.Config().MaxConns)
	return &Service{
		pool: pool, retention: retention, log: log, metrics: newMetrics(reg, l), limits: l, topics: &topics{},
		slots: make(chan struct{}, l.slots), now: time.Now,
	}
}

// Snapshot freezes a view; params are the raw query parameters of GET /v1/events:snapshot.
func (s *Service) Snapshot(ctx context.Context, params url.Values) (*Snapshot, error) {
	d := &decoder{params: params}
	d.unknown(ofSnapshot, parametersOfSnapshot)
	f := Filter{From: d.bound("from"), Until: d.bound("until")}
	violations := s.ordered(f, d.violations)
	if len(violations) > 0 {
		return nil, fault.Many(fault.InvalidArgument, violations)
	}
	var v *view
	err := s.run(ctx, "snapshot", func(ctx context.Context, ses *session) (err error) {
		v, err = s.freeze(ctx, ses, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Snapshot{Token: v.token(), From: v.window.from.Time(), Until: v.window.until.Time()}, nil
}

// List answers one page; params are the raw query parameters of GET /v1/events.
func (s *Service) List(ctx context.Context, params url.Values) (*Page, error) {
	req, violations := decode(params)
	if req.Snapshot == "" && req.PageToken == "" { // those have frozen the range
		violations = s.ordered(req.Filter, violations)
	}
	if len(violations) > 0 {
		return nil, fault.Many(fault.InvalidArgument, violations)
	}
	p, err := s.newPager(req)
	if err != nil {
		return nil, err
	}
	err = s.run(ctx, "list", p.run)
	if err != nil {
		return nil, err
	}
	return p.page(), nil
}

// ordered adds that the range is empty, unless a bound of it could not be read.
func (s *Service) ordered(f Filter, violations []fault.Violation) []fault.Violation {
	for _, v := range violations {
		if name := v.Metadata["attribute"]; name == "from" || name == "until" {
			return violations
		}
	}
	if w, err := resolveWindow(f.From, f.Until, s.now()); err != nil {
		return append(violations, emptyRange(w, err))
	}
	return violations
}
