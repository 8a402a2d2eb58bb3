package httpapi

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/audit"
	"oriel/server/fault"
	"oriel/server/query"
)

// record is an *audit.Log.
type record interface {
	Begin(ctx context.Context, e audit.Entry) (*audit.Operation, error)
	Record(ctx context.Context, tx pgx.Tx, e audit.Entry) error
	List(ctx context.Context, f audit.Filter, size int, token string) (*audit.Page, error)
	OpenExport(ctx context.Context, f audit.Filter) (*audit.Export, error)
}

// intend puts an operation of the caller on the record.
func (s *Server) intend(ctx context.Context, call *call, e audit.Entry) (*audit.Operation, error) {
	e.Actor, e.RequestID, e.Address = actorOf(call.principal), call.id, call.address.String()
	return s.deps.Audit.Begin(ctx, e)
}

// ended puts the error of an operation on the record and hands it on.
func (s *Server) ended(ctx context.Context, call *call, op *audit.Operation, err error) error {
	s.unwritten(ctx, call, op.End(ctx, err))
	return err
}

// unwritten logs that an outcome is missing, which shows as unknown.
func (s *Server) unwritten(ctx context.Context, call *call, err error) {
	if err != nil {
		s.deps.Log.ErrorContext(ctx, "an outcome is not on the record", "request_id", call.id, "error", err)
	}
}

// refusals are the attempts on record of callers without access. One who tries all the time would fill a table
// that nobody empties: of each caller and action a few a minute are kept and the rest is counted.
type refusals struct {
	kept    *limit[string]
	leftOut prometheus.Counter
}

const refusalsKept = 10 // a minute, of one caller and action

func newRefusals(reg prometheus.Registerer) refusals {
	r := refusals{leftOut: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "oriel_audit_refusals_left_out_total",
		Help: "Attempts without access that are not on the record: more than 10 a minute of one caller and action.",
	})}
	reg.MustRegister(r.leftOut)
	r.kept = newLimit[string](parameters{"audit_refusals", refusalsKept, time.Minute, r.leftOut})
	return r
}

// refused puts on the record that somebody known tried what they may not, where the route's action is one for
// the record, and hands the error on.
func (s *Server) refused(ctx context.Context, call *call, err error) error {
	action := call.route.audit
	if action == "" || call.principal == nil || s.deps.Audit == nil || publicSide(err).Kind != fault.PermissionDenied ||
		s.refusals.kept.take(action+" "+call.principal.ID) != nil {
		return err
	}
	e := audit.Entry{Action: action, Actor: actorOf(call.principal), RequestID: call.id, Address: call.address.String()}
	if e.Target = strings.TrimPrefix(call.route.api, "/v1/"); call.token != "" {
		e.Target = "tokens/" + call.token
	}
	s.unwritten(ctx, call, s.deps.Audit.Record(ctx, nil, audit.Refusal(e, err)))
	return err
}

// ListAuditEntries answers one page.
func (h *handlers) ListAuditEntries(ctx context.Context, req ListAuditEntriesRequestObject) (ListAuditEntriesResponseObject, error) {
	p := &req.Params
	f := auditFilter(p.Actor, p.Action, p.Target, p.Outcome, p.From, p.Until, p.Q)
	page, err := h.s.deps.Audit.List(ctx, f, pageSize(p.PageSize), given(p.PageToken))
	if err != nil {
		return nil, err
	}
	out := ListAuditEntries200JSONResponse{Entries: make([]AuditEntry, len(page.Entries)), NextPageToken: some(page.NextToken)}
	for i := range page.Entries {
		out.Entries[i] = auditEntry(&page.Entries[i])
	}
	return out, nil
}

// auditFilter is a filter of parameters that checkBounds has seen.
func auditFilter(actors, actions, targets *[]string, outcomes *[]AuditOutcome, from, until, q *string) audit.Filter {
	f := audit.Filter{Actors: texts(actors), Actions: texts(actions), Targets: texts(targets), Outcomes: texts(outcomes), Text: given(q)}
	now, relative := time.Now(), false
	for _, b := range []struct {
		text string
		to   **time.Time
	}{{given(from), &f.From}, {given(until), &f.Until}} {
		if b.text == "" {
			continue
		}
		bound, _ := query.ParseBound(b.text) // checkBounds has read it
		at := bound.Resolve(now).Time()
		*b.to, relative = &at, relative || bound.Relative()
	}
	if relative {
		f.Window = given(from) + " " + given(until)
	}
	return f
}

// checkBounds holds from and until against what a search takes for them.
func checkBounds(params url.Values, found *findings) {
	now := time.Now()
	read := func(name string) (at query.Instant) {
		text := params.Get(name)
		if text == "" || len(params[name]) > 1 { // which is found elsewhere
			return at
		}
		bound, err := query.ParseBound(text)
		if err != nil {
			message := "The parameter " + name + " is no time: " + err.Error() + "."
			if strings.Contains(text, " ") {
				message += " A + in a URL is a space; write it %2B."
			}
			found.add(name, message, "value", cut(text), "accepted", query.AcceptedBound)
			return at
		}
		return bound.Resolve(now)
	}
	from, until := read("from"), read("until")
	if from.Given && until.Given && until.Micros <= from.Micros {
		found.add("until", "until ("+until.String()+") is not after from ("+from.String()+").", "value", cut(params.Get("until")), "accepted", "a time after from")
	}
}

func auditEntry(e *audit.Entry) AuditEntry {
	out := AuditEntry{
		Name: "auditEntries/" + e.Operation, Action: e.Action, Outcome: AuditOutcome(e.Outcome),
		Actor: e.Actor.Name, ActorId: e.Actor.ID, ActorKind: AuditEntryActorKind(e.Actor.Kind), Roles: e.Actor.Roles,
		Target: e.Target, Reason: e.Reason, Detail: e.Detail, RequestId: e.RequestID, Address: e.Address,
		IntentTime: instant(e.Intent), OutcomeTime: maybe(e.End),
	}
	if out.Roles == nil {
		out.Roles = []string{}
	}
	if e.Before != nil {
		out.Before = &e.Before
	}
	if e.After != nil {
		out.After = &e.After
	}
	return out
}
