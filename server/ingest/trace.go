package ingest

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const (
	traceParent = "traceparent"
	traceState  = "tracestate"
)

// sent is the trace context of the producer's own headers; what is not valid is left out.
type sent struct{ parent, state string }

func (s sent) Get(key string) string {
	switch key {
	case traceParent:
		return s.parent
	case traceState:
		return s.state
	}
	return ""
}

func (sent) Set(string, string) {}

func (sent) Keys() []string { return []string{traceParent, traceState} }

// recordHeaders carries a trace context in a record's headers. They are transport, beside the event:
// a traceparent that is an attribute of the event is ce_traceparent.
type recordHeaders struct{ record *kgo.Record }

func (recordHeaders) Get(string) string { return "" }

func (h recordHeaders) Set(key, value string) {
	h.record.Headers = append(h.record.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
}

func (recordHeaders) Keys() []string { return nil }

// traced is ctx with the trace that the request belongs to: the active span's, else the producer's.
func traced(ctx context.Context, req *Request) context.Context {
	if req.TraceParent == "" || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, sent{req.TraceParent, req.TraceState})
}

// depart starts the record's span, which ends at the broker's acknowledgement, and writes its context
// into the record.
func (p *Publisher) depart(ctx context.Context, f *flight) {
	ctx, f.span = p.tracer.Start(ctx, "publish", trace.WithSpanKind(trace.SpanKindProducer))
	if f.span.IsRecording() {
		f.span.SetAttributes(
			attribute.String("messaging.system", "kafka"),
			attribute.String("messaging.destination.name", f.record.Topic),
			attribute.String("messaging.kafka.message.key", string(f.record.Key)),
		)
	}
	propagation.TraceContext{}.Inject(ctx, recordHeaders{f.record})
}
