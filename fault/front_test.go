package fault

import (
	"context"
	"net"
	"sync"
	"testing"
)

// front is a place on a loopback port before a server whose own address may change. It can cut every
// connection, and hold them: then nothing passes in either direction and nobody is told, as in a network that
// drops every packet, until it lets go.
type front struct {
	listener net.Listener
	upstream func() (network, addr string)
	work     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	free   chan struct{} // closed while nothing is held
}

func newFront(t *testing.T, upstream func() (network, addr string)) *front {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{listener: l, upstream: upstream, conns: map[net.Conn]struct{}{}, free: make(chan struct{})}
	close(f.free)
	f.work.Go(f.accept)
	t.Cleanup(f.close)
	return f
}

// addr is where clients find the server.
func (f *front) addr() string { return f.listener.Addr().String() }

// hold lets nothing pass until letGo.
func (f *front) hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.free:
		f.free = make(chan struct{})
	default: // is held
	}
}

func (f *front) letGo() {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.free:
	default:
		close(f.free)
	}
}

// cut closes every connection; new ones are taken.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		c.Close()
	}
}

func (f *front) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.listener.Close()
	f.letGo()
	f.cut()
	f.work.Wait()
}

func (f *front) accept() {
	for {
		down, err := f.listener.Accept()
		if err != nil {
			return // closed
		}
		f.work.Go(func() { f.serve(down) })
	}
}

func (f *front) serve(down net.Conn) {
	defer f.drop(down)
	if !f.keep(down) {
		return
	}
	f.pause() // while nothing passes, nobody is reached
	network, addr := f.upstream()
	up, err := (&net.Dialer{}).DialContext(context.Background(), network, addr)
	if err != nil {
		return // the server is away
	}
	defer f.drop(up)
	if !f.keep(up) {
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); f.pass(up, down) }()
	f.pass(down, up)
	<-done
}

// pass copies until either side ends, and then ends both.
func (f *front) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		f.pause()
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pause waits while everything is held.
func (f *front) pause() {
	f.mu.Lock()
	free := f.free
	f.mu.Unlock()
	<-free
}

func (f *front) keep(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.conns[c] = struct{}{}
	return true
}

func (f *front) drop(c net.Conn) {
	c.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, c)
}
