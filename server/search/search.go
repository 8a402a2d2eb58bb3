// Package search answers questions about stored events: the SQL that a filter compiles to, the indexes that
// serve it, snapshots, keyset pages, and the sets of events that all numbers are made of.
//
// It promises that a page is exact: every row on it fulfils the filter and lies in the snapshot, no row
// between two pages is lost or shown twice, and where a search was ended by its budget the answer says how
// far it looked. Package query says what a filter means and is the judge wherever SQL is a superset. It
// knows no HTTP framework and nothing of how events come to be stored.
package search

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/query"

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
	Columns                   []Cell // of a list that was asked for columns, in their order; nil where they were too much to read
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

// Config is what a service is told.
type Config struct {
	Retention time.Duration
	Facets    []string // names of the facet fields; nil are device, room, person and tag
	// Primary answers where the service's own pool is of a standby that has not what a token has seen. Nil:
	// the pool is the primary's.
	Primary *pgxpool.Pool
}

// Service answers searches over one pool. It is safe for concurrent use.
type Service struct {
	pool      *pgxpool.Pool
	primary   *pgxpool.Pool // nil where pool is the primary's
	retention time.Duration
	schema    query.Schema
	log       *slog.Logger
	metrics   *metrics
	limits    limits
	slots     chan struct{}
	topics    *topics
	sets      *sets
	exports   *exports
	now       func() time.Time // what relative bounds and ages are measured by
}

// New makes a service. It uses at most the pool's connections but one, so that others are not starved.
func New(pool *pgxpool.Pool, cfg Config, log *slog.Logger, reg prometheus.Registerer) *Service {
	l := defaultLimits(pool.Config().MaxConns)
	if cfg.Facets == nil {
		cfg.Facets = []string{"device", "room", "person", "tag"}
	}
	return &Service{
		pool: pool, primary: cfg.Primary, retention: cfg.Retention, schema: query.Schema{Facets: cfg.Facets}, log: log,
		metrics: newMetrics(reg, l), limits: l, topics: &topics{}, exports: newExports(reg), sets: newSets(l.setBytes),
		slots: make(chan struct{}, l.slots), now: time.Now,
	}
}

// Snapshot freezes a view; params are the raw query parameters of GET /v1/events:snapshot.
func (s *Service) Snapshot(ctx context.Context, params url.Values) (*Snapshot, error) {
	d := newDecoder(params)
	d.unknown(ofSnapshot, parametersOfSnapshot)
	r := request{filter: query.Filter{
		From: d.Bound("from"), Until: d.Bound("until"),
		ArrivedFrom: d.Bound("arrivedFrom"), ArrivedUntil: d.Bound("arrivedUntil"),
	}}
	r.frozen = s.within(d, &r.filter)
	s.orderedIn(d, r.filter)
	if err := d.err(); err != nil {
		return nil, err
	}
	var v *view
	err := s.run(ctx, "snapshot", r.frozen.seen(), func(ctx context.Context, ses *session) (err error) {
		v, err = s.viewOf(ctx, ses, &r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Snapshot{Token: v.token(), From: v.window.From.Time(), Until: v.window.Until.Time()}, nil
}

// List answers one page; params are the raw query parameters of GET /v1/events.
func (s *Service) List(ctx context.Context, params url.Values) (*Page, error) {
	p, err := s.newPager(params)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx, "list", p.view.seen(), p.run); err != nil {
		return nil, err
	}
	return p.page(), nil
}
