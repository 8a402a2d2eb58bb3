package httpapi

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"oriel/server/search"
)

// patient answers lists when told, or when nobody waits for them any more.
type patient struct {
	*shelf
	asked  chan struct{}
	answer chan struct{}
	ended  chan error
}

func (p patient) List(ctx context.Context, _ url.Values) (*search.Page, error) {
	p.asked <- struct{}{}
	select {
	case <-ctx.Done():
		p.ended <- ctx.Err()
		return nil, ctx.Err()
	case <-p.answer:
		return &search.Page{Snapshot: "s"}, nil
	}
}

func TestASearchEndsWhenItsClientLeaves(t *testing.T) {
	t.Parallel()
	p := patient{emptyShelf(), make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	e := start(t, func(d *Deps) { d.Search = p })
	for what, leave := range map[string]func(*net.TCPConn) error{
		"by closing": (*net.TCPConn).Close,
		"by a reset": func(c *net.TCPConn) error {
			if err := c.SetLinger(0); err != nil {
				return err
			}
			return c.Close()
		},
	} {
		c, err := net.Dial("tcp", e.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, lines("GET /v1/events HTTP/1.1", "Host: x", "Authorization: Bearer "+reader, "")); err != nil {
			t.Fatal(err)
		}
		<-p.asked
		if err := leave(c.(*net.TCPConn)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-p.ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: it ended with %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: nobody noticed", what)
		}
	}
	await(t, "both are counted", func() bool {
		return e.metric("oriel_http_requests_total", map[string]string{"route": "/v1/events", "class": "4xx"}) == 2
	})
	if said := e.log.String(); said != "" {
		t.Errorf("it is taken for a failure: %s", said)
	}
	if n := e.metric("oriel_http_errors_total", map[string]string{"reason": "INTERNAL"}); n != 0 {
		t.Errorf("%v internal errors", n)
	}
}

func TestARequestThatIsSentAheadIsNoLeaving(t *testing.T) {
	t.Parallel()
	p := patient{emptyShelf(), make(chan struct{}), make(chan struct{}), make(chan error, 1)}
	e := start(t, func(d *Deps) { d.Search = p })
	request := lines("GET /v1/events HTTP/1.1", "Host: x", "Authorization: Bearer "+reader, "")
	c, err := net.Dial("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request+request); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		<-p.asked
		select {
		case err := <-p.ended:
			t.Fatalf("it was given up: %v", err)
		case <-time.After(3 * lookEvery): // the time in which leaving would be noticed
		}
		p.answer <- struct{}{}
	}
}
