package ingest

import (
	"context"
	"fmt"
	"mime"
	"strconv"
	"strings"

	"oriel/server/cloudevents"
	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Request is one HTTP request, copied out of the framework: nothing in it may change until Publish
// has returned, and the body not even then, for a record may still be on its way.
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

// Response is one result for an event, or one per element of a batch, in its order.
type Response struct {
	Batch   bool
	Results []Result
}

// Publish decodes, checks, publishes and waits. The error is for the request as a whole: what it
// holds could not be read, or it is one event and that failed, or it is a batch of which nothing was
// published because of an outage. In a batch that went through, each element has its own outcome.
// Whenever ctx ends, events that were already sent stay sent and are answered as unknown.
func (p *Publisher) Publish(ctx context.Context, req *Request) (*Response, error) {
	if !p.queue.enter() {
		return nil, p.refuse(shuttingDown())
	}
	defer p.queue.leave()

	elements, batch, err := decode(req)
	if err != nil {
		return nil, p.refuse(err)
	}
	resp := &Response{Batch: batch, Results: make([]Result, len(elements))}
	w := p.windowAt(p.cfg.Now())
	flights := make([]flight, 0, len(elements))
	places := make([]int, 0, len(elements))
	records := make([]kgo.Record, len(elements)) // in one piece: they leave and land together
	outcomes := make([]Published, len(elements))
	for i, el := range elements {
		if err := p.check(el, w, req); err != nil {
			resp.Results[i].Err = p.refuse(err)
			continue
		}
		out := &outcomes[i]
		*out = Published{Event: el.Event, PartitionKey: el.Event.PartitionKey(), Topic: p.cfg.Topic, Partition: -1, Offset: -1}
		resp.Results[i].Published = out
		if !req.ValidateOnly {
			p.encode(el.Event, w, &records[i])
			flights = append(flights, flight{record: &records[i]})
			places = append(places, i)
		}
	}
	if len(flights) > 0 {
		p.send(ctx, req, resp, flights, places)
	}
	if !batch && resp.Results[0].Err != nil {
		return nil, resp.Results[0].Err
	}
	if err := outage(resp); err != nil {
		return nil, err
	}
	return resp, nil
}

func (p *Publisher) check(el cloudevents.Element, w window, req *Request) *fault.Error {
	if el.Err != nil {
		return refusal(el.Err)
	}
	if err := w.check(el.Event); err != nil {
		return err
	}
	return checkSource(el.Event, req.SourcePrefixes)
}

// send publishes the flights, of which places says whose element each is, and writes their outcomes.
func (p *Publisher) send(ctx context.Context, req *Request, resp *Response, flights []flight, places []int) {
	ctx = traced(ctx, req)
	for i := range flights {
		p.depart(ctx, &flights[i])
	}
	errs, shed := p.publish(ctx, flights)
	if shed != nil {
		for i := range flights {
			flights[i].span.End()
			resp.Results[places[i]] = Result{Err: p.refuse(shed)}
		}
		return
	}
	for i, err := range errs {
		out := &resp.Results[places[i]]
		if err == nil {
			out.Published.Partition, out.Published.Offset = flights[i].record.Partition, flights[i].record.Offset
			p.metrics.published.Inc()
			continue
		}
		*out = Result{Err: p.refuse(fault.Of(err))}
	}
}

// refuse counts what the producer is told.
func (p *Publisher) refuse(err *fault.Error) *fault.Error {
	if err.Unknown {
		p.metrics.unknown.Inc()
	} else {
		p.metrics.refuse(err.Violations[0].Reason)
	}
	return err
}

// outage is the error for a batch of which nothing was published and something failed for a reason
// that is not an event's: the whole is then to be sent again, which is simpler to act on than one
// answer per element. It is unknown where any element is.
func outage(resp *Response) error {
	var first *fault.Error
	for i := range resp.Results {
		r := &resp.Results[i]
		if r.Err == nil {
			return nil
		}
		e := fault.Of(r.Err)
		if e.Kind == fault.Unavailable && (first == nil || e.Unknown && !first.Unknown) {
			first = e
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// encode fills in the event's record.
func (p *Publisher) encode(e *cloudevents.Event, w window, r *kgo.Record) {
	enc := cloudevents.EncodeRecord(e)
	r.Topic, r.Key, r.Value, r.Timestamp = p.cfg.Topic, enc.Key, enc.Value, w.at
	r.Headers = make([]kgo.RecordHeader, len(enc.Headers), len(enc.Headers)+2) // and the trace's two
	for i := range enc.Headers {
		r.Headers[i] = kgo.RecordHeader(enc.Headers[i])
	}
}

const batchMedia = "application/cloudevents-batch+json"

// decode reads the request's one event or its batch. The error is for the request as a whole.
func decode(req *Request) (elements []cloudevents.Element, batch bool, _ *fault.Error) {
	if len(req.Body) > cloudevents.MaxBody {
		limit := strconv.Itoa(cloudevents.MaxBody)
		return nil, false, fault.New(fault.TooLarge, fault.ReasonBodyTooLarge,
			"The body is larger than "+limit+" bytes.", "limit", limit)
	}
	mode, ok := cloudevents.ContentMode(req.ContentType, hasSpecVersion(req.Headers))
	if req.BatchOnly {
		ok = ok && mode == cloudevents.Batch || mediaType(req.ContentType) == "application/json" && (!ok || mode != cloudevents.Binary)
		mode = cloudevents.Batch
	}
	if !ok {
		return nil, false, unsupportedMode(req)
	}
	var (
		event *cloudevents.Event
		err   error
	)
	switch mode {
	case cloudevents.Batch:
		elements, err = cloudevents.DecodeBatch(req.ContentType, req.Body)
		batch = true
	case cloudevents.Structured:
		event, err = cloudevents.DecodeStructured(req.ContentType, req.Body)
	default:
		event, err = cloudevents.DecodeBinary(req.Headers, req.Body)
	}
	if err != nil {
		return nil, batch, refusal(err)
	}
	if !batch {
		elements = []cloudevents.Element{{Event: event}}
	}
	return elements, batch, nil
}

func unsupportedMode(req *Request) *fault.Error {
	accepted := "a ce-specversion header, or content type application/cloudevents+json or " + batchMedia
	if req.BatchOnly {
		accepted = "content type " + batchMedia + " or application/json"
	}
	return fault.New(fault.UnsupportedMedia, fault.ReasonUnsupportedContentMode,
		fmt.Sprintf("Content type %q does not say how the event is sent; accepted: %s.", req.ContentType, accepted),
		"attribute", "content-type", "value", req.ContentType, "accepted", accepted)
}

func hasSpecVersion(headers []cloudevents.Header) bool {
	const name = "ce-specversion"
	for i := range headers {
		if len(headers[i].Key) == len(name) && strings.EqualFold(headers[i].Key, name) {
			return true
		}
	}
	return false
}

func mediaType(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return t
}
