// Package saved keeps searches: those that a person saves under a name, for themselves or shared with
// everybody here, and share links, which are long filters under a short name.
//
// It promises that what is kept is a filter in its canonical spelling, so that the same search is the same
// text; that a change which others made meanwhile is never overwritten unseen; and that nobody sees or
// changes what is not theirs to see or change. It must not know who may call it, nor how a search is made.
package saved

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/db"
	"oriel/server/query"
)

// The limits, each named by the error that refuses what is beyond it.
const (
	MaxName     = 200   // characters of a name
	MaxParams   = 24576 // bytes of the canonical parameters: a request takes 32 KiB with its headers, its snapshot and its page
	MaxView     = 16384 // bytes of what a page keeps beside them
	MaxSearches = 500   // that one person keeps
	MaxLinks    = 5000  // that one person has made and somebody used within a year
)

// Search is one that a person keeps.
type Search struct {
	ID               int64
	Owner, OwnerName string
	Name             string
	Shared           bool
	Params           string // canonical URL parameters
	View             string // as the page wrote it
	Version          int64
	Created, Updated time.Time
}

// Caller is who asks. A machine has no ID here: nothing is its own.
type Caller struct {
	ID, Name string
	Admin    bool // may change what others share
}

// Link is a filter under a short name.
type Link struct{ Slug, Params string }

// Store keeps them in PostgreSQL. It is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	queries *db.Queries
	schema  query.Schema
	refused *prometheus.CounterVec
}

// New makes a store of filters on the fields of a schema.
func New(pool *pgxpool.Pool, schema query.Schema, reg prometheus.Registerer) *Store {
	s := &Store{pool: pool, queries: db.New(pool), schema: schema, refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oriel_saved_limit_refusals_total", Help: "Saved searches and share links refused since their maker has as many as one may have.",
	}, []string{"limit"})}
	bounds := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "oriel_saved_limit", Help: "The limits of saved searches and share links."}, []string{"limit"})
	for name, value := range map[string]int{
		"name_characters": MaxName, "params_bytes": MaxParams, "view_bytes": MaxView, limitSearches: MaxSearches, limitLinks: MaxLinks,
	} {
		bounds.WithLabelValues(name).Set(float64(value))
	}
	for _, limit := range []string{limitSearches, limitLinks} {
		s.refused.WithLabelValues(limit)
	}
	reg.MustRegister(bounds, s.refused)
	return s
}

const (
	limitSearches = "searches"
	limitLinks    = "links"
)
