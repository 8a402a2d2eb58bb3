package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"oriel/server/fault"
)

// wanted is the access of every route, written down a second time on purpose.
func wanted() map[string]access {
	return map[string]access{
		"GET /health/live":            public,
		"GET /health/ready":           public,
		"GET /metrics":                public,
		"GET /*":                      public,
		"GET /v1/session":             anyone,
		"GET /v1/events":              canRead,
		"GET /v1/events:snapshot":     canRead,
		"GET /v1/events/:event":       canRead,
		"GET /v1/events/:event/data":  canRead,
		"POST /v1/events":             canWrite,
		"POST /v1/events:batchCreate": canWrite,
		"POST /v1/events:validate":    canWrite,
	}
}

func TestEveryRouteDeclaresItsAccessAndEveryDeclarationIsARoute(t *testing.T) {
	t.Parallel()
	e := start(t)
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
		if path, ok := strings.CutPrefix(name, "GET "); ok && declared["HEAD "+path] != a {
			t.Errorf("HEAD %s is %q in the table, want %q", path, declared["HEAD "+path], a)
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
	for _, r := range start(t).routes {
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

func TestEveryGuardedRouteRefusesWhoMayNot(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, need := range wanted() {
		if need == public {
			continue
		}
		method, path, _ := strings.Cut(name, " ")
		path = strings.Replace(path, ":event", "urn%3Ahome%3A1:1", 1)
		path = strings.Replace(path, "/eventsurn%3Ahome%3A1:1s", "/events:events", 1)
		t.Run(name+" without a token", func(t *testing.T) {
			t.Parallel()
			r := e.do(e.request(method, path, "", "Host", "events.example.com", "Origin", "https://events.example.com"))
			r.failure(t, 401, fault.ReasonTokenMissing)
			if got := r.Header.Get("WWW-Authenticate"); got != `Bearer realm="oriel"` {
				t.Errorf("challenge %q", got)
			}
		})
		if need == anyone {
			continue
		}
		if need == canWrite {
			for what, header := range map[string][]string{
				"a command line without a token": nil,
				"another site's page":            {"Origin", "https://evil.example.net", "Sec-Fetch-Site", "cross-site"},
				"a name that is not ours":        {"Host", "10.0.0.7:8080"},
			} {
				t.Run(name+" from "+what, func(t *testing.T) {
					t.Parallel()
					r := e.do(e.request(method, path, "", header...))
					r.failure(t, 401, fault.ReasonTokenMissing)
					if got := r.Header.Get("WWW-Authenticate"); got != `Bearer realm="oriel"` {
						t.Errorf("challenge %q", got)
					}
				})
			}
			for _, credentials := range []string{"Basic YTpi", "orl_writer"} {
				t.Run(name+" with the credentials "+credentials, func(t *testing.T) {
					t.Parallel()
					r := e.do(e.request(method, path, "", "Authorization", credentials))
					f := r.failure(t, 401, fault.ReasonTokenInvalid)
					if !strings.Contains(f.Message, "Authorization: Bearer orl_") || f.Details[0].Metadata["accepted"] == "" {
						t.Errorf("%+v does not say what is accepted", f)
					}
					if got := r.Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") {
						t.Errorf("challenge %q", got)
					}
				})
			}
		}
		t.Run(name+" without the scope", func(t *testing.T) {
			t.Parallel()
			r := e.do(e.request(method, path, nobody))
			f := r.failure(t, 403, fault.ReasonScopeMissing)
			if !strings.Contains(f.Message, string(need)) || !strings.Contains(r.Header.Get("WWW-Authenticate"), `scope="`+string(need)+`"`) {
				t.Errorf("%q and %q do not name %s", f.Message, r.Header.Get("WWW-Authenticate"), need)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(e.publisher.all()); n != 0 {
			t.Errorf("%d refused requests reached the publisher", n)
		}
	})
}

func TestCredentialsThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	e := start(t)
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
