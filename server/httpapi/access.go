package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/cloudevents"
)

// access says who may call a route: public, any caller who is known, a person, a person who reads events, or the
// holder of a scope, as a person holds those of their roles.
type access string

const (
	public        access = "public"
	anyone        access = "authenticated"
	onlyPerson    access = "person"
	canSave       access = "person with events:read"
	canRead       access = auth.ScopeEventsRead
	canWrite      access = auth.ScopeEventsWrite
	canAdminRead  access = auth.ScopeAdminRead
	canAdminWrite access = auth.ScopeAdminWrite
)

// route is one line of the access table; it is registered with Fiber from there and nowhere else.
type route struct {
	method    string
	pattern   string // Fiber's, matched against the undecoded path
	api       string // the path in openapi.yaml; empty: not of it
	access    access
	ingest    bool // has the publisher's deadline and the limits of publishing
	navigated bool // a browser is led there: an Authorization header means nothing, and HEAD does nothing
	reports   bool // browsers send reports there, of themselves
	stream    bool // has no deadline: it checks with stillAllowed instead
	checked   bool // its parameters are those of openapi.yaml, held against it here
	most      int  // bytes of body; 0: none is read
	handler   fiber.Handler

	also  func(url.Values, *findings) // what openapi.yaml cannot say of a checked route's parameters
	audit string                      // the action of which an attempt without access is on the record

	operation *openapi3.Operation // of a checked route
	body      *openapi3.Schema    // of a JSON body
}

// jsonBytes is the most that a JSON body or a report has; one with the parameters of a search, filterBytes.
const (
	jsonBytes   = 64 << 10
	filterBytes = 256 << 10
)

// tokenOnly says that nothing but a bearer token opens the route.
func (r *route) tokenOnly() bool { return r.access == canWrite }

// methods are those that reach the route: HEAD comes with GET.
func (r *route) methods() []string {
	if r.method == fiber.MethodGet && !r.navigated {
		return []string{fiber.MethodGet, fiber.MethodHead}
	}
	return []string{r.method}
}

