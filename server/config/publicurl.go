package config

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func (h HTTP) validatePublicURL(bad func(string, ...any)) {
	u, err := url.Parse(h.PublicURL)
	switch {
	case h.PublicURL == "":
		bad("ORIEL_PUBLIC_URL: required, the address that browsers use, such as https://oriel.example.com")
	case err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		bad("ORIEL_PUBLIC_URL: is no http or https address without a user, query or fragment, such as https://oriel.example.com")
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII }):
		bad("ORIEL_PUBLIC_URL: %q is to be written in the form that browsers send (punycode), such as https://xn--bcher-kva.example", h.PublicURL)
	case u.Scheme == "http" && !loopbackHost(u.Hostname()):
		bad("ORIEL_PUBLIC_URL: %s is plain http beyond this machine, where cookies would travel in the open: it must be https", h.PublicURL)
	case !basePath(strings.TrimRight(u.EscapedPath(), "/")):
		bad("ORIEL_PUBLIC_URL: the path of %q is to be of segments of letters, digits, '-', '_', '.' and '~', the first of them none of our own: %s",
			h.PublicURL, strings.Join(ownRoots(), ", "))
	}
}

// ownRoots are the first segments of our own paths, which no base path can begin with. What the HTTP edge
// says is the same: a test of package app compares.
func ownRoots() []string { return []string{"v1", "auth", "health", "metrics"} }

// basePath tells whether the program can be served below a path, "" or such as /oriel.
func basePath(path string) bool {
	for i, segment := range strings.Split(path, "/")[1:] {
		odd := strings.ContainsFunc(segment, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~", r)
		})
		if odd || segment == "" || segment == "." || segment == ".." || i == 0 && slices.Contains(ownRoots(), segment) {
			return false
		}
	}
	return true
}

// traceIDPlace is what a trace's identifier takes the place of.
const traceIDPlace = "{traceId}"

func (h HTTP) validateTraceURL(bad func(string, ...any)) {
	if h.TraceURL == "" {
		return
	}
	// The identifier comes from an event: it must never choose the host that a browser is sent to.
	before, _, found := strings.Cut(h.TraceURL, traceIDPlace)
	u, err := url.Parse(before)
	fixed := err == nil && (u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "")
	odd := strings.ContainsFunc(h.TraceURL, func(r rune) bool { return r <= ' ' || r > '~' })
	if !found || !fixed || odd || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		bad("ORIEL_TRACE_URL: %q is no http or https address with %s behind its host, such as https://traces.example.com/trace/%[2]s", h.TraceURL, traceIDPlace)
	}
}

// oneLine refuses a text for people that has more than letters.
func oneLine(name, text string, bad func(string, ...any)) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		bad("%s: %q has a control character, such as a line's end, or is no UTF-8", name, text)
	}
}
