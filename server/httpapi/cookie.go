package httpapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/auth"
)

// What is added to the name of the session's cookie.
const (
	sessionCookie = ""
	signInCookie  = "-sign-in" // binds a sign-in to the browser that began it
)

// cookie is a cookie of ours under one origin.
type cookie struct {
	name, path string
	secure     bool
}

// cookie names a cookie so that what may be promised of it is: __Host- keeps sibling hosts from planting
// one, but allows no path; a browser sends plain ones to every port of a host, so that they name theirs.
func (s *Server) cookie(call *call, suffix string) cookie {
	base := s.site.Load().base
	switch {
	case call.own.secure && base == "":
		return cookie{"__Host-oriel" + suffix, "/", true}
	case call.own.secure:
		return cookie{"__Secure-oriel" + suffix, base, true}
	case base == "":
		return cookie{"oriel_" + call.own.port + suffix, "/", false}
	}
	return cookie{"oriel_" + call.own.port + suffix, base, false}
}

// set gives the browser a value until a time; an empty value takes the cookie away.
func (k cookie) set(c *fiber.Ctx, value string, until time.Time) {
	age := int64(0)
	if value != "" {
		age = max(1, int64(time.Until(until)/time.Second))
	}
	line := k.name + "=" + value + "; Path=" + k.path + "; Max-Age=" + strconv.FormatInt(age, 10) + "; HttpOnly; SameSite=Lax"
	if k.secure {
		line += "; Secure"
	}
	c.Response().Header.Add(fiber.HeaderSetCookie, line)
}

// readCookie finds a value in a Cookie header. Two values under one name mean that somebody else planted
// one, and nobody knows which: then there is none. A value of another shape than ours is absent too.
func readCookie(header, name string) string {
	var value string
	for pair := range strings.SplitSeq(header, ";") {
		n, v, ok := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !ok || n != name || !auth.WellFormed(v) {
			continue
		}
		if value != "" && v != value {
			return ""
		}
		value = v
	}
	return value
}
