// Package audit is the record of what people and machines did here: append-only, an entry at intent and
// one at outcome, or one that commits together with its effect.
//
// It promises that an operation's effect never commits without its entry. It must not know what the
// operations do.
package audit

import (
	"context"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The actions there are. A new one is added here and in docs/operations.md.
const (
	ActionSignIn            = "session.signIn"
	ActionSignOut           = "session.signOut"
	ActionSignOutEverywhere = "session.signOutEverywhere"
	ActionRolesChanged      = "session.rolesChanged"
	ActionTokenCreate       = "token.create"
	ActionTokenRevoke       = "token.revoke"
	ActionAuditExport       = "audit.export"
	ActionAdoptTopic        = "consumer.adoptTopic"
)

// Outcomes of an operation; Unknown is read, never written: begun, and no end.
const (
	Done    = "done"
	Refused = "refused"
	Failed  = "failed"
	Unknown = "unknown"
)

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
	Before, After map[string]any
	Intent        time.Time
	End           *time.Time
}

// Log writes and reads the record.
type Log struct{}

// New makes a log on a pool.
func New(pool *pgxpool.Pool) *Log { panic("outline") }

// Operation is one that has begun.
type Operation struct{}

// Begin commits the intent, before anything happens.
func (l *Log) Begin(ctx context.Context, e Entry) (*Operation, error) { panic("outline") }

// Done writes the outcome "done" in the transaction of the effect.
func (o *Operation) Done(ctx context.Context, tx pgx.Tx, target string, before, after map[string]any) error {
	panic("outline")
}

// End writes refused or failed after an error, on its own, even where ctx has ended.
func (o *Operation) End(ctx context.Context, err error) error { panic("outline") }

// Record writes one entry of the phase "event" in the transaction of its effect; with a nil tx by itself.
func (l *Log) Record(ctx context.Context, tx pgx.Tx, e Entry) error { panic("outline") }

// Filter selects entries: any of the values within a field, all fields together. A final * makes a value
// a prefix.
type Filter struct {
	Actors, Actions, Targets, Outcomes []string
	From, Until                        *time.Time
	Text                               string
}

// Page is one page, newest first.
type Page struct {
	Entries   []Entry
	NextToken string
}

// List reads a page; the token of another filter is refused with INVALID_PAGE_TOKEN.
func (l *Log) List(ctx context.Context, f Filter, size int, token string) (*Page, error) {
	panic("outline")
}

// Export streams every entry of a filter from one snapshot to each, newest first, and returns how many.
func (l *Log) Export(ctx context.Context, f Filter, each func(*Entry) error) (int, error) {
	panic("outline")
}

var _ io.Writer // removed with the outline
