package httpapi

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

func chunk(body string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }

func TestBodiesReachThePublisherAsTheyCame(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", cloudevents.MaxBody)
	for name, c := range map[string]struct {
		request string
		body    []byte // nil is absent
	}{
		"of known length":                    {post("/v1/events", writer, "Content-Length: 4", "") + "ab\x00\xff", []byte("ab\x00\xff")},
		"in chunks":                          {post("/v1/events", writer, "Transfer-Encoding: chunked", "") + chunk("ab") + chunk("\x00\xff") + "0\r\n\r\n", []byte("ab\x00\xff")},
		"in chunks, with a trailer":          {post("/v1/events", writer, "Transfer-Encoding: chunked", "Trailer: x-sum", "") + chunk("ab") + "0\r\nX-Sum: 1\r\n\r\n", []byte("ab")},
		"of the limit":                       {post("/v1/events", writer, fmt.Sprintf("Content-Length: %d", len(full)), "") + full, []byte(full)},
		"of the limit, in chunks":            {post("/v1/events", writer, "Transfer-Encoding: chunked", "") + chunk(full) + "0\r\n\r\n", []byte(full)},
		"without a length and without bytes": {post("/v1/events", writer, ""), nil},
		"of length zero":                     {post("/v1/events", writer, "Content-Length: 0", ""), nil},
		"in no chunks":                       {post("/v1/events", writer, "Transfer-Encoding: chunked", "") + "0\r\n\r\n", nil},
		"as a form, which is bytes here":     {post("/v1/events", writer, "Content-Type: multipart/form-data; boundary=x", "Content-Length: 5", "") + "--x--", []byte("--x--")},
		"with an offer of HTTP/2":            {post("/v1/events", writer, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA", "Content-Length: 2", "") + "{}", []byte("{}")},
		"marked identity":                    {post("/v1/events", writer, "Content-Encoding: identity", "Content-Length: 2", "") + "{}", []byte("{}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			r, c2 := e.raw(c.request)
			if r.StatusCode != http.StatusOK {
				t.Fatalf("got %d %s", r.StatusCode, r.body)
			}
			got := e.publisher.all()
			if len(got) != 1 || !bytes.Equal(got[0].Body, c.body) || (got[0].Body == nil) != (c.body == nil) {
				t.Fatalf("%d requests, the first with %d bytes (nil: %v)", len(got), len(got[0].Body), got[0].Body == nil)
			}
			// What was left of the request would be taken for the next one.
			if _, err := io.WriteString(c2, post("/v1/events", writer, "Content-Length: 4", "")+"next"); err != nil {
				t.Fatal(err)
			}
			if r := e.next(bufio.NewReader(c2)); r.StatusCode != http.StatusOK || string(e.publisher.all()[1].Body) != "next" {
				t.Errorf("the next request on the connection: %d %s", r.StatusCode, r.body)
			}
		})
	}
}

func TestBodiesOverTheLimitAreRefusedAndCounted(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(size int) string{
		"of known length": func(n int) string {
			return post("/v1/events", writer, fmt.Sprintf("Content-Length: %d", n), "") + strings.Repeat("x", n)
		},
		"in one chunk": func(n int) string {
			return post("/v1/events", writer, "Transfer-Encoding: chunked", "") + chunk(strings.Repeat("x", n)) + "0\r\n\r\n"
		},
		"in many chunks": func(n int) string {
			return post("/v1/events", writer, "Transfer-Encoding: chunked", "") + strings.Repeat(chunk(strings.Repeat("x", 1024)), n/1024+1) + "0\r\n\r\n"
		},
		"in a batch": func(n int) string {
			return post("/v1/events:batchCreate", writer, fmt.Sprintf("Content-Length: %d", n), "") + strings.Repeat("x", n)
		},
	} {
		for _, size := range []int{cloudevents.MaxBody + 1, 18 << 20} {
			t.Run(fmt.Sprintf("%s, %d bytes", name, size), func(t *testing.T) {
				t.Parallel()
				e := start(t)
				// The whole is sent before anything is read: the answer must survive that.
				r, _ := e.raw(request(size))
				f := r.failure(t, 413, fault.ReasonBodyTooLarge)
				if f.Details[0].Metadata["limit"] != "1048576" || !strings.Contains(f.Message, "1048576") {
					t.Errorf("%+v does not name the limit", f)
				}
				if len(e.publisher.all()) != 0 {
					t.Error("it reached the publisher")
				}
				if n := e.metric("oriel_http_errors_total", map[string]string{"reason": fault.ReasonBodyTooLarge}); n != 1 {
					t.Errorf("counted %v times", n)
				}
			})
		}
	}
}

func TestRefusalsBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()
	e := start(t)
	huge := fmt.Sprintf("Content-Length: %d", 1<<40)
	for name, c := range map[string]struct {
		request string
		code    int
		reason  string
	}{
		"a bad token comes before the size":      {post("/v1/events", "orl_unknown", huge, ""), 401, fault.ReasonTokenInvalid},
		"a missing scope comes before the size":  {post("/v1/events", reader, huge, ""), 403, fault.ReasonScopeMissing},
		"a declared size needs no bytes":         {post("/v1/events", writer, huge, ""), 413, fault.ReasonBodyTooLarge},
		"one byte too many needs no bytes":       {post("/v1/events", writer, fmt.Sprintf("Content-Length: %d", cloudevents.MaxBody+1), ""), 413, fault.ReasonBodyTooLarge},
		"a declared size is not asked for":       {post("/v1/events", writer, "Content-Length: 3000000", "Expect: 100-continue", ""), 413, fault.ReasonBodyTooLarge},
		"a path without a route wants no body":   {post("/v1/nothing", writer, huge, ""), 404, fault.ReasonNotFound},
		"a compressed body":                      {post("/v1/events", writer, "Content-Encoding: gzip", "Content-Length: 10", ""), 415, fault.ReasonUnsupportedEncoding},
		"a bad token with an endless body":       {post("/v1/events", "orl_unknown", "Transfer-Encoding: chunked", "") + chunk("x"), 401, fault.ReasonTokenInvalid},
		"an encoding that is named with another": {post("/v1/events", writer, "Content-Encoding: identity", "Content-Encoding: br", "Content-Length: 0", ""), 415, fault.ReasonUnsupportedEncoding},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c2, err := net.Dial("tcp", e.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c2.Close()
			_ = c2.SetDeadline(time.Now().Add(5 * time.Second))
			if c.code == 415 && strings.Contains(name, "compressed") {
				c.request += "0123456789"
			}
			if _, err := io.WriteString(c2, c.request); err != nil {
				t.Fatal(err)
			}
			e.next(bufio.NewReader(c2)).failure(t, c.code, c.reason)
		})
	}
}

