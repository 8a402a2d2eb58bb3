package search

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"oriel/server/cloudevents"
	"oriel/server/fault"
	"oriel/server/query"
)

// ndjson writes a header, an event a line, and a trailer. Data is exact.
type ndjson struct{ out *buffer }

type exportHeader struct {
	Header struct {
		Query    string `json:"query"` // canonical parameters
		From     string `json:"from"`
		Until    string `json:"until,omitempty"`
		Snapshot string `json:"snapshot"`
	} `json:"header"`
}

type exportTrailer struct {
	Trailer struct {
		Complete bool   `json:"complete"`
		Count    int    `json:"count"`
		Snapshot string `json:"snapshot"`
		Reason   string `json:"reason,omitempty"`
		Message  string `json:"message,omitempty"`
	} `json:"trailer"`
}

func (n *ndjson) begin(x *exporting) error {
	var h exportHeader
	h.Header.Query, h.Header.Snapshot = spelled(x.req.filter), x.view.token()
	h.Header.From = x.view.window.From.String()
	if x.view.window.Until.Given {
		h.Header.Until = x.view.window.Until.String()
	}
	return errors.Join(n.line(h), n.out.flush())
}

func (n *ndjson) end(x *exporting, cut error) error {
	var t exportTrailer
	t.Trailer.Complete, t.Trailer.Count, t.Trailer.Snapshot = cut == nil, x.count, x.view.token()
	if cut != nil {
		public := fault.Of(cut)
		t.Trailer.Reason, t.Trailer.Message = public.Violations[0].Reason, public.Message
	}
	return errors.Join(n.line(t), n.out.flush())
}

func (n *ndjson) event(e *full) error { return n.line(exportedOf(&e.Detail)) }

func (n *ndjson) line(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // ends the line
		return fmt.Errorf("encode a line of the export: %w", err)
	}
	n.out.b = append(n.out.b, b.Bytes()...)
	return nil
}

// exported is an event in full, spelled as the API spells it.
type exported struct {
	Name            string                       `json:"name"`
	ID              string                       `json:"id"`
	Source          string                       `json:"source"`
	Type            string                       `json:"type"`
	Subject         string                       `json:"subject,omitempty"`
	Time            string                       `json:"time"`
	OccurredAt      string                       `json:"occurredAt"`
	IngestTime      string                       `json:"ingestTime"`
	Severity        string                       `json:"severity,omitempty"`
	Tags            []string                     `json:"tags"`
	Facets          map[string][]string          `json:"facets"`
	DataContentType string                       `json:"dataContentType,omitempty"`
	DataSchema      string                       `json:"dataSchema,omitempty"`
	Extensions      map[string]exportedExtension `json:"extensions"`
	Headers         []exportedHeader             `json:"headers"`
	RecordKey       *string                      `json:"recordKey,omitempty"`
	RecordKeyBase64 *string                      `json:"recordKeyBase64,omitempty"`
	ContentMode     string                       `json:"contentMode"`
	TraceID         string                       `json:"traceId,omitempty"`
	DataKind        string                       `json:"dataKind"`
	DataSize        int                          `json:"dataSize"`
	DataText        *string                      `json:"dataText,omitempty"`
	DataBase64      *string                      `json:"dataBase64,omitempty"`
	ErasedAt        string                       `json:"erasedAt,omitempty"`
	Position        exportedPosition             `json:"position"`
}

type exportedExtension struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type exportedHeader struct {
	Key         string  `json:"key"`
	Value       *string `json:"value,omitempty"`
	ValueBase64 *string `json:"valueBase64,omitempty"`
}

type exportedPosition struct {
	Topic     string `json:"topic"`
	Log       int16  `json:"log"`
	Partition int32  `json:"partition"`
	Offset    string `json:"offset"`
	Commit    string `json:"commit"`
}

func exportedOf(d *Detail) *exported {
	modes := [...]string{cloudevents.Binary: "binary", cloudevents.Structured: "structured", cloudevents.Batch: "batch"}
	types := [...]string{cloudevents.String: "string", cloudevents.Boolean: "boolean", cloudevents.Integer: "integer"}
	out := &exported{
		Name: "events/" + cloudevents.EscapeName(d.Source, d.ID), ID: d.ID, Source: d.Source, Type: d.Type, Subject: d.Subject,
		Time: d.TimeText, OccurredAt: query.FormatTime(d.OccurredAt), IngestTime: ingestText(d.KafkaTime), Severity: query.SeverityName(d.Severity),
		Tags: append([]string{}, d.Tags...), Facets: d.Facets, DataContentType: d.DataContentType, DataSchema: d.DataSchema,
		Extensions: make(map[string]exportedExtension, len(d.Extensions)), Headers: make([]exportedHeader, len(d.Headers)),
		ContentMode: modes[d.Mode], TraceID: d.TraceID, DataKind: d.DataKind, DataSize: d.DataSize,
		Position: exportedPosition{
			Topic: d.Position.Topic, Log: d.Position.Log, Partition: d.Position.Partition,
			Offset: strconv.FormatInt(d.Position.Offset, 10), Commit: strconv.FormatInt(d.Position.Commit, 10),
		},
	}
	for _, e := range d.Extensions {
		out.Extensions[e.Name] = exportedExtension{types[e.Type], e.Value}
	}
	for i, h := range d.Headers {
		out.Headers[i].Key = h.Key
		out.Headers[i].Value, out.Headers[i].ValueBase64 = textOrBase64(h.Value)
	}
	out.RecordKey, out.RecordKeyBase64 = textOrBase64(d.RecordKey)
	out.DataText, out.DataBase64 = textOrBase64(d.Data)
	if d.ErasedAt != nil {
		out.ErasedAt = query.FormatTime(*d.ErasedAt)
	}
	return out
}

// textOrBase64 shows bytes as text where that loses nothing; nil, which is absent, as neither.
func textOrBase64(b []byte) (text, encoded *string) {
	if b == nil {
		return nil, nil
	}
	s := string(b)
	if utf8.Valid(b) {
		return &s, nil
	}
	s = base64.StdEncoding.EncodeToString(b)
	return nil, &s
}

// ingestText is the time of a Kafka record, which has milliseconds.
func ingestText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
