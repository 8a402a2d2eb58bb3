package cloudevents

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// PartitionKey is source#subject where a subject is present, else source.
func (e *Event) PartitionKey() string {
	if e.Subject == "" {
		return e.Source
	}
	return e.Source + "#" + e.Subject
}

func (e *Event) appendPartitionKey(b []byte) []byte {
	b = append(b, e.Source...)
	if e.Subject != "" {
		b = append(append(b, '#'), e.Subject...)
	}
	return b
}

// Digest is the 64-bit content hash: sorted attributes in text form without traceparent and
// tracestate, time as floored UTC microseconds, then the data bytes.
//
// It is XXH3-64 with seed 0 over the following bytes, all numbers little-endian. For each attribute
// present, in the bytewise order of names, specversion, traceparent and tracestate left out: length of
// the name (4 bytes), the name, length of the value (4 bytes), the value; the value of time is its
// microseconds since 1970 (8 bytes). Then 4 bytes of zero; then, unless data is absent, the byte 1,
// the length of data (8 bytes) and the data. Types of extensions and the content mode have no part in
// it. Stored digests depend on this layout: it never changes.
func (e *Event) Digest() int64 {
	h := xxh3.New()
	var scratch [8]byte
	field := func(name, value string) {
		binary.LittleEndian.PutUint32(scratch[:], uint32(len(name)))
		_, _ = h.Write(scratch[:4])
		_, _ = h.WriteString(name)
		binary.LittleEndian.PutUint32(scratch[:], uint32(len(value)))
		_, _ = h.Write(scratch[:4])
		_, _ = h.WriteString(value)
	}
	var micros [8]byte
	binary.LittleEndian.PutUint64(micros[:], uint64(e.Time.UnixMicro()))
	own := [...]Extension{ // in the order of names
		{Name: "datacontenttype", Value: e.DataContentType},
		{Name: "dataschema", Value: e.DataSchema},
		{Name: "id", Value: e.ID},
		{Name: "source", Value: e.Source},
		{Name: "subject", Value: e.Subject},
		{Name: "time", Value: string(micros[:])},
		{Name: "type", Value: e.Type},
	}
	x := 0
	for i := range own {
		for ; x < len(e.Extensions) && e.Extensions[x].Name < own[i].Name; x++ {
			digestExtension(&e.Extensions[x], field)
		}
		if own[i].Value != "" {
			field(own[i].Name, own[i].Value)
		}
	}
	for ; x < len(e.Extensions); x++ {
		digestExtension(&e.Extensions[x], field)
	}
	_, _ = h.Write([]byte{0, 0, 0, 0})
	if e.Data != nil {
		binary.LittleEndian.PutUint64(scratch[:], uint64(len(e.Data)))
		_, _ = h.Write([]byte{1})
		_, _ = h.Write(scratch[:])
		_, _ = h.Write(e.Data)
	}
	return int64(h.Sum64())
}

func digestExtension(x *Extension, field func(name, value string)) {
	if x.Name != "traceparent" && x.Name != "tracestate" {
		field(x.Name, x.Value)
	}
}

// Name is the resource name events/{source}:{id}, escaped.
func (e *Event) Name() string { return "events/" + EscapeName(e.Source, e.ID) }

// EscapeName is enc(source) ":" enc(id), where enc percent-encodes every byte outside A-Za-z0-9-._~.
func EscapeName(source, id string) string {
	b := make([]byte, 0, len(source)+len(id)+32)
	b = appendEscaped(b, source)
	b = append(b, ':')
	return string(appendEscaped(b, id))
}

func appendEscaped(b []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~' {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return b
}

// ParseName reads the {event} of a path, undecoded. It takes back what EscapeName gives, and what
// clients make of that: lower-case hexadecimal digits, and characters left as they are where that is
// unambiguous. ok is false for anything that can name no event.
func ParseName(name string) (source, id string, ok bool) {
	a, b, found := strings.Cut(name, ":")
	if !found || strings.ContainsAny(b, ":") {
		return "", "", false
	}
	if source, ok = unescape(a); !ok {
		return "", "", false
	}
	if id, ok = unescape(b); !ok {
		return "", "", false
	}
	return source, id, true
}

func unescape(s string) (string, bool) {
	if s == "" || strings.ContainsAny(s, "/?#") {
		return "", false
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, lo := hex(s[i+1]), hex(s[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b = append(b, byte(hi<<4|lo))
		i += 2
	}
	for _, r := range string(b) {
		if forbidden(r) { // no attribute has it, and PostgreSQL takes no NUL
			return "", false
		}
	}
	return string(b), utf8.Valid(b)
}
