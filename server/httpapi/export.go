package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/audit"
)

// exportFlush is after how many entries they are sent.
const exportFlush = 100

// ExportAuditEntries streams every entry of a filter. The export is an operation itself, and its own intent is
// among the entries.
func (h *handlers) ExportAuditEntries(ctx context.Context, req ExportAuditEntriesRequestObject) (ExportAuditEntriesResponseObject, error) {
	call, s, p := callIn(ctx), h.s, &req.Params
	f := auditFilter(p.Actor, p.Action, p.Target, p.Outcome, p.From, p.Until, p.Q)
	asked := map[string]any{"filter": filterObject(&f)}
	op, err := s.intend(ctx, call, audit.Entry{Action: audit.ActionAuditExport, Target: "auditEntries", After: asked})
	if err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, s.deps.Config.Deadline)
	defer cancel()
	entries, err := s.deps.Audit.OpenExport(opening, f)
	if err != nil {
		return nil, s.ended(ctx, call, op, err)
	}
	return &export{stream: stream{s: s, call: call}, op: op, entries: entries, after: asked}, nil
}

func filterObject(f *audit.Filter) map[string]any {
	o := map[string]any{}
	for name, values := range map[string][]string{"actor": f.Actors, "action": f.Actions, "target": f.Targets, "outcome": f.Outcomes} {
		if len(values) > 0 {
			o[name] = values
		}
	}
	for name, at := range map[string]*time.Time{"from": f.From, "until": f.Until} {
		if at != nil {
			o[name] = instant(*at)
		}
	}
	if f.Text != "" {
		o["q"] = f.Text
	}
	return o
}

// headOfExport answers HEAD, for which nothing is exported.
func headOfExport(c *fiber.Ctx) error {
	exportHeaders(c, time.Now())
	return nil
}

func exportHeaders(c *fiber.Ctx, at time.Time) {
	c.Set(fiber.HeaderContentType, "application/x-ndjson")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="oriel-audit-`+at.UTC().Format("20060102T150405Z")+`.ndjson"`)
}

// export is one that streams.
type export struct {
	stream
	op      *audit.Operation
	entries *audit.Export
	after   map[string]any
	sent    int
}

// exportTrailer is the last line.
type exportTrailer struct {
	Trailer struct {
		Complete bool   `json:"complete"`
		Entries  int    `json:"entries"`
		Reason   string `json:"reason,omitempty"`
		Message  string `json:"message,omitempty"`
	} `json:"trailer"`
}

func (x *export) VisitExportAuditEntriesResponse(c *fiber.Ctx) error {
	exportHeaders(c, x.call.started)
	x.begin(c, x.run)
	return nil
}

// run streams, and puts on the record how that went before it says so: a trailer that says complete is never
// without its entry.
func (x *export) run(ctx context.Context) {
	stop := x.watched(ctx, func(error) {})
	err := recovered(func() error { return x.entriesOf(ctx) })
	stop()
	gone := errors.Is(err, errGone)
	err = x.cause(ctx, err)
	if closed := x.entries.Close(ctx); closed != nil {
		x.s.deps.Log.WarnContext(ctx, "an export did not end well in the database", "request_id", x.call.id, "error", closed)
	}
	if err == nil {
		x.after["entries"] = x.sent
		err = x.op.Done(ctx, nil, "", nil, x.after)
	}
	last := exportTrailer{}
	last.Trailer.Entries, last.Trailer.Complete = x.sent, err == nil
	if err != nil {
		x.cut(ctx, err, &last)
	}
	if gone {
		return
	}
	x.giveTime()
	if err := x.line(last); err == nil {
		_ = x.flush() // nobody is left to tell
	}
}

// cut puts the early end on the record, and into the last line.
func (x *export) cut(ctx context.Context, err error, last *exportTrailer) {
	so := fmt.Sprintf(" %d entries were sent.", x.sent)
	if errors.Is(err, errGone) {
		why := "The client left before the end."
		if tookNothing(x.conn) {
			why = fmt.Sprintf("The client was too slow: it took nothing for %s and was cut off.", x.s.stall)
		}
		x.s.unwritten(ctx, x.call, x.op.EndAs(ctx, audit.Failed, why+so))
		return
	}
	public := publicSide(err)
	outcome := audit.Failed
	if public.Kind.Code() < fiber.StatusInternalServerError {
		outcome = audit.Refused
	} else {
		x.s.sayer.say(ctx, x.call, fiber.MethodGet, public, err)
	}
	x.s.metrics.failed(public)
	last.Trailer.Reason, last.Trailer.Message = public.Violations[0].Reason, public.Message
	x.s.unwritten(ctx, x.call, x.op.EndAs(ctx, outcome, last.Trailer.Reason+": "+public.Message+so))
}

// entriesOf writes the entries for as long as the caller may have them.
func (x *export) entriesOf(ctx context.Context) error {
	x.flushed = time.Now()
	for {
		if x.s.ending.Load() {
			return stopping(nil)
		}
		entry, err := x.entries.Next(ctx)
		if ended := x.goOn(); ended != nil {
			return ended
		}
		if errors.Is(err, io.EOF) {
			return x.flush()
		}
		if err != nil {
			if x.s.ending.Load() { // a stop that has run out of time ends ctx
				return stopping(err)
			}
			return err
		}
		if err := x.line(auditEntry(entry)); err != nil {
			return err
		}
		if x.sent++; x.sent%exportFlush == 0 || time.Since(x.flushed) > exportSoon {
			if err := x.flush(); err != nil {
				return err
			}
		}
	}
}

func (x *export) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a line of the export: %w", err)
	}
	if _, err := x.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
