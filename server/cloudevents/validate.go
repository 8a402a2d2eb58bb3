package cloudevents

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	acceptedName    = "1 to 20 characters of a-z and 0-9"
	acceptedText    = "Unicode text without control characters, surrogates and noncharacters"
	acceptedURI     = "a URI reference without spaces"
	acceptedInteger = "a whole number from -2147483648 to 2147483647; send others as a string"

	// specversionSize is what specversion adds to the size of all attributes.
	specversionSize = len("specversion") + len(specVersion)
)

// Validate applies the attribute limits and grammar; the same function at ingest and at consume.
// Every decoder of this package has applied it already: call it for an event that was made otherwise.
// nil means that EncodeJSON and EncodeRecord are lossless for the event.
func Validate(e *Event) []Violation {
	checked := *e
	p := problems{binding: bindingJSON}
	check(&checked, &p)
	if !p.has("time") && !checked.Time.Equal(e.Time) {
		p.invalid("time", e.TimeText, "", "time's text and its instant are not the same.")
	}
	return p.sorted()
}

// check adds what is wrong with the attributes, and sets Time from TimeText.
func check(e *Event, p *problems) {
	p.required("id", e.ID, "a non-empty string, unique within the source", "b1d6c7a0-1")
	p.required("source", e.Source, "a non-empty URI reference of the producer", "/sensors/kitchen")
	p.required("type", e.Type, "a non-empty string naming the kind of event", "com.example.reading.v1")
	p.text("id", e.ID, MaxAttribute)
	p.text("source", e.Source, MaxAttribute)
	p.uri("source", e.Source)
	p.text("type", e.Type, MaxAttribute)
	p.text("subject", e.Subject, MaxAttribute)
	p.time(e)
	p.text("datacontenttype", e.DataContentType, MaxExtension)
	p.text("dataschema", e.DataSchema, MaxExtension)
	p.uri("dataschema", e.DataSchema)

	size := specversionSize + len("id") + len(e.ID) + len("source") + len(e.Source) + len("type") + len(e.Type) +
		len("time") + len(e.TimeText) + sizeOf("subject", e.Subject) +
		sizeOf("datacontenttype", e.DataContentType) + sizeOf("dataschema", e.DataSchema)
	for i := range e.Extensions {
		x := &e.Extensions[i]
		size += len(x.Name) + len(x.Value)
		p.extension(x)
		if i > 0 && x.Name <= e.Extensions[i-1].Name && !p.has(x.Name) {
			p.invalid(x.Name, "", "", "The extensions are not sorted by name, each once.")
		}
	}
	if n := len(e.Source) + len(e.ID); n > MaxIdentity {
		p.tooLarge(reasonTooLong, "source and id together", n, MaxIdentity)
	}
	if size > MaxAttributes {
		p.tooLarge(reasonTooLarge, "The names and values of all attributes together", size, MaxAttributes)
	}
}

func sizeOf(name, value string) int {
	if value == "" {
		return 0
	}
	return len(name) + len(value)
}

func (p *problems) tooLarge(reason, what string, n, limit int) {
	p.add(Violation{
		Reason: reason, Limit: strconv.Itoa(limit),
		Message: what + " are " + strconv.Itoa(n) + " bytes; at most " + strconv.Itoa(limit) + " are accepted.",
	})
}

func (p *problems) required(name, value, accepted, example string) {
	if value != "" || p.has(name) {
		return
	}
	p.add(Violation{
		Reason: reasonMissing, Attribute: name, Accepted: accepted,
		Message: name + " is required and must not be empty: add " + p.binding.spell(name, example) + ".",
	})
}

// text checks a String: its length, its encoding and its characters.
func (p *problems) text(name, value string, limit int) {
	if len(value) <= limit && plain(value) {
		return
	}
	if p.has(name) {
		return
	}
	if len(value) > limit {
		p.add(Violation{
			Reason: reasonTooLong, Attribute: name, Value: value, Limit: strconv.Itoa(limit),
			Message: name + " is " + strconv.Itoa(len(value)) + " bytes long; at most " + strconv.Itoa(limit) + " are accepted.",
		})
		return
	}
	for i := 0; i < len(value); {
		r, n := utf8.DecodeRuneInString(value[i:])
		if r == utf8.RuneError && n == 1 {
			p.notUTF8(name, value, i)
			return
		}
		if forbidden(r) {
			what := "the control character "
			if r >= 0xFDD0 {
				what = "the noncharacter "
			}
			p.invalid(name, value, acceptedText, name+" contains "+what+codePoint(r)+", which CloudEvents forbids in attributes.")
			return
		}
		i += n
	}
}

