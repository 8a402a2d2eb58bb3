package ingest

import (
	"context"
	"net"
	"os"
	"sync"
	"time"
)

// stall is a dialer whose connections can be made to hold back everything that the broker says, while
// everything said to the broker still reaches it.
type stall struct {
	mu   sync.Mutex
	held chan struct{} // nil while answers pass; closed to let them go
	open []*stalledConn
}

func (s *stall) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = make(chan struct{})
	}
}

func (s *stall) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		close(s.held)
		s.held = nil
	}
}

// cut breaks every connection; what was held back is lost. New ones pass.
func (s *stall) cut() {
	s.mu.Lock()
	open := s.open
	s.open, s.held = nil, nil
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

func (s *stall) holding() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

func (s *stall) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	stalled := &stalledConn{Conn: c, s: s, closed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, stalled)
	return stalled, nil
}

type stalledConn struct {
	net.Conn
	s      *stall
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	deadline time.Time
}

func (c *stalledConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	held := c.s.holding()
	if n == 0 || held == nil {
		return n, err
	}
	c.mu.Lock()
	deadline := c.deadline
	c.mu.Unlock()
	var late <-chan time.Time
	if !deadline.IsZero() {
		late = time.After(time.Until(deadline))
	}
	select {
	case <-held:
		return n, err
	case <-late:
		return 0, os.ErrDeadlineExceeded
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *stalledConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (c *stalledConn) SetDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetDeadline(t)
}

func (c *stalledConn) SetReadDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetReadDeadline(t)
}

func (c *stalledConn) keep(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
}
