package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"oriel/server/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func withParent(ctx context.Context) context.Context {
	return Propagator().Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}

func TestALogLineKnowsItsTrace(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := NewLogger(&out, slog.LevelInfo).With("component", "x")
	log.DebugContext(t.Context(), "below the level")
	log.InfoContext(withParent(t.Context()), "traced", "n", 1)
	log.InfoContext(t.Context(), "alone")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %q", out.String())
	}
	var traced, alone map[string]any
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &traced), json.Unmarshal([]byte(lines[1]), &alone)); err != nil {
		t.Fatal(err)
	}
	if traced["trace_id"] != "0af7651916cd43dd8448eb211c80319c" || traced["span_id"] != "b7ad6b7169203331" || traced["component"] != "x" {
		t.Errorf("got %v", traced)
	}
	if _, has := alone["trace_id"]; has {
		t.Errorf("got %v", alone)
	}
}

func TestLevelsByName(t *testing.T) {
	t.Parallel()
	if l, err := ParseLevel("warn"); err != nil || l != slog.LevelWarn {
		t.Errorf("got %v, %v", l, err)
	}
	if _, err := ParseLevel("loud"); err == nil || !strings.Contains(err.Error(), "debug, info, warn and error") {
		t.Errorf("got %v", err)
	}
}

func TestAScrapeSaysWhatRuns(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	MetricsHandler(NewRegistry("1.2.3")).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{`version="1.2.3"`, "go_goroutines", "process_open_fds"} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestWithoutAnEndpointAProducersTraceIsPassedOn(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"nothing set": {},
		"disabled":    {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"no exporter": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := NewTracing(t.Context(), "1", func(k string) string { return env[k] })
			if err != nil {
				t.Fatal(err)
			}
			ctx, span := tr.Tracer("x").Start(withParent(t.Context()), "publish")
			defer span.End()
			got := propagation.MapCarrier{}
			Propagator().Inject(ctx, got)
			if span.IsRecording() || got["traceparent"] != parent {
				t.Errorf("recording %v, passes on %v", span.IsRecording(), got)
			}
			if err := tr.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// The exporter reads the environment itself, so this test sets it and is not parallel.
func TestWithAnEndpointSpansContinueTheProducersTraceAndAreExported(t *testing.T) {
	var exported atomic.Pointer[string]
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s := r.URL.Path + string(body)
		exported.Store(&s)
		w.WriteHeader(http.StatusOK)
	}))
	defer collector.Close()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
	for k, v := range env {
		t.Setenv(k, v)
	}
	tr, err := NewTracing(t.Context(), "1", func(k string) string { return env[k] })
	if err != nil {
		t.Fatal(err)
	}
	_, span := tr.Tracer("x").Start(withParent(t.Context()), "publish", trace.WithSpanKind(trace.SpanKindServer))
	if id := span.SpanContext().TraceID().String(); id != "0af7651916cd43dd8448eb211c80319c" || !span.IsRecording() {
		t.Errorf("trace %s, recording %v", id, span.IsRecording())
	}
	span.End()
	if err := tr.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := exported.Load(); got == nil || !strings.HasPrefix(*got, "/v1/traces") || !strings.Contains(*got, "publish") || !strings.Contains(*got, "oriel") {
		t.Errorf("exported %v", got)
	}
}

func TestAProtocolThatIsNotSpokenIsRefused(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
	if _, err := NewTracing(t.Context(), "1", func(k string) string { return env[k] }); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("got %v", err)
	}
}

func TestReadinessFollowsTheProbes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Pointer[error]
		reg := prometheus.NewRegistry()
		var out bytes.Buffer
		h := NewHealth(DefaultProbeBounds(), NewLogger(&out, slog.LevelInfo), reg)
		h.Register("postgres", func(context.Context) error {
			if err := broken.Load(); err != nil {
				return *err
			}
			return nil
		})
		hang, release := make(chan struct{}), make(chan struct{})
		h.Register("broker", func(ctx context.Context) error {
			select {
			case <-hang: // a probe that ignores its deadline
				<-release
			default:
			}
			return nil
		})
		if r := h.Readiness(); r.Ready || r.Checks[0].Name != "broker" || r.Checks[0].Detail != "Not checked yet." {
			t.Errorf("before the first probe: %+v", r)
		}
		h.Start()
		synctest.Wait()
		if r := h.Readiness(); !r.Ready || len(r.Checks) != 2 {
			t.Errorf("all well: %+v", r)
		}
		if v := testutil.CollectAndCount(h.up); v != 2 {
			t.Errorf("%d checks measured", v)
		}

		secret := errors.New("connect to user=oriel: refused")
		broken.Store(&secret)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if r := h.Readiness(); r.Ready || r.Checks[1].OK || strings.Contains(r.Checks[1].Detail, "oriel") {
			t.Errorf("an unmarked error: %+v", r)
		}
		if !strings.Contains(out.String(), "user=oriel") {
			t.Errorf("the log has no cause: %s", out.String())
		}
		public := error(fault.Wrap(secret, fault.Unavailable, fault.ReasonDatabaseUnavailable, "PostgreSQL does not answer."))
		broken.Store(&public)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if r := h.Readiness(); r.Checks[1].Detail != "PostgreSQL does not answer." || time.Since(r.Checks[1].Since) != 2*time.Second {
			t.Errorf("a marked error: %+v", r)
		}
		broken.Store(nil)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if r := h.Readiness(); !r.Ready {
			t.Errorf("recovered: %+v", r)
		}

		close(hang)
		time.Sleep(11 * time.Second)
		if r := h.Readiness(); r.Ready || r.Checks[0].OK || !strings.Contains(r.Checks[0].Detail, "not answer") {
			t.Errorf("a probe that hangs: %+v", r)
		}
		close(release)
		h.Stop()
	})
}

func TestDrainingIsNotReadyAndStoppingTwiceIsFine(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	h := NewHealth(DefaultProbeBounds(), slog.New(slog.DiscardHandler), reg)
	if !h.Readiness().Ready {
		t.Error("nothing to check is not ready")
	}
	h.Start()
	h.SetDraining()
	if r := h.Readiness(); r.Ready || !r.Draining {
		t.Errorf("draining: %+v", r)
	}
	if err := testutil.GatherAndCompare(reg, strings.NewReader("# HELP oriel_ready 1 where /health/ready answers 200, else 0.\n# TYPE oriel_ready gauge\noriel_ready 0\n"), "oriel_ready"); err != nil {
		t.Error(err)
	}
	h.Stop()
	h.Stop()
}
