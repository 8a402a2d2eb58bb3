// Package ingest accepts events and publishes them: it decides what is refused, waits for the
// broker's acknowledgement and says truthfully what became of each event. It knows no HTTP framework.
package ingest

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/cloudevents"
)

// Config bounds the publisher.
type Config struct {
	Topic              string
	Retention          time.Duration
	Deadline           time.Duration // a handler's; 10 s
	MaxBufferedRecords int
	MaxBufferedBytes   int
}

// Request is one HTTP request, copied out of the framework.
type Request struct {
	ContentType    string
	Headers        []cloudevents.Header
	Body           []byte // nil is absent
	BatchOnly      bool   // events:batchCreate
	ValidateOnly   bool   // events:validate
	SourcePrefixes []string
	TraceParent    string
	TraceState     string
}

// Published says where an event went.
type Published struct {
	Event        *cloudevents.Event
	PartitionKey string
	Topic        string
	Partition    int32
	Offset       int64 // -1 when validated only
}

// Result is one element's outcome: Published or an error with a public side (package fault).
type Result struct {
	Published *Published
	Err       error
}

// Response is one result for an event, or one per element of a batch.
type Response struct {
	Batch   bool
	Results []Result
}

// Publisher owns the producing client.
type Publisher struct{}

// New makes a publisher with a client of its own.
func New(cfg Config, opts []kgo.Opt, log *slog.Logger, reg prometheus.Registerer) (*Publisher, error) {
	panic("unbuilt")
}

// Publish decodes, checks, publishes and waits. The error is for the request as a whole.
func (p *Publisher) Publish(ctx context.Context, req *Request) (*Response, error) { panic("unbuilt") }

// Close answers what still waits, flushes within ctx and closes the client.
func (p *Publisher) Close(ctx context.Context) error { panic("unbuilt") }
