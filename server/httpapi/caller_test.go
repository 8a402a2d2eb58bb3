package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"oriel/server/fault"
)

func TestAPageOfOnePersonDoesNotActAsAnother(t *testing.T) {
	t.Parallel()
	const adam, otto = "https://login.example.com#adam", "https://login.example.com#otto"
	p := startPeople(t)
	ask := func(method, path, cookie, caller string) reply {
		req := p.request(method, path, "", own(cookie)...)
		if caller != "" {
			req.Header.Set("Oriel-Caller", url.PathEscape(caller))
		}
		if method == http.MethodPost {
			req = withBody(req, `{}`)
		}
		return p.do(req)
	}
	for name, c := range map[string]struct {
		method, path, caller string
		refused              bool
	}{
		"a form of another":           {"POST", "/v1/session:signOut", otto, true},
		"a list of another":           {"GET", "/v1/events", otto, true},
		"its own list":                {"GET", "/v1/events", adam, false},
		"a page that names nobody":    {"GET", "/v1/events", "", false},
		"the question who is asking":  {"GET", "/v1/session", otto, false},
		"a name that cannot be read":  {"GET", "/v1/events", "%zz", true},
		"a part of the name is no id": {"GET", "/v1/events", adam[:10], true},
	} {
		r := ask(c.method, c.path, adminCookie, c.caller)
		if !c.refused {
			if r.StatusCode != http.StatusOK {
				t.Errorf("%s is answered %d %s", name, r.StatusCode, r.body)
			}
			continue
		}
		f := r.failure(t, http.StatusConflict, fault.ReasonCallerChanged)
		if !strings.Contains(f.Message, "adam") || f.Details[0].Metadata["accepted"] != adam {
			t.Errorf("%s: %+v does not say who is signed in", name, f)
		}
	}
	if r := ask("POST", "/v1/session:signOut", adminCookie, adam); r.StatusCode != http.StatusOK {
		t.Errorf("its own form is answered %d %s", r.StatusCode, r.body)
	}
}
