package dbtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"
)

// Fate is what a Proxy does to a COMMIT.
type Fate int

// The fates.
const (
	// Deliver passes the COMMIT and its reply.
	Deliver Fate = iota
	// LoseReply passes the COMMIT, waits until the server has answered, and cuts the connection without
	// passing the answer: executed, and nobody knows.
	LoseReply
	// CutBefore cuts the connection instead of passing the COMMIT: never executed, and nobody knows.
	CutBefore
	// HoldReply passes the COMMIT and swallows the answer without cutting: the client waits until its
	// own deadline, or until the proxy is closed.
	HoldReply
	// HoldBefore neither passes the COMMIT nor cuts: the server sees a transaction that went idle.
	HoldBefore
)

// Proxy stands between a client and PostgreSQL, on a loopback port, and decides the fate of every COMMIT
// that passes, sent as a simple query or as a prepared statement.
type Proxy struct {
	t        testing.TB
	upstream *pgconn.Config
	url      string
	listener net.Listener
	work     sync.WaitGroup

	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	closed  bool
	fates   []Fate
	commits int
	suffer  int

	sessions map[*session]struct{}
	deaf     bool   // connections are taken and nothing more
	trigger  []byte // the message at which every open connection goes dead
}

// NewProxy starts a proxy before the database of a URL as NewURL gives it. It ends with the test.
func NewProxy(t testing.TB, upstreamURL string) *Proxy {
	t.Helper()
	cfg, err := pgconn.ParseConfig(upstreamURL)
	if err != nil {
		t.Fatalf("read the url of the database: %v", err)
	}
	u, err := url.Parse(upstreamURL)
	if err != nil {
		t.Fatalf("read the url of the database: %v", err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("open the proxy: %v", err)
	}
	u.Host = l.Addr().String()
	query := u.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable") // the proxy must be able to read along
	u.RawQuery = query.Encode()
	p := &Proxy{
		t: t, upstream: cfg, url: u.String(), listener: l,
		conns: map[net.Conn]struct{}{}, sessions: map[*session]struct{}{},
	}
	p.work.Go(p.accept)
	t.Cleanup(p.Close)
	return p
}

// URL is the database behind the proxy.
func (p *Proxy) URL() string { return p.url }

// Next decides the fates of the COMMITs to come, in the order of their arrival; after them every COMMIT
// is delivered.
func (p *Proxy) Next(fates ...Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fates = append(p.fates, fates...)
}

// Commits is how many COMMITs have arrived, and how many of them were not delivered.
func (p *Proxy) Commits() (arrived, suffered int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits, p.suffer
}

// Cut cuts every open connection, as a failed network would; new ones are taken.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// Silence has every open connection go dead without a word, as where a firewall forgets it: nothing passes
// either way any more, and neither side is told, not even that the other one left. New connections are taken
// and dead as well, until Speak. What went dead stays so.
func (p *Proxy) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
	p.silence()
}

// Speak lets new connections pass.
func (p *Proxy) Speak() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = false
}

// SilenceAt has every open connection go dead at the next message of a client that contains text. That one is
// not passed; new connections pass.
func (p *Proxy) SilenceAt(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trigger = []byte(text)
}

// GiveUp has the server learn that the dead connections are gone, as its keepalives tell it in time.
func (p *Proxy) GiveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		if s.silent.Load() && s.up != nil {
			s.up.Close()
		}
	}
}

// Silent says whether SilenceAt has met its message.
func (p *Proxy) Silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trigger == nil
}

func (p *Proxy) silence() {
	p.trigger = nil
	for s := range p.sessions {
		s.silent.Store(true)
	}
}

// hears goes dead where a client's message is the one of SilenceAt.
func (p *Proxy) hears(message []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trigger != nil && bytes.Contains(message, p.trigger) {
		p.silence()
	}
}

// begin puts a session among the open ones; false where the proxy is deaf.
func (p *Proxy) begin(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf {
		return false
	}
	p.sessions[s] = struct{}{}
	return true
}

func (p *Proxy) connected(s *session, up net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.up = up
}

func (p *Proxy) end(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s)
}

// Close cuts everything and takes no more. Safe twice.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.listener.Close()
	p.Cut()
	p.work.Wait()
}

func (p *Proxy) fate() Fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	if len(p.fates) == 0 {
		return Deliver
	}
	f := p.fates[0]
	p.fates = p.fates[1:]
	if f != Deliver {
		p.suffer++
	}
	return f
}

func (p *Proxy) accept() {
	for {
		down, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		if !p.keep(down) {
			return
		}
		p.work.Go(func() {
			defer p.drop(down)
			if err := p.serve(down); err != nil && !ordinary(err) {
				p.t.Logf("proxy: %v", err)
			}
		})
	}
}

// keep remembers a connection for Cut, or closes it where the proxy is already closed.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) drop(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) serve(down net.Conn) error {
	s := &session{proxy: p, down: down, statements: map[string]bool{}, portals: map[string]bool{}}
	if !p.begin(s) {
		_, err := io.Copy(io.Discard, down)
		return err
	}
	defer p.end(s)
	network, addr := pgconn.NetworkAddress(p.upstream.Host, p.upstream.Port)
	up, err := (&net.Dialer{}).DialContext(context.Background(), network, addr)
	if err != nil {
		return err
	}
	if !p.keep(up) {
		return nil
	}
	defer p.drop(up)
	p.connected(s, up)
	return s.run()
}

// ordinary ends of a connection: closed by either side, or cut by us.
func ordinary(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}
