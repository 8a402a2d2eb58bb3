package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"oriel/server/audit"
	"oriel/server/fault"
	"oriel/server/query"
	"oriel/server/saved"
)

// library is an edge with people, real saved searches and a real record.
type library struct {
	*office
	people *desk
}

func startLibrary(t *testing.T) *library {
	t.Helper()
	l := &library{people: newDesk()}
	l.office = startOffice(t, func(d *Deps) {
		d.Sessions, d.Provider = l.people, newIssuer()
	})
	return l
}

// as sends what a person's browser would.
func (l *library) as(cookie, method, path, body string) reply {
	l.t.Helper()
	req := l.request(method, path, "", "Host", "events.example.com", "Origin", "https://events.example.com", "Cookie", "__Host-oriel="+cookie)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
		withBody(req, body)
	}
	return l.do(req)
}

func TestASearchIsSavedSharedChangedAndDeleted(t *testing.T) {
	t.Parallel()
	l := startLibrary(t)
	body := `{"displayName":"Cold rooms <b>","params":"type=b&type=a&from=-24h&subject=","view":"{\"columns\":[\"type\"]}"}`
	made := into[SavedSearch](t, l.as(analystCookie, "POST", "/v1/savedSearches", body))
	params, _ := url.ParseQuery(made.Params)
	if made.DisplayName != "Cold rooms <b>" || !slices.Equal(params["type"], []string{"a", "b"}) || params.Get("from") != "-24h" || params.Has("subject") ||
		made.View != `{"columns":["type"]}` || made.Owner != "ada" || !made.Own || made.Shared || made.Version != 1 {
		t.Fatalf("got %+v", made)
	}
	if n := len(l.entries(audit.Filter{Actions: []string{"savedSearch.*"}})); n != 0 {
		t.Errorf("%d entries of what nobody else sees", n)
	}
	path := "/v1/" + made.Name
	l.as(operatorCookie, "GET", path, "").failure(t, 404, fault.ReasonNotFound)
	l.do(l.request("GET", path, l.clerk)).failure(t, 404, fault.ReasonNotFound)

	shared := into[SavedSearch](t, l.as(analystCookie, "PATCH", path, `{"version":1,"shared":true}`))
	if !shared.Shared || shared.Version != 2 || shared.Params != made.Params || shared.DisplayName != made.DisplayName {
		t.Errorf("got %+v", shared)
	}
	for _, r := range []reply{l.as(operatorCookie, "GET", path, ""), l.do(l.request("GET", path, l.clerk))} {
		if got := into[SavedSearch](t, r); got.Own || got.Owner != "ada" || got.Params != made.Params {
			t.Errorf("others see %+v", got)
		}
	}
	page := into[SavedSearchPage](t, l.do(l.request("GET", "/v1/savedSearches", l.clerk)))
	if len(page.SavedSearches) != 1 || page.SavedSearches[0].Name != made.Name {
		t.Errorf("a program lists %+v", page)
	}

	f := l.as(analystCookie, "PATCH", path, `{"version":1,"displayName":"x"}`).failure(t, 409, fault.ReasonVersionConflict)
	if f.Details[0].Metadata["accepted"] != "2" {
		t.Errorf("got %+v", f)
	}
	l.as(operatorCookie, "PATCH", path, `{"version":2,"displayName":"mine"}`).failure(t, 403, fault.ReasonNotOwner)
	l.as(operatorCookie, "DELETE", path, "").failure(t, 403, fault.ReasonNotOwner)
	l.as(analystCookie, "DELETE", path+"?version=1", "").failure(t, 409, fault.ReasonVersionConflict)
	renamed := into[SavedSearch](t, l.as(adminCookie, "PATCH", path, `{"version":2,"displayName":"Cold rooms"}`))
	if renamed.DisplayName != "Cold rooms" || renamed.Owner != "ada" || renamed.Own {
		t.Errorf("got %+v", renamed)
	}
	if r := l.as(analystCookie, "DELETE", path+"?version=3", ""); r.StatusCode != http.StatusNoContent || len(r.body) != 0 {
		t.Errorf("got %d %s", r.StatusCode, r.body)
	}
	l.as(analystCookie, "GET", path, "").failure(t, 404, fault.ReasonNotFound)

	var got []string
	for _, e := range l.entries(audit.Filter{Actions: []string{"savedSearch.*"}}) {
		got = append(got, fmt.Sprintf("%s %s by %s of %s", e.Outcome, e.Action, e.Actor.Name, e.Target))
	}
	slices.Reverse(got)
	want := []string{
		"done savedSearch.share by ada of " + made.Name, "refused savedSearch.change by otto of " + made.Name, "refused savedSearch.delete by otto of " + made.Name,
		"done savedSearch.change by adam of " + made.Name, "done savedSearch.delete by ada of " + made.Name,
	}
	if !slices.Equal(got, want) {
		t.Errorf("on the record %q, want %q", got, want)
	}
	all := l.entries(audit.Filter{Actions: []string{audit.ActionSavedSearchChange}})
	if all[0].Before["displayName"] != "Cold rooms <b>" || all[0].After["displayName"] != "Cold rooms" || all[0].After["params"] != made.Params {
		t.Errorf("got %+v", all[0])
	}
}

