package cloudevents

// Element is one element of a batch: an event or what was wrong with it.
type Element struct {
	Event *Event
	Err   *Error
}

// ContentMode chooses the mode of an HTTP request: the ce-specversion header first, the media type
// second; ok is false where neither says (415 UNSUPPORTED_CONTENT_MODE).
func ContentMode(contentType string, hasSpecVersion bool) (mode Mode, ok bool) { panic("unbuilt") }

// DecodeBinary reads an event in binary mode. headers are all of the request's; body nil is absent.
func DecodeBinary(headers []Header, body []byte) (*Event, error) { panic("unbuilt") }

// DecodeStructured reads application/cloudevents+json.
func DecodeStructured(contentType string, body []byte) (*Event, error) { panic("unbuilt") }

// DecodeBatch reads application/cloudevents-batch+json: an error for the whole, or one Element each.
func DecodeBatch(contentType string, body []byte) ([]Element, error) { panic("unbuilt") }

// EncodeJSON writes the JSON event format such that DecodeStructured gives the event back.
func EncodeJSON(e *Event) []byte { panic("unbuilt") }

// EncodeRecord writes the Kafka binding's binary mode: ce_ headers, content-type, oriel-transport.
func EncodeRecord(e *Event) Record { panic("unbuilt") }

// DecodeRecord reads a Kafka record (binary or structured mode) and returns the headers that are no
// part of the event, in order. It never panics.
func DecodeRecord(r Record) (*Event, []Header, error) { panic("unbuilt") }

// Validate applies the attribute limits and grammar; the same function at ingest and at consume.
func Validate(e *Event) []Violation { panic("unbuilt") }

// PartitionKey is source#subject where a subject is present, else source.
func (e *Event) PartitionKey() string { panic("unbuilt") }

// Digest is the 64-bit content hash of MODEL: sorted attributes in text form without traceparent and
// tracestate, time as floored UTC microseconds, then the data bytes.
func (e *Event) Digest() int64 { panic("unbuilt") }

// Name is the resource name events/{source}:{id}, escaped.
func (e *Event) Name() string { panic("unbuilt") }

// EscapeName is enc(source) ":" enc(id); ParseName is its inverse.
func EscapeName(source, id string) string { panic("unbuilt") }

// ParseName reads the {event} of a path, undecoded.
func ParseName(name string) (source, id string, ok bool) { panic("unbuilt") }
