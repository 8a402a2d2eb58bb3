package httpapi

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/fault"
)

type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	inFlight prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_http_requests_total", Help: "Requests answered, by route pattern, method and class of status.",
		}, []string{"route", "method", "class"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "oriel_http_request_duration_seconds", Help: "From the parsed header block to the answer, by route pattern.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_http_errors_total", Help: "Error answers, by their first reason; BODY_TOO_LARGE is 413, HEADERS_TOO_LARGE 431.",
		}, []string{"reason"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "oriel_http_requests_in_flight", Help: "Requests being answered."}),
	}
	for _, reason := range []string{fault.ReasonBodyTooLarge, fault.ReasonHeadersTooLarge, fault.ReasonInternal} {
		m.errors.WithLabelValues(reason)
	}
	reg.MustRegister(m.requests, m.duration, m.errors, m.inFlight)
	return m
}

func (m *metrics) failed(e *fault.Error) { m.errors.WithLabelValues(e.Violations[0].Reason).Inc() }

func (m *metrics) answered(call *call, method string, status int) {
	label := routeLabel(call)
	m.requests.WithLabelValues(label, method, strconv.Itoa(status/100)+"xx").Inc()
	m.duration.WithLabelValues(label).Observe(time.Since(call.started).Seconds())
}

// routeLabel never holds a path: those are endless.
func routeLabel(call *call) string {
	if call.route == nil {
		return "none"
	}
	return strings.ReplaceAll(call.route.pattern, `\`, "")
}

// methodLabel gives a constant, never the text it was asked about: that lies in the framework's buffer and
// turns into another request's method, while a series keeps its labels for good.
func methodLabel(method string) string {
	for _, known := range [...]string{
		fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete, fiber.MethodOptions,
	} {
		if method == known {
			return known
		}
	}
	return "other"
}

// sayer logs answers of 500 and above, and sign-ins that failed, with their cause. An outage answers
// thousands of 503 a second alike: of what is no fault of ours it logs ten a second and how many it left out.
type sayer struct {
	log *slog.Logger

	mu     sync.Mutex
	second int64
	said   int
	silent int
}

func (s *sayer) say(ctx context.Context, call *call, method string, public *fault.Error, cause error) {
	level, silent := slog.LevelError, 0
	if public.Kind != fault.Internal {
		level = slog.LevelWarn
		var ok bool
		if silent, ok = s.turn(time.Now().Unix()); !ok {
			return
		}
	}
	s.log.Log(ctx, level, "request failed", "request_id", call.id, "address", call.address.String(), "route", routeLabel(call), "method", methodLabel(method),
		"code", public.Kind.Code(), "reason", public.Violations[0].Reason, "error", cause, "left_out", silent)
}

// turn tells whether a line may be written now, and how many were not since the last one.
func (s *sayer) turn(second int64) (silent int, ok bool) {
	const most = 10
	s.mu.Lock()
	defer s.mu.Unlock()
	if second != s.second {
		s.second, s.said = second, 0
	}
	if s.said++; s.said > most {
		s.silent++
		return 0, false
	}
	silent, s.silent = s.silent, 0
	return silent, true
}
