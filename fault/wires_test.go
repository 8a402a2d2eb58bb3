package fault

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wires are the connections to a kfake cluster in this process. They read along, so that the answer to one
// request can be lost: its connection is cut instead, or stays open and silent.
//
// They also make up for a coordinator that forgets to time a member out: kfake begins a session when the answer
// to a join arrives, so a member whose connection ends in the middle of a join would stay for ever.
type wires struct {
	mu     sync.Mutex
	doomed map[int16][]lostAs // by the request's key, in order
	lost   int
	mute   map[*wire]struct{}
	gone   map[string]time.Time // when members ended in the middle of a join
}

// lostAs is how an answer is lost.
type lostAs int

const (
	cutOff lostAs = iota
	silent
)

func newWires() *wires {
	return &wires{doomed: map[int16][]lostAs{}, mute: map[*wire]struct{}{}, gone: map[string]time.Time{}}
}

// lose decides that the next answer to a request of a key is lost.
func (w *wires) lose(key int16, how lostAs) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doomed[key] = append(w.doomed[key], how)
}

// heal forgets what was to be lost, cuts what is silent, and says how many answers were lost.
func (w *wires) heal() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.doomed)
	for c := range w.mute {
		c.Conn.Close() // the cluster sees that and closes the wire
	}
	return w.lost
}

// timedOut are the members that ended in the middle of a join longer ago than a session may be silent. They are
// named again a session later, until they are forgotten: what sends them away may fail as well.
func (w *wires) timedOut(session time.Duration) (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, at := range w.gone {
		if time.Since(at) >= session {
			ids = append(ids, id)
			w.gone[id] = time.Now()
		}
	}
	return ids
}

// forget is told of members that were sent away.
func (w *wires) forget(ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		delete(w.gone, id)
	}
}

// waiting says that there are members to be sent away, now or after their session.
func (w *wires) waiting() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.gone) > 0
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
	join []byte // those of a join

	mu     sync.Mutex
	keys   map[int32]int16 // of the requests without an answer
	silent bool
	joins  string // the member that waits for the answer to a join
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
			if c.join != nil {
				if c.join = append(c.join, p[:skip]...); c.left == 0 {
					c.joining(memberOf(c.join))
					c.join = nil
				}
			}
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
		key := int16(binary.BigEndian.Uint16(c.head[4:]))
		c.mu.Lock()
		c.keys[int32(binary.BigEndian.Uint32(c.head[8:]))] = key
		c.mu.Unlock()
		if key == int16(kmsg.JoinGroup) {
			c.join = slices.Clone(c.head[4:])
		}
		c.head = c.head[:0]
	}
}

// memberOf is the member id of a join, whose bytes begin with its key.
func memberOf(request []byte) string {
	r := kbin.Reader{Src: request}
	r.Int16()
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = r.Int16()
	r.Int32()
	r.NullableString() // the client's id
	if req.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	if err := req.ReadFrom(r.Src); err != nil {
		return "" // the broker will say so
	}
	return req.MemberID
}

func (c *wire) joining(id string) {
	c.mu.Lock()
	c.joins = id
	c.mu.Unlock()
	c.wires.mu.Lock()
	delete(c.wires.gone, id) // it came back
	c.wires.mu.Unlock()
}

// Close is called by the cluster, more than once.
func (c *wire) Close() error {
	c.mu.Lock()
	id := c.joins
	c.joins = ""
	c.mu.Unlock()
	c.wires.mu.Lock()
	delete(c.wires.mute, c)
	if id != "" {
		c.wires.gone[id] = time.Now()
	}
	c.wires.mu.Unlock()
	return c.Conn.Close()
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
	if key == int16(kmsg.JoinGroup) {
		c.joins = "" // its session begins
	}
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
			c.wires.mu.Lock()
			c.wires.mute[c] = struct{}{}
			c.wires.mu.Unlock()
			return len(p), nil
		}
	}
	return c.Conn.Write(p)
}
