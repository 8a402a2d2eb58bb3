// Package search answers questions about stored events: one filter AST, its SQL compiler, its Go
// verifier, snapshots and keyset pages. It knows no HTTP framework.
package search

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/cloudevents"
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
	Others     []time.Time
}

// Snapshot is a frozen view: its token, and absolute bounds. Until is zero where open.
type Snapshot struct {
	Token       string
	From, Until time.Time
}

// Page is one page of a search.
type Page struct {
	Events               []Event
	CoveredFrom          time.Time
	CoveredUntil         time.Time // zero where open
	NextToken, PrevToken string
	Snapshot             string
}

// Service answers searches over one pool.
type Service struct{}

// New makes a service.
func New(pool *pgxpool.Pool, retention time.Duration, log *slog.Logger, reg prometheus.Registerer) *Service {
	panic("unbuilt")
}

// Snapshot freezes a view; from and until are the raw parameters ("" takes the default).
func (s *Service) Snapshot(ctx context.Context, from, until string) (*Snapshot, error) {
	panic("unbuilt")
}

// List answers one page; params are the raw query parameters of GET /v1/events.
func (s *Service) List(ctx context.Context, params url.Values) (*Page, error) { panic("unbuilt") }

// Get finds one event by its escaped name; occurredAt is the raw time parameter or "".
func (s *Service) Get(ctx context.Context, name, occurredAt string) (*Detail, error) {
	panic("unbuilt")
}
