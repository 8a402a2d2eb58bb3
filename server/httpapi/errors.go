package httpapi

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/auth"
	"oriel/server/fault"
)

const domain = "oriel"

// fail is where an error becomes an answer: the only place that maps kinds to HTTP.
func (s *Server) fail(c *fiber.Ctx, call *call, err error) {
	public := publicSide(err)
	code := public.Kind.Code()
	c.Response().Reset() // nothing of a half-made answer remains
	s.baseHeaders(c, call)
	if code >= fiber.StatusInternalServerError {
		s.sayer.say(c.UserContext(), call, c.Method(), public, err)
	}
	s.metrics.failed(public)
	if public.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.FormatInt(int64((public.RetryAfter+time.Second-1)/time.Second), 10))
	}
	if challenge := challengeOf(public); challenge != "" {
		c.Set(fiber.HeaderWWWAuthenticate, challenge)
	}
	if public.Kind == fault.MethodNotAllowed {
		c.Set(fiber.HeaderAllow, public.Violations[0].Metadata["accepted"])
	}
	c.Status(code)
	if err := c.JSON(ErrorResponse{Error: envelope(public, call.id)}); err != nil {
		c.Status(fiber.StatusInternalServerError)
	}
}

// publicSide is fault.Of, but for the deadline that the edge itself set.
func publicSide(err error) *fault.Error {
	public := fault.Of(err)
	if public.Kind == fault.Internal && errors.Is(err, context.DeadlineExceeded) {
		e := fault.Wrap(err, fault.Unavailable, fault.ReasonQueryTimeout, "The answer took too long and was given up.")
		e.RetryAfter = time.Second
		return e
	}
	return public
}

// envelope is the AIP-193 form of an error.
func envelope(e *fault.Error, requestID string) Error {
	details := make([]ErrorDetail, len(e.Violations))
	for i, v := range e.Violations {
		details[i] = ErrorDetail{Reason: v.Reason, Domain: domain, Message: v.Message, Metadata: v.Metadata}
		if v.Metadata == nil {
			details[i].Metadata = map[string]string{}
		}
	}
	out := Error{
		Code: int32(e.Kind.Code()), Status: e.Kind.Status(), Message: e.Message,
		RequestId: requestID, Details: details,
	}
	if e.Unknown {
		unknown := ErrorOutcomeUnknown
		out.Outcome = &unknown
	}
	return out
}

// challengeOf is the WWW-Authenticate of RFC 6750, section 3.
func challengeOf(e *fault.Error) string {
	v := e.Violations[0]
	switch {
	case v.Reason == fault.ReasonTokenMissing, v.Reason == fault.ReasonSignInNeeded, v.Reason == fault.ReasonSessionExpired:
		return `Bearer realm="oriel"`
	case e.Kind == fault.Unauthenticated:
		return `Bearer realm="oriel", error="invalid_token", error_description="` + quoted(v.Message) + `"`
	case v.Reason == fault.ReasonScopeMissing && slices.Contains(auth.Scopes(), v.Metadata["accepted"]):
		return `Bearer realm="oriel", error="insufficient_scope", scope="` + quoted(v.Metadata["accepted"]) + `"`
	}
	return ""
}

// quoted keeps what RFC 6750 allows between quotes.
func quoted(s string) string {
	s = strings.ReplaceAll(s, "…", "...")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, s)
}

// unroutable answers what never became a request: the framework calls it for a header block that is
// too large, malformed or late, and closes the connection after it.
func (s *Server) unroutable(c *fiber.Ctx, err error) error {
	call := newCall()
	call.address = clientAddress(c.Context().RemoteIP(), "", nil) // its header block is no reading
	lingerOnClose(c.Context().Conn())
	status := fiber.StatusBadRequest
	if framework := (*fiber.Error)(nil); errors.As(err, &framework) {
		status = framework.Code
	}
	var public *fault.Error
	switch status {
	case fiber.StatusRequestHeaderFieldsTooLarge:
		limit := strconv.Itoa(headerBytes)
		public = fault.Wrap(err, fault.HeadersTooLarge, fault.ReasonHeadersTooLarge,
			"The header block is larger than "+limit+" bytes.", "attribute", "headers", "limit", limit)
	case fiber.StatusRequestTimeout:
		public = fault.Wrap(err, fault.TimedOut, fault.ReasonRequestTimeout, "The request did not arrive in time.")
	default:
		message := "This is not a well-formed HTTP request."
		if ranDry(c.Context().Conn()) {
			message = "The request ended early: the sender closed the connection before all of it had come."
		}
		public = fault.Wrap(err, fault.InvalidArgument, fault.ReasonMalformedRequest, message)
	}
	s.fail(c, call, public)
	s.metrics.answered(call, "other", public.Kind.Code())
	return nil
}

// missing is the error for a path and method without a route.
func (s *Server) missing(c *fiber.Ctx) error {
	if methods := s.allowed(c.Path()); len(methods) > 0 {
		allow := strings.Join(methods, ", ")
		return fault.New(fault.MethodNotAllowed, fault.ReasonMethodNotAllowed,
			c.Method()+" is not for this path; it takes "+allow+".", "accepted", allow)
	}
	return fault.New(fault.NotFound, fault.ReasonNotFound, "There is nothing at this path.", "value", cut(c.Path()))
}
