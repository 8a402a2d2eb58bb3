package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"oriel/server/auth"
	"oriel/server/fault"
)

// wanted is the access of every route, written down a second time on purpose.
func wanted() map[string]access {
	return map[string]access{
		"GET /health/live":                      public,
		"GET /health/ready":                     public,
		"GET /metrics":                          public,
		"GET /*":                                public,
		"GET /auth/sign-in":                     public,
		"GET /auth/callback":                    public,
		"GET /v1/session":                       anyone,
		"POST /v1/session:signOut":              onlyPerson,
		"GET /v1/installation":                  public,
		"POST /v1/cspReports":                   public,
		"GET /v1/tokens":                        canAdminRead,
		"POST /v1/tokens":                       canAdminWrite,
		"POST /v1/tokens/:token:revoke":         canAdminWrite,
		"GET /v1/auditEntries":                  canAdminRead,
		"GET /v1/auditEntries:export":           canAdminRead,
		"GET /v1/events":                        canRead,
		"GET /v1/events:snapshot":               canRead,
		"GET /v1/events/:event":                 canRead,
		"GET /v1/events/:event/data":            canRead,
		"GET /v1/events/:event/context":         canRead,
		"GET /v1/events:count":                  canRead,
		"GET /v1/events:facets":                 canRead,
		"GET /v1/events:histogram":              canRead,
		"GET /v1/events:fields":                 canRead,
		"GET /v1/events:suggest":                canRead,
		"GET /v1/events:export":                 canRead,
		"GET /v1/pipeline":                      canRead,
		"GET /v1/alerts":                        canRead,
		"GET /v1/savedSearches":                 canRead,
		"POST /v1/savedSearches":                canSave,
		"GET /v1/savedSearches/:savedSearch":    canRead,
		"PATCH /v1/savedSearches/:savedSearch":  canSave,
		"DELETE /v1/savedSearches/:savedSearch": canSave,
		"POST /v1/shareLinks":                   canSave,
		"GET /v1/shareLinks/:slug":              canRead,
		"POST /v1/events":                       canWrite,
		"POST /v1/events:batchCreate":           canWrite,
		"POST /v1/events:validate":              canWrite,
	}
}

