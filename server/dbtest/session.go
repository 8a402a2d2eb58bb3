package dbtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	sslRequest    = 80877103
	gssRequest    = 80877104
	cancelRequest = 80877102
	maxMessage    = 1 << 30
)

// session is one client's connection: both directions of the version 3 protocol, message by message.
type session struct {
	proxy    *Proxy
	down, up net.Conn

	// Which prepared statements and portals are a COMMIT. Only the client's direction uses them.
	statements, portals map[string]bool

	mu sync.Mutex
	// How many ReadyForQuery the client is owed and has got. A client may send ahead, so the reply to a
	// COMMIT is the one that ends with its own, not the next one.
	owed, got int
	loseAt    int  // the count of the ReadyForQuery whose reply is lost; 0 for none
	hold      bool // the reply is lost and nothing is cut

	silent atomic.Bool // nothing passes either way, for good
}

func (s *session) run() error {
	if done, err := s.startup(); done || err != nil {
		return err
	}
	s.owed = 1 // the end of authentication
	client, server := make(chan error, 1), make(chan error, 1)
	go func() { client <- s.fromClient() }()
	go func() { server <- s.fromServer() }()
	// Either direction's end is the end of both, but a held client is not told that the server left.
	select {
	case err := <-client:
		if !s.silent.Load() {
			s.up.Close()
		}
		return errors.Join(err, <-server)
	case err := <-server:
		if s.held() || s.silent.Load() {
			return errors.Join(err, <-client)
		}
		s.down.Close()
		return errors.Join(err, <-client)
	}
}

// startup passes the first message, which has no type. Encryption is declined: the client is told to
// go on without, as its sslmode has it.
func (s *session) startup() (done bool, err error) {
	for {
		head := make([]byte, 8)
		if _, err := io.ReadFull(s.down, head); err != nil {
			return true, err
		}
		size, code := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
		if size < 8 || size > 1<<16 {
			return true, fmt.Errorf("a startup message of %d bytes", size)
		}
		if code == sslRequest || code == gssRequest {
			if _, err := s.down.Write([]byte{'N'}); err != nil {
				return true, err
			}
			continue
		}
		whole := make([]byte, size)
		copy(whole, head)
		if _, err := io.ReadFull(s.down, whole[8:]); err != nil {
			return true, err
		}
		_, err := s.up.Write(whole)
		return code == cancelRequest, err // a cancel has no answer
	}
}

// message reads one typed message whole, type and length included.
func message(r io.Reader) ([]byte, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", size)
	}
	m := make([]byte, 1+int(size))
	copy(m, head)
	_, err := io.ReadFull(r, m[5:])
	return m, err
}

func (s *session) fromClient() error {
	for {
		m, err := message(s.down)
		if err != nil {
			return err
		}
		s.proxy.hears(m)
		if s.silent.Load() {
			continue
		}
		if s.isCommit(m) {
			switch s.proxy.fate() {
			case CutBefore:
				s.down.Close()
				return io.EOF
			case HoldBefore:
				// Reads on so that the client's own close is seen, and passes nothing.
				s.lose(true)
				_, err := io.Copy(io.Discard, s.down)
				return err
			case LoseReply:
				s.lose(false)
			case HoldReply:
				s.lose(true)
			case Deliver:
			}
		}
		if m[0] == 'Q' || m[0] == 'S' {
			s.mu.Lock()
			s.owed++
			s.mu.Unlock()
		}
		if _, err := s.up.Write(m); err != nil {
			return err
		}
	}
}

// lose marks the reply to the message in hand: a query's own, or that of the Sync to come.
func (s *session) lose(hold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loseAt, s.hold = s.owed+1, hold
}

// isCommit follows statements and portals, as a COMMIT can be prepared once and executed by name.
func (s *session) isCommit(m []byte) bool {
	body := m[5:]
	switch m[0] {
	case 'Q':
		return commitText(str(&body))
	case 'P': // Parse: name, text
		name := str(&body)
		s.statements[name] = commitText(str(&body))
	case 'B': // Bind: portal, statement
		portal := str(&body)
		s.portals[portal] = s.statements[str(&body)]
	case 'E': // Execute: portal
		return s.portals[str(&body)]
	}
	return false
}

func str(b *[]byte) string {
	i := bytes.IndexByte(*b, 0)
	if i < 0 {
		text := string(*b)
		*b = nil
		return text
	}
	text := string((*b)[:i])
	*b = (*b)[i+1:]
	return text
}

// commitText takes a COMMIT among several statements too. A text inside quotes that looks like one is
// beyond it.
func commitText(sql string) bool {
	for statement := range strings.SplitSeq(strings.ToLower(sql), ";") {
		switch strings.Join(strings.Fields(statement), " ") {
		case "commit", "commit work", "commit transaction", "end", "end work", "end transaction":
			return true
		}
	}
	return false
}

func (s *session) fromServer() error {
	for {
		m, err := message(s.up)
		if err != nil {
			return err
		}
		if s.silent.Load() {
			continue
		}
		pass, cut := s.reply(m[0] == 'Z')
		if cut {
			return io.EOF
		}
		if !pass {
			continue
		}
		if _, err := s.down.Write(m); err != nil {
			return err
		}
	}
}

// reply says whether a message of the server's is passed, and whether the connection is cut instead.
// ReadyForQuery says that the COMMIT has taken effect: not a moment earlier may the connection be cut,
// or the server would notice the cut first.
func (s *session) reply(ready bool) (pass, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := s.loseAt > 0 && s.got >= s.loseAt-1
	if ready {
		s.got++
		cut = lost && !s.hold
	}
	return !lost, cut
}

func (s *session) held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold
}
