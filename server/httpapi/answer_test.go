package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/cloudevents"
	"oriel/server/fault"
	"oriel/server/ingest"
)

func TestErrorEnvelopes(t *testing.T) {
	t.Parallel()
	unknown := fault.Wrap(errors.New("dial tcp 10.0.0.3:9092: i/o timeout"), fault.Unavailable, fault.ReasonOutcomeUnknown,
		"The broker did not answer in time: it is not known whether the event was published.")
	unknown.Unknown, unknown.RetryAfter = true, 1200*time.Millisecond
	for name, c := range map[string]struct {
		golden string
		err    error
		code   int
		retry  string
	}{
		"several things wrong with one event": {"error_violations.json", fault.Many(fault.InvalidArgument, []fault.Violation{
			{Reason: fault.ReasonMissingAttribute, Message: "time is missing.", Metadata: fault.Pairs("attribute", "time", "accepted", "RFC 3339")},
			{Reason: fault.ReasonAttributeTooLong, Message: "subject is too long.", Metadata: fault.Pairs("attribute", "subject", "limit", "1024")},
			{Reason: fault.ReasonMalformedJSON, Message: "<b>no</b> metadata"},
		}), 400, ""},
		"an outcome that nobody knows":           {"error_unknown.json", unknown, 503, "2"},
		"an error that was not meant for anyone": {"error_internal.json", errors.New("pq: password=hunter2"), 500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.publisher.answer = func(*ingest.Request) (*ingest.Response, error) { return nil, c.err }
			r := e.do(e.request("POST", "/v1/events", writer))
			if r.StatusCode != c.code || r.Header.Get("Retry-After") != c.retry || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("got %d %v", r.StatusCode, r.Header)
			}
			golden(t, c.golden, indented(t, r.body, r.Header.Get("X-Request-Id")))
			logged := strings.Contains(e.log.String(), r.Header.Get("X-Request-Id")) && strings.Contains(e.log.String(), c.err.Error())
			if logged != (c.code >= 500) {
				t.Errorf("logged: %v, %s", logged, e.log)
			}
		})
	}
}

func TestAPanicIsAnInternalErrorAndTheServerGoesOn(t *testing.T) {
	t.Parallel()
	e := start(t)
	e.publisher.answer = func(*ingest.Request) (*ingest.Response, error) { panic("broken invariant") }
	e.do(e.request("POST", "/v1/events", writer)).failure(t, 500, fault.ReasonInternal)
	if !strings.Contains(e.log.String(), "broken invariant") || !strings.Contains(e.log.String(), "answer_test.go") {
		t.Errorf("the log has not where: %s", e.log)
	}
	if r := e.do(e.request("GET", "/v1/session", reader)); r.StatusCode != http.StatusOK {
		t.Errorf("afterwards %d", r.StatusCode)
	}
}

func TestNothingOfAHalfMadeAnswerIsLeftInAnError(t *testing.T) {
	t.Parallel()
	e := start(t, func(d *Deps) {
		d.SPA = func(c *fiber.Ctx) error {
			c.Set("Content-Encoding", "br")
			c.Set("Cache-Control", "public, max-age=31536000, immutable")
			_ = c.SendString("half")
			return errors.New("and then the disk was gone")
		}
	})
	r := e.do(e.request("GET", "/", reader))
	r.failure(t, 500, fault.ReasonInternal)
	if r.Header.Get("Content-Encoding") != "" || r.Header.Get("Cache-Control") != "" {
		t.Errorf("left over: %v", r.Header)
	}
}