func TestAConnectionGoesOnAfterASmallRefusedBodyAndNeverMistakesARestForARequest(t *testing.T) {
	t.Parallel()
	e := start(t)
	inner := post("/v1/events", writer, "Content-Length: 0", "")
	refused := post("/v1/events", "orl_unknown", fmt.Sprintf("Content-Length: %d", len(inner)), "") + inner
	r, c := e.raw(refused + lines("GET /health/live HTTP/1.1", "Host: x", ""))
	r.failure(t, 401, fault.ReasonTokenInvalid)
	_ = c
	if n := len(e.publisher.all()); n != 0 {
		t.Fatalf("the body was taken for a request, %d published", n)
	}
	// Larger than what is read ahead: the connection ends, and what follows is not looked at.
	big := strings.Repeat("x", prefetched+1) + inner
	r, c = e.raw(post("/v1/events", "orl_unknown", fmt.Sprintf("Content-Length: %d", len(big)), "") + big)
	r.failure(t, 401, fault.ReasonTokenInvalid)
	if !r.Close {
		t.Error("the connection stays open with an unread body on it")
	}
	if rest, err := io.ReadAll(c); err != nil || len(rest) != 0 {
		t.Errorf("after the answer came %q, %v", rest, err)
	}
	if n := len(e.publisher.all()); n != 0 {
		t.Fatalf("the body was taken for a request, %d published", n)
	}
}

