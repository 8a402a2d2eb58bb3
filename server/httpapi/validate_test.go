package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"oriel/server/fault"
)

func (e *edge) send(path, token, contentType, body string) reply {
	e.t.Helper()
	header := []string{"Content-Type", contentType}
	if contentType == "" {
		header = nil
	}
	return e.do(withBody(e.request("POST", path, token, header...), body))
}

func attributes(f Error) []string {
	var all []string
	for _, d := range f.Details {
		all = append(all, d.Metadata["attribute"])
	}
	slices.Sort(all)
	return all
}

func TestAllThatIsWrongWithABodyIsToldAtOnce(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	const good = `"displayName":"a","scopes":["events:read"],"reason":"because"`
	long := strings.Repeat("é", 101)
	for name, c := range map[string]struct {
		body  string
		where []string
	}{
		"nothing is right":                {`{"displayName":" ","scopes":["events:read","x","events:read",7],"sourcePrefixes":[""],"expireTime":"tomorrow","colour":1}`, []string{"colour", "displayName", "expireTime", "reason", "scopes[1]", "scopes[2]", "scopes[3]", "sourcePrefixes[0]"}},
		"other types":                     {`{"displayName":1,"scopes":"events:read","reason":null,"sourcePrefixes":{},"expireTime":true}`, []string{"displayName", "expireTime", "reason", "scopes", "sourcePrefixes"}},
		"too long, in characters":         {`{"displayName":"` + long + `","scopes":["operate"],"reason":"` + strings.Repeat("x", 501) + `"}`, []string{"displayName", "reason"}},
		"no scope":                        {`{"displayName":"a","scopes":[],"reason":"b"}`, []string{"scopes"}},
		"more scopes than there are":      {`{"displayName":"a","scopes":["operate","operate","operate","operate","operate","operate"],"reason":"b"}`, []string{"scopes"}},
		"a name in other letters":         {`{` + good + `,"Reason":"x"}`, []string{"Reason"}},
		"a name twice":                    {`{` + good + `,"reason":"other"}`, []string{"reason"}},
		"a name twice, once escaped":      {`{` + good + `,"re\u0061son":"other"}`, []string{"reason"}},
		"a control character":             {`{"displayName":"a\u0000b","scopes":["operate"],"reason":"a\u001bb"}`, []string{"displayName", "reason"}},
		"an empty text":                   {`{"displayName":"","scopes":["operate"],"reason":"\n"}`, []string{"displayName", "reason"}},
		"a list":                          {`[]`, []string{""}},
		"null":                            {`null`, []string{""}},
		"text":                            {`"a"`, []string{""}},
		"empty":                           {``, []string{"body"}},
		"white space":                     {" \n", []string{"body"}},
		"not JSON":                        {`{"displayName":}`, []string{"body"}},
		"cut":                             {`{"displayName":"a"`, []string{"body"}},
		"something behind it":             {`{` + good + `} {}`, []string{"body"}},
		"a comma too many":                {`{` + good + `,}`, []string{"body"}},
		"a lone surrogate":                {`{"displayName":"\ud800","scopes":["operate"],"reason":"b"}`, []string{"body"}},
		"bytes that are not UTF-8":        {"{\"displayName\":\"\xff\"}", []string{"body"}},
		"deeper than anybody needs":       {strings.Repeat("[", 30_000), []string{"body"}},
		"a year that no calendar has":     {`{` + good + `,"expireTime":"2026-13-01T00:00:00Z"}`, []string{"expireTime"}},
		"a name that is no identifier":    {`{` + good + `,"<b>\n":1}`, []string{"<b>\n"}},
		"a date without a time":           {`{` + good + `,"expireTime":"2027-01-01"}`, []string{"expireTime"}},
		"an object where a text belongs":  {`{"displayName":{"a":1},"scopes":["operate"],"reason":"b"}`, []string{"displayName"}},
		"a prefix that is null in a list": {`{` + good + `,"sourcePrefixes":[null]}`, []string{"sourcePrefixes[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := p.send("/v1/tokens", keeper, "application/json", c.body).failure(t, 400, fault.ReasonInvalidField)
			if got := attributes(f); !slices.Equal(got, c.where) {
				t.Errorf("found %q, want %q", got, c.where)
			}
			for _, d := range f.Details {
				if d.Reason != fault.ReasonInvalidField || strings.Contains(d.Message, "schema") || strings.Contains(d.Message, `\S`) {
					t.Errorf("%+v", d)
				}
			}
		})
	}
	t.Run("a garbage body is not repeated in full", func(t *testing.T) {
		t.Parallel()
		var b strings.Builder
		for range 4000 {
			b.WriteString(`"x":1,`)
		}
		f := p.send("/v1/tokens", keeper, "application/json", "{"+b.String()+good+"}").failure(t, 400, fault.ReasonInvalidField)
		if n := len(f.Details); n > 50 {
			t.Errorf("%d violations", n)
		}
	})
}

