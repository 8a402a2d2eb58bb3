package ingest

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

const (
	parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	parent      = "00-" + parentTrace + "-00f067aa0ba902b7-01"
)

func TestTheTraceOfTheRequestGoesWithTheRecord(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		req           func(*Request)
		parent, state string
	}{
		"as the producer sent it":   {func(r *Request) { r.TraceParent, r.TraceState = parent, "vendor=1" }, parent, "vendor=1"},
		"without state":             {func(r *Request) { r.TraceParent = parent }, parent, ""},
		"not where it is malformed": {func(r *Request) { r.TraceParent, r.TraceState = "00-xyz", "vendor=1" }, "", ""},
		"not where it is all zeros": {func(r *Request) { r.TraceParent = "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01" }, "", ""},
		"not where there is none":   {func(*Request) {}, "", ""},
		"beside an attribute of that name": {func(r *Request) {
			r.TraceParent = parent
			r.Body = []byte(element("a", `"traceparent":"00-11111111111111111111111111111111-2222222222222222-00"`))
		}, parent, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 1)
			p, _ := newPublisher(t, c.ListenAddrs(), setup{})
			req := structured("a")
			tc.req(req)
			accepted(t, p, req)
			r := readBack(t, c.ListenAddrs(), topic)[0]
			if got, _ := header(r, "traceparent"); got != tc.parent {
				t.Errorf("traceparent %q, want %q", got, tc.parent)
			}
			if got, _ := header(r, "tracestate"); got != tc.state {
				t.Errorf("tracestate %q, want %q", got, tc.state)
			}
			attribute, has := header(r, "ce_traceparent")
			if sent := strings.Contains(string(req.Body), "traceparent"); has != sent || has && !strings.Contains(attribute, "1111") {
				t.Errorf("ce_traceparent %q", attribute)
			}
		})
	}
}

func TestTheSpanEndsAtTheAcknowledgement(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	c := newCluster(t, 1)
	acks := &stall{}
	p, _ := newPublisher(t, c.ListenAddrs(), setup{Config: Config{Tracer: provider}, opts: []kgo.Opt{kgo.Dialer(acks.dial)}})
	accepted(t, p, structured("warm"))
	acks.hold()
	t.Cleanup(acks.release)
	done := make(chan error, 1)
	ctx, request := provider.Tracer("test").Start(t.Context(), "request")
	go func() {
		_, err := p.Publish(ctx, structured("a"))
		done <- err
	}()
	eventually(t, "the broker to have the event", func() bool { return c.PartitionInfo(topic, 0).HighWatermark == 2 })
	if n := len(spans.Ended()); n != 1 {
		t.Fatalf("%d spans ended before the acknowledgement", n)
	}
	acks.release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	span := spans.Ended()[1]
	if span.SpanKind() != trace.SpanKindProducer || span.Parent().SpanID() != request.SpanContext().SpanID() {
		t.Fatalf("span %s of kind %s", span.Name(), span.SpanKind())
	}
	got, _ := header(readBack(t, c.ListenAddrs(), topic)[1], "traceparent")
	if want := "00-" + span.SpanContext().TraceID().String() + "-" + span.SpanContext().SpanID().String() + "-01"; got != want {
		t.Fatalf("traceparent %s, want %s", got, want)
	}
}
