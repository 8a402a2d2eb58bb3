package httpapi

import (
	"context"
	"mime"
	"strings"

	"github.com/gofiber/fiber/v2"

	"oriel/server/fault"
	"oriel/server/search"
)

// GetEventData answers the exact bytes, as a download that no browser runs.
func (h *handlers) GetEventData(ctx context.Context, req GetEventDataRequestObject) (GetEventDataResponseObject, error) {
	d, err := h.find(ctx, req.Event)
	if err != nil {
		return nil, err
	}
	switch {
	case d.ErasedAt != nil:
		return nil, fault.New(fault.NotFound, fault.ReasonNotFound, "The data of this event was erased at "+instant(*d.ErasedAt)+".")
	case d.Data == nil:
		return nil, fault.New(fault.NotFound, fault.ReasonNotFound, "This event has no data.")
	}
	return download{d}, nil
}

type download struct{ event *search.Detail }

func (d download) VisitGetEventDataResponse(c *fiber.Ctx) error {
	contentType, extension := passing(d.event.DataContentType)
	c.Set(fiber.HeaderContentType, contentType)
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+fileName(d.event.ID)+extension+`"`)
	c.Set(fiber.HeaderContentSecurityPolicy, "sandbox; default-src 'none'")
	if t := visible(d.event.DataContentType); t != "" {
		c.Set("Oriel-Content-Type", t)
	}
	return c.Status(fiber.StatusOK).Send(d.event.Data)
}

// passing is the media type that a browser is told: two that are harmless, else bytes. Parameters
// are left out: they are the producer's text.
func passing(declared string) (contentType, extension string) {
	t, _, err := mime.ParseMediaType(declared)
	switch {
	case err == nil && t == fiber.MIMEApplicationJSON:
		return t, ".json"
	case err == nil && t == fiber.MIMETextPlain:
		return t, ".txt"
	}
	return fiber.MIMEOctetStream, ".bin"
}

// fileName keeps what is safe on every file system and in a quoted string.
func fileName(id string) string {
	const most = 80
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, id)
	return "event-" + name[:min(len(name), most)]
}

// visible replaces what a header value may not hold.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