func TestABodyThatIsRightGoesThrough(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for name, c := range map[string]struct{ contentType, body string }{
		"all there is":   {"application/json", `{"displayName":"` + strings.Repeat("é", 100) + `","scopes":["events:write","events:read"],"sourcePrefixes":["urn:"],"expireTime":"2099-01-01T00:00:00.5+02:00","reason":"line\n\tline"}`},
		"with a charset": {"Application/JSON; charset=UTF-8", " \n{\"displayName\":\"a\",\"scopes\":[\"operate\"],\"reason\":\"b\"}\n"},
	} {
		// The double behind it makes no token, and that is as far as it must come.
		p.send("/v1/tokens", keeper, c.contentType, c.body).failure(t, 500, fault.ReasonInternal)
		if !strings.Contains(p.log.String(), errTold.Error()) {
			t.Errorf("%s: did not come through: %s", name, p.log)
		}
	}
}

func TestOnlyJSONIsABody(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "application/json; charset=latin1", "application/merge-patch+json", "application/json;", "json"} {
		r := p.send("/v1/tokens", keeper, contentType, `{}`)
		if contentType == "application/json;" { // which is lenient, and JSON
			r.failure(t, 400, fault.ReasonInvalidField)
			continue
		}
		if f := r.failure(t, 415, fault.ReasonInvalidField); f.Details[0].Metadata["accepted"] != "application/json" {
			t.Errorf("%q: %+v", contentType, f)
		}
	}
	req := p.request("POST", "/v1/tokens", keeper, "Content-Type", "application/json", "Content-Encoding", "gzip")
	p.do(withBody(req, "{}")).failure(t, 415, fault.ReasonUnsupportedEncoding)
}

func TestAJSONBodyIsRefusedAboveItsLimit(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	exact := `{"displayName":"a","scopes":["operate"],"reason":"b"` + strings.Repeat(" ", jsonBytes)
	exact = exact[:jsonBytes-1] + "}"
	p.send("/v1/tokens", keeper, "application/json", exact).failure(t, 500, fault.ReasonInternal) // came through
	if f := p.send("/v1/tokens", keeper, "application/json", exact+" ").failure(t, 413, fault.ReasonBodyTooLarge); f.Details[0].Metadata["limit"] != "65536" {
		t.Errorf("%+v", f)
	}
	chunked := p.request("POST", "/v1/tokens", keeper, "Content-Type", "application/json")
	withBody(chunked, exact+" ").ContentLength = -1
	p.do(chunked).failure(t, 413, fault.ReasonBodyTooLarge)
	p.send("/v1/tokens", keeper, "application/json", strings.Repeat(" ", 2<<20)).failure(t, 413, fault.ReasonBodyTooLarge)
}

// A body of megabytes from nobody is never read, and garbage from nobody never parsed.
func TestABodyIsReadOnlyForWhoMay(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for _, r := range p.routes {
		if r.most == 0 || r.access == public {
			continue
		}
		path := pathOf(t, &r)
		for _, announce := range []string{"Content-Length: 100000000", "Content-Length: 60000", "Transfer-Encoding: chunked"} {
			// No more follows: an answer can only come before the rest is asked for.
			answer, _ := p.raw(lines(r.method+" "+path+" HTTP/1.1", "Host: events.example.com", "Content-Type: application/json", "Authorization: Bearer "+nobody, announce, "") + strings.Repeat("{", prefetched))
			answer.failure(t, 403, fault.ReasonScopeMissing)
			if !answer.Close {
				t.Errorf("%s with %s: the connection stays open", path, announce)
			}
		}
	}
}

