package cloudevents

import (
	"mime"
	"strings"
)

// Media types of the JSON event format.
const (
	MediaTypeStructured = "application/cloudevents+json"
	MediaTypeBatch      = "application/cloudevents-batch+json"
)

// TransportHeader is the record header that carries what the Kafka binding's binary mode cannot say.
const TransportHeader = "oriel-transport"

// mediaType is the type and subtype of a content type, without parameters and the white space around.
func mediaType(contentType string) string {
	if i := strings.IndexByte(contentType, ';'); i >= 0 {
		contentType = contentType[:i]
	}
	return strings.TrimSpace(contentType)
}

// IsJSON says whether a datacontenttype declares JSON, which is */json or */*+json (JSON format 1.0,
// section 3.1.1).
func IsJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	_, subtype, ok := strings.Cut(mediaType(contentType), "/")
	if !ok {
		return false
	}
	return strings.EqualFold(subtype, "json") || len(subtype) > 5 && strings.EqualFold(subtype[len(subtype)-5:], "+json")
}

// JSON says whether the event's data claims to be JSON: by its content type or, in the JSON format, by
// having none. Whether it is JSON is another matter.
func (e *Event) JSON() bool {
	json, _ := Claims(e.DataContentType, ModeFlags(e.Mode))
	return json
}

// charset is the parameter of that name, lower case, or "".
func charset(contentType string) string {
	if strings.IndexByte(contentType, ';') < 0 {
		return ""
	}
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return strings.ToLower(parameters["charset"])
}

// checkCharset refuses a JSON body that says it is not UTF-8 (RFC 8259, section 8.1).
func checkCharset(contentType, accepted string) *Error {
	switch c := charset(contentType); c {
	case "", "utf-8", "utf8", "us-ascii":
		return nil
	default:
		return refuse(Violation{
			Reason: reasonContentMode, Value: contentType, Accepted: accepted + "; charset=utf-8",
			Message: "The charset " + quoted(c) + " is not supported: JSON is sent as UTF-8.",
		})
	}
}

// ContentMode chooses the mode of an HTTP request: the ce-specversion header first, the media type
// second; ok is false where neither says (415 UNSUPPORTED_CONTENT_MODE).
func ContentMode(contentType string, hasSpecVersion bool) (mode Mode, ok bool) {
	if hasSpecVersion {
		return Binary, true
	}
	switch t := mediaType(contentType); {
	case strings.EqualFold(t, MediaTypeStructured):
		return Structured, true
	case strings.EqualFold(t, MediaTypeBatch):
		return Batch, true
	default:
		return Binary, false
	}
}
