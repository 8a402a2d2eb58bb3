package httpapi

import (
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"oriel/server/auth"
)

// access says who may call a route: public, any caller who is known, or the holder of a scope.
type access string

const (
	public   access = "public"
	anyone   access = "authenticated"
	canRead  access = auth.ScopeEventsRead
	canWrite access = auth.ScopeEventsWrite
)

// route is one line of the access table; it is registered with Fiber from there and nowhere else.
type route struct {
	method  string
	pattern string // Fiber's, matched against the undecoded path
	access  access
	ingest  bool // reads its body through readBody and has the publisher's deadline
	api     bool // of openapi.yaml
	handler fiber.Handler
}

// tokenOnly says that nothing but an API token opens the route: neither a cookie nor the demo's sign-in.
func (r *route) tokenOnly() bool { return r.access == canWrite }

// methods are those that reach the route: HEAD comes with GET.
func (r *route) methods() []string {
	if r.method == fiber.MethodGet {
		return []string{fiber.MethodGet, fiber.MethodHead}
	}
	return []string{r.method}
}

// table is every route there is. The strict server's own router is not used: its binder refuses one
// parameter at a time and decodes paths, while parameters here are read whole, by whom they belong
// to, and names stay escaped.
func (s *Server) table() []route {
	api := NewStrictHandler(&handlers{s}, nil)
	get, post := fiber.MethodGet, fiber.MethodPost
	routes := []route{
		{method: get, pattern: "/health/live", access: public, handler: s.live},
		{method: get, pattern: "/health/ready", access: public, handler: s.ready},
		{method: get, pattern: "/metrics", access: public, handler: s.scrape()},
		{method: get, pattern: "/v1/session", access: anyone, api: true, handler: api.GetSession},
	}
	if s.deps.Publisher != nil {
		routes = append(routes,
			route{method: post, pattern: "/v1/events", access: canWrite, ingest: true, api: true, handler: api.PublishEvents},
			route{method: post, pattern: `/v1/events\:batchCreate`, access: canWrite, ingest: true, api: true, handler: api.BatchCreateEvents},
			route{method: post, pattern: `/v1/events\:validate`, access: canWrite, ingest: true, api: true, handler: api.ValidateEvents},
		)
	}
	if s.deps.Search != nil {
		routes = append(routes,
			route{method: get, pattern: "/v1/events", access: canRead, api: true, handler: func(c *fiber.Ctx) error {
				return api.ListEvents(c, ListEventsParams{})
			}},
			route{method: get, pattern: `/v1/events\:snapshot`, access: canRead, api: true, handler: func(c *fiber.Ctx) error {
				return api.CreateSnapshot(c, CreateSnapshotParams{})
			}},
			route{method: get, pattern: "/v1/events/:event", access: canRead, api: true, handler: func(c *fiber.Ctx) error {
				return api.GetEvent(c, callOf(c).event, GetEventParams{})
			}},
			route{method: get, pattern: "/v1/events/:event/data", access: canRead, api: true, handler: func(c *fiber.Ctx) error {
				return api.GetEventData(c, callOf(c).event, GetEventDataParams{})
			}},
		)
	}
	if s.deps.SPA != nil {
		routes = append(routes, route{method: get, pattern: everything, access: public, handler: s.page})
	}
	return routes
}

// everything is the app's pattern, registered last: any path that is not of the API.
const everything = "/*"

func ofAPI(path string) bool {
	for _, root := range []string{"/v1", "/health", "/metrics"} {
		if path == root || strings.HasPrefix(path, root+"/") || strings.HasPrefix(path, root+":") {
			return true
		}
	}
	return false
}

// allowed are the methods of the routes that match a path, sorted; none where there is no route.
func (s *Server) allowed(path string) []string {
	var methods []string
	for i := range s.routes {
		if s.routes[i].pattern == everything && ofAPI(path) {
			continue
		}
		if fiber.RoutePatternMatch(path, s.routes[i].pattern, fiber.Config{CaseSensitive: true, StrictRouting: true}) {
			methods = append(methods, s.routes[i].methods()...)
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}
