package fault

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
)

// wires are the connections to a kfake cluster in this process. They read along, so that the answer to one
// request can be lost: its connection is cut instead, or stays open and silent.
type wires struct {
	mu     sync.Mutex
	doomed map[int16][]lostAs // by the request's key, in order
	lost   int
}

// lostAs is how an answer is lost.
type lostAs int

const (
	cutOff lostAs = iota
	silent
)

func newWires() *wires { return &wires{doomed: map[int16][]lostAs{}} }

// lose decides that the next answer to a request of a key is lost.
func (w *wires) lose(key int16, how lostAs) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doomed[key] = append(w.doomed[key], how)
}

// heal forgets what was to be lost, and says how many answers were.
func (w *wires) heal() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.doomed)
	return w.lost
}

func (w *wires) fate(key int16) (how lostAs, lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.doomed[key]
	if len(next) == 0 {
		return 0, false
	}
	w.doomed[key] = next[1:]
	w.lost++
	return next[0], true
}

// listen is net.Listen for the cluster.
func (w *wires) listen(network, addr string) (net.Listener, error) {
	l, err := net.Listen(network, addr)
	if err != nil {
		return nil, err
	}
	return &wiredListener{l, w}, nil
}

type wiredListener struct {
	net.Listener
	wires *wires
}

func (l *wiredListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wire{Conn: c, wires: l.wires, keys: map[int32]int16{}}, nil
}

// wire is one connection, as the broker has it. A request is a length of 4 bytes, its key of 2, its version of
// 2 and its correlation id of 4; an answer is a length and the correlation id, and the broker writes each at
// once.
type wire struct {
	net.Conn
	wires *wires

	head []byte // of the request that is being read
	left int    // bytes of it beyond the head

	mu     sync.Mutex
	keys   map[int32]int16 // of the requests without an answer
	silent bool
}

const headBytes = 12

func (c *wire) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.follow(p[:n])
	return n, err
}

func (c *wire) follow(p []byte) {
	for len(p) > 0 {
		if c.left > 0 {
			skip := min(c.left, len(p))
			c.left -= skip
			p = p[skip:]
			continue
		}
		take := min(headBytes-len(c.head), len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
		if len(c.head) < headBytes {
			return
		}
		c.left = int(binary.BigEndian.Uint32(c.head)) + 4 - headBytes
		c.mu.Lock()
		c.keys[int32(binary.BigEndian.Uint32(c.head[8:]))] = int16(binary.BigEndian.Uint16(c.head[4:]))
		c.mu.Unlock()
		c.head = c.head[:0]
	}
}

var errCut = errors.New("the connection was cut")

func (c *wire) Write(p []byte) (int, error) {
	if len(p) < 8 || int(binary.BigEndian.Uint32(p)) != len(p)-4 {
		return 0, fmt.Errorf("an answer of %d bytes is not written at once", len(p))
	}
	id := int32(binary.BigEndian.Uint32(p[4:]))
	c.mu.Lock()
	key, known := c.keys[id]
	delete(c.keys, id)
	mute := c.silent
	c.mu.Unlock()
	if mute {
		return len(p), nil
	}
	if known {
		switch how, lost := c.wires.fate(key); {
		case !lost:
		case how == cutOff:
			c.Close()
			return 0, errCut
		default:
			c.mu.Lock()
			c.silent = true
			c.mu.Unlock()
			return len(p), nil
		}
	}
	return c.Conn.Write(p)
}
