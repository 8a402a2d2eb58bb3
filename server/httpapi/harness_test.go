package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"oriel/server/auth"
	"oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/fault"
	"oriel/server/ingest"
	"oriel/server/search"
	"oriel/server/spa"
	"oriel/server/telemetry"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, append(dbtest.IgnoreServers(),
		// Both end by themselves some seconds after their server, or never: they belong to fasthttp.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))...,
	)
}

const (
	writer = "orl_writer"
	reader = "orl_reader"
	nobody = "orl_nobody"
	keeper = "orl_keeper" // reads and writes what admins do
)

// callers are tokens by their text; the database is away for the one that is not in it.
type callers struct{}

func (callers) Verify(_ context.Context, bearer string) (*auth.Principal, error) {
	switch bearer {
	case writer:
		return &auth.Principal{Kind: auth.KindToken, ID: "tokens/1", Name: "writer", Scopes: []string{auth.ScopeEventsWrite}, SourcePrefixes: []string{"urn:home:"}}, nil
	case reader:
		return &auth.Principal{Kind: auth.KindToken, ID: "tokens/2", Name: "reader", Scopes: []string{auth.ScopeEventsRead}}, nil
	case keeper:
		return &auth.Principal{Kind: auth.KindToken, ID: "tokens/4", Name: "keeper", Scopes: []string{auth.ScopeAdminRead, auth.ScopeAdminWrite}}, nil
	case nobody:
		return &auth.Principal{Kind: auth.KindToken, ID: "tokens/3", Name: "nobody"}, nil
	case "orl_away":
		e := fault.Wrap(io.ErrUnexpectedEOF, fault.Unavailable, fault.ReasonDatabaseUnavailable, "The token cannot be checked: the database does not answer.")
		e.RetryAfter = 1500 * time.Millisecond
		return nil, e
	}
	return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid, "The bearer token is not known.")
}

// recorder keeps every request that reached publishing and answers as told.
type recorder struct {
	mu       sync.Mutex
	requests []*ingest.Request
	contexts []context.Context
	answer   func(*ingest.Request) (*ingest.Response, error)
}

func (r *recorder) Publish(ctx context.Context, req *ingest.Request) (*ingest.Response, error) {
	r.mu.Lock()
	r.requests, r.contexts = append(r.requests, req), append(r.contexts, ctx)
	r.mu.Unlock()
	if r.answer != nil {
		return r.answer(req)
	}
	return &ingest.Response{Results: []ingest.Result{{Published: accepted("1")}}}, nil
}

func (r *recorder) all() []*ingest.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*ingest.Request(nil), r.requests...)
}

func accepted(id string) *ingest.Published {
	return &ingest.Published{
		Event: &cloudevents.Event{
			ID: id, Source: "urn:home:1", Type: "door.opened", Subject: "door/1", TimeText: "2026-11-30T10:00:00Z",
			Extensions: []cloudevents.Extension{{Name: "floor", Type: cloudevents.Integer, Value: "2"}},
		},
		PartitionKey: "urn:home:1#door/1", Topic: "events", Partition: 3, Offset: 9007199254740993,
	}
}

// shelf answers searches as told and keeps what it was asked.
type shelf struct {
	list     func(url.Values) (*search.Page, error)
	snapshot func(url.Values) (*search.Snapshot, error)
	get      func(name string, params url.Values) (*search.Detail, error)
	asked    func(what string, params url.Values)
	answers  answers
}

func (s *shelf) List(_ context.Context, params url.Values) (*search.Page, error) {
	return s.list(params)
}

func (s *shelf) Snapshot(_ context.Context, params url.Values) (*search.Snapshot, error) {
	return s.snapshot(params)
}

func (s *shelf) Get(_ context.Context, name string, params url.Values) (*search.Detail, error) {
	return s.get(name, params)
}

func (s *shelf) Count(_ context.Context, params url.Values) (*search.Count, error) {
	s.asked("count", params)
	return s.answers.count, nil
}

func (s *shelf) Facets(_ context.Context, params url.Values) (*search.Facets, error) {
	s.asked("facets", params)
	return s.answers.facets, nil
}

func (s *shelf) Histogram(_ context.Context, params url.Values) (*search.Histogram, error) {
	s.asked("histogram", params)
	return s.answers.histogram, nil
}

func (s *shelf) Fields(_ context.Context, params url.Values) (*search.Fields, error) {
	s.asked("fields", params)
	return s.answers.fields, nil
}

func (s *shelf) Suggest(_ context.Context, params url.Values) (*search.Suggestions, error) {
	s.asked("suggest", params)
	return s.answers.suggestions, nil
}

func (s *shelf) Context(_ context.Context, name string, params url.Values) (*search.Neighbours, error) {
	s.asked("context of "+name, params)
	return s.answers.neighbours, nil
}

func (s *shelf) Export(context.Context, url.Values) (*search.Export, error) {
	return nil, fault.New(fault.Unavailable, fault.ReasonSearchBusy, "Nothing is exported from a shelf.")
}

// answers are what a shelf has of everything but lists.
type answers struct {
	count       *search.Count
	facets      *search.Facets
	histogram   *search.Histogram
	fields      *search.Fields
	suggestions *search.Suggestions
	neighbours  *search.Neighbours
}

