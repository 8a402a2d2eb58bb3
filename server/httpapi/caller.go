package httpapi

import (
	"net/url"

	"github.com/gofiber/fiber/v2"

	"oriel/server/auth"
	"oriel/server/fault"
)

// sameCaller refuses a request of a page that was loaded for somebody else: cookies are a browser's, not a
// tab's, so that a form which one person filled in would act as whoever signed in since. A page names in
// Oriel-Caller the id that it shows, percent-encoded; without the header nothing is promised. Who is asking
// may always be asked.
func sameCaller(c *fiber.Ctx, call *call, p *auth.Principal) error {
	if call.shape.caller == "" || call.route.access == anyone && c.Method() != fiber.MethodPost {
		return nil
	}
	if id, err := url.PathUnescape(call.shape.caller); err == nil && id == p.ID {
		return nil
	}
	return fault.New(fault.Aborted, fault.ReasonCallerChanged,
		"Somebody else is signed in now: "+p.Name+". Nothing was done.", "attribute", "oriel-caller", "value", cut(call.shape.caller), "accepted", p.ID)
}
