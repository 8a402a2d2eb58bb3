package reference

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oriel/server/cloudevents"
)

// derive fills in severity, trace id, tags and facets.
func (e *Event) derive(headers []cloudevents.Header, fields map[string]string) {
	e.Severity = e.severity()
	traceparent, ok := e.extension("traceparent")
	e.TraceID = traceOf(traceparent)
	for _, h := range headers {
		if (!ok || e.TraceID == "") && strings.EqualFold(h.Key, "traceparent") {
			e.TraceID = traceOf(string(h.Value))
			break
		}
	}
	e.Facets = map[string][]string{}
	for name, from := range fields {
		limit := 16
		if name == "tag" {
			limit = 64
		}
		values := e.facet(from, limit)
		if len(values) == 0 && name == "device" {
			values = usable([]string{e.Subject}, limit)
		}
		switch {
		case name == "tag":
			e.Tags = values
		case len(values) > 0:
			e.Facets[name] = values
		}
	}
}

func (e *Event) facet(from string, limit int) []string {
	path, ok := strings.CutPrefix(from, "data.")
	if !ok {
		v, _ := e.extension(from)
		return usable([]string{v}, limit)
	}
	return usable(e.scalars(path), limit)
}

// scalars is the texts at a path, and those of the elements of arrays there, as a database can hold them.
func (e *Event) scalars(path string) []string {
	var texts []string
	for _, v := range e.root.at(steps(path)) {
		for _, s := range append([]*value{v}, v.elements...) {
			if s.kind == aString || s.kind == aNumber || s.kind == aBoolean {
				texts = append(texts, strings.ReplaceAll(s.text, "\x00", "\uFFFD"))
			}
		}
	}
	return texts
}

// usable is the texts that can be a facet's value, each once, the first of them.
func usable(texts []string, limit int) (out []string) {
	for _, t := range texts {
		if len(out) < limit && t != "" && len(t) <= 256 && !strings.Contains(t, "\x00") && utf8.ValidString(t) && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// Ranks is the names of severities; that of rank 1 is first.
func Ranks() []string {
	return []string{"trace", "debug", "info", "notice", "warning", "error", "critical", "emergency"}
}

// severity is what the first of four places says that says one.
func (e *Event) severity() int {
	number, _ := e.extension("severitynumber")
	if n, err := strconv.Atoi(number); err == nil && len(number) <= 2 && n >= 1 && n <= 24 && number[0] != '+' {
		for rank, last := range []int{4, 8, 9, 12, 16, 17, 20, 24} {
			if n <= last {
				return rank + 1
			}
		}
	}
	inText, _ := e.extension("severitytext")
	inSeverity, _ := e.extension("severity")
	texts := []string{inText, inSeverity}
	if scalars := e.scalars("severity"); len(scalars) > 0 {
		texts = append(texts, scalars[0])
	}
	names := []string{
		"trace trace2 trace3 trace4", "debug debug2 debug3 debug4", "info information informational",
		"notice info2 info3 info4", "warning warn warn2 warn3 warn4", "error err",
		"critical crit alert error2 error3 error4", "emergency emerg fatal fatal2 fatal3 fatal4",
	}
	for _, t := range texts {
		for rank, known := range names {
			if slices.Contains(strings.Fields(known), strings.ToLower(strings.TrimSpace(t))) && len(t) <= 16 {
				return rank + 1
			}
		}
	}
	return 0
}

// traceOf is the trace id of a W3C traceparent.
func traceOf(s string) string {
	m := regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`).FindStringSubmatch(s)
	if m == nil || m[1] == "ff" || m[1] == "00" && m[3] != "" || strings.Trim(m[2], "0") == "" || s != strings.ToLower(s) {
		return ""
	}
	return m[2]
}
