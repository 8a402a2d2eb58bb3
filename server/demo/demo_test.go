package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/server/cloudevents"
)

// base is an instant that every test starts from.
var base = time.Date(2026, 3, 29, 11, 0, 0, 0, time.UTC)

const limit = 20 * time.Second

// server takes what the demo posts, decodes it as the real one would and remembers it.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	events []*cloudevents.Event
	wrong  []string
	refuse func(n int) (status int) // 0: accept
	posts  int
}

func newServer(t *testing.T, refuse func(n int) int) *server {
	t.Helper()
	s := &server{refuse: refuse}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts++
	if s.refuse != nil {
		if status := s.refuse(s.posts); status != 0 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(status)
			return
		}
	}
	if err != nil || r.Header.Get("Authorization") != "Bearer orl_x" || r.URL.Path != "/v1/events" {
		s.wrong = append(s.wrong, r.URL.Path)
	}
	events, err := decode(r, body)
	if err != nil {
		s.wrong = append(s.wrong, err.Error())
	}
	s.events = append(s.events, events...)
}

func decode(r *http.Request, body []byte) ([]*cloudevents.Event, error) {
	contentType := r.Header.Get("Content-Type")
	mode, _ := cloudevents.ContentMode(contentType, r.Header.Get("ce-specversion") != "")
	switch mode {
	case cloudevents.Batch:
		elements, err := cloudevents.DecodeBatch(contentType, body)
		var events []*cloudevents.Event
		for _, el := range elements {
			if el.Err != nil {
				return nil, el.Err
			}
			events = append(events, el.Event)
		}
		return events, err
	case cloudevents.Structured:
		e, err := cloudevents.DecodeStructured(contentType, body)
		return []*cloudevents.Event{e}, err
	default:
		var headers []cloudevents.Header
		for k, vs := range r.Header {
			for _, v := range vs {
				headers = append(headers, cloudevents.Header{Key: k, Value: []byte(v)})
			}
		}
		e, err := cloudevents.DecodeBinary(headers, body)
		return []*cloudevents.Event{e}, err
	}
}

func (s *server) seen() ([]*cloudevents.Event, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*cloudevents.Event(nil), s.events...), append([]string(nil), s.wrong...)
}

func (s *server) config(marker string) Config {
	return Config{
		BaseURL: s.URL, Token: "orl_x", Marker: marker, Rate: 500, Seed: 7,
		Now: func() time.Time { return base }, Log: slog.New(slog.DiscardHandler),
	}
}

// run runs the demo until the condition holds on what the server has seen.
func run(t *testing.T, s *server, cfg Config, enough func(events []*cloudevents.Event) bool) []*cloudevents.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- Run(ctx, cfg) }()
	for {
		events, wrong := s.seen()
		if len(wrong) > 0 {
			t.Fatalf("the server was sent: %v", wrong)
		}
		if enough(events) {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("only %d events came", len(events))
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("run: %v", err)
		}
	case <-time.After(limit):
		t.Fatal("run does not end with its context")
	}
	events, _ := s.seen()
	return events
}

