package httpapi

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A refused upload is answered before it has arrived. Closing a socket with unread bytes resets it,
// and the client may then never see the answer; so such a connection is closed for writing first and
// read to its end, within these bounds.
const (
	lingerTime  = 5 * time.Second
	lingerBytes = 64 << 20
)

// listener knows its open connections, so that a stop can close those that wait for nothing.
type listener struct {
	net.Listener
	once   sync.Once
	mu     sync.Mutex
	conns  map[*conn]struct{}
	closed bool
}

func newListener(ln net.Listener) *listener {
	return &listener{Listener: ln, conns: make(map[*conn]struct{})}
}

func (l *listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, owner: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.Join(net.ErrClosed, raw.Close())
	}
	l.conns[c] = struct{}{}
	return c, nil
}

// Close is safe twice: we close it, and then the framework does.
func (l *listener) Close() (err error) {
	l.once.Do(func() { err = l.Listener.Close() })
	return err
}

// closeUnused closes connections on which no byte has come: browsers open some ahead of need, and
// they would hold up a stop.
func (l *listener) closeUnused() {
	l.each(func(c *conn) bool { return !c.used.Load() })
}

func (l *listener) closeAll() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.each(func(*conn) bool { return true })
}

func (l *listener) each(chosen func(*conn) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if chosen(c) {
			_ = c.Conn.Close() // its worker sees the error and ends
		}
	}
}

type conn struct {
	net.Conn
	owner  *listener
	used   atomic.Bool
	ended  atomic.Bool // the client will send nothing more
	linger atomic.Bool
	stuck  atomic.Bool // the client took nothing for as long as it was given
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.used.Store(true)
	}
	if errors.Is(err, io.EOF) {
		c.ended.Store(true)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.stuck.Store(true)
	}
	return n, err
}

func (c *conn) Close() error {
	defer func() {
		c.owner.mu.Lock()
		delete(c.owner.conns, c)
		c.owner.mu.Unlock()
	}()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.linger.Load() && half.CloseWrite() == nil {
		if c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
		}
	}
	return c.Conn.Close()
}

// ranDry says whether more was asked of the connection below c than the client sent. The end of a chunked
// body is in the body: a reader that has met it asks for nothing more, one that went past what there was
// has not. On a connection that is not ours nobody knows, so nothing is taken for whole.
func ranDry(c net.Conn) bool {
	ours, ok := c.(*conn)
	return !ok || ours.ended.Load()
}

// tookNothing says whether a write to the connection below c ran out of time.
func tookNothing(c net.Conn) bool {
	ours, ok := c.(*conn)
	return ok && ours.stuck.Load()
}

// lingerOnClose marks the connection below c, if it is one of ours.
func lingerOnClose(c net.Conn) {
	if ours, ok := c.(*conn); ok {
		ours.linger.Store(true)
	}
}
