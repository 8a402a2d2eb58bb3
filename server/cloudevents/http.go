package cloudevents

import (
	"bytes"
	"strings"
)

// DecodeBinary reads an event in binary mode. headers are all of the request's; body nil is absent,
// and so is one of zero bytes: HTTP cannot tell them apart. Data aliases body, which must not change
// afterwards. Of the headers only Content-Type and those beginning with ce- belong to the event: a
// traceparent header is the request's own affair, ce-traceparent is an extension.
func DecodeBinary(headers []Header, body []byte) (*Event, error) {
	b := newBuilder(bindingHTTP, Binary)
	contentTypes := 0
	for i := range headers {
		h := &headers[i]
		if name, ok := cutFold(h.Key, "ce-"); ok {
			b.attribute(headerName(name), headerValue(h.Value))
		} else if strings.EqualFold(h.Key, "content-type") {
			if v := string(bytes.Trim(h.Value, " \t")); v != "" {
				contentTypes++
				b.contentType(v, contentTypes)
			}
		}
	}
	if len(body) > 0 {
		b.event.Data = body
		if b.event.JSON() && DepthExceeded(body) {
			b.add(tooDeep())
		}
	}
	e, err := b.finish()
	if err != nil {
		return nil, err
	}
	return e, nil
}

// attribute takes an attribute of binary mode. A datacontenttype beside the content type is against
// the bindings (3.1.1 of HTTP); it is tolerated where it says the same.
func (b *builder) attribute(name, value string) {
	if name == "datacontenttype" {
		b.contentType(value, 1)
		return
	}
	b.set(name, value, String)
}

// contentType takes the n-th content type header.
func (b *builder) contentType(value string, n int) {
	const name = "datacontenttype"
	switch {
	case n > 1:
		b.twice(name)
	case !b.seen[coreDataContentType]:
		b.set(name, value, String)
	case b.event.DataContentType != value && !b.has(name):
		b.invalid(name, value, "one content type", "The content type was sent twice, as "+
			quoted(b.event.DataContentType)+" and as "+quoted(value)+"; send the content-type header alone.")
	}
}

// cutFold is strings.CutPrefix without regard to the case of ASCII letters.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// headerValue decodes the value of an HTTP header (HTTP binding 1.0, section 3.1.3.2): a value that is
// a quoted string as a whole is unquoted, then one round of percent-decoding follows. Quotes elsewhere
// and a % without two hexadecimal digits after it stay, since most SDKs send both as they are.
func headerValue(raw []byte) string {
	raw = bytes.Trim(raw, " \t")
	if n := len(raw); n >= 2 && raw[0] == '"' && raw[n-1] == '"' {
		if text, ok := unescapeQuoted(raw[1 : n-1]); ok {
			raw = text
		}
	}
	i := bytes.IndexByte(raw, '%')
	if i < 0 {
		return string(raw)
	}
	decoded := make([]byte, i, len(raw))
	copy(decoded, raw)
	return string(appendPercentDecoded(decoded, raw[i:]))
}

// unescapeQuoted reads what is between the quotes of a quoted string (RFC 7230, section 3.2.6).
func unescapeQuoted(raw []byte) ([]byte, bool) {
	if bytes.IndexByte(raw, '"') < 0 && bytes.IndexByte(raw, '\\') < 0 {
		return raw, true
	}
	text := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			return nil, false
		case '\\':
			if i++; i == len(raw) {
				return nil, false
			}
		}
		text = append(text, raw[i])
	}
	return text, true
}

func appendPercentDecoded(b, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		if raw[i] == '%' && i+2 < len(raw) {
			if hi, lo := hex(raw[i+1]), hex(raw[i+2]); hi >= 0 && lo >= 0 {
				b = append(b, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		b = append(b, raw[i])
	}
	return b
}
