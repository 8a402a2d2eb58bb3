package audit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
	"oriel/server/fault"
)

const (
	phaseIntent  = "intent"
	phaseOutcome = "outcome"
	phaseEvent   = "event"
)

// Operation is one that has begun.
type Operation struct {
	log *Log
	row db.AddAuditParams // of the intent
}

// ID is the operation's UUID.
func (o *Operation) ID() string { return uuidText(o.row.Operation) }

// Begin commits the intent, before anything happens. Where that fails nothing may happen: the error is
// fault.Unavailable.
func (l *Log) Begin(ctx context.Context, e Entry) (*Operation, error) {
	row, err := rowOf(&e, phaseIntent)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, writeFor)
	defer cancel()
	if _, err := l.queries.AddAudit(ctx, row); err != nil {
		l.metrics.failures.WithLabelValues(phaseIntent).Inc()
		return nil, unwritable(err)
	}
	l.metrics.wrote(row.Action, begun)
	return &Operation{l, row}, nil
}

// Done writes the outcome "done" in the transaction of the effect; with a nil tx by itself, even where ctx has
// ended. The target may only now be known; an empty one keeps that of the intent. A transaction with a Done
// that failed cannot commit.
func (o *Operation) Done(ctx context.Context, tx pgx.Tx, target string, before, after map[string]any) error {
	row := o.row
	row.Phase, row.Outcome = phaseOutcome, ptr(Done)
	if target != "" {
		row.Target = cutBytes(target, maxTarget)
	}
	var errs [2]error
	row.Before, errs[0] = object(before)
	row.After, errs[1] = object(after)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	row.Folded = foldedOf(&row)
	return o.log.add(ctx, tx, row)
}

// End writes refused or failed after an error, on its own, even where ctx has ended. What the caller is to
// blame for is refused. Only the error's public side is written. It is called after the transaction of the
// effect has ended, and writes nothing where the outcome "done" was committed with it all the same, as when
// only the answer to the commit was lost.
func (o *Operation) End(ctx context.Context, err error) error {
	if err == nil {
		return errors.New("an operation ends by itself with an error only")
	}
	outcome, detail := verdict(err)
	return o.EndAs(ctx, outcome, detail)
}

// EndAs is End with an outcome, refused or failed, and a detail of the caller's own.
func (o *Operation) EndAs(ctx context.Context, outcome, detail string) error {
	if outcome != Refused && outcome != Failed {
		return fmt.Errorf("an operation does not end by itself as %q", outcome)
	}
	row := o.row
	row.Outcome, row.Detail = &outcome, cut(detail, maxDetail)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeFor)
	defer cancel()
	n, err := o.log.queries.EndAudit(ctx, db.EndAuditParams{
		Operation: row.Operation, Action: row.Action, Outcome: row.Outcome, ActorKind: row.ActorKind, Actor: row.Actor,
		ActorID: row.ActorID, Roles: row.Roles, Target: row.Target, Reason: row.Reason, Detail: row.Detail,
		RequestID: row.RequestID, Address: row.Address, Folded: foldedOf(&row),
	})
	if err != nil {
		o.log.metrics.failures.WithLabelValues(phaseOutcome).Inc()
		return fmt.Errorf("write the outcome of operation %s: %w", o.ID(), err)
	}
	if n > 0 {
		o.log.metrics.wrote(row.Action, outcome)
	}
	return nil
}

// Record writes one entry of the phase "event" in the transaction of its effect; with a nil tx by itself, even
// where ctx has ended.
func (l *Log) Record(ctx context.Context, tx pgx.Tx, e Entry) error {
	row, err := rowOf(&e, phaseEvent)
	if err != nil {
		return err
	}
	return l.add(ctx, tx, row)
}

// add writes an outcome or an event.
func (l *Log) add(ctx context.Context, tx pgx.Tx, row db.AddAuditParams) error {
	queries := l.queries
	if tx != nil {
		queries = queries.WithTx(tx)
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), writeFor)
		defer cancel()
	}
	if _, err := queries.AddAudit(ctx, row); err != nil {
		l.metrics.failures.WithLabelValues(row.Phase).Inc()
		return unwritable(err)
	}
	l.metrics.wrote(row.Action, *row.Outcome)
	return nil
}

// verdict is the outcome and the detail that an error becomes.
func verdict(err error) (outcome, detail string) {
	public := fault.Of(err)
	outcome = Refused
	if public.Kind.Code() >= 500 {
		outcome = Failed
	}
	if public.Kind == fault.Internal && errors.Is(err, context.Canceled) {
		return Failed, "The caller left before the end."
	}
	return outcome, public.Violations[0].Reason + ": " + public.Message
}

// Refusal is the entry of an attempt that an error refused before it became an operation.
func Refusal(e Entry, err error) Entry {
	e.Outcome, e.Detail = verdict(err)
	return e
}

func unwritable(err error) error {
	e := fault.Wrap(err, fault.Unavailable, fault.ReasonDatabaseUnavailable,
		"The audit record cannot be written, and nothing happens without it. Try again.")
	e.RetryAfter = 2 * time.Second
	return e
}

// rowOf makes an entry writable. What is wrong with it is a mistake of the program.
func rowOf(e *Entry, phase string) (db.AddAuditParams, error) {
	row := db.AddAuditParams{
		Phase: phase, Action: e.Action, ActorKind: e.Actor.Kind, Actor: cutBytes(e.Actor.Name, maxActor), ActorID: cut(e.Actor.ID, maxName),
		Roles: []string{}, Target: cutBytes(e.Target, maxTarget), Reason: cut(e.Reason, maxReason), Detail: cut(e.Detail, maxDetail),
		RequestID: cut(e.RequestID, maxShort), Address: cut(e.Address, maxShort),
	}
	if !known(e.Action) {
		return row, fmt.Errorf("there is no action %q to record", e.Action)
	}
	if phase == phaseEvent {
		if !slices.Contains([]string{Done, Refused, Failed}, e.Outcome) {
			return row, fmt.Errorf("the outcome %q of %s cannot be recorded", e.Outcome, e.Action)
		}
		row.Outcome = &e.Outcome
	}
	for _, role := range e.Actor.Roles[:min(len(e.Actor.Roles), maxRoles)] {
		row.Roles = append(row.Roles, cut(role, maxShort))
	}
	var errs [3]error
	row.Operation, errs[0] = uuidOf(e.Operation)
	row.Before, errs[1] = object(e.Before)
	row.After, errs[2] = object(e.After)
	row.Folded = foldedOf(&row)
	return row, errors.Join(errs[:]...)
}

// maxFoldedObject is how much of before and after each a search by text looks in, in bytes.
const maxFoldedObject = 2_000

func foldedOf(row *db.AddAuditParams) string {
	return fold(row.Actor, row.ActorID, row.Action, row.Target, row.Reason, row.Detail, row.RequestID,
		cutBytes(string(row.Before), maxFoldedObject), cutBytes(string(row.After), maxFoldedObject))
}

func ptr(s string) *string { return &s }

func uuidOf(s string) (id [16]byte, err error) {
	if s == "" {
		_, _ = rand.Read(id[:])                         // never fails: the runtime aborts instead
		id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4 of RFC 9562
		return id, nil
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(raw) != len(id) {
		return id, fmt.Errorf("%q is no operation's UUID", s)
	}
	return [16]byte(raw), nil
}

func uuidText(id [16]byte) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