func TestExpectContinue(t *testing.T) {
	t.Parallel()
	e := start(t)
	c, err := net.Dial("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	r := bufio.NewReader(c)
	if _, err := io.WriteString(c, post("/v1/events", writer, "Content-Length: 4", "Expect: 100-continue", "")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := r.ReadString('\n'); err != nil || line != want {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	if _, err := io.WriteString(c, "data"); err != nil {
		t.Fatal(err)
	}
	if got := e.next(r); got.StatusCode != http.StatusOK || string(e.publisher.all()[0].Body) != "data" {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
}

func TestMalformedRequestsAreRefusedAndEndTheConnection(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, c := range map[string]struct {
		request string
		code    int
		reason  string
	}{
		"a length and chunks":          {post("/v1/events", writer, "Content-Length: 3", "Transfer-Encoding: chunked", "") + "0\r\n\r\n", 400, fault.ReasonMalformedRequest},
		"two content lengths":          {post("/v1/events", writer, "Content-Length: 3", "Content-Length: 4", "") + "abcd", 400, fault.ReasonMalformedRequest},
		"another transfer encoding":    {post("/v1/events", writer, "Transfer-Encoding: gzip, chunked", "") + "0\r\n\r\n", 400, fault.ReasonMalformedRequest},
		"two hosts":                    {post("/v1/events", writer, "Host: other", "Content-Length: 0", ""), 400, fault.ReasonMalformedRequest},
		"two content types":            {post("/v1/events", writer, "Content-Type: a/b", "Content-Type: c/d", "Content-Length: 0", ""), 400, fault.ReasonMalformedRequest},
		"a folded header":              {post("/v1/events", writer, "Ce-Id: 1", " 2", "Content-Length: 0", ""), 400, fault.ReasonMalformedRequest},
		"a length that is no number":   {post("/v1/events", writer, "Content-Length: many", ""), 400, fault.ReasonMalformedRequest},
		"no host":                      {lines("POST /v1/events HTTP/1.1", "Authorization: Bearer "+writer, "Content-Length: 0", ""), 400, fault.ReasonMalformedRequest},
		"an empty host":                {lines("POST /v1/events HTTP/1.1", "Host:", "Authorization: Bearer "+writer, "Content-Length: 0", ""), 400, fault.ReasonMalformedRequest},
		"a user before the host":       {lines("GET /v1/session HTTP/1.1", "Host: user@events.example.com", "Authorization: Bearer "+writer, ""), 400, fault.ReasonMalformedRequest},
		"a user in the target":         {lines("GET http://user@events.example.com/v1/session HTTP/1.1", "Host: events.example.com", "Authorization: Bearer "+writer, ""), 400, fault.ReasonMalformedRequest},
		"a host in the path":           {lines("GET //events.example.com/v1/session HTTP/1.0", "Authorization: Bearer "+writer, ""), 400, fault.ReasonMalformedRequest},
		"HTTP/2 on the request line":   {lines("GET /v1/session HTTP/2.0", "Host: x", "Authorization: Bearer "+writer, ""), 400, fault.ReasonMalformedRequest},
		"the preface of HTTP/2":        {"PRI * HTTP/2.0\r\n\r\n", 400, fault.ReasonMalformedRequest},
		"a version nobody knows":       {lines("GET /v1/session HTTQ/1.1", "Host: x", "Authorization: Bearer "+writer, ""), 400, fault.ReasonMalformedRequest},
		"no HTTP at all":               {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 400, fault.ReasonMalformedRequest},
		"chunks that are none":         {post("/v1/events", writer, "Transfer-Encoding: chunked", "") + "zz\r\n", 400, fault.ReasonMalformedRequest},
		"a header block over the size": {post("/v1/events", writer, "X-Pad: "+strings.Repeat("x", headerBytes), ""), 431, fault.ReasonHeadersTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, conn := e.raw(c.request)
			f := r.failure(t, c.code, c.reason)
			if header, ok := strings.CutPrefix(name, "two "); ok && !strings.Contains(f.Details[0].Metadata["attribute"], strings.TrimSuffix(strings.ReplaceAll(header, " ", "-"), "s")) {
				t.Errorf("%v does not name the header", f.Details[0].Metadata)
			}
			if !r.Close {
				t.Error("the connection stays open")
			}
			if rest, err := io.ReadAll(conn); err != nil || len(rest) != 0 {
				t.Errorf("after the answer came %q, %v", rest, err)
			}
		})
	}
	t.Cleanup(func() {
		if n := e.metric("oriel_http_errors_total", map[string]string{"reason": fault.ReasonHeadersTooLarge}); n != 1 {
			t.Errorf("431 counted %v times", n)
		}
		if n := len(e.publisher.all()); n != 0 {
			t.Errorf("%d reached the publisher", n)
		}
	})
}

func TestABodyThatDoesNotArriveInTime(t *testing.T) {
	t.Parallel()
	e := start(t, func(d *Deps) { d.Config.ReadTimeout = 200 * time.Millisecond })
	r, _ := e.raw(post("/v1/events", writer, "Transfer-Encoding: chunked", "") + chunk("half"))
	r.failure(t, 408, fault.ReasonRequestTimeout)
	r, _ = e.raw("POST /v1/events HTTP/1.1\r\nHost: ")
	r.failure(t, 408, fault.ReasonRequestTimeout)
}

func TestA16KiBHeaderBlockIsTaken(t *testing.T) {
	t.Parallel()
	e := start(t)
	r := e.do(e.request("POST", "/v1/events", writer, "Cookie", strings.Repeat("c", 8<<10), "Ce-Subject", strings.Repeat("s", 8<<10)))
	if r.StatusCode != http.StatusOK {
		t.Errorf("got %d %s", r.StatusCode, r.body)
	}
}
