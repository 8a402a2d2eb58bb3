package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"oriel/server/cloudevents"
)

const (
	firstBackoff = 200 * time.Millisecond
	lastBackoff  = 10 * time.Second
	// maxRefused is how much of a refusal is read for the log.
	maxRefused = 4 << 10
)

// sender posts events and repeats what the server could not take: an event is given up only when the
// server says that it is wrong.
type sender struct {
	client *http.Client
	url    string
	token  string
	log    *slog.Logger
}

func newSender(cfg Config) *sender {
	return &sender{
		client: &http.Client{Timeout: 30 * time.Second},
		url:    strings.TrimSuffix(cfg.BaseURL, "/") + "/v1/events",
		token:  cfg.Token, log: cfg.Log,
	}
}

// send posts one event in the mode it names. The error is ctx's.
func (s *sender) send(ctx context.Context, e *cloudevents.Event) error {
	header := http.Header{}
	if e.Mode == cloudevents.Binary {
		binaryHeaders(e, header)
		return s.post(ctx, header, e.Data)
	}
	header.Set("Content-Type", "application/cloudevents+json")
	return s.post(ctx, header, cloudevents.EncodeJSON(e))
}

// sendBatch posts the events as batches within the limits.
func (s *sender) sendBatch(ctx context.Context, events []*cloudevents.Event) error {
	header := http.Header{"Content-Type": {"application/cloudevents-batch+json"}}
	var body bytes.Buffer
	count := 0
	flush := func() error {
		if count == 0 {
			return nil
		}
		body.WriteByte(']')
		err := s.post(ctx, header, body.Bytes())
		body.Reset()
		count = 0
		return err
	}
	for _, e := range events {
		one := cloudevents.EncodeJSON(e)
		if count == batchEvents || body.Len()+len(one)+2 > cloudevents.MaxBody {
			if err := flush(); err != nil {
				return err
			}
		}
		body.WriteByte("[,"[min(count, 1)])
		body.Write(one)
		count++
	}
	return flush()
}

// batchEvents is how many events of the history travel together.
const batchEvents = 100

// post repeats the request until the server accepted or refused it, waiting longer each time.
func (s *sender) post(ctx context.Context, header http.Header, body []byte) error {
	wait := firstBackoff
	for {
		again, after, err := s.try(ctx, header, body)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !again {
			if err != nil {
				s.log.Warn("a sample event was refused", "error", err)
			}
			return nil
		}
		s.log.Debug("the server does not take sample events now; trying again", "error", err)
		pause := max(after, wait/2+rand.N(wait/2))
		wait = min(2*wait, lastBackoff)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// try posts once. again says that the same request may succeed later, after says how much later.
func (s *sender) try(ctx context.Context, header http.Header, body []byte) (again bool, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, fmt.Errorf("make request: %w", err)
	}
	req.Header = header.Clone()
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := s.client.Do(req)
	if err != nil {
		return true, 0, fmt.Errorf("post event: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefused)) // the rest is drained for keep-alive only
	_, _ = io.Copy(io.Discard, resp.Body)
	switch {
	case resp.StatusCode == http.StatusOK:
		return false, 0, nil
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusUnauthorized:
		if seconds, bad := strconv.Atoi(resp.Header.Get("Retry-After")); bad == nil {
			after = min(time.Duration(seconds)*time.Second, lastBackoff)
		}
		return true, after, fmt.Errorf("server answered %d: %s", resp.StatusCode, text)
	default: // 207 included: the elements that were refused stay refused
		return false, 0, fmt.Errorf("server answered %d: %s", resp.StatusCode, text)
	}
}

// binaryHeaders writes the attributes as the HTTP binding wants them.
func binaryHeaders(e *cloudevents.Event, h http.Header) {
	set := func(name, value string) {
		if value != "" {
			h.Set("ce-"+name, percent(value))
		}
	}
	set("specversion", "1.0")
	set("id", e.ID)
	set("source", e.Source)
	set("type", e.Type)
	set("subject", e.Subject)
	set("time", e.TimeText)
	set("dataschema", e.DataSchema)
	for _, x := range e.Extensions {
		set(x.Name, x.Value)
	}
	if e.DataContentType != "" {
		h.Set("Content-Type", e.DataContentType)
	}
}

// percent encodes what the binding says a header cannot carry as it is.
func percent(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c <= 0x20 || c >= 0x7f || c == '"' || c == '%' {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
