package httpapi

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"oriel/server/cloudevents"
	"oriel/server/fault"
	"oriel/server/ingest"
)

// handlers are the operations of openapi.yaml. They read what guard put into the context and never
// the framework's context.
type handlers struct{ s *Server }

// answer is a status and a body. The generated response types cannot say 200 or 207 of one body, and
// encode a union twice.
type answer struct {
	status int
	body   any
}

func (a answer) send(c *fiber.Ctx) error { return c.Status(a.status).JSON(a.body) }

func (a answer) VisitPublishEventsResponse(c *fiber.Ctx) error     { return a.send(c) }
func (a answer) VisitBatchCreateEventsResponse(c *fiber.Ctx) error { return a.send(c) }
func (a answer) VisitValidateEventsResponse(c *fiber.Ctx) error    { return a.send(c) }

// PublishEvents answers after the broker has the event, or the batch.
func (h *handlers) PublishEvents(ctx context.Context, _ PublishEventsRequestObject) (PublishEventsResponseObject, error) {
	return h.publish(ctx, ingest.Request{})
}

// BatchCreateEvents takes an array only, whatever the media type.
func (h *handlers) BatchCreateEvents(ctx context.Context, _ BatchCreateEventsRequestObject) (BatchCreateEventsResponseObject, error) {
	return h.publish(ctx, ingest.Request{BatchOnly: true})
}

func (h *handlers) publish(ctx context.Context, req ingest.Request) (answer, error) {
	call := callIn(ctx)
	resp, err := h.ask(ctx, call, &req)
	if err != nil {
		return answer{}, err
	}
	if !resp.Batch {
		if err := resp.Results[0].Err; err != nil {
			return answer{}, err
		}
		return answer{fiber.StatusOK, published(resp.Results[0].Published)}, nil
	}
	results, failed := h.results(ctx, call, resp)
	if failed > 0 {
		return answer{fiber.StatusMultiStatus, BatchResponse{results}}, nil
	}
	return answer{fiber.StatusOK, BatchResponse{results}}, nil
}

// ValidateEvents answers 200 with what publishing would have said of each event; what is no event at
// all, or cannot be told now, is an error as it is there.
func (h *handlers) ValidateEvents(ctx context.Context, _ ValidateEventsRequestObject) (ValidateEventsResponseObject, error) {
	call := callIn(ctx)
	resp, err := h.ask(ctx, call, &ingest.Request{ValidateOnly: true})
	if err != nil {
		switch public := fault.Of(err); public.Kind {
		case fault.InvalidArgument, fault.PermissionDenied:
			resp = &ingest.Response{Results: []ingest.Result{{Err: public}}}
		default:
			return nil, err
		}
	}
	results, failed := h.results(ctx, call, resp)
	return answer{fiber.StatusOK, ValidateResponse{Valid: failed == 0, Results: results}}, nil
}

func (h *handlers) ask(ctx context.Context, call *call, req *ingest.Request) (*ingest.Response, error) {
	req.ContentType, req.Headers, req.Body = call.shape.contentType, call.headers, call.body
	req.SourcePrefixes = call.principal.SourcePrefixes
	req.TraceParent, req.TraceState = call.shape.traceParent, call.shape.traceState
	return h.s.deps.Publisher.Publish(ctx, req)
}

func (h *handlers) results(ctx context.Context, call *call, resp *ingest.Response) (results []BatchResult, failed int) {
	results = make([]BatchResult, len(resp.Results))
	for i, r := range resp.Results {
		if r.Err == nil {
			p := published(r.Published)
			results[i] = BatchResult{Status: fiber.StatusOK, Event: &p}
			continue
		}
		public := publicSide(r.Err)
		if failed++; public.Kind.Code() >= fiber.StatusInternalServerError {
			h.s.sayer.say(ctx, call, fiber.MethodPost, public, r.Err)
		}
		h.s.metrics.failed(public)
		e := envelope(public, call.id)
		results[i] = BatchResult{Status: e.Code, Error: &e}
	}
	return results, failed
}

func published(p *ingest.Published) PublishedEvent {
	e := p.Event
	out := PublishedEvent{
		Name: e.Name(), Id: e.ID, Source: e.Source, Type: e.Type, Subject: some(e.Subject), Time: e.TimeText,
		DataContentType: some(e.DataContentType), DataSchema: some(e.DataSchema), PartitionKey: p.PartitionKey,
	}
	if len(e.Extensions) > 0 {
		x := extensions(e.Extensions)
		out.Extensions = &x
	}
	if p.Offset >= 0 {
		out.Destination = &Destination{Topic: p.Topic, Partition: p.Partition, Offset: strconv.FormatInt(p.Offset, 10)}
	}
	return out
}

func extensions(from []cloudevents.Extension) map[string]Extension {
	types := [...]ExtensionType{cloudevents.String: ExtensionTypeString, cloudevents.Boolean: ExtensionTypeBoolean, cloudevents.Integer: ExtensionTypeInteger}
	out := make(map[string]Extension, len(from))
	for _, x := range from {
		out[x.Name] = Extension{Type: types[x.Type], Value: x.Value}
	}
	return out
}

// some is nil for an attribute that is absent.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
