package cloudevents

import (
	"strings"
	"unicode/utf8"
)

// EncodeRecord writes the Kafka binding's binary mode: ce_ headers, content-type, oriel-transport. The
// event must be valid (Validate). Value aliases the event's data.
//
// A structured event without datacontenttype gets the content type application/json that the format
// implies, so that foreign consumers can read it, and ct=absent, so that it comes back without.
func EncodeRecord(e *Event) Record {
	contentType, implied := e.DataContentType, false
	if contentType == "" && e.Mode != Binary && e.Data != nil && bareJSON(e.Data) {
		contentType, implied = "application/json", true
	}
	n := len(specVersion) + len(e.ID) + 2*len(e.Source) + len(e.Type) + 2*len(e.Subject) + 1 + len(e.TimeText) +
		len(e.DataSchema) + len(contentType) + 48
	for i := range e.Extensions {
		n += len(e.Extensions[i].Value) + MaxName + len(":boolean,")
	}
	w := recordWriter{arena: make([]byte, 0, n), headers: make([]Header, 0, 9+len(e.Extensions))}
	w.put("ce_specversion", specVersion)
	w.put("ce_id", e.ID)
	w.put("ce_source", e.Source)
	w.put("ce_type", e.Type)
	if e.Subject != "" {
		w.put("ce_subject", e.Subject)
	}
	w.put("ce_time", e.TimeText)
	if e.DataSchema != "" {
		w.put("ce_dataschema", e.DataSchema)
	}
	for i := range e.Extensions {
		w.put("ce_"+e.Extensions[i].Name, e.Extensions[i].Value)
	}
	if contentType != "" {
		w.put("content-type", contentType)
	}
	start := len(w.arena)
	w.arena = appendTransport(w.arena, e, implied)
	w.headers = append(w.headers, Header{TransportHeader, w.since(start)})
	start = len(w.arena)
	w.arena = e.appendPartitionKey(w.arena)
	return Record{Key: w.since(start), Value: e.Data, Headers: w.headers}
}

// recordWriter keeps all values of a record in one allocation.
type recordWriter struct {
	arena   []byte
	headers []Header
}

func (w *recordWriter) put(key, value string) {
	start := len(w.arena)
	w.arena = append(w.arena, value...)
	w.headers = append(w.headers, Header{key, w.since(start)})
}

func (w *recordWriter) since(start int) []byte { return w.arena[start:len(w.arena):len(w.arena)] }

// DecodeRecord reads a Kafka record (binary or structured mode) and returns the headers that are no
// part of the event, in order, also where the record is refused. It never panics. Data may alias
// r.Value and the headers alias r.Headers.
//
// A record of ours, which has the header oriel-transport, and any other with ce_ headers is binary,
// except that a foreign record with the content type application/cloudevents+json is structured
// whatever its headers repeat (Kafka binding 1.0, section 3). Names of headers are read without regard
// to case; a header whose value is null is absent. Neither depth nor well-formedness of data is
// judged: what is on the topic is stored as it is.
func DecodeRecord(r Record) (*Event, []Header, error) {
	ours, attributes := false, false
	var contentType []byte
	var t transport
	for i := range r.Headers {
		h := &r.Headers[i]
		switch {
		case !ours && h.Key == TransportHeader:
			t, ours = parseTransport(h.Value)
		case contentType == nil && strings.EqualFold(h.Key, "content-type"):
			contentType = h.Value
		default:
			if _, ok := cutFold(h.Key, "ce_"); ok && h.Value != nil {
				attributes = true
			}
		}
	}
	if !ours {
		if mode, ok := ContentMode(string(contentType), false); ok && mode == Structured {
			return decodeStructuredRecord(r, string(contentType))
		}
		if !attributes {
			return nil, r.Headers, notAnEvent(string(contentType))
		}
	}
	return decodeBinaryRecord(r, ours, &t)
}

func notAnEvent(contentType string) *Error {
	return refuse(Violation{
		Reason: reasonUndecodable, Value: contentType, Accepted: "ce_ headers, or the content type " + MediaTypeStructured,
		Message: "The record is no CloudEvent: it has neither ce_ headers nor the content type " + MediaTypeStructured + ".",
	})
}

func decodeBinaryRecord(r Record, ours bool, t *transport) (*Event, []Header, error) {
	b := newBuilder(bindingKafka, t.mode)
	var rest []Header
	contentTypes := 0
	for i := range r.Headers {
		h := r.Headers[i]
		if name, ok := cutFold(h.Key, "ce_"); ok {
			if h.Value != nil {
				b.attribute(headerName(name), string(h.Value))
			}
		} else if strings.EqualFold(h.Key, "content-type") {
			if len(h.Value) > 0 {
				contentTypes++
				b.contentType(string(h.Value), contentTypes)
			}
		} else if ours && h.Key == TransportHeader {
			ours = false // the first that was read; a repeated one is not ours
			if _, valid := parseTransport(h.Value); !valid {
				ours = true
				rest = append(rest, h)
			}
		} else {
			rest = append(rest, h)
		}
	}
	if t.contentTypeAbsent && contentTypes == 1 {
		b.event.DataContentType = ""
	}
	b.event.Data = r.Value
	e, err := b.finish()
	if err != nil {
		return nil, rest, err
	}
	t.apply(e)
	return e, rest, nil
}

func decodeStructuredRecord(r Record, contentType string) (*Event, []Header, error) {
	rest := make([]Header, 0, len(r.Headers)-1)
	for i, first := 0, true; i < len(r.Headers); i++ {
		if first && strings.EqualFold(r.Headers[i].Key, "content-type") {
			first = false
			continue
		}
		rest = append(rest, r.Headers[i])
	}
	if len(rest) == 0 {
		rest = nil
	}
	if err := checkCharset(contentType, MediaTypeStructured); err != nil {
		return nil, rest, err
	}
	if !utf8.Valid(r.Value) {
		return nil, rest, checkUTF8(r.Value)
	}
	e, err := decodeStructured(r.Value, false)
	if err != nil {
		return nil, rest, err
	}
	return e, rest, nil
}