func (p *problems) notUTF8(name, value string, at int) {
	message := name + " is not valid UTF-8 at byte " + strconv.Itoa(at)
	accepted := "UTF-8"
	if p.binding == bindingHTTP {
		message += "; percent-encode the value's UTF-8 bytes (é is %C3%A9) or send the event in structured mode"
		accepted = "UTF-8, raw or percent-encoded"
	}
	p.add(Violation{Reason: reasonUTF8, Attribute: name, Value: value, Accepted: accepted, Message: message + "."})
}

// uri is lenient, as the SDKs are: what cannot be a reference of any kind is refused, no more.
func (p *problems) uri(name, value string) {
	if i := strings.IndexFunc(value, unicode.IsSpace); i >= 0 && !p.has(name) {
		p.invalid(name, value, acceptedURI, name+" contains a space at byte "+strconv.Itoa(i)+"; a URI reference has none, write %20.")
	}
}

func (p *problems) time(e *Event) {
	if e.TimeText == "" {
		if !p.has("time") {
			p.add(Violation{
				Reason: reasonMissing, Attribute: "time", Accepted: acceptedTime,
				Message: "time is required: add " + p.binding.spell("time", exampleTime) +
					" with the instant at which the event happened, in RFC 3339.",
			})
		}
		return
	}
	p.text("time", e.TimeText, maxTime)
	if p.has("time") {
		return
	}
	t, err := ParseTime(e.TimeText)
	if err != nil {
		p.invalid("time", e.TimeText, acceptedTime, "time is not an RFC 3339 timestamp: "+err.Error()+"; write it as "+exampleTime+".")
		return
	}
	e.Time = t
}

func (p *problems) extension(x *Extension) {
	if !validName(x.Name) {
		if p.has(x.Name) {
			return
		}
		v := Violation{
			Reason: reasonInvalid, Attribute: x.Name, Accepted: acceptedName,
			Message: "The extension name " + quoted(x.Name) + " is not accepted: a name has " + acceptedName + ".",
		}
		if len(x.Name) > MaxName {
			v.Limit = strconv.Itoa(MaxName)
		}
		p.add(v)
		return
	}
	if x.Name == "data" || coreOf(x.Name) != notCore {
		if !p.has(x.Name) {
			p.invalid(x.Name, x.Value, "another name", quoted(x.Name)+" is a reserved name and cannot be an extension.")
		}
		return
	}
	switch x.Type {
	case Boolean:
		if x.Value != "true" && x.Value != "false" && !p.has(x.Name) {
			p.invalid(x.Name, x.Value, "true or false", "The extension "+x.Name+" is no boolean.")
		}
	case Integer:
		if !canonicalInteger(x.Value) && !p.has(x.Name) {
			p.invalid(x.Name, x.Value, acceptedInteger, "The extension "+x.Name+" is no 32-bit integer.")
		}
	default:
		p.text(x.Name, x.Value, MaxExtension)
	}
}

func validName(name string) bool {
	if name == "" || len(name) > MaxName {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// canonicalInteger says whether s is a 32-bit signed integer as JSON writes one; so 0 has two texts.
func canonicalInteger(s string) bool {
	n, err := strconv.ParseInt(s, 10, 32)
	return err == nil && (strconv.FormatInt(n, 10) == s || s == "-0")
}

// plain says that s is printable ASCII, which nearly every value is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7F {
			return false
		}
	}
	return true
}

// forbidden are the code points that the String type of CloudEvents 1.0 excludes.
func forbidden(r rune) bool {
	return r < 0x20 || r >= 0x7F && r < 0xA0 || r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE
}

func codePoint(r rune) string {
	hex := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	return "U+" + strings.Repeat("0", max(0, 4-len(hex))) + hex
}
