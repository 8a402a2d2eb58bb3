package httpapi

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"oriel/server/fault"
	"oriel/server/telemetry"
)

// outermost takes the base path away, and answers methods that the framework does not know, which would
// else bypass all of the below.
func (s *Server) outermost(inner fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if rest, inside := s.site.Load().within(string(ctx.URI().PathOriginal())); inside {
			ctx.URI().SetPath(rest)
		}
		if slices.Contains(fiber.DefaultMethods, string(ctx.Method())) {
			inner(ctx)
			return
		}
		c := s.app.AcquireCtx(ctx)
		defer s.app.ReleaseCtx(c)
		_ = s.observe(c, func() error { return s.unrouted(c) }) // it has answered
	}
}

// entry is the first handler of every request.
func (s *Server) entry(c *fiber.Ctx) error { return s.observe(c, c.Next) }

// observe gives the request its id, span, metrics and base headers, checks what holds for every
// route, and turns whatever next returns, or panics with, into an answer.
func (s *Server) observe(c *fiber.Ctx, next func() error) error {
	call := newCall()
	c.Locals(callKey{}, call)
	s.metrics.inFlight.Inc()
	defer s.metrics.inFlight.Dec()
	s.baseHeaders(c, call)

	raw := c.Request().Header.RawHeaders()
	var shapeErr error
	call.shape, shapeErr = readShape(raw)
	call.query = string(c.Request().URI().QueryString())
	call.address = clientAddress(c.Context().RemoteIP(), call.shape.forwarded, s.deps.Config.TrustedProxies)
	if own, ok := s.site.Load().hosts[strings.ToLower(string(c.Context().URI().Host()))]; ok {
		call.own = &own
	}
	ctx, span := s.startSpan(c, call)
	defer span.End()
	c.SetUserContext(context.WithValue(ctx, callKey{}, call))

	if shapeErr == nil {
		header := &c.Request().Header
		shapeErr = checkLine(string(header.Protocol()), string(header.RequestURI()), call.shape.host)
	}
	err := shapeErr
	if err == nil {
		err = recovered(next)
	}
	switch {
	case err != nil && errors.Is(context.Cause(c.UserContext()), errGone):
		s.nobodyThere(c)
	case err != nil:
		s.fail(c, call, err)
	}
	if shapeErr != nil { // where the body ends is anybody's guess
		lingerOnClose(c.Context().Conn())
		c.Context().SetConnectionClose()
	} else {
		settleBody(c, call)
	}
	if s.ending.Load() { // who keeps a connection learns from the answer in hand that it ends
		c.Context().SetConnectionClose()
	}
	status := c.Response().StatusCode()
	s.metrics.answered(call, methodLabel(c.Method()), status)
	s.endSpan(c, call, span, status, err)
	return nil
}

func recovered(next func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return next()
}

func (s *Server) startSpan(c *fiber.Ctx, call *call) (context.Context, trace.Span) {
	ctx := s.base
	if call.shape.traceParent != "" {
		ctx = telemetry.Propagator().Extract(ctx, propagation.MapCarrier{
			"traceparent": call.shape.traceParent, "tracestate": call.shape.traceState,
		})
	}
	return s.deps.Tracer.Start(ctx, methodLabel(c.Method()), trace.WithSpanKind(trace.SpanKindServer))
}

func (s *Server) endSpan(c *fiber.Ctx, call *call, span trace.Span, status int, err error) {
	if !span.IsRecording() {
		return
	}
	method := methodLabel(c.Method())
	span.SetName(method + " " + routeLabel(call))
	span.SetAttributes(
		attribute.String("http.request.method", method),
		attribute.String("http.route", routeLabel(call)),
		attribute.Int("http.response.status_code", status),
		attribute.String("oriel.request_id", call.id),
	)
	if status >= fiber.StatusInternalServerError {
		span.SetStatus(codes.Error, fault.Of(err).Message)
	}
}

// baseHeaders are on every answer. The policy is that of an answer that is no page; the app's page
// sets its own.
func (s *Server) baseHeaders(c *fiber.Ctx, call *call) {
	c.Set(fiber.HeaderXRequestID, call.id)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'")
	c.Set(fiber.HeaderXFrameOptions, "DENY")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	if strings.HasPrefix(c.Path(), "/v1") || strings.HasPrefix(c.Path(), "/auth/") {
		c.Set(fiber.HeaderCacheControl, "no-store")
	}
}

// guard is the first handler of a route: does it come from where it may, how often, who is it, may they,
// and then what they send. What only a token opens no browser is led to: there the missing token is what to
// say.
func (s *Server) guard(r *route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		call := callOf(c)
		call.route = r
		if !r.tokenOnly() {
			if err := s.checkOrigin(c, call); err != nil {
				return err
			}
		}
		if err := s.checkRate(r, call); err != nil {
			if r.navigated && s.signsIn() { // a person is there, who reads no JSON
				return s.signInFailed(c, call, s.returnOf(call), err)
			}
			return err
		}
		call.token = strings.Clone(c.Params("token"))
		if err := s.authorize(c, call); err != nil {
			return s.refused(c.UserContext(), call, err)
		}
		if r.ingest {
			if err := s.limits.ingestCredential.take(call.principal.ID); err != nil {
				return err
			}
		}
		call.event = strings.Clone(c.Params("event"))
		if err := s.checkSent(c, call); err != nil {
			return err
		}
		if r.ingest || r.stream { // with bounds of their own
			return c.Next()
		}
		ctx, cancel := context.WithTimeout(c.UserContext(), s.deps.Config.Deadline)
		defer cancel()
		if r.method == fiber.MethodGet && r.access == canRead {
			there, stop := whileThere(ctx, c.Context().Conn())
			defer stop()
			ctx = there
		}
		c.SetUserContext(ctx)
		return c.Next()
	}
}

// checkRate holds the limits of a route against the client's address, before anything is looked up.
func (s *Server) checkRate(r *route, call *call) error {
	from := household(call.address)
	switch {
	case r.ingest:
		return s.limits.ingestAddress.take(from)
	case r.navigated:
		return s.limits.signIn.take(from)
	case r.reports:
		return s.limits.reports.take(from)
	}
	return nil
}

// checkSent reads and checks what the route is sent, now that its sender may.
func (s *Server) checkSent(c *fiber.Ctx, call *call) error {
	r := call.route
	if r.checked {
		if err := r.checkParameters(c, call); err != nil {
			return err
		}
	}
	if r.most == 0 {
		return nil
	}
	if r.ingest {
		call.headers = copyHeaders(c.Request().Header.RawHeaders())
	}
	var err error
	if call.body, err = readBody(c, call, r.most); err != nil {
		return err
	}
	// The generated handler asks for the body: it must not read the stream again, past its end.
	c.Request().SetBodyRaw([]byte{})
	if r.body == nil {
		return nil
	}
	value, err := checkBody(r.body, call)
	if err != nil {
		return err
	}
	c.Locals(validatedBodyLocalsKey, value)
	return nil
}