func TestPublishingAnswers(t *testing.T) {
	t.Parallel()
	bad := fault.New(fault.InvalidArgument, fault.ReasonMissingAttribute, "time is missing.", "attribute", "time")
	full := fault.New(fault.Unavailable, fault.ReasonQueueFull, "Too many events wait.")
	checked := accepted("3")
	checked.Offset = -1
	for name, c := range map[string]struct {
		path, golden string
		resp         *ingest.Response
		err          error
		code         int
		batchOnly    bool
		validateOnly bool
	}{
		"an event":                   {"/v1/events", "published.json", &ingest.Response{Results: []ingest.Result{{Published: accepted("1")}}}, nil, 200, false, false},
		"a batch that went well":     {"/v1/events", "batch.json", &ingest.Response{Batch: true, Results: []ingest.Result{{Published: accepted("1")}, {Published: accepted("2")}}}, nil, 200, false, false},
		"a batch with refusals":      {"/v1/events:batchCreate", "batch_partial.json", &ingest.Response{Batch: true, Results: []ingest.Result{{Published: accepted("1")}, {Err: bad}, {Err: full}}}, nil, 207, true, false},
		"an empty batch":             {"/v1/events:batchCreate", "batch_empty.json", &ingest.Response{Batch: true}, nil, 200, true, false},
		"a valid event, not sent":    {"/v1/events:validate", "validated.json", &ingest.Response{Results: []ingest.Result{{Published: checked}}}, nil, 200, false, true},
		"an invalid event, not sent": {"/v1/events:validate", "invalid.json", nil, bad, 200, false, true},
		"a mixed batch, not sent":    {"/v1/events:validate", "validated_batch.json", &ingest.Response{Batch: true, Results: []ingest.Result{{Published: checked}, {Err: bad}}}, nil, 200, false, true},
		"no event, so not validated": {"/v1/events:validate", "validate_mode.json", nil, fault.New(fault.UnsupportedMedia, fault.ReasonUnsupportedContentMode, "Not an event."), 415, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			e.publisher.answer = func(*ingest.Request) (*ingest.Response, error) { return c.resp, c.err }
			r := e.do(e.request("POST", c.path, writer))
			if r.StatusCode != c.code {
				t.Errorf("got %d, want %d", r.StatusCode, c.code)
			}
			golden(t, c.golden, indented(t, r.body, r.Header.Get("X-Request-Id")))
			if got := e.publisher.all()[0]; got.BatchOnly != c.batchOnly || got.ValidateOnly != c.validateOnly {
				t.Errorf("asked for %+v", got)
			}
		})
	}
}

func TestAnOutageDoesNotFloodTheLog(t *testing.T) {
	t.Parallel()
	var s sayer
	for i := range 25 {
		if _, ok := s.turn(1); ok != (i < 10) {
			t.Fatalf("line %d: %v", i, ok)
		}
	}
	if silent, ok := s.turn(2); !ok || silent != 15 {
		t.Errorf("the next second says %v and that %d were left out", ok, silent)
	}
	if silent, ok := s.turn(2); !ok || silent != 0 {
		t.Errorf("then %v, %d", ok, silent)
	}
}

func TestEveryAnswerHasItsOwnRequestIDAndTheBaseHeaders(t *testing.T) {
	t.Parallel()
	e := start(t)
	seen := map[string]bool{}
	for _, r := range []reply{
		e.do(e.request("GET", "/v1/session", reader, "X-Request-Id", "req_mine")),
		e.do(e.request("GET", "/v1/nothing", reader)),
		e.do(e.request("GET", "/", reader)),
		e.do(e.request("GET", "/health/live", "")),
		e.do(e.request("GET", "/metrics", "")),
		e.do(e.request("BREW", "/", reader)),
		e.do(e.request("POST", "/v1/events", writer)),
	} {
		id := r.Header.Get("X-Request-Id")
		if !strings.HasPrefix(id, "req_") || id == "req_mine" || seen[id] {
			t.Errorf("request id %q", id)
		}
		seen[id] = true
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if csp := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("policy %q", csp)
		}
		if r.Header.Get("Server") != "" {
			t.Errorf("it names itself %q", r.Header.Get("Server"))
		}
	}
}

func TestRequestsAreMeasuredByPatternNotByPath(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, id := range []string{"a:1", "a:2", "b%2Fc:3"} {
		e.do(e.request("GET", "/v1/events/"+id, reader)).failure(t, 404, fault.ReasonNotFound)
	}
	if n := e.metric("oriel_http_requests_total", map[string]string{"route": "/v1/events/:event", "method": "GET", "class": "4xx"}); n != 3 {
		t.Errorf("counted %v", n)
	}
	e.do(e.request("BREW", "/x", reader))
	if n := e.metric("oriel_http_requests_total", map[string]string{"route": "none", "method": "other", "class": "4xx"}); n != 1 {
		t.Errorf("an unknown method counted %v", n)
	}
	r := e.do(e.request("GET", "/metrics", ""))
	if !strings.Contains(string(r.body), `oriel_http_errors_total{reason="NOT_FOUND"} 3`) {
		t.Errorf("the scrape says\n%s", r.body)
	}
}

func extensionsOf() []cloudevents.Extension {
	return []cloudevents.Extension{
		{Name: "flag", Type: cloudevents.Boolean, Value: "true"}, {Name: "n", Type: cloudevents.Integer, Value: "7"}, {Name: "s", Value: "x"},
	}
}
