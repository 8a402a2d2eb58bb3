package httpapi

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// site is where browsers see this server: a base path, and the origins by the Host that a request names.
type site struct {
	base  string // "", or "/oriel"
	hosts map[string]origin
}

// origin is a scheme, a host and, where it is not the scheme's own, a port.
type origin struct {
	text   string // as a browser sends it
	secure bool
	port   string
}

// BasePath is the path of a public URL, "" or such as "/oriel".
func BasePath(publicURL string) (string, error) {
	s, err := siteOf(publicURL)
	if err != nil {
		return "", err
	}
	return s.base, nil
}

func siteOf(publicURL string) (*site, error) {
	s := &site{hosts: map[string]origin{}}
	if publicURL == "" {
		return s, nil
	}
	u, err := url.Parse(publicURL)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("public URL %q: accepted is a scheme, a host and perhaps a path, such as https://events.example.com/oriel", publicURL)
	}
	if s.base = strings.TrimRight(u.EscapedPath(), "/"); !baseAccepted(s.base) {
		return nil, fmt.Errorf("public URL %q: its path is to be of segments of letters, digits, '-', '_', '.' and '~', "+
			"the first of them none of our own: %s", publicURL, strings.Join(ownRoots(), ", "))
	}
	s.add(u.Scheme, strings.ToLower(u.Hostname()), u.Port())
	return s, nil
}

// ownRoots are the first segments of our own paths. A base path that began with one could not be told from
// a path whose base a proxy took away.
func ownRoots() []string { return []string{"v1", "auth", "health", "metrics"} }

func baseAccepted(base string) bool {
	if base == "" {
		return true
	}
	for i, segment := range strings.Split(base, "/")[1:] {
		odd := strings.IndexFunc(segment, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~", r)
		})
		if segment == "" || segment == "." || segment == ".." || odd >= 0 || i == 0 && slices.Contains(ownRoots(), segment) {
			return false
		}
	}
	return true
}

// add knows a host with and without the scheme's own port; a browser leaves that port out of Origin.
func (s *site) add(scheme, name, port string) {
	host := name
	if strings.Contains(name, ":") {
		host = "[" + name + "]"
	}
	usual := map[string]string{"http": "80", "https": "443"}[scheme]
	if port == "" || port == usual {
		o := origin{scheme + "://" + host, scheme == "https", usual}
		s.hosts[host], s.hosts[host+":"+usual] = o, o
		return
	}
	s.hosts[host+":"+port] = origin{scheme + "://" + host + ":" + port, scheme == "https", port}
}

func (s *site) withLoopback(port int) *site {
	with := &site{s.base, maps.Clone(s.hosts)}
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		with.add("http", name, strconv.Itoa(port))
	}
	return with
}

func (s *site) accepted() string {
	all := slices.Sorted(maps.Keys(s.hosts))
	if len(all) == 0 {
		return "none: set ORIEL_PUBLIC_URL"
	}
	return strings.Join(all, ", ")
}

// plain names the first host that browsers reach without TLS and not on this machine.
func (s *site) plain() string {
	for host, o := range s.hosts {
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		if ip := net.ParseIP(strings.Trim(name, "[]")); !o.secure && name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return host
		}
	}
	return ""
}

// within is a path without the base in front of it; a proxy may have taken that away already.
func (s *site) within(path string) (rest string, inside bool) {
	rest, inside = strings.CutPrefix(path, s.base)
	switch {
	case s.base == "" || !inside || rest != "" && rest[0] != '/':
		return path, false
	case rest == "":
		return "/", true
	}
	return rest, true
}
