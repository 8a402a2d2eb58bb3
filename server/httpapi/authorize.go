package httpapi

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"oriel/server/auth"
	"oriel/server/fault"
)

// origins are the places under which a browser may see this server, "scheme://host[:port]" each by
// its host.
type origins map[string]string

func originsOf(publicURL string) (*origins, error) {
	o := origins{}
	if publicURL == "" {
		return &o, nil
	}
	u, err := url.Parse(publicURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("public URL %q: accepted is a scheme and a host, such as https://events.example.com", publicURL)
	}
	o.add(u.Scheme, strings.ToLower(u.Hostname()), u.Port())
	return &o, nil
}

// add knows a host with and without the scheme's own port; a browser leaves that port out of Origin.
func (o origins) add(scheme, name, port string) {
	host := name
	if strings.Contains(name, ":") {
		host = "[" + name + "]"
	}
	usual := map[string]string{"http": "80", "https": "443"}[scheme]
	if port == "" || port == usual {
		o[host], o[host+":"+usual] = scheme+"://"+host, scheme+"://"+host
		return
	}
	o[host+":"+port] = scheme + "://" + host + ":" + port
}

func (o *origins) withLoopback(port int) *origins {
	with := origins{}
	for host, origin := range *o {
		with[host] = origin
	}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		with.add("http", name, strconv.Itoa(port))
	}
	return &with
}

func (o *origins) accepted() string {
	var all []string
	for host := range *o {
		all = append(all, host)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return "none: set ORIEL_PUBLIC_URL"
	}
	return strings.Join(all, ", ")
}

// bearerOf reads an Authorization header of the Bearer scheme.
func bearerOf(authorization string) (token string, ok bool) {
	scheme, token, found := strings.Cut(authorization, " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "Bearer")
}

// checkOrigin refuses what a foreign page may have caused a browser to send: a Host that is not
// ours (DNS rebinding), and an unsafe method that does not come from our own page. A request that
// carries a bearer token is no browser's doing; probes and scrapes come under any name.
func (s *Server) checkOrigin(c *fiber.Ctx, call *call) error {
	if _, bearer := bearerOf(call.shape.authorization); bearer {
		return nil
	}
	path := c.Path()
	if path == "/metrics" || strings.HasPrefix(path, "/health/") {
		return nil
	}
	known := s.origins.Load()
	host := strings.ToLower(string(c.Context().URI().Host()))
	own, ok := (*known)[host]
	if !ok {
		return fault.New(fault.PermissionDenied, fault.ReasonHostNotAllowed,
			"This server does not answer under the name "+strconv.Quote(cut(host))+".", "attribute", "host", "value", cut(host), "accepted", known.accepted())
	}
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions:
		return nil
	}
	return sameOrigin(call, own, true)
}

// sameOrigin holds Origin and Sec-Fetch-Site against our own origin; stated asks for one of them.
func sameOrigin(call *call, own string, stated bool) error {
	site, origin := call.shape.fetchSite, call.shape.origin
	direct := !stated && site == "none" // the person typed the address or followed a bookmark
	if (site == "" || site == "same-origin" || direct) && (origin == "" || strings.EqualFold(origin, own)) &&
		(!stated || site != "" || origin != "") {
		return nil
	}
	shown := origin
	if shown == "" {
		shown = site
	}
	return fault.New(fault.PermissionDenied, fault.ReasonOriginNotAllowed,
		"Without a bearer token this is only for pages of this server itself.", "attribute", "origin", "value", cut(shown), "accepted", own)
}

// authorize finds the caller and holds the route's access against them. Cookies mean nothing yet;
// when they do, an Authorization header still comes first and alone.
func (s *Server) authorize(c *fiber.Ctx, call *call) error {
	need := call.route.access
	if need == public {
		return nil
	}
	p, err := s.authenticate(c, call)
	if err != nil {
		return err
	}
	if need != anyone && !p.Has(string(need)) {
		return fault.New(fault.PermissionDenied, fault.ReasonScopeMissing,
			"The scope "+string(need)+" is needed.", "value", strings.Join(p.Scopes, " "), "accepted", string(need))
	}
	call.principal = p
	return nil
}

func (s *Server) authenticate(c *fiber.Ctx, call *call) (*auth.Principal, error) {
	token, bearer := bearerOf(call.shape.authorization)
	switch {
	case bearer:
		return s.deps.Tokens.Verify(c.UserContext(), token)
	case call.shape.authorization != "":
		return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid,
			"The Authorization header is not of the scheme Bearer; send Authorization: Bearer orl_…", "accepted", "Bearer and an API token")
	case !call.route.tokenOnly() && s.deps.Config.Demo && loopback(c.Context().RemoteIP()):
		own := (*s.origins.Load())[strings.ToLower(string(c.Context().URI().Host()))]
		if err := sameOrigin(call, own, false); err != nil {
			return nil, err
		}
		return auth.DemoAnalyst(), nil
	}
	return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenMissing,
		"An API token is needed: Authorization: Bearer orl_…", "accepted", "Bearer and an API token")
}

func loopback(ip net.IP) bool { return ip.IsLoopback() }
