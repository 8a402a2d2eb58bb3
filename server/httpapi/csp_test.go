package httpapi

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"oriel/server/fault"
)

func withBody(req *http.Request, body string) *http.Request {
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return req
}

func (e *edge) report(contentType, body string, header ...string) reply {
	e.t.Helper()
	return e.do(withBody(e.request("POST", ReportPath, "", append([]string{"Host", "events.example.com", "Content-Type", contentType}, header...)...), body))
}

func (e *edge) reported(directive string) float64 {
	e.t.Helper()
	return e.metric("oriel_csp_reports_total", map[string]string{"directive": directive})
}

func TestWhatABrowserStoppedIsCounted(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, c := range map[string]struct{ contentType, body string }{
		"report-uri":             {"application/csp-report", `{"csp-report":{"document-uri":"https://events.example.com/explore?q=secret","effective-directive":"script-src-elem","blocked-uri":"https://evil.example.net/x.js?token=1","line-number":3}}`},
		"an older browser":       {"application/csp-report; charset=utf-8", `{"csp-report":{"violated-directive":"img-src 'self' data:","blocked-uri":"data"}}`},
		"the Reporting API":      {"application/reports+json", `[{"type":"csp-violation","age":3,"body":{"effectiveDirective":"connect-src","blockedURL":"https://x"}},{"type":"deprecation","body":{"id":"x"}},{"type":"csp-violation","body":{"effectiveDirective":"connect-src"}}]`},
		"what is none of ours":   {"application/csp-report", `{"csp-report":{"effective-directive":"` + strings.Repeat("x", 5000) + `"}}`},
		"no directive":           {"application/csp-report", `{"csp-report":{}}`},
		"a report of no concern": {"application/reports+json", `[]`},
	} {
		if r := e.report(c.contentType, c.body); r.StatusCode != http.StatusNoContent || len(r.body) != 0 {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	for directive, want := range map[string]float64{"script-src-elem": 1, "img-src": 1, "connect-src": 2, "other": 2} {
		if got := e.reported(directive); got != want {
			t.Errorf("%s was counted %v times, want %v", directive, got, want)
		}
	}
	if n := strings.Count(e.log.String(), "content security policy"); n < 1 || n > 3 {
		t.Errorf("%d lines for reports of one moment: %s", n, e.log)
	}
}

func TestALineAboutAReportHasNoSecrets(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"addresses":           `{"csp-report":{"document-uri":"https://events.example.com/explore?q=hidden#hidden","effective-directive":"img-src","blocked-uri":"https://hidden:hidden@evil.example.net/x.js?token=hidden"}}`,
		"no address":          `{"csp-report":{"effective-directive":"img-src","blocked-uri":"%zz:hidden"}}`,
		"a long directive":    `{"csp-report":{"effective-directive":"` + strings.Repeat("x", 200) + `hidden"}}`,
		"a very long blocker": `{"csp-report":{"effective-directive":"img-src","blocked-uri":"https://a.example/` + strings.Repeat("x", 200) + `hidden"}}`,
	} {
		e := start(t)
		e.report("application/csp-report", body)
		if log := e.log.String(); strings.Contains(log, "hidden") || !strings.Contains(log, "content security policy") {
			t.Errorf("%s: the log has %s", name, log)
		}
	}
}

func TestReportsThatAreNone(t *testing.T) {
	t.Parallel()
	e := start(t)
	for name, c := range map[string]struct {
		contentType, body string
		header            []string
		code              int
		reason            string
	}{
		"another type":          {"text/plain", `{"csp-report":{}}`, nil, 415, fault.ReasonInvalidField},
		"no type":               {"", `{"csp-report":{}}`, nil, 415, fault.ReasonInvalidField},
		"no JSON":               {"application/csp-report", `{`, nil, 400, fault.ReasonInvalidField},
		"no report in it":       {"application/csp-report", `{"a":1}`, nil, 400, fault.ReasonInvalidField},
		"nothing":               {"application/csp-report", ``, nil, 400, fault.ReasonInvalidField},
		"another shape":         {"application/reports+json", `{"type":"csp-violation"}`, nil, 400, fault.ReasonInvalidField},
		"too much":              {"application/csp-report", strings.Repeat(" ", jsonBytes+1), nil, 413, fault.ReasonBodyTooLarge},
		"another site's":        {"application/csp-report", `{"csp-report":{}}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, fault.ReasonOriginNotAllowed},
		"another site's origin": {"application/csp-report", `{"csp-report":{}}`, []string{"Origin", "https://evil.example.net"}, 403, fault.ReasonOriginNotAllowed},
		"another name":          {"application/csp-report", `{"csp-report":{}}`, []string{"Host", "evil.example.net"}, 403, fault.ReasonHostNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.report(c.contentType, c.body, c.header...).failure(t, c.code, c.reason)
		})
	}
	t.Cleanup(func() {
		if n := e.reported("other"); n != 0 {
			t.Errorf("%v were counted", n)
		}
	})
}

func TestReportsAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	e := start(t)
	for range reportsAddress {
		if r := e.report("application/csp-report", `{"csp-report":{"effective-directive":"img-src"}}`); r.StatusCode != http.StatusNoContent {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
	r := e.report("application/csp-report", `{"csp-report":{"effective-directive":"img-src"}}`)
	limited(t, r, "csp_address", strconv.Itoa(reportsAddress)+" a minute")
	if n := e.reported("img-src"); n != reportsAddress {
		t.Errorf("%v were counted", n)
	}
}
