package httpapi

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/search"
)

// ExportEvents streams the events of a filter.
func (h *handlers) ExportEvents(ctx context.Context, _ ExportEventsRequestObject) (ExportEventsResponseObject, error) {
	call, s := callIn(ctx), h.s
	params, err := call.params()
	if err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, s.deps.Config.Deadline)
	defer cancel()
	events, err := s.deps.Search.Export(opening, params)
	if err != nil {
		return nil, err
	}
	return &eventExport{stream: stream{s: s, call: call}, events: events}, nil
}

// eventExport is one that streams.
type eventExport struct {
	stream
	events *search.Export
}

func (x *eventExport) VisitExportEventsResponse(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, x.events.ContentType)
	c.Set(fiber.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": x.events.FileName}))
	if c.Method() == fiber.MethodHead {
		x.events.Close()
		return nil
	}
	x.begin(c, x.run)
	return nil
}

// run streams. Where that ends early and the format has no line to say so, the connection is closed before the
// body's last chunk: a client then knows that it has not all of it.
func (x *eventExport) run(ctx context.Context) {
	defer x.events.Close()
	writing, cancel := context.WithCancelCause(ctx)
	stop := x.watched(ctx, cancel)
	stopLooking := x.look(cancel)
	x.giveTime()
	said := false
	err := recovered(func() error {
		err := x.events.Write(writing, x)
		said = err == nil || x.events.SaysEnd
		return err
	})
	stopLooking()
	stop()
	cancel(nil)
	if said {
		if flushed := x.flush(); err == nil {
			err = flushed
		}
	} else {
		_ = x.conn.Close() // it may be closed already
	}
	if err == nil || errors.Is(err, errGone) || errors.Is(context.Cause(writing), errGone) {
		return
	}
	public := publicSide(err)
	if public.Kind.Code() >= fiber.StatusInternalServerError {
		x.s.sayer.say(ctx, x.call, fiber.MethodGet, public, err)
	}
	x.s.metrics.failed(public)
}

// look ends the export when the client has left, or this server stops.
func (x *eventExport) look(end context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		every := time.NewTicker(lookEvery)
		defer every.Stop()
		for {
			select {
			case <-done:
				return
			case <-every.C:
			}
			switch {
			case hasLeft(x.conn):
				end(errGone)
			case x.s.ending.Load():
				end(stopping(nil))
			default:
				continue
			}
			return
		}
	})
	return func() {
		close(done)
		looking.Wait()
	}
}

// Write hands on what is to be sent, now and then at once.
func (x *eventExport) Write(p []byte) (int, error) {
	_ = x.goOn() // who may no longer is told by the context
	n, err := x.out.Write(p)
	if err != nil {
		return n, fmt.Errorf("%w: %w", errGone, err)
	}
	if time.Since(x.flushed) > exportSoon {
		return n, x.flush()
	}
	return n, nil
}
