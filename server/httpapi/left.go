package httpapi

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sys/unix"
)

// statusClientLeft is what counts where nobody is left to be answered.
const statusClientLeft = 499

// lookEvery is how often a search asks whether its client is still there. The framework never says: while a
// request is handled nobody reads its connection.
const lookEvery = 100 * time.Millisecond

// whileThere ends the context that it makes when the client closes the connection, so that what nobody waits for
// is not done. stop is called before the connection is read again.
func whileThere(ctx context.Context, c net.Conn) (there context.Context, stop func()) {
	there, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-look.C:
			}
			if hasLeft(c) {
				cancel(errGone)
				return
			}
		}
	})
	return there, func() {
		close(done)
		looking.Wait()
		cancel(nil)
	}
}

// hasLeft says whether the connection below c was closed by the client, or reset. It looks without reading: what a
// client has sent ahead stays for the next request, and hides the end behind it.
func hasLeft(c net.Conn) bool {
	ours, ok := c.(*conn)
	if !ok {
		return false
	}
	raw, ok := ours.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	left := false
	err = control.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		left = err == nil && n == 0 || err != nil && err != unix.EAGAIN && err != unix.EINTR
	})
	return left || err != nil // which is closed on our side
}

// nobodyThere ends a request whose client has left: no answer is written, and nothing went wrong.
func (s *Server) nobodyThere(c *fiber.Ctx) {
	c.Response().Reset()
	c.Context().SetConnectionClose()
	c.Status(statusClientLeft)
}