func emptyShelf() *shelf {
	return &shelf{
		asked: func(string, url.Values) {},
		answers: answers{
			&search.Count{}, &search.Facets{}, &search.Histogram{}, &search.Fields{}, &search.Suggestions{}, &search.Neighbours{},
		},
		list: func(url.Values) (*search.Page, error) { return &search.Page{Snapshot: "s"}, nil },
		snapshot: func(url.Values) (*search.Snapshot, error) {
			return &search.Snapshot{Token: "s"}, nil
		},
		get: func(string, url.Values) (*search.Detail, error) {
			return nil, fault.New(fault.NotFound, fault.ReasonNotFound, "There is no such event.")
		},
	}
}

type fixedHealth struct{ r telemetry.Readiness }

func (h fixedHealth) Readiness() telemetry.Readiness { return h.r }

// edge is a server on a real socket, with doubles behind it.
type edge struct {
	*Server
	t         *testing.T
	addr      string
	publisher *recorder
	shelf     *shelf
	registry  *prometheus.Registry
	log       *syncBuffer
	stopped   chan error
}

func start(t *testing.T, change ...func(*Deps)) *edge {
	t.Helper()
	app, err := spa.New(fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html><head><title>Oriel</title>")}, "assets/app-1.js": {Data: []byte("app()")},
	}, spa.Config{Report: ReportPath})
	if err != nil {
		t.Fatal(err)
	}
	e := &edge{t: t, publisher: &recorder{}, shelf: emptyShelf(), registry: prometheus.NewRegistry(), log: &syncBuffer{}, stopped: make(chan error, 1)}
	deps := Deps{
		Config:    Config{PublicURL: "https://events.example.com", Version: "1.2.3", Topic: "events"},
		Publisher: e.publisher, Search: e.shelf, SPA: app.Handle, Tokens: callers{},
		Health: fixedHealth{telemetry.Readiness{Ready: true, Checks: []telemetry.CheckState{{Name: "postgres", OK: true}}}},
		Tracer: noop.NewTracerProvider().Tracer("test"),
		Log:    slog.New(slog.NewJSONHandler(e.log, nil)), Registry: e.registry,
	}
	for _, f := range change {
		f(&deps)
	}
	e.Server, err = New(deps)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.addr = ln.Addr().String()
	go func() { e.stopped <- e.Listen(ln) }()
	t.Cleanup(e.stop)
	// Accepting is not yet serving: wait until something is answered.
	if resp := e.do(e.request("GET", "/health/live", "")); resp.StatusCode != http.StatusOK {
		t.Fatalf("live answers %d", resp.StatusCode)
	}
	return e
}

func newRegistry() *prometheus.Registry { return prometheus.NewRegistry() }

func demo(d *Deps) { d.Config.Demo, d.Config.PublicURL = true, "" }

func (e *edge) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := e.Shutdown(ctx); err != nil {
		e.t.Errorf("shutdown: %v", err)
	}
	select {
	case err := <-e.stopped:
		if err != nil {
			e.t.Errorf("listen: %v", err)
		}
	case <-ctx.Done():
		e.t.Error("the server does not stop")
	}
}

func (e *edge) request(method, path, token string, header ...string) *http.Request {
	e.t.Helper()
	req, err := http.NewRequest(method, "http://"+e.addr+path, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

type reply struct {
	*http.Response
	body []byte
}

func (e *edge) do(req *http.Request) reply {
	e.t.Helper()
	tr := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	defer tr.CloseIdleConnections()
	client := http.Client{Transport: tr, Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		e.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatalf("%s %s: %v", req.Method, req.URL, err)
	}
	return reply{resp, body}
}

// raw sends bytes as they are and reads one answer; the connection is then returned for more.
func (e *edge) raw(text string) (reply, net.Conn) {
	e.t.Helper()
	c, err := net.Dial("tcp", e.addr)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, text); err != nil {
		e.t.Fatal(err)
	}
	return e.next(bufio.NewReader(c)), c
}

func (e *edge) next(r *bufio.Reader) reply {
	e.t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		e.t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return reply{resp, body}
}

// failure reads the answer as an error and checks what every error has.
func (r reply) failure(t *testing.T, code int, reason string) Error {
	t.Helper()
	var out ErrorResponse
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%d %q is no error envelope: %v", r.StatusCode, r.body, err)
	}
	if r.StatusCode != code || int(out.Error.Code) != code || len(out.Error.Details) == 0 || out.Error.Details[0].Reason != reason {
		t.Fatalf("got %d %s, want %d %s", r.StatusCode, r.body, code, reason)
	}
	if id := r.Header.Get("X-Request-Id"); id != out.Error.RequestId || !strings.HasPrefix(id, "req_") {
		t.Fatalf("request id %q in the header, %q in the body", id, out.Error.RequestId)
	}
	return out.Error
}

func (e *edge) metric(name string, labels map[string]string) float64 {
	e.t.Helper()
	families, err := e.registry.Gather()
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	series:
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if want, ok := labels[l.GetName()]; ok && want != l.GetValue() {
					continue series
				}
			}
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return 0
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	want, err := os.ReadFile(path)
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s (UPDATE_GOLDEN=1 rewrites it)\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func indented(t *testing.T, body []byte, requestID string) []byte {
	t.Helper()
	if requestID != "" {
		body = bytes.ReplaceAll(body, []byte(requestID), []byte("req_…"))
	}
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return append(out.Bytes(), '\n')
}

func lines(parts ...string) string { return strings.Join(parts, "\r\n") + "\r\n" }

func post(path, token string, header ...string) string {
	return lines(append([]string{fmt.Sprintf("POST %s HTTP/1.1", path), "Host: localhost", "Authorization: Bearer " + token}, header...)...)
}

func traceIDOf(ctx context.Context) string {
	return trace.SpanContextFromContext(ctx).TraceID().String()
}
