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
	"github.com/valyala/fasthttp"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

// prefetched is how much of a body of known length the framework has read before any handler runs.
const prefetched = 8 << 10

// readBody reads the body of a request into memory of its own: nil where there is none, chunked or not.
// It stops one byte past the limit.
func readBody(c *fiber.Ctx, call *call, most int) ([]byte, error) {
	if e := call.shape.contentEncoding; e != "" && !strings.EqualFold(e, "identity") {
		return nil, fault.New(fault.UnsupportedMedia, fault.ReasonUnsupportedEncoding,
			"Content-Encoding "+strconv.Quote(e)+" is not accepted; send the body as it is.",
			"attribute", "content-encoding", "value", e, "accepted", "identity")
	}
	if call.shape.declared > uint64(most) {
		return nil, bodyTooLarge(most)
	}
	stream := c.Context().RequestBodyStream()
	if stream == nil {
		call.consumed = true
		return nil, nil
	}
	length := c.Request().Header.ContentLength() // -1 is chunked
	var body []byte
	var err error
	if length >= 0 {
		body = make([]byte, length)
		_, err = io.ReadFull(stream, body)
	} else {
		var buffer bytes.Buffer
		_, err = buffer.ReadFrom(io.LimitReader(stream, int64(most)+1))
		body = buffer.Bytes()
	}
	dry := ranDry(c.Context().Conn())
	if err != nil {
		return nil, bodyBroken(err, dry)
	}
	if len(body) > most {
		return nil, bodyTooLarge(most)
	}
	// The framework takes a connection that ends between two chunks for the end of the body.
	if length < 0 && dry {
		return nil, bodyBroken(io.ErrUnexpectedEOF, dry)
	}
	call.consumed = true
	if len(body) == 0 {
		return nil, nil
	}
	return body, nil
}

// passOver makes the framework neither wait for the first bytes of a body that is declared too large nor
// ask for them: it is told that there is none, and the handlers see the declaration in the header lines.
func passOver(header *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if header.ContentLength() > cloudevents.MaxBody {
		header.SetContentLength(0)
		header.Del(fiber.HeaderExpect)
	}
	return fasthttp.RequestConfig{}
}

func bodyTooLarge(most int) error {
	limit := strconv.Itoa(most)
	return fault.New(fault.TooLarge, fault.ReasonBodyTooLarge,
		"The body is larger than the limit of "+limit+" bytes.", "attribute", "body", "limit", limit)
}

func bodyBroken(err error, dry bool) error {
	var network net.Error
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return fault.Wrap(err, fault.TimedOut, fault.ReasonRequestTimeout, "The body did not arrive in time.")
	}
	message := "The chunks of the body are malformed."
	if dry {
		message = "The body ended early: the sender closed the connection before all of it had come."
	}
	return fault.Wrap(err, fault.InvalidArgument, fault.ReasonMalformedRequest, message, "attribute", "body")
}

// settleBody leaves the connection fit for its next request, or closes it after this answer: the
// framework would take what was not read for a request.
func settleBody(c *fiber.Ctx, call *call) {
	stream := c.Context().RequestBodyStream()
	if call.consumed || stream == nil && !call.shape.oversized() {
		return
	}
	if length := c.Request().Header.ContentLength(); !call.shape.oversized() && length >= 0 && length <= prefetched {
		if n, err := io.Copy(io.Discard, stream); err == nil && n == int64(length) {
			return
		}
	}
	lingerOnClose(c.Context().Conn())
	c.Context().SetConnectionClose()
}
