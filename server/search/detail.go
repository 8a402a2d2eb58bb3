package search

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/fault"
	"oriel/server/query"

	"github.com/jackc/pgx/v5"
)

const acceptedName = "{source}:{id}, every byte of either outside A-Za-z0-9-._~ percent-encoded"

// MaxOthers is how many other times of one identity an event lists.
const MaxOthers = 20

// Get finds one event by its escaped name; params are the raw query parameters of GET /v1/events/{event}.
//
// With a time it is one look-up in the unique index. Without, the index of identifiers knows the rows of the
// identity, and the newest one is the event. The other times are found in the same way within a budget of
// their own, and OthersFrom says how far that went.
func (s *Service) Get(ctx context.Context, name string, params url.Values) (*Detail, error) {
	dec := newDecoder(params)
	source, id, ok := cloudevents.ParseName(name)
	if !ok {
		dec.Invalid("event", name, acceptedName, "The event's name is not written as {source}:{id}, escaped.")
	}
	dec.unknown(ofEvent, parametersOfEvent)
	at := dec.time("time")
	if err := dec.err(); err != nil {
		return nil, err
	}
	var d *Detail
	err := s.run(ctx, "get", nil, func(ctx context.Context, ses *session) (err error) {
		l := lookup{s, ses, source, id}
		d, err = l.find(ctx, at)
		return err
	})
	return d, err
}

// time reads an instant that an event may have occurred at.
func (d *decoder) time(name string) query.Instant {
	text := d.Single(name)
	if text == "" {
		return query.Instant{}
	}
	t, err := cloudevents.ParseTime(text)
	if err != nil {
		d.Invalid(name, text, "RFC 3339, as occurredAt of the event", "The parameter "+name+" is no time: "+err.Error()+".")
		return query.Instant{}
	}
	return query.InstantOf(t)
}

// lookup is the search for one identity.
type lookup struct {
	*Service
	ses        *session
	source, id string
}

func (l *lookup) find(ctx context.Context, at query.Instant) (*Detail, error) {
	var event *db.Event
	var err error
	if at.Given {
		if event, err = l.at(ctx, at.Time()); err != nil {
			return nil, err
		}
	}
	times, from, err := l.times(ctx, event != nil)
	if err != nil {
		return nil, err
	}
	if event == nil {
		if len(times) == 0 {
			return nil, l.missing()
		}
		if event, err = l.at(ctx, times[0]); err != nil {
			return nil, err
		}
	}
	d := detailOf(event)
	times = slices.DeleteFunc(times, func(t time.Time) bool { return t.Equal(event.OccurredAt) })
	if len(times) > MaxOthers { // what is listed is whole as far as it goes
		times = times[:MaxOthers]
		from = times[MaxOthers-1]
	}
	d.Others, d.OthersFrom = times, from
	if err := l.topics.load(ctx, l.ses, []*row{{key: key{log: event.Log}}}); err != nil {
		return nil, err
	}
	d.Position.Topic = l.topics.get()[event.Log]
	return d, nil
}

// times is when the identity occurred, the newest first, one more beside the event than are listed at most. Where the event is
// found already, the search for others ends with its budget, and from says how far it went.
func (l *lookup) times(ctx context.Context, found bool) (times []time.Time, from time.Time, err error) {
	v, err := l.freeze(ctx, l.ses, query.Filter{From: query.Bound{At: query.Instant{Micros: minMicros, Given: true}}})
	if err != nil {
		return nil, from, err
	}
	attribute := func(name, value string) query.Node {
		return query.Equal{Field: query.Field{Kind: query.Attribute, Name: name}, Value: value, Text: true}
	}
	p := scan{
		Service: l.Service, limits: l.limits, ses: l.ses, view: v, most: MaxOthers + 2, brief: true,
		where: query.And{attribute("source", l.source), attribute("id", l.id)},
	}
	p.limits.budget, p.limits.walk = l.limits.others, math.MaxInt
	if !found {
		p.limits.budget = l.limits.statement
	}
	if err := p.run(ctx); err != nil {
		return nil, from, err
	}
	for _, r := range p.found {
		times = append(times, time.UnixMicro(r.key.at).UTC())
	}
	if p.stopped {
		from = time.UnixMicro(p.at.from()).UTC()
	}
	return times, from, nil
}

func (l *lookup) at(ctx context.Context, t time.Time) (*db.Event, error) {
	e, err := db.New(l.ses).EventAt(ctx, db.EventAtParams{OccurredAt: t, Source: l.source, ID: l.id})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, l.missing()
	}
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	return &e, nil
}

func (l *lookup) missing() error {
	return fault.New(fault.NotFound, fault.ReasonNotFound, "There is no such event, or retention has dropped it.",
		"attribute", "event", "value", query.Shown(cloudevents.EscapeName(l.source, l.id)))
}

func detailOf(e *db.Event) *Detail {
	r := row{
		key: key{at: e.OccurredAt.UnixMicro(), log: e.Log, partition: e.Partition, offset: e.Offset}, commit: e.Commit,
		kafkaTime: e.KafkaTime, severity: value(e.Severity), flags: cloudevents.Flags(e.Flags),
		source: e.Source, id: e.ID, kind: e.Type, subject: value(e.Subject), timeText: e.TimeText,
		contentType: value(e.Datacontenttype), tags: e.Tags, facets: e.Facets,
		preview: e.Data[:min(len(e.Data), previewBytes)],
	}
	if e.Data != nil {
		size := int32(len(e.Data))
		r.size = &size
	}
	d := &Detail{
		Event: r.event(nil), DataSchema: value(e.Dataschema), Mode: r.flags.Mode(), RecordKey: e.RecordKey,
		Data: e.Data, ErasedAt: e.ErasedAt,
	}
	for i := 0; i+2 < len(e.Attributes); i += 3 {
		d.Extensions = append(d.Extensions, cloudevents.Extension{
			Name: e.Attributes[i], Type: extensionType(e.Attributes[i+1]), Value: e.Attributes[i+2],
		})
	}
	for i := 0; i+1 < len(e.Headers); i += 2 {
		d.Headers = append(d.Headers, cloudevents.Header{Key: string(e.Headers[i]), Value: e.Headers[i+1]})
	}
	if len(e.TraceID) > 0 {
		d.TraceID = hex.EncodeToString(e.TraceID)
	}
	return d
}

// extensionType reads the stored name of a type.
func extensionType(name string) cloudevents.Type {
	switch name {
	case "boolean":
		return cloudevents.Boolean
	case "integer":
		return cloudevents.Integer
	default:
		return cloudevents.String
	}
}
