package httpapi

import (
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"

	"oriel/server/telemetry"
)

// live consults nothing: it says that the process answers.
func (s *Server) live(c *fiber.Ctx) error {
	return c.JSON(map[string]bool{"live": true})
}

// ready reads what the background probes last found.
func (s *Server) ready(c *fiber.Ctx) error {
	r := s.deps.Health.Readiness()
	if !r.Ready {
		c.Status(fiber.StatusServiceUnavailable)
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(r)
}

func (s *Server) scrape() fiber.Handler {
	return adaptor.HTTPHandler(telemetry.MetricsHandler(s.deps.Registry))
}

// page serves the app wherever no other route is.
func (s *Server) page(c *fiber.Ctx) error {
	if ofAPI(c.Path()) {
		callOf(c).route = nil
		return s.missing(c)
	}
	return s.deps.SPA(c)
}

// unrouted is what no route takes.
func (s *Server) unrouted(c *fiber.Ctx) error {
	if err := s.checkOrigin(c, callOf(c)); err != nil {
		return err
	}
	return s.missing(c)
}