func TestEveryRouteDeclaresItsAccessAndEveryDeclarationIsARoute(t *testing.T) {
	t.Parallel()
	e := startPeople(t)
	declared := map[string]access{}
	for i := range e.routes {
		r := &e.routes[i]
		for _, method := range r.methods() {
			declared[method+" "+routeLabel(&call{route: r})] = r.access
		}
	}
	for name, a := range wanted() {
		if declared[name] != a {
			t.Errorf("%s is %q in the table, want %q", name, declared[name], a)
		}
		if path, ok := strings.CutPrefix(name, "GET "); ok {
			head, want := declared["HEAD "+path], a
			if strings.HasPrefix(path, "/auth/") { // where HEAD would use up a sign-in
				want = ""
			}
			if head != want {
				t.Errorf("HEAD %s is %q in the table, want %q", path, head, want)
			}
		}
	}
	routed := map[string]bool{}
	for _, r := range e.app.GetRoutes(true) {
		name := r.Method + " " + strings.ReplaceAll(r.Path, `\`, "")
		routed[name] = true
		if _, ok := declared[name]; !ok {
			t.Errorf("the router has %s, the table has not", name)
		}
		if _, ok := wanted()[strings.Replace(name, "HEAD ", "GET ", 1)]; !ok {
			t.Errorf("the router has %s, which nobody decided on", name)
		}
	}
	for name := range declared {
		if !routed[name] {
			t.Errorf("the table has %s, the router has not", name)
		}
	}
}

func TestTheTableAndTheSpecificationHaveTheSameOperations(t *testing.T) {
	t.Parallel()
	spec, err := GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	var specified, served []string
	for path, item := range spec.Paths.Map() {
		for method := range item.Operations() {
			specified = append(specified, method+" "+path)
		}
	}
	for _, r := range startPeople(t).routes {
		if r.api != "" {
			served = append(served, r.method+" "+r.api)
		}
	}
	slices.Sort(specified)
	slices.Sort(served)
	if !slices.Equal(specified, served) {
		t.Errorf("openapi.yaml has\n%s\nthe table has\n%s", strings.Join(specified, "\n"), strings.Join(served, "\n"))
	}
}

// credential is a way to come, and what a route of each access says to it.
type credential struct {
	header []string
	// verdict is the status and the reason; 0 where the route takes the caller.
	verdict func(need access) (int, string)
}

func credentials() map[string]credential {
	bearer := func(token string) []string {
		return []string{"Authorization", "Bearer " + token, "Host", "events.example.com"}
	}
	cookie := func(value string) []string {
		return []string{"Cookie", "__Host-oriel=" + value, "Host", "events.example.com", "Origin", "https://events.example.com"}
	}
	always := func(code int, reason string) func(access) (int, string) {
		return func(access) (int, string) { return code, reason }
	}
	// On what only programs may, a cookie is as good as nothing.
	session := func(verdict func(access) (int, string)) func(access) (int, string) {
		return func(need access) (int, string) {
			if need == canWrite {
				return 401, fault.ReasonTokenMissing
			}
			return verdict(need)
		}
	}
	holder := func(scopes ...string) func(access) (int, string) {
		return func(need access) (int, string) {
			if need == anyone || slices.Contains(scopes, string(need)) {
				return 0, ""
			}
			return 403, fault.ReasonScopeMissing
		}
	}
	member := func(role string) func(access) (int, string) {
		return session(func(need access) (int, string) {
			if need == anyone || need == onlyPerson || need == canSave && role != "" || slices.Contains(auth.RoleScopes(role), string(need)) {
				return 0, ""
			}
			return 403, fault.ReasonRoleMissing
		})
	}
	ended := session(always(401, fault.ReasonSessionExpired))
	return map[string]credential{
		"no credentials":             {[]string{"Host", "events.example.com", "Origin", "https://events.example.com"}, session(always(401, fault.ReasonSignInNeeded))},
		"a forged token":             {bearer("orl_unknown"), always(401, fault.ReasonTokenInvalid)},
		"an expired token":           {bearer("orl_expired"), always(401, fault.ReasonTokenInvalid)},
		"a JWT for another audience": {bearer("ey.other"), always(401, fault.ReasonTokenInvalid)},
		"a forged cookie":            {cookie(opaque("forged")), ended},
		"an expired session":         {cookie(expiredCookie), ended},
		"a cookie of another shape":  {cookie("short"), session(always(401, fault.ReasonSignInNeeded))},
		"two cookies":                {cookie(adminCookie + "; __Host-oriel=" + analystCookie), session(always(401, fault.ReasonSignInNeeded))},
		"a cookie of another name":   {cookie("x; oriel=" + adminCookie + "; __Secure-oriel=" + adminCookie), session(always(401, fault.ReasonSignInNeeded))},
		"a bad token and a cookie":   {append(bearer("orl_unknown"), cookie(adminCookie)...), always(401, fault.ReasonTokenInvalid)},
		"a token without scopes":     {bearer(nobody), holder()},
		"a read-only token":          {bearer(reader), holder(auth.ScopeEventsRead)},
		"a writing token":            {bearer(writer), holder(auth.ScopeEventsWrite)},
		"an admin's token":           {bearer(keeper), holder(auth.ScopeAdminRead, auth.ScopeAdminWrite)},
		"a workload's JWT":           {bearer("ey.writer"), holder(auth.ScopeEventsWrite)},
		"a person without a role":    {cookie(guestCookie), member("")},
		"an analyst's session":       {cookie(analystCookie), member(auth.RoleAnalyst)},
		"an operator's session":      {cookie(operatorCookie), member(auth.RoleOperator)},
		"an admin's session":         {cookie(adminCookie), member(auth.RoleAdmin)},
	}
}

// Every line of the table meets every credential, over a socket. A new route is met too, or fails here.
func TestEveryRouteMeetsEveryCredential(t *testing.T) {
	t.Parallel()
	ways := credentials()
	p := startPeople(t)
	opened := map[access]map[bool]int{}
	for i := range p.routes {
		r := &p.routes[i]
		need, decided := wanted()[r.method+" "+routeLabel(&call{route: r})]
		if !decided {
			t.Errorf("nobody decided on %s %s", r.method, r.pattern)
			continue
		}
		path := pathOf(t, r)
		for name, way := range ways {
			code, reason := way.verdict(need)
			if need == public {
				code = 0
			}
			if opened[need] == nil {
				opened[need] = map[bool]int{}
			}
			opened[need][code == 0]++
			for _, method := range r.methods() {
				t.Run(method+" "+path+" with "+name, func(t *testing.T) {
					t.Parallel()
					p := p
					if need == onlyPerson { // signing out ends what the others come with
						p = startPeople(t)
					}
					answer := p.do(p.request(method, path, "", way.header...))
					switch refused := answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden; {
					case code == 0 && refused:
						t.Errorf("refused with %d %s", answer.StatusCode, answer.body)
					case code == 0 || method == http.MethodHead && answer.StatusCode == code:
					default:
						f := answer.failure(t, code, reason)
						checkRefusal(t, need, f, answer.Header.Get("WWW-Authenticate"))
					}
				})
			}
		}
	}
	for need, n := range opened {
		if need != public && (n[true] == 0 || n[false] == 0) {
			t.Errorf("of the credentials %d open and %d do not open what needs %s", n[true], n[false], need)
		}
	}
	t.Cleanup(func() {
		if n := len(p.publisher.all()); n != opened[canWrite][true] {
			t.Errorf("%d requests reached the publisher, want %d", n, opened[canWrite][true])
		}
	})
}

// pathOf is a path that a route matches.
func pathOf(t *testing.T, r *route) string {
	t.Helper()
	path := strings.ReplaceAll(r.pattern, `\:`, "\x00")
	for parameter, value := range map[string]string{
		":event": "urn%3Ahome%3A1:1", ":token": "7", ":savedSearch": "7", ":slug": "aaaaaaaaaaaaaaaaaaaa", "*": "explore",
	} {
		path = strings.ReplaceAll(path, parameter, value)
	}
	if strings.Contains(strings.ReplaceAll(path, "1:1", ""), ":") {
		t.Fatalf("say what to put into %s", r.pattern)
	}
	return strings.ReplaceAll(path, "\x00", ":")
}

// checkRefusal looks for what a caller needs in order to get further.
func checkRefusal(t *testing.T, need access, f Error, challenge string) {
	t.Helper()
	d := f.Details[0]
	switch d.Reason {
	case fault.ReasonTokenMissing, fault.ReasonSignInNeeded, fault.ReasonSessionExpired:
		if challenge != `Bearer realm="oriel"` {
			t.Errorf("challenge %q", challenge)
		}
	case fault.ReasonTokenInvalid:
		if !strings.HasPrefix(challenge, `Bearer realm="oriel", error="invalid_token"`) {
			t.Errorf("challenge %q", challenge)
		}
	case fault.ReasonScopeMissing:
		want := `Bearer realm="oriel", error="insufficient_scope", scope="` + string(need) + `"`
		person := need == onlyPerson || need == canSave
		if person {
			want = ""
		}
		if challenge != want || !person && !strings.Contains(f.Message, string(need)) {
			t.Errorf("challenge %q, message %q", challenge, f.Message)
		}
	case fault.ReasonRoleMissing:
		scope := string(need)
		if need == canSave {
			scope = auth.ScopeEventsRead
		}
		if d.Metadata["accepted"] != auth.RoleFor(scope) || !slices.Contains([]string{"none", "analyst", "operator"}, d.Metadata["value"]) ||
			!strings.Contains(f.Message, d.Metadata["accepted"]) || !strings.Contains(f.Message, "it@example.com") || challenge != "" {
			t.Errorf("%+v, challenge %q", f, challenge)
		}
	}
}

func TestWithoutAProviderACallerIsAskedForAToken(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, r := range e.routes {
		if r.access == public {
			continue
		}
		for what, header := range map[string][]string{
			"a browser":                  {"Host", "events.example.com", "Origin", "https://events.example.com"},
			"a cookie, which is nothing": {"Host", "events.example.com", "Origin", "https://events.example.com", "Cookie", "__Host-oriel=" + adminCookie},
		} {
			t.Run(r.method+" "+r.pattern+" from "+what, func(t *testing.T) {
				t.Parallel()
				answer := e.do(e.request(r.method, pathOf(t, &r), "", header...))
				checkRefusal(t, r.access, answer.failure(t, 401, fault.ReasonTokenMissing), answer.Header.Get("WWW-Authenticate"))
			})
		}
	}
	t.Run("and a JWT is none", func(t *testing.T) {
		t.Parallel()
		e.do(e.request("GET", "/v1/session", "ey.writer")).failure(t, 401, fault.ReasonTokenInvalid)
	})
}

func TestWhatOnlyATokenOpensLeadsNoBrowserAnywhere(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for what, header := range map[string][]string{
		"a command line without a token": nil,
		"another site's page":            {"Origin", "https://evil.example.net", "Sec-Fetch-Site", "cross-site"},
		"a name that is not ours":        {"Host", "10.0.0.7:8080"},
		"an admin":                       {"Host", "events.example.com", "Origin", "https://events.example.com", "Cookie", "__Host-oriel=" + adminCookie},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/v1/events", "/v1/events:batchCreate", "/v1/events:validate"} {
				r := p.do(p.request("POST", path, "", header...))
				checkRefusal(t, canWrite, r.failure(t, 401, fault.ReasonTokenMissing), r.Header.Get("WWW-Authenticate"))
			}
		})
	}
	for _, scheme := range []string{"Basic YTpi", "orl_writer"} {
		f := p.do(p.request("POST", "/v1/events", "", "Authorization", scheme)).failure(t, 401, fault.ReasonTokenInvalid)
		if !strings.Contains(f.Message, "Authorization: Bearer with an API token") || f.Details[0].Metadata["accepted"] == "" {
			t.Errorf("%+v does not say what is accepted", f)
		}
	}
	if f := p.do(p.request("POST", "/v1/events", "", "Authorization", "Bearer")).failure(t, 401, fault.ReasonTokenInvalid); !strings.Contains(f.Message, "nothing behind Bearer") {
		t.Errorf("%+v does not say that the token is missing", f)
	}
	if n := len(p.publisher.all()); n != 0 {
		t.Errorf("%d refused requests reached the publisher", n)
	}
}

func TestAStreamLosesItsCallerWhenTheyMayNoMore(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for i := range p.routes {
		r := &p.routes[i]
		if r.stream {
			of := &call{route: r, session: adminCookie}
			if err := p.stillAllowed(t.Context(), of); err != nil {
				t.Errorf("%s: %v", r.pattern, err)
			}
			of.session = guestCookie
			if err := p.stillAllowed(t.Context(), of); fault.Of(err).Kind != fault.PermissionDenied {
				t.Errorf("%s: whose role was taken away goes on: %v", r.pattern, err)
			}
			of.session = expiredCookie
			if err := p.stillAllowed(t.Context(), of); fault.Of(err).Kind != fault.Unauthenticated {
				t.Errorf("%s: whose session has ended goes on: %v", r.pattern, err)
			}
			of.session, of.shape.authorization = "", "Bearer orl_unknown"
			if err := p.stillAllowed(t.Context(), of); fault.Of(err).Kind != fault.Unauthenticated {
				t.Errorf("%s: whose token was revoked goes on: %v", r.pattern, err)
			}
		}
	}
}

func TestCredentialsThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	e := startPeople(t)
	for name, c := range map[string]struct {
		authorization string
		code          int
		reason        string
		challenge     string
		retry         string
	}{
		"an unknown token":                     {"Bearer orl_unknown", 401, fault.ReasonTokenInvalid, `error="invalid_token"`, ""},
		"an empty token":                       {"Bearer ", 401, fault.ReasonTokenInvalid, "", ""},
		"another scheme":                       {"Basic YTpi", 401, fault.ReasonTokenInvalid, `error="invalid_token"`, ""},
		"a token nobody can check at the time": {"Bearer orl_away", 503, fault.ReasonDatabaseUnavailable, "", "2"},
		"a JWT nobody can check at the time":   {"Bearer ey.away", 503, fault.ReasonProviderUnavailable, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := e.do(e.request("GET", "/v1/session", "", "Authorization", c.authorization, "Host", "events.example.com"))
			r.failure(t, c.code, c.reason)
			if got := r.Header.Get("WWW-Authenticate"); !strings.Contains(got, c.challenge) || c.code == 503 && got != "" {
				t.Errorf("challenge %q", got)
			}
			if got := r.Header.Get("Retry-After"); got != c.retry {
				t.Errorf("retry after %q, want %q", got, c.retry)
			}
		})
	}
	t.Run("two Authorization headers", func(t *testing.T) {
		t.Parallel()
		r, _ := e.raw(lines("GET /v1/session HTTP/1.1", "Host: x", "Authorization: Bearer "+reader, "Authorization: Bearer "+writer, ""))
		r.failure(t, 400, fault.ReasonMalformedRequest)
	})
	t.Run("the scheme in any case", func(t *testing.T) {
		t.Parallel()
		if r := e.do(e.request("GET", "/v1/session", "", "Authorization", "bEARER "+reader)); r.StatusCode != http.StatusOK {
			t.Errorf("got %d %s", r.StatusCode, r.body)
		}
	})
}

func TestPathsAndMethodsWithoutARoute(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, c := range map[string]struct {
		method, path string
		code         int
		reason       string
		allow        string
	}{
		"an unknown path of the API":   {"GET", "/v1/nothing", 404, fault.ReasonNotFound, ""},
		"an unknown custom method":     {"POST", "/v1/events:nothing", 404, fault.ReasonNotFound, ""},
		"the root of the API":          {"GET", "/v1", 404, fault.ReasonNotFound, ""},
		"a slash too many":             {"GET", "/v1/events/", 404, fault.ReasonNotFound, ""},
		"a write to an unknown path":   {"POST", "/v1/nothing", 404, fault.ReasonNotFound, ""},
		"another method on the events": {"DELETE", "/v1/events", 405, fault.ReasonMethodNotAllowed, "GET, HEAD, POST"},
		"a read of a writing method":   {"GET", "/v1/events:batchCreate", 405, fault.ReasonMethodNotAllowed, "POST"},
		"a write to one event":         {"PUT", "/v1/events/a:b", 405, fault.ReasonMethodNotAllowed, "GET, HEAD"},
		"a preflight":                  {"OPTIONS", "/v1/events", 405, fault.ReasonMethodNotAllowed, "GET, HEAD, POST"},
		"a write to a page":            {"POST", "/explore", 405, fault.ReasonMethodNotAllowed, "GET, HEAD"},
		"a method that does not exist": {"BREW", "/v1/events", 405, fault.ReasonMethodNotAllowed, "GET, HEAD, POST"},
		"an unknown path of health":    {"GET", "/health/other", 404, fault.ReasonNotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := e.do(e.request(c.method, c.path, reader))
			r.failure(t, c.code, c.reason)
			if got := r.Header.Get("Allow"); got != c.allow {
				t.Errorf("allow %q, want %q", got, c.allow)
			}
		})
	}
}

func TestARoleThatAReplicaHasNotIsNotThere(t *testing.T) {
	t.Parallel()
	e := start(t, func(d *Deps) { d.Publisher, d.Search, d.SPA = nil, nil, nil })
	for _, r := range []reply{
		e.do(e.request("POST", "/v1/events", writer)), e.do(e.request("GET", "/v1/events", reader)), e.do(e.request("GET", "/", reader)),
	} {
		r.failure(t, 404, fault.ReasonNotFound)
	}
	if r := e.do(e.request("GET", "/v1/session", reader)); r.StatusCode != http.StatusOK {
		t.Errorf("session answers %d", r.StatusCode)
	}
}