func TestNothingIsSharedWithoutItsEntry(t *testing.T) {
	t.Parallel()
	l := startLibrary(t)
	l.refusing("audit", "true")
	l.as(analystCookie, "POST", "/v1/savedSearches", `{"displayName":"n","params":"","shared":true}`).failure(t, 503, fault.ReasonDatabaseUnavailable)
	into[SavedSearch](t, l.as(analystCookie, "POST", "/v1/savedSearches", `{"displayName":"mine alone","params":""}`))
	if n := l.count("SELECT count(*) FROM saved_search"); n != 1 {
		t.Errorf("%d are kept", n)
	}
}

func TestWhatCannotBeSavedIsToldWithEverythingThatIsWrong(t *testing.T) {
	t.Parallel()
	l := startLibrary(t)
	for name, c := range map[string]struct {
		method, path, body string
		want               []string
	}{
		"no fields":             {"POST", "/v1/savedSearches", `{}`, []string{"INVALID_FIELD displayName", "INVALID_FIELD params"}},
		"fields of another":     {"POST", "/v1/savedSearches", `{"displayName":"n","params":"","owner":"x"}`, []string{"INVALID_FIELD owner"}},
		"no filter":             {"POST", "/v1/savedSearches", `{"displayName":"n","params":"colour=red&from=noon"}`, []string{"INVALID_PARAMETER from", "UNKNOWN_PARAMETER colour"}},
		"a change of nothing":   {"PATCH", "/v1/savedSearches/7", `{"displayName":"n"}`, []string{"INVALID_FIELD version"}},
		"a number that is none": {"PATCH", "/v1/savedSearches/07", `{"version":1}`, []string{"INVALID_PARAMETER savedSearch"}},
		"a link of no filter":   {"POST", "/v1/shareLinks", `{"params":"pageToken=x&q=%22"}`, []string{"UNKNOWN_PARAMETER pageToken", "q"}},
		"a slug that is none":   {"GET", "/v1/shareLinks/short", ``, []string{"INVALID_PARAMETER slug"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := l.as(analystCookie, c.method, c.path, c.body)
			var got []string
			for _, d := range r.failure(t, 400, reasonOf(t, r)).Details {
				at := d.Reason + " " + d.Metadata["attribute"]
				if d.Metadata["attribute"] == "q" { // its reasons are the language's
					at = "q"
				}
				got = append(got, at)
			}
			slices.Sort(got)
			if !slices.Equal(slices.Compact(got), c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// reasonOf is the first reason of an error.
func reasonOf(t *testing.T, r reply) string {
	t.Helper()
	if i := strings.Index(string(r.body), `"reason":"`); i >= 0 {
		reason, _, _ := strings.Cut(string(r.body)[i+len(`"reason":"`):], `"`)
		return reason
	}
	t.Fatalf("%d %s is no error", r.StatusCode, r.body)
	return ""
}

func TestAShareLinkOpensItsFilter(t *testing.T) {
	t.Parallel()
	l := startLibrary(t)
	made := into[ShareLink](t, l.as(analystCookie, "POST", "/v1/shareLinks", `{"params":"q=tea&type=b&type=a"}`))
	again := into[ShareLink](t, l.as(operatorCookie, "POST", "/v1/shareLinks", `{"params":"type=a&type=b&q=tea&v=1&room="}`))
	if made != again || made.Url != "https://events.example.com/s/"+made.Slug {
		t.Errorf("got %+v and %+v", made, again)
	}
	for _, r := range []reply{l.as(operatorCookie, "GET", "/v1/shareLinks/"+made.Slug, ""), l.do(l.request("GET", "/v1/shareLinks/"+made.Slug, l.clerk, "Host", "events.example.com"))} {
		if got := into[ShareLink](t, r); got != made {
			t.Errorf("leads to %+v, want %+v", got, made)
		}
	}
	if got := into[ShareLink](t, l.do(l.request("GET", "/v1/shareLinks/"+made.Slug, l.clerk))); got.Url != "/s/"+made.Slug {
		t.Errorf("to a caller under another name it is at %q", got.Url)
	}
	l.as(operatorCookie, "GET", "/v1/shareLinks/"+strings.Repeat("a", 20), "").failure(t, 404, fault.ReasonNotFound)
}

// What is kept is what a search takes, beside a snapshot, a page and what a browser sends of its own.
func TestTheLongestFilterThatIsKeptIsTakenByASearch(t *testing.T) {
	t.Parallel()
	l := startLibrary(t)
	filter := func(length int) string {
		var params []string
		left := length - len("from=-1h&q="+strings.Repeat("x", 1))
		for i := 0; left > 0; i++ {
			value := fmt.Sprintf("%03d", i) + strings.Repeat("x", min(997, max(0, left-len("&type=000"))))
			params, left = append(params, "type="+value), left-len("&type=")-len(value)
		}
		return "from=-1h&q=" + strings.Repeat("x", max(1, 1+left)) + "&" + strings.Join(params, "&")
	}
	long := filter(saved.MaxParams)
	made := into[ShareLink](t, l.as(analystCookie, "POST", "/v1/shareLinks", fmt.Sprintf(`{"params":%q}`, long)))
	if len(made.Params) != saved.MaxParams {
		t.Fatalf("%d bytes are kept", len(made.Params))
	}
	target := "/v1/events?" + made.Params + "&snapshot=" + strings.Repeat("s", 2048) + "&pageToken=" + strings.Repeat("p", 1024)
	r := l.do(l.request("GET", target, "", "Host", "events.example.com", "Cookie", "__Host-oriel="+analystCookie+"; other="+strings.Repeat("c", 4096)))
	if r.StatusCode != http.StatusOK {
		t.Errorf("a search of it answers %d %.200s", r.StatusCode, r.body)
	}
	more := fmt.Sprintf(`"params":%q`, long+"x")
	for path, body := range map[string]string{"/v1/shareLinks": "{" + more + "}", "/v1/savedSearches": `{"displayName":"n",` + more + "}"} {
		f := l.as(analystCookie, "POST", path, body).failure(t, 400, fault.ReasonInvalidField)
		if d := f.Details[0]; d.Metadata["attribute"] != "params" || d.Metadata["limit"] != fmt.Sprint(saved.MaxParams) {
			t.Errorf("%s: %+v", path, d)
		}
	}
}

func TestAPageForSomebodyElseSavesNothing(t *testing.T) {
	t.Parallel()
	l := startLibrary(t)
	req := l.request("POST", "/v1/savedSearches", "", "Host", "events.example.com", "Origin", "https://events.example.com",
		"Cookie", "__Host-oriel="+analystCookie, "Content-Type", "application/json", "Oriel-Caller", url.PathEscape(person("otto", "").ID))
	l.do(withBody(req, `{"displayName":"n","params":""}`)).failure(t, 409, fault.ReasonCallerChanged)
	foreign := l.request("POST", "/v1/savedSearches", "", "Host", "events.example.com", "Origin", "https://evil.example.net", "Cookie", "__Host-oriel="+analystCookie, "Content-Type", "application/json")
	l.do(withBody(foreign, `{"displayName":"n","params":""}`)).failure(t, 403, fault.ReasonOriginNotAllowed)
	if n := l.count("SELECT count(*) FROM saved_search"); n != 0 {
		t.Errorf("%d are kept", n)
	}
}

func savedIn(o *office, d *Deps) *saved.Store {
	return saved.New(o.pool, query.Schema{Facets: []string{"device", "person", "room", "tag"}}, d.Registry)
}
