// Package audit is the record of what people and machines did here: append-only, an entry at intent and
// one at outcome, or one that commits together with its effect.
//
// It promises that an operation's effect never commits without its entry, and that whatever it is given can
// be written: texts are cut and freed of what PostgreSQL refuses. It must not know what the operations do.
package audit

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/db"
)

// The actions there are. A new one is added here, in Actions and in docs/access.md.
const (
	ActionSignIn            = "session.signIn"
	ActionSignOut           = "session.signOut"
	ActionSignOutEverywhere = "session.signOutEverywhere"
	ActionRolesChanged      = "session.rolesChanged"
	ActionTokenCreate       = "token.create"
	ActionTokenRevoke       = "token.revoke"
	ActionAuditExport       = "audit.export"
	ActionAdoptTopic        = "consumer.adoptTopic"
	ActionMoveConsumer      = "consumer.move"
	ActionResumeConsumer    = "consumer.resume"
	ActionReindex           = "blocks.reindex"
	ActionReindexRollups    = "rollups.reindex"
	ActionSavedSearchShare  = "savedSearch.share"
	ActionSavedSearchChange = "savedSearch.change"
	ActionSavedSearchDelete = "savedSearch.delete"
	ActionRetryMessages     = "outbox.retry"
	ActionDiscardMessages   = "outbox.discard"
)

// Actions lists every action there is.
func Actions() []string {
	return []string{
		ActionSignIn, ActionSignOut, ActionSignOutEverywhere, ActionRolesChanged,
		ActionTokenCreate, ActionTokenRevoke, ActionAuditExport, ActionAdoptTopic,
		ActionMoveConsumer, ActionResumeConsumer, ActionReindex, ActionReindexRollups, ActionRetryMessages, ActionDiscardMessages,
		ActionSavedSearchShare, ActionSavedSearchChange, ActionSavedSearchDelete,
	}
}

// Outcomes of an operation; Unknown is read, never written: begun, and no end.
const (
	Done    = "done"
	Refused = "refused"
	Failed  = "failed"
	Unknown = "unknown"
)

// Outcomes lists every outcome there is.
func Outcomes() []string { return []string{Done, Refused, Failed, Unknown} }

// Actor is who did it.
type Actor struct {
	Kind  string // person, token, workload, cli, system
	ID    string
	Name  string
	Roles []string // of a machine, its scopes
}

// Entry is one operation.
type Entry struct {
	Operation     string // a UUID; made where empty
	Action        string
	Actor         Actor
	Target        string
	Reason        string
	Detail        string // why it was refused or failed
	Outcome       string
	RequestID     string
	Address       string
	Before, After map[string]any // read back, numbers are json.Number
	Intent        time.Time      // the database's clock; only read
	End           *time.Time
}

const (
	writeFor      = 5 * time.Second  // a write that the caller does not bound any shorter
	listFor       = 5 * time.Second  // a statement of a list
	fetchFor      = 30 * time.Second // a statement of an export
	stallFor      = 2 * time.Minute  // an export that takes nothing
	exportsAtOnce = 4                // each holds a connection
)

// Log writes and reads the record. It is safe for concurrent use.
type Log struct {
	pool    *pgxpool.Pool
	queries *db.Queries
	metrics *metrics
	exports chan struct{}
	listFor time.Duration
}

// New makes a log on a pool.
func New(pool *pgxpool.Pool, reg prometheus.Registerer) *Log {
	return &Log{
		pool: pool, queries: db.New(pool), metrics: newMetrics(reg),
		exports: make(chan struct{}, exportsAtOnce), listFor: listFor,
	}
}
