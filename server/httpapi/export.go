package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/audit"
	"oriel/server/fault"
)

const (
	exportFlush = 100         // entries
	exportSoon  = time.Second // or after so long
)

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
	return &export{s: s, call: call, op: op, entries: entries, after: asked}, nil
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
	s       *Server
	call    *call
	op      *audit.Operation
	entries *audit.Export
	after   map[string]any
	conn    net.Conn
	out     *bufio.Writer
	sent    int
	moved   time.Time // when the client was last given time to take something
	flushed time.Time
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

// errGone is a client that takes nothing more.
var errGone = errors.New("the client left")

func (x *export) VisitExportAuditEntriesResponse(c *fiber.Ctx) error {
	exportHeaders(c, x.call.started)
	c.Status(fiber.StatusOK)
	c.Context().SetConnectionClose() // its deadlines for writing are ours
	x.conn = c.Context().Conn()
	ctx := c.UserContext() // of the server: it outlives the request
	x.s.streams.Add(1)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer x.s.streams.Done()
		x.out = w
		x.run(ctx)
	})
	return nil
}

// run streams, and puts on the record how that went before it says so: a trailer that says complete is never
// without its entry.
func (x *export) run(ctx context.Context) {
	err := recovered(func() error { return x.stream(ctx) })
	if closed := x.entries.Close(ctx); closed != nil {
		x.s.deps.Log.WarnContext(ctx, "an export did not end well in the database", "request_id", x.call.id, "error", closed)
	}
	if err == nil {
		x.after["entries"] = x.sent
		err = x.op.Done(ctx, nil, "", nil, x.after)
	}
	last := exportTrailer{}
	last.Trailer.Entries, last.Trailer.Complete = x.sent, err == nil
	if err != nil && !x.cut(ctx, err, &last) {
		return
	}
	if err := x.line(last); err == nil {
		_ = x.flush() // nobody is left to tell
	}
}

// cut puts the early end on the record; true where there is somebody to tell.
func (x *export) cut(ctx context.Context, err error, last *exportTrailer) bool {
	so := fmt.Sprintf(" %d entries were sent.", x.sent)
	if errors.Is(err, errGone) {
		x.s.unwritten(ctx, x.call, x.op.EndAs(ctx, audit.Failed, "The client left before the end."+so))
		return false
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
	return true
}

// stream writes the entries for as long as the caller may have them.
func (x *export) stream(ctx context.Context) error {
	recheck := time.NewTicker(x.s.deps.Config.Recheck)
	defer recheck.Stop()
	x.flushed = time.Now()
	for {
		if x.s.ending.Load() {
			return stopping(nil)
		}
		select {
		case <-recheck.C:
			if err := x.recheck(ctx); err != nil {
				return err
			}
		default:
		}
		entry, err := x.entries.Next(ctx)
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

func stopping(cause error) error {
	return fault.Wrap(cause, fault.Unavailable, fault.ReasonShuttingDown, "This server is shutting down: export again.")
}

func (x *export) recheck(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, x.s.deps.Config.Deadline)
	defer cancel()
	return x.s.stillAllowed(ctx, x.call)
}

func (x *export) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a line of the export: %w", err)
	}
	if now := time.Now(); now.Sub(x.moved) > exportSoon {
		if err := x.conn.SetWriteDeadline(now.Add(x.s.stall)); err != nil {
			return fmt.Errorf("%w: %w", errGone, err)
		}
		x.moved = now
	}
	if _, err := x.out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

func (x *export) flush() error {
	x.flushed = time.Now()
	if err := x.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
