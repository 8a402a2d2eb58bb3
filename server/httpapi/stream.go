package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/fault"
)

const (
	exportSoon = time.Second // what is written is sent after so long at the latest
	exportPart = time.Second // for the client to take the last line, once its caller may no longer
)

// errGone is a client that takes nothing more.
var errGone = errors.New("the client left")

// stream is an answer that goes on after its handler, for as long as its caller may and its client takes it.
type stream struct {
	s       *Server
	call    *call
	conn    net.Conn
	out     *bufio.Writer
	flushed time.Time

	mu    sync.Mutex
	moved time.Time // when the client was last given time to take something
	ended error     // why the caller may no longer
}

// begin answers 200 and runs f, which writes the body.
func (x *stream) begin(c *fiber.Ctx, f func(context.Context)) {
	c.Status(fiber.StatusOK)
	c.Context().SetConnectionClose() // its deadlines for writing are ours
	x.conn = c.Context().Conn()
	ctx := c.UserContext() // of the server: it outlives the request
	x.s.streams.Add(1)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer x.s.streams.Done()
		x.out, x.flushed = w, time.Now()
		f(ctx)
	})
}

// watched asks again and again whether the caller still may, however long the writer waits for the client, until
// stop is called. end is told why not, once.
func (x *stream) watched(ctx context.Context, end func(error)) (stop func()) {
	watching, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { x.watch(watching, end) })
	return func() {
		cancel()
		watch.Wait()
	}
}

func (x *stream) watch(ctx context.Context, end func(error)) {
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
			end(err)
			return
		}
	}
}

// end wakes the writer: its caller may no longer.
func (x *stream) end(err error) {
	x.mu.Lock()
	x.ended = err
	x.mu.Unlock()
	x.giveTime()
}

// giveTime gives the client time to take more, and a moment for the last line where its caller may no longer.
func (x *stream) giveTime() {
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
func (x *stream) goOn() error {
	x.mu.Lock()
	ended, moved := x.ended, x.moved
	x.mu.Unlock()
	if ended == nil && time.Since(moved) > exportSoon {
		x.giveTime()
	}
	return ended
}

// cause is why a stream ended early, where the writer saw only that nothing is taken any more.
func (x *stream) cause(ctx context.Context, err error) error {
	switch {
	case !errors.Is(err, errGone):
	case x.ended != nil:
		return x.ended
	case ctx.Err() != nil: // a stop that has run out of time closes connections
		return stopping(ctx.Err())
	}
	return err
}

func stopping(cause error) error {
	return fault.Wrap(cause, fault.Unavailable, fault.ReasonShuttingDown, "This server is shutting down: export again.")
}

func (x *stream) recheck(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, x.s.deps.Config.Deadline)
	defer cancel()
	return x.s.stillAllowed(ctx, x.call)
}

func (x *stream) flush() error {
	x.flushed = time.Now()
	if err := x.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
