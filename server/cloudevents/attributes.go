package cloudevents

import (
	"slices"
	"strings"
)

// core is an attribute that the specification itself defines. The order is the order of refusals.
type core uint8

const (
	coreSpecVersion core = iota
	coreID
	coreSource
	coreType
	coreSubject
	coreTime
	coreDataContentType
	coreDataSchema
	notCore
)

func coreOf(name string) core {
	switch name {
	case "specversion":
		return coreSpecVersion
	case "id":
		return coreID
	case "source":
		return coreSource
	case "type":
		return coreType
	case "subject":
		return coreSubject
	case "time":
		return coreTime
	case "datacontenttype":
		return coreDataContentType
	case "dataschema":
		return coreDataSchema
	default:
		return notCore
	}
}

// attributeName is the name that raw spells, without an allocation for those that most events have.
func attributeName(raw []byte) string {
	switch string(raw) {
	case "specversion":
		return "specversion"
	case "id":
		return "id"
	case "source":
		return "source"
	case "type":
		return "type"
	case "subject":
		return "subject"
	case "time":
		return "time"
	case "datacontenttype":
		return "datacontenttype"
	case "dataschema":
		return "dataschema"
	case "data":
		return "data"
	case "data_base64":
		return "data_base64"
	case "traceparent":
		return "traceparent"
	case "tracestate":
		return "tracestate"
	default:
		return string(raw)
	}
}

// headerName is the attribute that a header of either binding names: their case does not count.
func headerName(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			return lowerName(name)
		}
	}
	return name
}

func lowerName(name string) string {
	var lower [MaxName]byte
	if len(name) > len(lower) {
		return strings.ToLower(name)
	}
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return attributeName(lower[:len(name)])
}

// absent marks, while an event is being read, an extension that was sent as null.
const absent Type = 255

const (
	specVersion = "1.0"
	leaveOut    = "a non-empty string; leave the attribute out where there is none"
)

// builder takes the attributes of one event one by one, from whichever binding.
type builder struct {
	event *Event
	problems
	seen    [notCore]bool
	version bool // specversion was there, right or wrong
}

func newBuilder(b binding, mode Mode) builder {
	return builder{event: &Event{Mode: mode}, problems: problems{binding: b}}
}

// set takes an attribute as text.
func (b *builder) set(name, value string, t Type) {
	c := coreOf(name)
	if c == notCore {
		b.event.Extensions = append(b.event.Extensions, Extension{Name: name, Type: t, Value: value})
		return
	}
	if b.repeated(c, name) {
		return
	}
	if value == "" && c >= coreSubject && c != coreTime {
		b.invalid(name, "", leaveOut, name+" is an empty string; leave the attribute out where there is none.")
		return
	}
	e := b.event
	switch c {
	case coreSpecVersion:
		if b.version = value != ""; b.version && value != specVersion { // an empty one is a missing one
			b.unsupported(value)
		}
	case coreID:
		e.ID = value
	case coreSource:
		e.Source = value
	case coreType:
		e.Type = value
	case coreSubject:
		e.Subject = value
	case coreTime:
		e.TimeText = value
	case coreDataContentType:
		e.DataContentType = value
	default:
		e.DataSchema = value
	}
}

// setNull takes an attribute sent as null, which is one left out.
func (b *builder) setNull(name string) {
	if c := coreOf(name); c != notCore {
		b.repeated(c, name)
		return
	}
	b.event.Extensions = append(b.event.Extensions, Extension{Name: name, Type: absent})
}

func (b *builder) repeated(c core, name string) bool {
	if b.seen[c] {
		b.twice(name)
		return true
	}
	b.seen[c] = true
	return false
}

func (b *builder) twice(name string) {
	if b.has(name) {
		return
	}
	b.invalid(name, "", "each attribute once", shown(name)+" was sent more than once.")
}

func (b *builder) unsupported(value string) {
	b.add(Violation{
		Reason: reasonSpecVersion, Attribute: "specversion", Value: value, Accepted: specVersion,
		Message: "specversion " + quoted(value) + " is not supported; send " + b.binding.spell("specversion", specVersion) + ".",
	})
}

// finish orders the extensions and checks the whole.
func (b *builder) finish() (*Event, *Error) {
	if !b.version && !b.has("specversion") {
		b.add(Violation{
			Reason: reasonMissing, Attribute: "specversion", Accepted: specVersion,
			Message: "specversion is required: add " + b.binding.spell("specversion", specVersion) + ".",
		})
	}
	e := b.event
	if x := e.Extensions; len(x) > 0 {
		if len(x) > 1 {
			slices.SortStableFunc(x, func(a, b Extension) int { return strings.Compare(a.Name, b.Name) })
		}
		kept := x[:0]
		for i := range x {
			if i > 0 && x[i].Name == x[i-1].Name {
				b.twice(x[i].Name)
				continue
			}
			if x[i].Type != absent {
				kept = append(kept, x[i])
			}
		}
		if e.Extensions = kept; len(kept) == 0 {
			e.Extensions = nil
		}
	}
	check(e, &b.problems)
	if err := b.err(); err != nil {
		return nil, err
	}
	return e, nil
}

func quoted(s string) string { return `"` + shown(s) + `"` }
