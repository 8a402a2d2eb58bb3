// Package reference says what a search must answer: it judges whole events one by one, in the plainest way
// that the documentation can be read in, with no index, no scratch space and no cleverness.
//
// It promises independence: it shares no code with the evaluator of package query, with the matcher of
// package lexicon or with the consumer, so that an agreement with them says something. It is slow, knows no
// database, and serves tests alone.
package reference

import (
	"slices"
	"strings"

	"oriel/server/cloudevents"
)

// Event is one stored event with everything that a condition can ask for.
type Event struct {
	Log       int16
	Partition int32
	Offset    int64
	Commit    int64
	Micros    int64 // of Unix time, floored
	Arrived   int64 // when it was stored, the same

	Source, ID, Type, Subject   string // Subject "" is absent
	DataContentType, DataSchema string // "" is absent
	Extensions                  []cloudevents.Extension
	Data                        []byte // nil is absent
	TraceID                     string // 32 hexadecimal digits, or ""
	Severity                    int    // 0 is none, 1 trace … 8 emergency
	Tags                        []string
	Facets                      map[string][]string // device, room, person and configured ones; a field without values is not there

	root   *value // the data, where it is JSON and valid
	texts  []string
	number []string // canonical spellings
	leaves [][]string
}

// DefaultFacets is the fields that an installation has which configures none.
func DefaultFacets() map[string]string {
	return map[string]string{"device": "data.deviceId", "room": "data.roomId", "person": "data.personId", "tag": "data.tags"}
}

// New reads an event as it was sent; headers are those of its record, and fields is the configuration of facets.
func New(e *cloudevents.Event, headers []cloudevents.Header, fields map[string]string) *Event {
	out := &Event{
		Micros: e.Time.UnixMicro(), Source: e.Source, ID: e.ID, Type: e.Type, Subject: e.Subject,
		DataContentType: e.DataContentType, DataSchema: e.DataSchema, Extensions: e.Extensions, Data: e.Data,
	}
	isJSON, isText := claims(e)
	if isJSON {
		out.root = parse(e.Data)
	}
	out.derive(headers, fields)

	out.text(e.ID)
	out.text(e.Source)
	out.text(e.Type)
	out.text(e.Subject)
	for _, x := range e.Extensions {
		out.text(x.Value)
	}
	if isText && validText(e.Data) {
		out.text(string(e.Data))
	}
	out.root.walk(func(v *value) {
		switch v.kind {
		case aString, aBoolean:
			out.text(v.text)
		case aNumber:
			c := canonical(v.text)
			out.number = append(out.number, c)
			out.leaves = append(out.leaves, []string{c})
			out.texts = append(out.texts, fold(v.text))
		default: // null, and what holds others, has no words
		}
	})
	return out
}

func (e *Event) text(s string) {
	e.leaves = append(e.leaves, leaves(s))
	e.texts = append(e.texts, fold(s))
}

// claims says what the event's data is said to be.
func claims(e *cloudevents.Event) (isJSON, isText bool) {
	media, _, _ := strings.Cut(e.DataContentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case media == "":
		return e.Mode != cloudevents.Binary, false
	case strings.HasSuffix(media, "/json"), strings.Contains(media, "/") && strings.HasSuffix(media, "+json"):
		return true, false
	default:
		return false, strings.HasPrefix(media, "text/")
	}
}

func (e *Event) extension(name string) (string, bool) {
	for _, x := range e.Extensions {
		if x.Name == name {
			return x.Value, true
		}
	}
	return "", false
}

// Compare orders events as lists do: negative where a comes first.
func Compare(a, b *Event) int {
	for _, d := range []int64{b.Micros - a.Micros, int64(b.Log) - int64(a.Log), int64(b.Partition) - int64(a.Partition), b.Offset - a.Offset} {
		if d != 0 {
			return int(min(max(d, -1), 1))
		}
	}
	return 0
}

// Sort puts events into the order of lists, newest first.
func Sort(events []*Event) { slices.SortFunc(events, Compare) }
