package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"
)

const (
	day = 24 * time.Hour
	// ahead and behind are the widest window that any event's time may lie in, from the clock that
	// judges it. The consumer applies the same two to the record's timestamp.
	ahead  = day
	behind = 90 * day
)

// window is what `time` may be, both ends inclusive, at one instant of the ingest clock.
type window struct{ at, from, until time.Time }

// windowAt takes the instant in whole milliseconds, which is all that a record's timestamp keeps: the
// consumer then judges by the very same instant, and the two never disagree.
func (p *Publisher) windowAt(now time.Time) window {
	at := now.UTC().Truncate(time.Millisecond)
	return window{at, at.Add(-min(behind, p.cfg.Retention-day)), at.Add(ahead)}
}

func (w window) check(e *cloudevents.Event) *fault.Error {
	if !e.Time.Before(w.from) && !e.Time.After(w.until) {
		return nil
	}
	off := span(e.Time, w.from) + " before"
	if e.Time.After(w.until) {
		off = span(w.until, e.Time) + " after"
	}
	accepted := w.from.Format(time.RFC3339Nano) + " to " + w.until.Format(time.RFC3339Nano)
	return fault.New(fault.InvalidArgument, fault.ReasonTimeOutOfWindow,
		fmt.Sprintf("time %s lies %s the accepted window, %s, both inclusive; the server's clock says %s.",
			e.TimeText, off, accepted, w.at.Format(time.RFC3339Nano)),
		"attribute", "time", "value", e.TimeText, "accepted", accepted)
}

// span is how far two instants are apart, for a person. A time.Duration ends at 292 years.
func span(from, to time.Time) string {
	const secondsOfDay = int64(day / time.Second)
	if days := (to.Unix() - from.Unix()) / secondsOfDay; days >= 2 {
		return fmt.Sprintf("%d days", days)
	}
	return to.Sub(from).String()
}

func checkSource(e *cloudevents.Event, prefixes []string) *fault.Error {
	if len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(e.Source, p) }) {
		return nil
	}
	accepted := strings.Join(prefixes, ", ")
	return fault.New(fault.PermissionDenied, fault.ReasonSourceNotAllowed,
		"This token may not publish for source "+e.Source+"; it may for sources that begin with: "+accepted+".",
		"attribute", "source", "value", e.Source, "accepted", accepted)
}

// refusal is the public side of what is wrong with an event or a body.
func refusal(err error) *fault.Error {
	var wrong *cloudevents.Error
	if !errors.As(err, &wrong) {
		return fault.Of(err)
	}
	violations := make([]fault.Violation, len(wrong.Violations))
	kind := fault.InvalidArgument
	for i, v := range wrong.Violations {
		violations[i] = fault.Violation{Reason: v.Reason, Message: v.Message, Metadata: metadata(v)}
		switch v.Reason {
		case fault.ReasonBodyTooLarge, fault.ReasonBatchTooLarge:
			kind = fault.TooLarge
		case fault.ReasonUnsupportedContentMode:
			kind = fault.UnsupportedMedia
		}
	}
	return fault.Many(kind, violations)
}

func metadata(v cloudevents.Violation) map[string]string {
	m := make(map[string]string, 4)
	for _, f := range [...]struct{ key, value string }{
		{"attribute", v.Attribute}, {"value", v.Value}, {"limit", v.Limit}, {"accepted", v.Accepted},
	} {
		if f.value != "" {
			m[f.key] = f.value
		}
	}
	return m
}
