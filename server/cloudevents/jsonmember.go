package cloudevents

import (
	"bytes"
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"
)

// payload is where an event's members data and data_base64 were found.
type payload struct {
	data, base64 []byte // JSON texts, nil where absent
	depth        int    // of data
}

// member takes one member of the event object.
func (b *builder) member(name string, v []byte, depth int, p *payload) {
	switch name {
	case "data":
		if p.data != nil {
			b.twice(name)
		}
		p.data, p.depth = v, depth
		return
	case "data_base64":
		if p.base64 != nil {
			b.twice(name)
		}
		p.base64 = v
		return
	}
	switch v[0] {
	case '"':
		text, whole := unquote(v)
		if !whole && !b.has(name) {
			b.invalid(name, text, acceptedText, shown(name)+" contains a lone surrogate, which CloudEvents forbids in attributes.")
		}
		b.set(name, text, String)
	case 'n':
		b.setNull(name)
	case 't', 'f':
		if coreOf(name) != notCore {
			b.notString(name, v)
			return
		}
		b.set(name, string(v), Boolean)
	case '{', '[':
		if coreOf(name) != notCore {
			b.notString(name, v)
			return
		}
		b.notScalar(name, v)
	default:
		if coreOf(name) != notCore {
			b.notString(name, v)
			return
		}
		b.integer(name, v)
	}
}

func (b *builder) notString(name string, v []byte) {
	c := coreOf(name)
	if b.repeated(c, name) || b.has(name) {
		return
	}
	if c == coreSpecVersion {
		b.version = true
		b.add(Violation{
			Reason: reasonSpecVersion, Attribute: name, Value: cut(v), Accepted: `the string "1.0"`,
			Message: `specversion is ` + kindOf(v) + `; send the string "1.0".`,
		})
		return
	}
	b.invalid(name, cut(v), "a string", name+" is "+kindOf(v)+"; send a string.")
}

func (b *builder) notScalar(name string, v []byte) {
	if b.has(name) {
		return
	}
	b.invalid(name, cut(v), "a string, a whole number or a boolean",
		"The extension "+quoted(name)+" is "+kindOf(v)+"; an extension is a string, a whole number or a boolean, anything richer belongs into data.")
}

// integer takes a number as an extension. The specification's Integer has 32 bits; what does not fit
// would be rounded or refused by other consumers, so its sender decides, not we. Its text stays, -0 too.
func (b *builder) integer(name string, v []byte) {
	if text := string(v); canonicalInteger(text) {
		b.set(name, text, Integer)
		return
	}
	if b.has(name) {
		return
	}
	b.invalid(name, cut(v), acceptedInteger,
		"The extension "+quoted(name)+" is the number "+shown(cut(v))+"; accepted are whole numbers from -2147483648 to 2147483647, send others as a string.")
}

// data decides what the event's data is, once its content type is known.
func (b *builder) data(p *payload, checkDepth bool) {
	e := b.event
	if p.base64 != nil && p.base64[0] == 'n' {
		p.base64 = nil // null is absent, as the format's schema has it
	}
	if p.data != nil && p.base64 != nil {
		b.add(Violation{
			Reason: reasonConflict, Attribute: "data", Accepted: "data or data_base64",
			Message: "data and data_base64 are both present; send one of them.",
		})
		return
	}
	switch {
	case p.base64 != nil:
		data, ok := unbase64(p.base64)
		if !ok {
			b.invalid("data_base64", cut(p.base64), "a string of padded base64, RFC 4648 section 4",
				"data_base64 is not padded base64 in the standard alphabet.")
			return
		}
		if e.Data = data; checkDepth && e.JSON() && DepthExceeded(data) {
			b.add(tooDeep())
		}
	case p.data == nil:
	case p.data[0] == '"' && !e.JSON():
		text, whole := unquoteBytes(p.data)
		if !whole {
			b.add(Violation{
				Reason: reasonUTF8, Attribute: "data", Accepted: "data_base64",
				Message: "data is a string with a lone surrogate, which has no bytes in UTF-8; send the bytes as data_base64.",
			})
			return
		}
		e.Data = text
	default:
		if e.Data = p.data; checkDepth && p.depth > MaxDepth {
			b.add(tooDeep())
		}
	}
}

// unquote is the text of a JSON string; whole is false where it has lone surrogates, which become
// U+FFFD.
func unquote(raw []byte) (text string, whole bool) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	b, whole := unquoteBytes(raw)
	return string(b), whole
}

func unquoteBytes(raw []byte) (text []byte, whole bool) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1 : len(raw)-1], true
	}
	b, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw)
	return b, err == nil
}

func unbase64(raw []byte) ([]byte, bool) {
	if raw[0] != '"' {
		return nil, false
	}
	text, whole := unquoteBytes(raw)
	// Line feeds are not of the alphabet (RFC 4648, section 3.3), though the decoder passes over them.
	if !whole || bytes.ContainsAny(text, "\r\n") {
		return nil, false
	}
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(data, text)
	return data[:n], err == nil
}

func kindOf(v []byte) string {
	switch v[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// cut is the beginning of a JSON text, for a message.
func cut(v []byte) string { return string(v[:min(len(v), maxShown)]) }
