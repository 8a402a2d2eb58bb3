// Package telemetry is how the process is watched: JSON logs with trace ids, the metrics registry,
// traces by the standard OTEL_* variables, and health. Everything is made and passed on, nothing is
// global. It knows no feature and no HTTP framework.
package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// NewLogger writes one JSON object a line; a line logged with a context that carries a span has its
// trace_id and span_id.
func NewLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(tracedHandler{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

// ParseLevel reads debug, info, warn or error.
func ParseLevel(text string) (slog.Level, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return l, fmt.Errorf("log level %q: accepted are debug, info, warn and error", text)
	}
	return l, nil
}

type tracedHandler struct{ slog.Handler }

func (h tracedHandler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h tracedHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tracedHandler{h.Handler.WithAttrs(attrs)}
}

func (h tracedHandler) WithGroup(name string) slog.Handler {
	return tracedHandler{h.Handler.WithGroup(name)}
}
