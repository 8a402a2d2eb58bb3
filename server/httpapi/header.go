package httpapi

import (
	"bytes"
	"strconv"
	"strings"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

// What of a request's header block matters before routing. Values are copies.
type shape struct {
	host            string // as sent
	declared        uint64 // Content-Length; 0 where there is none
	contentType     string
	contentEncoding string
	authorization   string
	origin          string
	fetchSite       string
	caller          string // Oriel-Caller
	cookie          string
	forwarded       string // X-Forwarded-For
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
			return malformed("headers", "A header line is folded over two lines; send it on one.")
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || len(name) == 0 {
			return malformed("headers", "A header line has no name.")
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
			s.host = string(value)
		case is(name, "content-length"):
			if length {
				return malformed("content-length", "Content-Length is given twice.")
			}
			length = true
			s.declared, _ = strconv.ParseUint(string(value), 10, 64) // the framework has refused what is no number
		case is(name, "transfer-encoding"):
			if chunked || !is(value, "chunked") {
				return malformed("transfer-encoding", "Transfer-Encoding must be chunked, once.")
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
		case is(name, "oriel-caller"):
			s.caller = join(s.caller, value)
		case is(name, "cookie"):
			if s.cookie != "" { // a proxy that speaks HTTP/2 may leave the parts apart
				s.cookie += "; "
			}
			s.cookie += string(value)
		case is(name, "x-forwarded-for"):
			s.forwarded = join(s.forwarded, value)
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
		err = malformed("content-length", "Content-Length and Transfer-Encoding exclude each other.")
	case hosts > 1:
		err = malformed("host", "Host is given twice.")
	case types > 1:
		err = malformed("content-type", "Content-Type is given twice.")
	case credentials > 1:
		err = malformed("authorization", "Authorization is given twice.")
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

func malformed(attribute, message string) *fault.Error {
	return fault.New(fault.InvalidArgument, fault.ReasonMalformedRequest, message, "attribute", attribute)
}

// oversized says whether a body over the limit is announced.
func (s *shape) oversized() bool { return s.declared > cloudevents.MaxBody }

// checkLine holds the request line, and the name that the request is for, against HTTP/1.1: a Host there
// must be, and no part of it may be for another reader (RFC 9112, sections 2.3 and 3.2).
func checkLine(protocol, target, host string) error {
	if protocol != "HTTP/1.1" && protocol != "HTTP/1.0" {
		return fault.New(fault.InvalidArgument, fault.ReasonMalformedRequest,
			"HTTP/1.1 is spoken here, not "+strconv.Quote(cut(protocol))+".", "attribute", "protocol", "value", cut(protocol), "accepted", "HTTP/1.1, HTTP/1.0")
	}
	if host == "" && protocol == "HTTP/1.1" {
		return malformed("host", "Host is missing or empty.")
	}
	if _, after, absolute := strings.Cut(target, "://"); absolute && !strings.HasPrefix(target, "/") {
		authority, _, _ := strings.Cut(after, "/")
		authority, _, _ = strings.Cut(authority, "?")
		if strings.Contains(authority, "@") {
			return malformed("host", "The request target names a user before its host.")
		}
	} else if !strings.HasPrefix(target, "/") && target != "*" || strings.HasPrefix(target, "//") && host == "" {
		return malformed("target", "The request target is neither a path nor a URL.")
	}
	if strings.ContainsAny(host, "@/?#\\ \t,") {
		return malformed("host", "Host is a name or an address, and a port where that is not the usual one; nothing else.")
	}
	return nil
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
