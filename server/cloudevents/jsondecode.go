package cloudevents

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Element is one element of a batch: an event or what was wrong with it.
type Element struct {
	Event *Event
	Err   *Error
}

// DecodeStructured reads application/cloudevents+json. Data is, in this order: the bytes of
// data_base64; under a JSON content type or none, the text of the member data exactly as it stands in
// the body; under another content type the decoded text of a string, and the JSON text of anything
// else. data: null is the JSON text null. Such data may alias body, which must not change afterwards.
func DecodeStructured(contentType string, body []byte) (*Event, error) {
	if err := checkCharset(contentType, MediaTypeStructured); err != nil {
		return nil, err
	}
	if err := checkUTF8(body); err != nil {
		return nil, err
	}
	e, err := decodeStructured(body, true)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// decodeStructured reads a body of valid UTF-8.
func decodeStructured(body []byte, checkDepth bool) (*Event, *Error) {
	s := scanner{b: body}
	if c := s.next(); c == '[' {
		return nil, refuse(Violation{
			Reason: reasonJSON, Accepted: MediaTypeBatch,
			Message: "The body is an array: send a batch as " + MediaTypeBatch + ", or one event as an object.",
		})
	}
	e, invalid, err := readEvent(&s, Structured, checkDepth)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, malformed(err, body)
	}
	if invalid != nil {
		return nil, invalid
	}
	return e, nil
}

// DecodeBatch reads application/cloudevents-batch+json: an error for the whole, or one Element each.
// An empty batch is valid (HTTP binding 1.0, section 3.3.2) and has no elements. Aliasing of body is
// DecodeStructured's.
func DecodeBatch(contentType string, body []byte) ([]Element, error) {
	if err := checkCharset(contentType, MediaTypeBatch); err != nil {
		return nil, err
	}
	if err := checkUTF8(body); err != nil {
		return nil, err
	}
	s := scanner{b: body}
	if s.next() == '{' {
		return nil, refuse(Violation{
			Reason: reasonJSON, Accepted: MediaTypeStructured,
			Message: "The body is an object: send one event as " + MediaTypeStructured + ", or a batch as an array.",
		})
	}
	elements, err := readBatch(&s)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, malformed(err, body)
	}
	if len(elements) > MaxBatch {
		return nil, refuse(Violation{
			Reason: reasonBatch, Limit: strconv.Itoa(MaxBatch), Accepted: "1 to " + strconv.Itoa(MaxBatch) + " events",
			Message: "The batch has more than " + strconv.Itoa(MaxBatch) + " events; send several batches.",
		})
	}
	return elements, nil
}

// readBatch reads up to one element beyond MaxBatch, and then nothing more.
func readBatch(s *scanner) ([]Element, *syntaxError) {
	if s.next() != '[' {
		return nil, s.fail("an array")
	}
	s.i++
	elements := []Element{}
	if s.next() == ']' {
		s.i++
		return elements, nil
	}
	for {
		if len(elements) == MaxBatch {
			s.i = len(s.b)
			return append(elements, Element{}), nil
		}
		if s.next() == '{' {
			e, invalid, err := readEvent(s, Batch, true)
			if err != nil {
				return nil, err
			}
			elements = append(elements, Element{Event: e, Err: invalid})
		} else {
			v, err := s.value()
			if err != nil {
				return nil, err
			}
			elements = append(elements, Element{Err: refuse(Violation{
				Reason: reasonJSON, Value: string(v[:min(len(v), 1024)]), Accepted: "an object",
				Message: "The element is " + kindOf(v) + "; an event is an object.",
			})})
		}
		switch s.next() {
		case ',':
			s.i++
		case ']':
			s.i++
			return elements, nil
		default:
			return nil, s.fail("a comma or the array's end")
		}
	}
}

// end requires that nothing but white space follows; some SDKs end the body with a line feed.
func (s *scanner) end() *syntaxError {
	if s.space(); s.i < len(s.b) {
		return s.fail("the end of the body")
	}
	return nil
}

// readEvent reads one event object: the event, or what is wrong with it, or where it is no JSON.
func readEvent(s *scanner, mode Mode, checkDepth bool) (*Event, *Error, *syntaxError) {
	if s.next() != '{' {
		return nil, nil, s.fail("an object")
	}
	s.i++
	b := newBuilder(bindingJSON, mode)
	var p payload
	if s.next() == '}' {
		s.i++
		e, err := b.finish()
		return e, err, nil
	}
	for {
		if s.next() != '"' {
			return nil, nil, s.fail("a member's name")
		}
		start := s.i
		if err := s.str(); err != nil {
			return nil, nil, err
		}
		text, _ := unquoteBytes(s.b[start:s.i]) // a broken name fails the grammar of names
		name := attributeName(text)
		if s.next() != ':' {
			return nil, nil, s.fail("a colon")
		}
		s.i++
		v, err := s.value()
		if err != nil {
			return nil, nil, err
		}
		b.member(name, v, s.max, &p)
		switch s.next() {
		case ',':
			s.i++
			continue
		case '}':
			s.i++
		default:
			return nil, nil, s.fail("a comma or the object's end")
		}
		break
	}
	b.data(&p, checkDepth)
	e, err := b.finish()
	return e, err, nil
}

func tooDeep() Violation {
	return Violation{
		Reason: reasonDepth, Attribute: "data", Limit: strconv.Itoa(MaxDepth),
		Message: "The JSON of data is nested deeper than " + strconv.Itoa(MaxDepth) + " levels.",
	}
}

// malformed is the refusal of a body that is no JSON.
func malformed(err *syntaxError, body []byte) *Error {
	at := strconv.Itoa(err.at)
	message := "The body is not JSON: at byte " + at + ", " + err.what + "."
	switch {
	case len(body) == 0:
		message = "The body is empty; it must be an event in the JSON format."
	case bytes.HasPrefix(body, []byte("\uFEFF")):
		message = "The body is not JSON: it begins with a byte order mark; leave it out."
	}
	return refuse(Violation{Reason: reasonJSON, Value: cut(body[max(0, min(err.at, len(body))-20):]), Message: message})
}

// checkUTF8 refuses a JSON text that is not UTF-8, naming the byte.
func checkUTF8(body []byte) *Error {
	if utf8.Valid(body) {
		return nil
	}
	at := 0
	for at < len(body) {
		r, n := utf8.DecodeRune(body[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return refuse(Violation{
		Reason: reasonUTF8, Value: "0x" + strconv.FormatInt(int64(body[at]), 16), Accepted: "UTF-8",
		Message: "The body is not valid UTF-8 at byte " + strconv.Itoa(at) + "; send other data as data_base64 or in binary mode.",
	})
}
