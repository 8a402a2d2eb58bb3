package httpapi

import (
	"context"
	"crypto/rand"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"oriel/server/auth"
	"oriel/server/cloudevents"
	"oriel/server/fault"
)

// call is what the edge knows about one request. Everything in it is a copy: it may outlive the
// framework's buffers.
type call struct {
	id        string
	started   time.Time
	route     *route // nil until one matched
	shape     shape
	own       *origin    // the one of ours that the request is for; nil where it is for another name
	address   netip.Addr // of the client
	session   string     // the value of the session's cookie, where that is what the caller is known by
	principal *auth.Principal
	event     string // the {event} of the path, undecoded
	token     string // the {token} of the path
	query     string // undecoded

	// Of a request with a body.
	headers  []cloudevents.Header
	body     []byte
	consumed bool // the body was read to its end
}

type callKey struct{}

func newCall() *call {
	return &call{id: "req_" + strings.ToLower(rand.Text()), started: time.Now()}
}

func callOf(c *fiber.Ctx) *call { return c.Locals(callKey{}).(*call) }

// callIn finds the call of a context that guard made.
func callIn(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// params are all query parameters. Which of them mean something is up to whom they belong to.
func (c *call) params() (url.Values, error) {
	values, err := url.ParseQuery(c.query)
	if err != nil {
		return nil, fault.Wrap(err, fault.InvalidArgument, fault.ReasonInvalidParameter,
			"The query string is malformed: percent-encode what is no letter, digit, '-', '.', '_' or '~', a ';' too.",
			"attribute", "query", "value", cut(c.query))
	}
	return values, nil
}

func cut(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