func TestParametersAreHeldAgainstTheSpecification(t *testing.T) {
	t.Parallel()
	p := startPeople(t)
	for name, c := range map[string]struct {
		path   string
		reason string // of what is found first: names are looked at in their order
		where  []string
	}{
		"a name that does not exist": {"/v1/tokens?colour=red", fault.ReasonUnknownParameter, []string{"colour"}},
		"in other letters":           {"/v1/tokens?PageSize=1", fault.ReasonUnknownParameter, []string{"PageSize"}},
		"several at once":            {"/v1/tokens?pageSize=0&state=new&q=" + strings.Repeat("x", 201) + "&x=1", fault.ReasonInvalidParameter, []string{"pageSize", "q", "state[0]", "x"}},
		"a size that is too large":   {"/v1/tokens?pageSize=501", fault.ReasonInvalidParameter, []string{"pageSize"}},
		"a size that is no number":   {"/v1/tokens?pageSize=1e1", fault.ReasonInvalidParameter, []string{"pageSize"}},
		"a size with a sign":         {"/v1/tokens?pageSize=%2B5", fault.ReasonInvalidParameter, []string{"pageSize"}},
		"an empty size":              {"/v1/tokens?pageSize=", fault.ReasonInvalidParameter, []string{"pageSize"}},
		"a size beyond all numbers":  {"/v1/tokens?pageSize=99999999999999999999", fault.ReasonInvalidParameter, []string{"pageSize"}},
		"given twice":                {"/v1/tokens?pageSize=1&pageSize=2", fault.ReasonInvalidParameter, []string{"pageSize"}},
		"too many values":            {"/v1/tokens?state=active&state=expired&state=revoked&state=active", fault.ReasonInvalidParameter, []string{"state"}},
		"a null byte":                {"/v1/tokens?q=a%00b", fault.ReasonInvalidParameter, []string{"q"}},
		"not UTF-8":                  {"/v1/tokens?q=%ff", fault.ReasonInvalidParameter, []string{"q"}},
		"an outcome of none":         {"/v1/auditEntries?outcome=done&outcome=maybe", fault.ReasonInvalidParameter, []string{"outcome[1]"}},
		"of the export too":          {"/v1/auditEntries:export?pageSize=1&actor=" + strings.Repeat("x", 201), fault.ReasonInvalidParameter, []string{"actor[0]", "pageSize"}},
		"where there are none":       {"/v1/session?x", fault.ReasonUnknownParameter, []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := p.do(p.request("GET", c.path, keeper))
			f := r.failure(t, 400, c.reason)
			if got := attributes(f); !slices.Equal(got, c.where) {
				t.Errorf("found %q, want %q: %d %s", got, c.where, r.StatusCode, r.body)
			}
		})
	}
	for _, path := range []string{"/v1/tokens?q=&state=active&state=revoked&pageSize=500&pageToken=", "/v1/auditEntries?actor=a&actor=b*&from=-1h&q=x%20y"} {
		if r := p.do(p.request("GET", path, keeper)); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
	p.send("/v1/tokens/0:revoke", keeper, "application/json", `{"reason":"x"}`).failure(t, 400, fault.ReasonInvalidParameter)
	p.send("/v1/tokens/abc:revoke", keeper, "application/json", `{"reason":"x"}`).failure(t, 400, fault.ReasonInvalidParameter)
}

func TestASchemaThatRequestsCannotBeCheckedForStopsTheStart(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*openapi3.Schema{
		"a choice":                {Type: &openapi3.Types{"object"}, OneOf: openapi3.SchemaRefs{}, AdditionalProperties: openapi3.AdditionalProperties{Has: new(bool)}},
		"null":                    {Type: &openapi3.Types{"string"}, Nullable: true},
		"no type":                 {},
		"an object that is open":  {Type: &openapi3.Types{"object"}},
		"a format nobody knows":   {Type: &openapi3.Types{"string"}, Format: "email"},
		"one within a list":       {Type: &openapi3.Types{"array"}, Items: &openapi3.SchemaRef{Value: &openapi3.Schema{}}},
		"a pattern of no grammar": {Type: &openapi3.Types{"string"}, Pattern: "("},
	} {
		if checkable(s) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
