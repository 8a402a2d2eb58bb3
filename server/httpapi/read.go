package httpapi

import (
	"context"
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/search"
)

const (
	microseconds = "2006-01-02T15:04:05.000000Z"
	milliseconds = "2006-01-02T15:04:05.000Z"
)

// ListEvents answers one page.
func (h *handlers) ListEvents(ctx context.Context, _ ListEventsRequestObject) (ListEventsResponseObject, error) {
	params, err := callIn(ctx).params()
	if err != nil {
		return nil, err
	}
	page, err := h.s.deps.Search.List(ctx, params)
	if err != nil {
		return nil, err
	}
	out := ListEvents200JSONResponse{
		Events: make([]Event, len(page.Events)), Snapshot: page.Snapshot,
		Covered:       Covered{From: instant(page.CoveredFrom), Until: open(page.CoveredUntil)},
		NextPageToken: some(page.NextToken), PreviousPageToken: some(page.PrevToken),
	}
	for i := range page.Events {
		out.Events[i] = listed(&page.Events[i])
	}
	return out, nil
}

// CreateSnapshot freezes what a search sees.
func (h *handlers) CreateSnapshot(ctx context.Context, _ CreateSnapshotRequestObject) (CreateSnapshotResponseObject, error) {
	params, err := callIn(ctx).params()
	if err != nil {
		return nil, err
	}
	snap, err := h.s.deps.Search.Snapshot(ctx, params)
	if err != nil {
		return nil, err
	}
	return CreateSnapshot200JSONResponse{Snapshot: snap.Token, From: instant(snap.From), Until: open(snap.Until)}, nil
}

// GetEvent answers one event in full.
func (h *handlers) GetEvent(ctx context.Context, req GetEventRequestObject) (GetEventResponseObject, error) {
	d, err := h.find(ctx, req.Event)
	if err != nil {
		return nil, err
	}
	modes := [...]EventDetailContentMode{
		cloudevents.Binary: EventDetailContentModeBinary, cloudevents.Structured: EventDetailContentModeStructured,
		cloudevents.Batch: EventDetailContentModeBatch,
	}
	out := GetEvent200JSONResponse{
		Event: listed(&d.Event), DataSchema: some(d.DataSchema), Extensions: extensions(d.Extensions),
		Headers: make([]HeaderPair, len(d.Headers)), ContentMode: modes[d.Mode], TraceId: some(d.TraceID),
	}
	for i, h := range d.Headers {
		out.Headers[i].Key = h.Key
		out.Headers[i].Value, out.Headers[i].ValueBase64 = textOrBase64(h.Value)
	}
	out.RecordKey, out.RecordKeyBase64 = textOrBase64(d.RecordKey)
	out.DataText, out.DataBase64 = textOrBase64(d.Data)
	if d.ErasedAt != nil {
		out.ErasedAt = open(*d.ErasedAt)
	}
	out.OthersFrom = open(d.OthersFrom)
	out.Others = make([]struct {
		Name       string `json:"name"`
		OccurredAt string `json:"occurredAt"`
	}, len(d.Others))
	for i, at := range d.Others {
		out.Others[i].Name, out.Others[i].OccurredAt = out.Event.Name, instant(at)
	}
	return out, nil
}

func (h *handlers) find(ctx context.Context, name string) (*search.Detail, error) {
	params, err := callIn(ctx).params()
	if err != nil {
		return nil, err
	}
	return h.s.deps.Search.Get(ctx, name, params)
}

func listed(e *search.Event) Event {
	out := Event{
		Name: "events/" + cloudevents.EscapeName(e.Source, e.ID), Id: e.ID, Source: e.Source, Type: e.Type,
		Subject: some(e.Subject), Time: e.TimeText, OccurredAt: instant(e.OccurredAt),
		IngestTime: e.KafkaTime.UTC().Format(milliseconds), Tags: e.Tags, Facets: e.Facets, Summary: e.Summary,
		DataContentType: some(e.DataContentType), DataSize: int32(e.DataSize), DataKind: DataKind(e.DataKind),
		Position: Position{
			Topic: e.Position.Topic, Log: int32(e.Position.Log), Partition: e.Position.Partition,
			Offset: strconv.FormatInt(e.Position.Offset, 10), Commit: strconv.FormatInt(e.Position.Commit, 10),
		},
	}
	if e.Columns != nil {
		columns := make([]ColumnValue, len(e.Columns))
		for i, c := range e.Columns {
			columns[i] = ColumnValue{Kind: ColumnValueKind(c.Kind), Text: c.Text}
			if c.Cut {
				columns[i].Cut = &c.Cut
			}
		}
		out.Columns = &columns
	}
	if out.Tags == nil {
		out.Tags = []string{}
	}
	if out.Facets == nil {
		out.Facets = map[string][]string{}
	}
	ranks := [...]Severity{
		1: SeverityTrace, SeverityDebug, SeverityInfo, SeverityNotice,
		SeverityWarning, SeverityError, SeverityCritical, SeverityEmergency,
	}
	if e.Severity > 0 && int(e.Severity) < len(ranks) {
		out.Severity = &ranks[e.Severity]
	}
	return out
}

// textOrBase64 shows bytes as text where that loses nothing; nil, which is absent, as neither.
func textOrBase64(b []byte) (text, encoded *string) {
	if b == nil {
		return nil, nil
	}
	if utf8.Valid(b) {
		s := string(b)
		return &s, nil
	}
	s := base64.StdEncoding.EncodeToString(b)
	return nil, &s
}

func instant(t time.Time) string { return t.UTC().Format(microseconds) }

// open is nil for a zero time: a window without an end.
func open(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := instant(t)
	return &s
}
