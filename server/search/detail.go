package search

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/db"
	"oriel/server/fault"

	"github.com/jackc/pgx/v5"
)

// MaxOthers is how many other times of one identity an event lists.
const MaxOthers = 20

// Get finds one event by its escaped name; params are the raw query parameters of GET /v1/events/{event}.
//
// With a time it is one look-up in the unique index. Without, the days are asked newest first, each
// through the index on source or on identity, whichever its statistics make cheaper, until one has it:
// that costs up to one pass over an index of every day for an identity that does not exist. The other
// times are looked for in the same way within a budget of their own, and OthersFrom says how far that went.
func (s *Service) Get(ctx context.Context, name string, params url.Values) (*Detail, error) {
	dec := &decoder{params: params}
	source, id, ok := cloudevents.ParseName(name)
	if !ok {
		dec.invalid("event", name, "{source}:{id}, every byte of either outside A-Za-z0-9-._~ percent-encoded",
			"The event's name is not written as {source}:{id}, escaped.")
	}
	dec.unknown(ofEvent, parametersOfEvent)
	var at Instant
	if text := dec.single("time"); text != "" {
		t, err := cloudevents.ParseTime(text)
		if err != nil {
			dec.invalid("time", text, "RFC 3339, as occurredAt of the event", "The parameter time is no time: "+err.Error()+".")
		}
		at = instantOf(t)
	}
	if len(dec.violations) > 0 {
		return nil, fault.Many(fault.InvalidArgument, dec.violations)
	}
	var d *Detail
	err := s.run(ctx, "get", func(ctx context.Context, ses *session) (err error) {
		l := lookup{s, ses, source, id}
		d, err = l.find(ctx, at)
		return err
	})
	return d, err
}

// lookup is the search for one identity.
type lookup struct {
	*Service
	ses        *session
	source, id string
}

func (l *lookup) find(ctx context.Context, at Instant) (*Detail, error) {
	var event *db.Event
	if at.Given {
		e, err := l.at(ctx, at.Time())
		if err != nil {
			return nil, err
		}
		event = e
	}
	days, err := eventDays(ctx, l.ses)
	if err != nil {
		return nil, err
	}
	slices.Reverse(days)
	deadline := time.Now().Add(l.limits.others)
	var others []time.Time
	var from time.Time
	for _, day := range days {
		if event != nil && time.Now().After(deadline) {
			from = day.Add(oneDay)
			break
		}
		times, err := l.times(ctx, day, event != nil, deadline)
		if err != nil {
			if event != nil && cancelled(err) {
				from = day.Add(oneDay)
				break
			}
			return nil, err
		}
		for _, t := range times {
			if event == nil {
				if event, err = l.at(ctx, t); err != nil {
					return nil, err
				}
				deadline = time.Now().Add(l.limits.others)
			}
			if !t.Equal(event.OccurredAt) {
				others = append(others, t.UTC())
			}
		}
		if len(others) >= MaxOthers {
			others = others[:MaxOthers]
			break
		}
	}
	if event == nil {
		return nil, l.missing()
	}
	d := detailOf(event)
	d.Others, d.OthersFrom = others, from
	if !from.IsZero() {
		if err := l.ses.restart(ctx, l.limits.statement); err != nil {
			return nil, err
		}
	}
	if err := l.topics.load(ctx, l.ses, []*row{{key: key{log: event.Log}}}); err != nil {
		return nil, err
	}
	d.Position.Topic = l.topics.get()[event.Log]
	return d, nil
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

// times asks one day; where the event is found already, no longer than what is left of the budget.
func (l *lookup) times(ctx context.Context, day time.Time, found bool, deadline time.Time) ([]time.Time, error) {
	timeout := l.limits.statement
	if found {
		timeout = max(time.Until(deadline).Round(50*time.Millisecond), 50*time.Millisecond)
	}
	if err := l.ses.within(ctx, timeout); err != nil {
		return nil, err
	}
	times, err := db.New(l.ses).EventTimes(ctx, db.EventTimesParams{
		DayFrom: day, DayUntil: day.Add(oneDay), Source: l.source, ID: l.id, Most: MaxOthers + 1,
	})
	if err != nil {
		return nil, fmt.Errorf("look for event: %w", err)
	}
	return times, nil
}

func (l *lookup) missing() error {
	return fault.New(fault.NotFound, fault.ReasonNotFound, "There is no such event, or retention has dropped it.",
		"attribute", "event", "value", shown(cloudevents.EscapeName(l.source, l.id)))
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
