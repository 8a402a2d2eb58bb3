package cloudevents

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// EncodeJSON writes the JSON event format such that DecodeStructured gives the event back, its mode
// apart. The event must be valid (Validate). Data goes out as data where that is lossless: as it is
// for JSON without white space around it, as a string for text; otherwise as data_base64.
func EncodeJSON(e *Event) []byte {
	b := make([]byte, 0, 256+len(e.ID)+len(e.Source)+len(e.Type)+len(e.Subject)+len(e.DataSchema)+
		len(e.DataContentType)+48*len(e.Extensions)+len(e.Data)+len(e.Data)/2)
	b = append(b, `{"specversion":"1.0"`...)
	b = appendMember(b, "id", e.ID)
	b = appendMember(b, "source", e.Source)
	b = appendMember(b, "type", e.Type)
	if e.Subject != "" {
		b = appendMember(b, "subject", e.Subject)
	}
	b = appendMember(b, "time", e.TimeText)
	if e.DataContentType != "" {
		b = appendMember(b, "datacontenttype", e.DataContentType)
	}
	if e.DataSchema != "" {
		b = appendMember(b, "dataschema", e.DataSchema)
	}
	for i := range e.Extensions {
		x := &e.Extensions[i]
		if x.Type == String {
			b = appendMember(b, x.Name, x.Value)
			continue
		}
		b = append(append(b, `,"`...), x.Name...)
		b = append(append(b, `":`...), x.Value...)
	}
	return append(appendData(b, e), '}')
}

func appendMember(b []byte, name, value string) []byte {
	b = append(append(b, `,"`...), name...)
	return appendQuoted(append(b, `":`...), value)
}

// appendQuoted quotes valid UTF-8, which is all that gets here.
func appendQuoted[T ~string | ~[]byte](b []byte, value T) []byte {
	b, _ = jsontext.AppendQuote(b, value)
	return b
}

func appendData(b []byte, e *Event) []byte {
	switch {
	case e.Data == nil:
		return b
	case e.JSON() && bareJSON(e.Data):
		return append(append(b, `,"data":`...), e.Data...)
	case e.DataContentType != "" && !e.JSON() && isText(e):
		return appendQuoted(append(b, `,"data":`...), e.Data)
	default:
		b = append(b, `,"data_base64":"`...)
		return append(base64.StdEncoding.AppendEncode(b, e.Data), '"')
	}
}

// bareJSON says whether data is one JSON value and nothing around it.
func bareJSON(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	s := scanner{b: data}
	v, err := s.value()
	return err == nil && len(v) == len(data)
}

// isText says whether a JSON string says the same as the bytes to every reader: they are UTF-8, the
// content type does not say otherwise, and no control characters hint at a binary format.
func isText(e *Event) bool {
	switch charset(e.DataContentType) {
	case "", "utf-8", "utf8", "us-ascii":
	default:
		return false
	}
	for _, c := range e.Data {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return utf8.Valid(e.Data)
}
