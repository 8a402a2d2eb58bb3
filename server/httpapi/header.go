package httpapi

import (
	"bytes"
	"strings"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

// What of a request's header block matters before routing. Values are copies.
type shape struct {
	contentType     string
	contentEncoding string
	authorization   string
	origin          string
	fetchSite       string
	traceParent     string
	traceState      string
}

// scan calls f for each header line as it came: names in the sender's case, values without the
// white space around them and otherwise byte for byte, repeats and order kept. The framework's own
// view is not used, for it folds names and merges repeats.
func scan(raw []byte, f func(name, value []byte) error) error {
	for len(raw) > 0 {
		line := raw
		if i := bytes.IndexByte(raw, '\n'); i >= 0 {
			line, raw = raw[:i], raw[i+1:]
		} else {
			raw = nil
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			return malformed("A header line is folded over two lines; send it on one.")
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(name) == 0 {
			return malformed("A header line has no name.")
		}
		if err := f(name, bytes.Trim(value, " \t")); err != nil {
			return err
		}
	}
	return nil
}

// read checks what HTTP libraries and proxies take differently, because that is how requests are
// smuggled, and keeps what the edge needs.
func readShape(raw []byte) (shape, error) {
	var (
		s                         shape
		length, chunked           bool
		hosts, types, credentials int
	)
	err := scan(raw, func(name, value []byte) error {
		switch {
		case is(name, "host"):
			hosts++
		case is(name, "content-length"):
			if length {
				return malformed("Content-Length is given twice.")
			}
			length = true
		case is(name, "transfer-encoding"):
			if chunked || !is(value, "chunked") {
				return malformed("Transfer-Encoding must be chunked, once.")
			}
			chunked = true
		case is(name, "content-type"):
			types++
			s.contentType = string(value)
		case is(name, "content-encoding"):
			s.contentEncoding = join(s.contentEncoding, value)
		case is(name, "authorization"):
			credentials++
			s.authorization = string(value)
		case is(name, "origin"):
			s.origin = join(s.origin, value)
		case is(name, "sec-fetch-site"):
			s.fetchSite = join(s.fetchSite, value)
		case is(name, "traceparent"):
			s.traceParent = join(s.traceParent, value)
		case is(name, "tracestate"):
			s.traceState = join(s.traceState, value)
		}
		return nil
	})
	switch {
	case err != nil:
	case length && chunked:
		err = malformed("Content-Length and Transfer-Encoding exclude each other.")
	case hosts > 1:
		err = malformed("Host is given twice.")
	case types > 1:
		err = malformed("Content-Type is given twice.")
	case credentials > 1:
		err = malformed("Authorization is given twice.")
	}
	return s, err
}

func is(name []byte, lower string) bool {
	return len(name) == len(lower) && strings.EqualFold(string(name), lower)
}

func join(before string, value []byte) string {
	if before == "" {
		return string(value)
	}
	return before + ", " + string(value)
}

func malformed(message string) *fault.Error {
	return fault.New(fault.InvalidArgument, fault.ReasonMalformedRequest, message)
}

// copyHeaders copies a header block out of the framework's buffer, without the caller's secrets:
// what reads an event has no use for them.
func copyHeaders(raw []byte) []cloudevents.Header {
	owned := bytes.Clone(raw)
	headers := make([]cloudevents.Header, 0, bytes.Count(owned, []byte("\n")))
	_ = scan(owned, func(name, value []byte) error { // readShape has seen the same bytes
		if !is(name, "authorization") && !is(name, "cookie") {
			headers = append(headers, cloudevents.Header{Key: string(name), Value: value})
		}
		return nil
	})
	return headers
}
