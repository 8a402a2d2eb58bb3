package httpapi

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/trace/noop"

	"oriel/server/ingest"
	"oriel/server/spa"
	"oriel/server/telemetry"
)

func TestHealthSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	e := start(t, func(d *Deps) {
		d.Health = fixedHealth{telemetry.Readiness{Checks: []telemetry.CheckState{
			{Name: "broker", Detail: "The broker does not answer.", Since: at}, {Name: "postgres", OK: true, Since: at},
		}}}
	})
	r := e.do(e.request("GET", "/health/ready", ""))
	if r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("ready answers %d", r.StatusCode)
	}
	golden(t, "ready.json", indented(t, r.body, ""))
	if r := e.do(e.request("GET", "/health/live", "")); r.StatusCode != http.StatusOK || string(r.body) != `{"live":true}` {
		t.Errorf("live answers %d %s", r.StatusCode, r.body)
	}
}

func TestPagesAndTheirPolicy(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, path := range []string{"/", "/index.html", "/explore?q=a", "/events/https%3A%2F%2Fa.example:1.json", "/v2", "/healthy"} {
		r := e.do(e.request("GET", path, "", "Host", "events.example.com"))
		if r.StatusCode != http.StatusOK || !strings.Contains(string(r.body), "<title>Oriel</title>") {
			t.Errorf("%s answers %d %s", path, r.StatusCode, r.body)
		}
		if got := r.Header.Get("Content-Security-Policy"); got != spa.DocumentPolicy+"; report-uri "+ReportPath {
			t.Errorf("%s has policy %q", path, got)
		}
		if got := r.Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s is cached %q", path, got)
		}
	}
	r := e.do(e.request("GET", "/assets/app-1.js", "", "Host", "events.example.com"))
	if string(r.body) != "app()" || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("the asset answers %s, %v", r.body, r.Header)
	}
}

func TestAStopLetsRequestsFinishAndAcceptsNoMore(t *testing.T) {
	t.Parallel()
	e := start(t)
	entered, release := make(chan struct{}), make(chan struct{})
	e.publisher.answer = func(*ingest.Request) (*ingest.Response, error) {
		close(entered)
		<-release
		return &ingest.Response{Results: []ingest.Result{{Published: accepted("1")}}}, nil
	}
	idle, err := net.Dial("tcp", e.addr) // a browser's spare connection must not hold up a stop
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	kept, err := net.Dial("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if _, err := kept.Write([]byte(post("/v1/events", writer, "Content-Length: 0", ""))); err != nil {
		t.Fatal(err)
	}
	<-entered
	stopped := make(chan error, 1)
	begun := time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		stopped <- e.Shutdown(ctx)
	}()
	for deadline := time.Now().Add(5 * time.Second); ; {
		c, err := net.Dial("tcp", e.addr)
		if err != nil {
			break
		}
		_ = c.Close()
		if time.Now().After(deadline) {
			t.Fatal("still accepting")
		}
	}
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a request in hand: %v", err)
	default:
	}
	close(release)
	if r := e.next(bufio.NewReader(kept)); r.StatusCode != http.StatusOK || !r.Close {
		t.Errorf("the request in hand got %d, and was told that the connection ends: %v", r.StatusCode, r.Close)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("the stop took %s", took)
	}
}

func TestAStopThatRunsOutOfTimeEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	e := start(t)
	entered := make(chan struct{})
	ended := make(chan error, 1)
	e.publisher.answer = func(*ingest.Request) (*ingest.Response, error) {
		close(entered)
		ctx := e.publisher.contexts[0]
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	c, err := net.Dial("tcp", e.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(post("/v1/events", writer, "Content-Length: 0", ""))); err != nil {
		t.Fatal(err)
	}
	<-entered
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := e.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
}

func TestAStopAtAnyMomentOfTheStartEndsTheServer(t *testing.T) {
	t.Parallel()
	for i := range 50 {
		s, err := New(Deps{Tokens: callers{}, Registry: newRegistry(), Tracer: noop.NewTracerProvider().Tracer(""), Log: slog.New(slog.DiscardHandler), Health: fixedHealth{}})
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		begin := make(chan struct{})
		go func() { <-begin; ended <- s.Listen(ln) }()
		close(begin)
		for range i * 20 {
			runtime.Gosched()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-ctx.Done():
			t.Fatal("the server goes on")
		}
		cancel()
	}
}

func TestALabelOutlivesTheBufferItsRequestWasReadInto(t *testing.T) {
	t.Parallel()
	buffer := []byte("POST")
	label := methodLabel(unsafe.String(&buffer[0], len(buffer)))
	copy(buffer, "GET ")
	if label != "POST" {
		t.Errorf("the label became %q", label)
	}
	// The same over the wire: requests of other methods on one connection.
	e := start(t)
	_, c := e.raw(lines("POST /nothing HTTP/1.1", "Host: events.example.com", ""))
	r := bufio.NewReader(c)
	for _, method := range []string{"PUT", "BREW", "OPTIONS", "GET"} {
		if _, err := c.Write([]byte(lines(method+" /v1/nothing HTTP/1.1", "Host: events.example.com", ""))); err != nil {
			t.Fatal(err)
		}
		e.next(r)
	}
	if n := e.metric("oriel_http_requests_total", map[string]string{"method": "POST"}); n != 1 {
		t.Errorf("POST was counted %v times", n)
	}
}
