package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

// prefetched is how much of a body of known length the framework has read before any handler runs.
const prefetched = 8 << 10

// readBody reads the body of an ingest request into memory of its own: nil where there is none,
// chunked or not. It stops one byte past the limit.
func readBody(c *fiber.Ctx, call *call) ([]byte, error) {
	if e := call.shape.contentEncoding; e != "" && !strings.EqualFold(e, "identity") {
		return nil, fault.New(fault.UnsupportedMedia, fault.ReasonUnsupportedEncoding,
			"Content-Encoding "+strconv.Quote(e)+" is not accepted; send the body as it is.",
			"attribute", "content-encoding", "value", e, "accepted", "identity")
	}
	stream := c.Context().RequestBodyStream()
	if stream == nil {
		call.consumed = true
		return nil, nil
	}
	length := c.Request().Header.ContentLength() // -1 is chunked
	if length > cloudevents.MaxBody {
		return nil, bodyTooLarge()
	}
	var body []byte
	var err error
	if length >= 0 {
		body = make([]byte, length)
		_, err = io.ReadFull(stream, body)
	} else {
		var buffer bytes.Buffer
		_, err = buffer.ReadFrom(io.LimitReader(stream, cloudevents.MaxBody+1))
		body = buffer.Bytes()
	}
	if err != nil {
		return nil, bodyBroken(err)
	}
	if len(body) > cloudevents.MaxBody {
		return nil, bodyTooLarge()
	}
	call.consumed = true
	if len(body) == 0 {
		return nil, nil
	}
	return body, nil
}

func bodyTooLarge() error {
	limit := strconv.Itoa(cloudevents.MaxBody)
	return fault.New(fault.TooLarge, fault.ReasonBodyTooLarge,
		"The body is larger than the limit of "+limit+" bytes.", "attribute", "body", "limit", limit)
}

func bodyBroken(err error) error {
	var network net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return fault.Wrap(err, fault.TimedOut, fault.ReasonRequestTimeout, "The body did not arrive in time.")
	}
	return fault.Wrap(err, fault.InvalidArgument, fault.ReasonMalformedRequest, "The body ends early or its chunks are malformed.")
}

// settleBody leaves the connection fit for its next request, or closes it after this answer: the
// framework would take what was not read for a request.
func settleBody(c *fiber.Ctx, call *call) {
	stream := c.Context().RequestBodyStream()
	if stream == nil || call.consumed {
		return
	}
	if length := c.Request().Header.ContentLength(); length >= 0 && length <= prefetched {
		if n, err := io.Copy(io.Discard, stream); err == nil && n == int64(length) {
			return
		}
	}
	lingerOnClose(c.Context().Conn())
	c.Context().SetConnectionClose()
}
