package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"mime"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/fault"
)

// ReportPath is where browsers report what the content security policy stopped.
const ReportPath = "/v1/cspReports"

// reports counts what browsers stopped. They are anybody's text: no more of them than a directive of ours
// becomes a label, and a line a second says what the last one was about.
type reports struct {
	log   *slog.Logger
	total *prometheus.CounterVec

	mu   sync.Mutex
	said time.Time
	left int // reports since then without a line
}

// directives are those of the policy of our pages that can be broken; others count as "other".
func directives() []string {
	return []string{
		"default-src", "script-src", "script-src-elem", "script-src-attr", "style-src", "style-src-elem", "style-src-attr",
		"img-src", "font-src", "connect-src", "base-uri", "form-action", "frame-ancestors", "frame-src", "worker-src",
		"object-src", "media-src", "manifest-src", "require-trusted-types-for", "trusted-types",
	}
}

func newReports(log *slog.Logger, reg prometheus.Registerer) *reports {
	r := &reports{log: log, total: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oriel_csp_reports_total", Help: "What browsers stopped by the content security policy of our pages, by directive.",
	}, []string{"directive"})}
	for _, d := range append(directives(), "other") {
		r.total.WithLabelValues(d)
	}
	reg.MustRegister(r.total)
	return r
}

// violation is one report, of either format.
type violation struct{ directive, blocked, document string }

// ReportPolicyViolation counts a report of a browser: of report-uri, or of the Reporting API.
func (h *handlers) ReportPolicyViolation(ctx context.Context, _ ReportPolicyViolationRequestObject) (ReportPolicyViolationResponseObject, error) {
	call := callIn(ctx)
	found, err := readReports(call.shape.contentType, call.body)
	if err != nil {
		return nil, err
	}
	for _, v := range found {
		label := v.directive
		if !slices.Contains(directives(), label) {
			label = "other"
		}
		h.s.csp.total.WithLabelValues(label).Inc()
	}
	if len(found) > 0 {
		h.s.csp.say(ctx, call, found)
	}
	return ReportPolicyViolation204Response{}, nil
}

func readReports(contentType string, body []byte) ([]violation, error) {
	const accepted = "application/csp-report, application/reports+json"
	switch t, _, _ := mime.ParseMediaType(contentType); t {
	case "application/csp-report":
		var one struct {
			Report *struct {
				Effective string `json:"effective-directive"`
				Violated  string `json:"violated-directive"`
				Blocked   string `json:"blocked-uri"`
				Document  string `json:"document-uri"`
			} `json:"csp-report"`
		}
		if err := json.Unmarshal(body, &one); err != nil || one.Report == nil {
			return nil, noReport(err)
		}
		directive := one.Report.Effective
		if directive == "" { // of an older browser, with the sources behind it
			directive, _, _ = strings.Cut(one.Report.Violated, " ")
		}
		return []violation{{directive, one.Report.Blocked, one.Report.Document}}, nil
	case "application/reports+json":
		var many []struct {
			Type string `json:"type"`
			Body struct {
				Directive string `json:"effectiveDirective"`
				Blocked   string `json:"blockedURL"`
				Document  string `json:"documentURL"`
			} `json:"body"`
		}
		if err := json.Unmarshal(body, &many); err != nil {
			return nil, noReport(err)
		}
		var found []violation
		for _, r := range many {
			if r.Type == "csp-violation" { // others are a browser's, and not asked for
				found = append(found, violation{r.Body.Directive, r.Body.Blocked, r.Body.Document})
			}
		}
		return found, nil
	}
	return nil, fault.New(fault.UnsupportedMedia, fault.ReasonInvalidField, "A report has the content type "+accepted+".",
		"attribute", "content-type", "value", cut(contentType), "accepted", accepted)
}

func noReport(cause error) error {
	return fault.Wrap(cause, fault.InvalidArgument, fault.ReasonInvalidField, "This is no report of a browser.", "attribute", "body")
}

// say writes one line a second at most. Addresses lose their query, where tokens are.
func (r *reports) say(ctx context.Context, call *call, found []violation) {
	r.mu.Lock()
	if time.Since(r.said) < time.Second {
		r.left += len(found)
		r.mu.Unlock()
		return
	}
	left := r.left + len(found) - 1
	r.said, r.left = time.Now(), 0
	r.mu.Unlock()
	v := found[0]
	r.log.WarnContext(ctx, "a browser stopped what the content security policy forbids", "request_id", call.id, "address", call.address.String(),
		"directive", cut(v.directive), "blocked", withoutQuery(v.blocked), "document", withoutQuery(v.document), "left_out", left)
}

func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "unreadable"
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return cut(u.String())
}
