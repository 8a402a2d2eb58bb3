package httpapi

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"oriel/server/fault"
)

func TestABodyThatEndsEarlyIsNoEvent(t *testing.T) {
	t.Parallel()
	chunked := func(path string) string { return post(path, writer, "Transfer-Encoding: chunked", "") }
	e := start(t)
	for name, request := range map[string]string{
		"after a whole chunk":                      chunked("/v1/events") + chunk("0123456789"),
		"after two":                                chunked("/v1/events") + chunk("ab") + chunk("cd"),
		"before the first chunk":                   chunked("/v1/events"),
		"within a chunk's size":                    chunked("/v1/events") + chunk("ab") + "1",
		"within a chunk":                           chunked("/v1/events") + "a\r\n01234",
		"within the last chunk":                    chunked("/v1/events") + chunk("ab") + "0\r",
		"before the trailer's end":                 chunked("/v1/events") + chunk("ab") + "0\r\n",
		"within the trailer":                       post("/v1/events", writer, "Transfer-Encoding: chunked", "Trailer: x-sum", "") + chunk("ab") + "0\r\nX-Sum: 1\r\n",
		"of a batch":                               chunked("/v1/events:batchCreate") + chunk("[]"),
		"of what is only to be validated":          chunked("/v1/events:validate") + chunk("{}"),
		"of a request after another":               post("/v1/events:validate", "orl_unknown", "Content-Length: 0", "") + chunked("/v1/events") + chunk("ab"),
		"short of its length":                      post("/v1/events", writer, "Content-Length: 10", "") + "01234",
		"without a byte of its length":             post("/v1/events", writer, "Content-Length: 10", ""),
		"short of a length beyond the first bytes": post("/v1/events", writer, "Content-Length: 100000", "") + strings.Repeat("x", prefetched),
		"far into it":                              post("/v1/events", writer, "Content-Length: 100000", "") + strings.Repeat("x", 99_999),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", e.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(c)
			if strings.Contains(request, "orl_unknown") {
				e.next(r).failure(t, 401, fault.ReasonTokenInvalid)
			}
			got := e.next(r)
			if f := got.failure(t, 400, fault.ReasonMalformedRequest); !strings.Contains(f.Message, "ended early") {
				t.Errorf("the message is %q", f.Message)
			}
			if !got.Close {
				t.Error("the connection stays open")
			}
		})
	}
	t.Cleanup(func() {
		if n := len(e.publisher.all()); n != 0 {
			t.Errorf("%d reached the publisher", n)
		}
	})
	t.Run("a whole body is one, though its sender closes right after it", func(t *testing.T) {
		t.Parallel()
		e := start(t)
		for i, request := range []string{chunked("/v1/events") + chunk("ab") + "0\r\n\r\n", post("/v1/events", writer, "Content-Length: 2", "") + "ab"} {
			c, err := net.Dial("tcp", e.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			if _, err := io.WriteString(c, request); err != nil {
				t.Fatal(err)
			}
			if err := c.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if r := e.next(bufio.NewReader(c)); r.StatusCode != http.StatusOK || len(e.publisher.all()) != i+1 || string(e.publisher.all()[i].Body) != "ab" {
				t.Errorf("%q: %d %s", request, r.StatusCode, r.body)
			}
		}
	})
}
