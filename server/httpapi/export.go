package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/audit"
	"oriel/server/fault"
)

const (
	exportFlush = 100         // entries
	exportSoon  = time.Second // or after so long
	exportPart  = time.Second // for the client to take the trailer, once its caller may no longer
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
	flushed time.Time

	mu    sync.Mutex
	moved time.Time // when the client was last given time to take something
	ended error     // why the caller may no longer
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
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { x.watch(watching) })
	err := recovered(func() error { return x.stream(ctx) })
	stop()
	watch.Wait()
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

// cause is why a stream ended early, where the writer saw only that nothing is taken any more.
func (x *export) cause(ctx context.Context, err error) error {
	switch {
	case !errors.Is(err, errGone):
	case x.ended != nil:
		return x.ended
	case ctx.Err() != nil: // a stop that has run out of time closes connections
		return stopping(ctx.Err())
	}
	return err
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

// watch asks again and again whether the caller still may, however long the writer waits for the client.
func (x *export) watch(ctx context.Context) {
	recheck := time.NewTicker(x.s.deps.Config.Recheck)
	defer recheck.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-recheck.C:
		}
		err := recovered(func() error { return x.recheck(ctx) })
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			x.end(err)
			return
		}
	}
}

// end wakes the writer: its caller may no longer.
func (x *export) end(err error) {
	x.mu.Lock()
	x.ended = err
	x.mu.Unlock()
	x.giveTime()
}

// giveTime gives the client time to take more, and a moment for the trailer where its caller may no longer.
func (x *export) giveTime() {
	x.mu.Lock()
	defer x.mu.Unlock()
	wait := x.s.stall
	if x.ended != nil {
		wait = exportPart
	}
	x.moved = time.Now()
	_ = x.conn.SetWriteDeadline(x.moved.Add(wait)) // fails where it is closed, which the next write finds
}

// goOn says whether the caller may have more, and gives the client time for it.
func (x *export) goOn() error {
	x.mu.Lock()
	ended, moved := x.ended, x.moved
	x.mu.Unlock()
	if ended == nil && time.Since(moved) > exportSoon {
		x.giveTime()
	}
	return ended
}

// stream writes the entries for as long as the caller may have them.
func (x *export) stream(ctx context.Context) error {
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
