package httpapi

import (
	"context"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"oriel/server/auth"
	"oriel/server/fault"
)

// bearerOf reads an Authorization header of the Bearer scheme.
func bearerOf(authorization string) (token string, ok bool) {
	scheme, token, found := strings.Cut(authorization, " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "Bearer")
}

// checkOrigin refuses what a foreign page may have caused a browser to send: a Host that is not
// ours (DNS rebinding), and an unsafe method that does not come from our own page. A request that
// carries a bearer token is no browser's doing; probes and scrapes come under any name.
func (s *Server) checkOrigin(c *fiber.Ctx, call *call) error {
	navigated := call.route != nil && call.route.navigated
	if _, bearer := bearerOf(call.shape.authorization); bearer && !navigated {
		return nil
	}
	path := c.Path()
	if path == "/metrics" || strings.HasPrefix(path, "/health/") {
		return nil
	}
	if call.own == nil {
		host := string(c.Context().URI().Host())
		return fault.New(fault.PermissionDenied, fault.ReasonHostNotAllowed,
			"This server does not answer under the name "+strconv.Quote(cut(host))+".",
			"attribute", "host", "value", cut(host), "accepted", s.site.Load().accepted())
	}
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions:
		return nil
	}
	if call.route == nil { // nothing is done there, whoever asks
		return nil
	}
	// A browser's own reports name no origin in some browsers, and none of them acts for anyone.
	return sameOrigin(call, !call.route.reports)
}

// sameOrigin holds Origin and Sec-Fetch-Site against our own origin; stated asks for one of them.
func sameOrigin(call *call, stated bool) error {
	site, origin, own := call.shape.fetchSite, call.shape.origin, call.own.text
	direct := !stated && site == "none" // the person typed the address or followed a bookmark
	refuse := func(message, header, value, accepted string) error {
		return fault.New(fault.PermissionDenied, fault.ReasonOriginNotAllowed,
			"Without a bearer token this is only for pages of this server itself, and "+message+".",
			"attribute", header, "value", cut(value), "accepted", accepted)
	}
	switch {
	case origin != "" && !strings.EqualFold(origin, own):
		return refuse("Origin is another's", "origin", origin, own)
	case site != "" && site != "same-origin" && !direct:
		return refuse("Sec-Fetch-Site says that it comes from elsewhere", "sec-fetch-site", site, "same-origin")
	case stated && site == "" && origin == "":
		return refuse("it names no Origin", "origin", "", own)
	}
	return nil
}

// authorize finds the caller and holds the route's access against them.
func (s *Server) authorize(c *fiber.Ctx, call *call) error {
	if call.route.access == public {
		return nil
	}
	if call.shape.authorization == "" && !call.route.tokenOnly() && call.own != nil && s.deps.Sessions != nil {
		if call.session = readCookie(call.shape.cookie, s.cookie(call, sessionCookie).name); call.session != "" {
			if err := sameOrigin(call, false); err != nil {
				return err
			}
		}
	}
	credential := call.shape.authorization
	if credential == "" {
		credential = call.session
	}
	err := s.limits.try(c.UserContext(), call.address, credential, func() (err error) {
		call.principal, err = s.identify(c.UserContext(), call) // who is refused is known too
		return err
	})
	if err != nil {
		return err
	}
	if err := sameCaller(c, call, call.principal); err != nil {
		return err
	}
	return s.allow(call.route.access, call.principal)
}

// stillAllowed verifies a call's credential and access again, as a stream does while it lasts.
func (s *Server) stillAllowed(ctx context.Context, call *call) error {
	p, err := s.identify(ctx, call)
	if err != nil {
		return err
	}
	return s.allow(call.route.access, p)
}

// identify verifies what a call came with. An Authorization header comes first and alone.
func (s *Server) identify(ctx context.Context, call *call) (*auth.Principal, error) {
	token, bearer := bearerOf(call.shape.authorization)
	switch {
	case bearer && s.deps.Provider != nil && token != "" && !strings.HasPrefix(token, tokenMark):
		return s.deps.Provider.Verify(ctx, token)
	case bearer:
		return s.deps.Tokens.Verify(ctx, token) // which says of anything else what is accepted
	case strings.EqualFold(strings.TrimSpace(call.shape.authorization), "Bearer"): // of a variable that is not set
		return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid,
			"The Authorization header has nothing behind Bearer. Send "+s.bearers()+" there.", "accepted", "Bearer with "+s.bearers())
	case call.shape.authorization != "":
		return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid,
			"The Authorization header is not of the scheme Bearer. Send Authorization: Bearer with "+s.bearers()+".", "accepted", "Bearer with "+s.bearers())
	case call.session != "":
		return s.deps.Sessions.Verify(ctx, call.session)
	case call.route.tokenOnly() || !s.signsIn():
		return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenMissing,
			"Send Authorization: Bearer with "+s.bearers()+".", "accepted", "Bearer with "+s.bearers())
	}
	return nil, fault.New(fault.Unauthenticated, fault.ReasonSignInNeeded,
		"Sign in, or send Authorization: Bearer with "+s.bearers()+".", "accepted", "a session, or Bearer with "+s.bearers())
}

// bearers are what a machine may send.
func (s *Server) bearers() string {
	if s.deps.Provider != nil && s.deps.Provider.TakesJWTs() {
		return "an API token (orl_...) or a JWT of the identity provider"
	}
	return "an API token (orl_...)"
}

// tokenMark begins every API token.
const tokenMark = "orl_"

// signsIn says whether people can sign in here.
func (s *Server) signsIn() bool { return s.deps.Sessions != nil && s.deps.Provider != nil }

func (s *Server) allow(need access, p *auth.Principal) error {
	person, scope := p.Kind == auth.KindPerson, string(need)
	if need == canSave {
		scope = auth.ScopeEventsRead
	}
	switch {
	case (need == onlyPerson || need == canSave) && !person:
		return fault.New(fault.PermissionDenied, fault.ReasonScopeMissing,
			"This is for a person's session; a token has none.", "value", string(p.Kind), "accepted", "a browser's session")
	case need == anyone || need == onlyPerson || p.Has(scope):
		return nil
	case person:
		return s.roleMissing(scope, p.Roles)
	}
	return fault.New(fault.PermissionDenied, fault.ReasonScopeMissing,
		"The scope "+string(need)+" is needed.", "value", strings.Join(p.Scopes, " "), "accepted", string(need))
}

func (s *Server) roleMissing(scope string, roles []string) error {
	has, needed := "none", auth.RoleFor(scope)
	message := "This needs the role " + needed + ", and you have none here."
	if len(roles) > 0 {
		has = roles[len(roles)-1]
		message = "This needs the role " + needed + "; yours is " + has + "."
	}
	if contact := s.deps.Config.Contact; contact != "" {
		message += " Ask " + contact + "."
	}
	return fault.New(fault.PermissionDenied, fault.ReasonRoleMissing, message, "value", has, "accepted", needed)
}