func writeWebhooks(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "api.github.com"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := `[
  {"name": "push", "description": "d", "actions": [], "examples": [{"ref": "refs/heads/main",  "repository": {"full_name": "octokit/webhooks"}, "sender": {"login": "anna"}}]},
  {"name": "issues", "actions": ["opened"], "examples": [{"action": "opened", "organization": {"login": "octo"}}, {"action":"closed","issue":{"id":9007199254740993}}]}
]`
	if err := os.WriteFile(filepath.Join(dir, "api.github.com", "index.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheHistoryIsSentOnceAndTrafficGoesOn(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	cfg := s.config(filepath.Join(t.TempDir(), "history"))
	cfg.WebhooksDir = writeWebhooks(t)
	hooks, err := loadWebhooks(cfg.WebhooksDir)
	if err != nil {
		t.Fatal(err)
	}
	past := makeHistory(cfg.Seed, base, hooks)
	total := len(past.fleet) + len(past.single)

	first := run(t, s, cfg, func(e []*cloudevents.Event) bool { return len(e) > total+200 })
	for i, want := range append(append([]*cloudevents.Event{}, past.fleet...), past.single...) {
		got := first[i]
		if got.ID != want.ID || got.Source != want.Source || got.Subject != want.Subject || got.TimeText != want.TimeText ||
			!bytes.Equal(got.Data, want.Data) || got.DataContentType != want.DataContentType {
			t.Fatalf("event %d arrived as %+v, was %+v", i, got, want)
		}
	}
	again := newServer(t, nil)
	cfg.BaseURL = again.URL
	cfg.Now = func() time.Time { return base.Add(time.Hour) }
	second := run(t, again, cfg, func(e []*cloudevents.Event) bool { return len(e) > 200 })
	known := map[string]bool{}
	for _, e := range first {
		known[e.ID] = true
	}
	for _, e := range second {
		if known[e.ID] {
			t.Fatalf("%s was sent again after a restart", e.ID)
		}
	}
}

func TestAnInterruptedHistoryIsMadeAgainAsItWas(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "history")
	s := newServer(t, nil)
	first := run(t, s, s.config(marker), func(e []*cloudevents.Event) bool { return len(e) >= batchEvents })
	if m, err := readMark(marker); err != nil || m.Done || !m.Base.Equal(base) {
		// The whole history may have gone through in that time; then the mark must say so.
		if err != nil || !m.Done {
			t.Fatalf("marker %+v, %v", m, err)
		}
		if err := writeMark(marker, mark{Base: base, Seed: 7}); err != nil {
			t.Fatal(err)
		}
	}
	again := newServer(t, nil)
	cfg := again.config(marker)
	cfg.Now = func() time.Time { return base.Add(48 * time.Hour) }
	second := run(t, again, cfg, func(e []*cloudevents.Event) bool { return len(e) >= batchEvents })
	for i := range batchEvents {
		if first[i].ID != second[i].ID || first[i].TimeText != second[i].TimeText || !bytes.Equal(first[i].Data, second[i].Data) {
			t.Fatalf("event %d was %+v and became %+v", i, first[i], second[i])
		}
	}
}

func TestAnEventIsSentUntilTheServerTakesIt(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(n int) int {
		return []int{0, 503, 500, 429, 401, 0}[min(n, 5)]
	})
	sender := newSender(s.config(""))
	e := made(base, time.UTC, "/s", "t", "1")
	if err := sender.send(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if events, _ := s.seen(); len(events) != 1 || s.posts != 5 {
		t.Fatalf("%d events after %d posts", len(events), s.posts)
	}
}

func TestARefusedEventIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(int) int { return 400 })
	var log bytes.Buffer
	cfg := s.config("")
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	if err := newSender(cfg).send(t.Context(), made(base, time.UTC, "/s", "t", "1")); err != nil {
		t.Fatal(err)
	}
	if s.posts != 1 || !strings.Contains(log.String(), "server answered 400") {
		t.Fatalf("%d posts, log %s", s.posts, log.String())
	}
}

func TestAServerThatIsAwayIsWaitedForUntilTheEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	cfg := s.config(filepath.Join(t.TempDir(), "history"))
	s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := Run(ctx, cfg); err != nil {
		t.Fatalf("run: %v", err)
	}
}

func TestWithoutTheWebhooksTheFleetsGoOn(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	cfg := s.config(filepath.Join(t.TempDir(), "history"))
	var mu sync.Mutex
	var log bytes.Buffer
	cfg.Log = slog.New(slog.NewJSONHandler(writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(b)
	}), nil))
	cfg.WebhooksDir = filepath.Join(t.TempDir(), "nowhere")
	run(t, s, cfg, func(e []*cloudevents.Event) bool { return len(e) > 100 })
	mu.Lock()
	defer mu.Unlock()
	var line struct{ Level, Msg, Folder string }
	if err := json.NewDecoder(&log).Decode(&line); err != nil || line.Level != "WARN" ||
		!strings.Contains(line.Msg, "npm install @octokit/webhooks-examples") || line.Folder != cfg.WebhooksDir {
		t.Fatalf("logged %+v, %v", line, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
