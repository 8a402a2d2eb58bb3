package cloudevents_test

import (
	"errors"
	"testing"

	"oriel/server/cloudevents"
)

// headers makes headers of keys and values in turn.
func headers(pairs ...string) []cloudevents.Header {
	h := make([]cloudevents.Header, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		h = append(h, cloudevents.Header{Key: pairs[i], Value: []byte(pairs[i+1])})
	}
	return h
}

// required are the headers of the smallest event in HTTP's binary mode, and the given ones.
func required(pairs ...string) []cloudevents.Header {
	return append(headers("ce-specversion", "1.0", "ce-id", "1", "ce-source", "/s", "ce-type", "t",
		"ce-time", "2026-11-30T12:00:00Z"), headers(pairs...)...)
}

// structured is the smallest event in the JSON format with the given members, each led by a comma.
func structured(members string) string {
	return `{"specversion":"1.0","id":"1","source":"/s","type":"t","time":"2026-11-30T12:00:00Z"` + members + `}`
}

func mustStructured(t testing.TB, body string) *cloudevents.Event {
	t.Helper()
	e, err := cloudevents.DecodeStructured(cloudevents.MediaTypeStructured, []byte(body))
	if err != nil {
		t.Fatalf("decode %s: %v", body, err)
	}
	return e
}

func mustBinary(t testing.TB, h []cloudevents.Header, body []byte) *cloudevents.Event {
	t.Helper()
	e, err := cloudevents.DecodeBinary(h, body)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return e
}

// violations are those of an error, which must be the package's own.
func violations(t testing.TB, err error) []cloudevents.Violation {
	t.Helper()
	var e *cloudevents.Error
	if !errors.As(err, &e) || len(e.Violations) == 0 {
		t.Fatalf("got %v, want an error with violations", err)
	}
	return e.Violations
}