// table is every route there is. The strict server's own router is not used: its binder refuses one
// parameter at a time and decodes paths, while parameters here are read whole, by whom they belong
// to, and names stay escaped.
func (s *Server) table() ([]route, error) {
	api := NewStrictHandler(&handlers{s}, nil)
	bound := &ServerInterfaceWrapper{Handler: api} // binds what checkParameters has accepted
	get, post := fiber.MethodGet, fiber.MethodPost
	routes := []route{
		{method: get, pattern: "/health/live", access: public, handler: s.live},
		{method: get, pattern: "/health/ready", access: public, handler: s.ready},
		{method: get, pattern: "/metrics", access: public, handler: s.scrape()},
		{method: get, pattern: signInPath, access: public, navigated: true, handler: s.signIn},
		{method: get, pattern: callbackPath, access: public, navigated: true, handler: s.callback},
		{method: get, pattern: "/v1/session", api: "/v1/session", access: anyone, checked: true, handler: api.GetSession},
		{method: post, pattern: `/v1/session\:signOut`, api: "/v1/session:signOut", access: onlyPerson, checked: true, most: jsonBytes, handler: api.SignOut},
		{method: get, pattern: "/v1/installation", api: "/v1/installation", access: public, checked: true, handler: api.GetInstallation},
		{method: post, pattern: ReportPath, api: ReportPath, access: public, reports: true, most: jsonBytes, handler: api.ReportPolicyViolation},
	}
	if s.deps.TokenAdmin != nil && s.deps.Audit != nil {
		routes = append(routes,
			route{method: get, pattern: "/v1/tokens", api: "/v1/tokens", access: canAdminRead, checked: true, handler: bound.ListTokens},
			route{method: post, pattern: "/v1/tokens", api: "/v1/tokens", access: canAdminWrite, checked: true, most: jsonBytes, audit: audit.ActionTokenCreate, handler: api.CreateToken},
			route{method: post, pattern: `/v1/tokens/:token\:revoke`, api: "/v1/tokens/{token}:revoke", access: canAdminWrite, checked: true, most: jsonBytes, audit: audit.ActionTokenRevoke, handler: func(c *fiber.Ctx) error {
				return api.RevokeToken(c, callOf(c).token)
			}},
		)
	}
	if s.deps.Audit != nil {
		routes = append(routes,
			route{method: get, pattern: "/v1/auditEntries", api: "/v1/auditEntries", access: canAdminRead, checked: true, also: checkBounds, handler: bound.ListAuditEntries},
			route{method: get, pattern: `/v1/auditEntries\:export`, api: "/v1/auditEntries:export", access: canAdminRead, checked: true, also: checkBounds, stream: true, audit: audit.ActionAuditExport, handler: func(c *fiber.Ctx) error {
				if c.Method() == fiber.MethodHead {
					return headOfExport(c)
				}
				return bound.ExportAuditEntries(c)
			}},
		)
	}
	if s.deps.Publisher != nil {
		routes = append(routes,
			route{method: post, pattern: "/v1/events", api: "/v1/events", access: canWrite, ingest: true, most: cloudevents.MaxBody, handler: api.PublishEvents},
			route{method: post, pattern: `/v1/events\:batchCreate`, api: "/v1/events:batchCreate", access: canWrite, ingest: true, most: cloudevents.MaxBody, handler: api.BatchCreateEvents},
			route{method: post, pattern: `/v1/events\:validate`, api: "/v1/events:validate", access: canWrite, ingest: true, most: cloudevents.MaxBody, handler: api.ValidateEvents},
		)
	}
	if s.deps.Search != nil {
		routes = append(routes,
			route{method: get, pattern: "/v1/events", api: "/v1/events", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.ListEvents(c, ListEventsParams{})
			}},
			route{method: get, pattern: `/v1/events\:snapshot`, api: "/v1/events:snapshot", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.CreateSnapshot(c, CreateSnapshotParams{})
			}},
			route{method: get, pattern: `/v1/events\:count`, api: "/v1/events:count", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.CountEvents(c, CountEventsParams{})
			}},
			route{method: get, pattern: `/v1/events\:facets`, api: "/v1/events:facets", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.GetFacets(c, GetFacetsParams{})
			}},
			route{method: get, pattern: `/v1/events\:histogram`, api: "/v1/events:histogram", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.GetHistogram(c, GetHistogramParams{})
			}},
			route{method: get, pattern: `/v1/events\:fields`, api: "/v1/events:fields", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.ListFields(c, ListFieldsParams{})
			}},
			route{method: get, pattern: `/v1/events\:suggest`, api: "/v1/events:suggest", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.Suggest(c, SuggestParams{})
			}},
			route{method: get, pattern: `/v1/events\:export`, api: "/v1/events:export", access: canRead, stream: true, handler: func(c *fiber.Ctx) error {
				return api.ExportEvents(c, ExportEventsParams{})
			}},
			route{method: get, pattern: "/v1/events/:event", api: "/v1/events/{event}", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.GetEvent(c, callOf(c).event, GetEventParams{})
			}},
			route{method: get, pattern: "/v1/events/:event/data", api: "/v1/events/{event}/data", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.GetEventData(c, callOf(c).event, GetEventDataParams{})
			}},
			route{method: get, pattern: "/v1/events/:event/context", api: "/v1/events/{event}/context", access: canRead, handler: func(c *fiber.Ctx) error {
				return api.GetEventContext(c, callOf(c).event, GetEventContextParams{})
			}},
		)
	}
	if s.deps.Saved != nil && s.deps.Audit != nil {
		one, of := "/v1/savedSearches/:savedSearch", "/v1/savedSearches/{savedSearch}"
		routes = append(routes,
			route{method: get, pattern: "/v1/savedSearches", api: "/v1/savedSearches", access: canRead, checked: true, handler: bound.ListSavedSearches},
			route{method: post, pattern: "/v1/savedSearches", api: "/v1/savedSearches", access: canSave, checked: true, most: filterBytes, handler: api.CreateSavedSearch},
			route{method: get, pattern: one, api: of, access: canRead, checked: true, handler: bound.GetSavedSearch},
			route{method: fiber.MethodPatch, pattern: one, api: of, access: canSave, checked: true, most: filterBytes, handler: bound.UpdateSavedSearch},
			route{method: fiber.MethodDelete, pattern: one, api: of, access: canSave, checked: true, handler: bound.DeleteSavedSearch},
			route{method: post, pattern: "/v1/shareLinks", api: "/v1/shareLinks", access: canSave, checked: true, most: filterBytes, handler: api.CreateShareLink},
			route{method: get, pattern: "/v1/shareLinks/:slug", api: "/v1/shareLinks/{slug}", access: canRead, checked: true, handler: bound.GetShareLink},
		)
	}
	if s.deps.SPA != nil {
		routes = append(routes, route{method: get, pattern: everything, access: public, handler: s.page})
	}
	return routes, specify(routes)
}

// specify gives checked routes what openapi.yaml says of them.
func specify(routes []route) error {
	spec, err := GetSpec()
	if err != nil {
		return fmt.Errorf("openapi.yaml: %w", err)
	}
	for i := range routes {
		r := &routes[i]
		if !r.checked {
			continue
		}
		item := spec.Paths.Value(r.api)
		if item == nil || item.GetOperation(r.method) == nil {
			return fmt.Errorf("openapi.yaml has no %s %s", r.method, r.api)
		}
		r.operation = item.GetOperation(r.method)
		for _, p := range r.operation.Parameters {
			if err := checkable(p.Value.Schema.Value); err != nil {
				return fmt.Errorf("%s %s: parameter %s: %w", r.method, r.api, p.Value.Name, err)
			}
		}
		if r.operation.RequestBody == nil {
			continue
		}
		media := r.operation.RequestBody.Value.Content.Get(fiber.MIMEApplicationJSON)
		if media == nil {
			return fmt.Errorf("%s %s: the body is not JSON", r.method, r.api)
		}
		if r.body = media.Schema.Value; checkable(r.body) != nil {
			return fmt.Errorf("%s %s: %w", r.method, r.api, checkable(r.body))
		}
	}
	return nil
}

// everything is the app's pattern, registered last: any path that is not of the API.
const everything = "/*"

func ofAPI(path string) bool {
	for _, root := range ownRoots() {
		root = "/" + root
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
