// Package fault is the public side of an error: a kind, a text the caller may read, and one
// violation for each thing that was wrong. The cause stays inside for the log. It imports nothing
// of the project and knows neither HTTP frameworks nor databases.
package fault

import (
	"errors"
	"strings"
	"time"
)

// Kind says what class of failure an error is; httpapi maps it to a status (AIP-193).
type Kind uint8

// The kinds, with the HTTP status and AIP-193 status that each becomes.
const (
	Internal         Kind = iota // 500 INTERNAL
	InvalidArgument              // 400 INVALID_ARGUMENT
	Unauthenticated              // 401 UNAUTHENTICATED
	PermissionDenied             // 403 PERMISSION_DENIED
	NotFound                     // 404 NOT_FOUND
	MethodNotAllowed             // 405 UNIMPLEMENTED
	TimedOut                     // 408 DEADLINE_EXCEEDED: the request did not arrive in time
	Aborted                      // 409 ABORTED
	Expired                      // 410 FAILED_PRECONDITION
	TooLarge                     // 413 OUT_OF_RANGE
	UnsupportedMedia             // 415 INVALID_ARGUMENT
	HeadersTooLarge              // 431 OUT_OF_RANGE
	Exhausted                    // 429 RESOURCE_EXHAUSTED
	Unavailable                  // 503 UNAVAILABLE
)

// outcome is the HTTP status and the AIP-193 status of a kind.
func (k Kind) outcome() (code int, status string) {
	switch k {
	case InvalidArgument:
		return 400, "INVALID_ARGUMENT"
	case Unauthenticated:
		return 401, "UNAUTHENTICATED"
	case PermissionDenied:
		return 403, "PERMISSION_DENIED"
	case NotFound:
		return 404, "NOT_FOUND"
	case MethodNotAllowed:
		return 405, "UNIMPLEMENTED"
	case TimedOut:
		return 408, "DEADLINE_EXCEEDED"
	case Aborted:
		return 409, "ABORTED"
	case Expired:
		return 410, "FAILED_PRECONDITION"
	case TooLarge:
		return 413, "OUT_OF_RANGE"
	case UnsupportedMedia:
		return 415, "INVALID_ARGUMENT"
	case HeadersTooLarge:
		return 431, "OUT_OF_RANGE"
	case Exhausted:
		return 429, "RESOURCE_EXHAUSTED"
	case Unavailable:
		return 503, "UNAVAILABLE"
	default:
		return 500, "INTERNAL"
	}
}

// Code is the HTTP status of the kind.
func (k Kind) Code() int {
	code, _ := k.outcome()
	return code
}

// Status is the AIP-193 status of the kind.
func (k Kind) Status() string {
	_, status := k.outcome()
	return status
}

// Violation is one thing that was wrong: a reason of the closed set in reason.go, one sentence for a
// person, and metadata (attribute, value, limit, accepted) for a program.
type Violation struct {
	Reason   string
	Message  string
	Metadata map[string]string
}

// Error is a failure with a public side.
type Error struct {
	Kind       Kind
	Message    string
	Violations []Violation
	RetryAfter time.Duration // above 0: answer Retry-After, in whole seconds, rounded up
	Unknown    bool          // it is not known whether the effect took place
	cause      error
}

// New makes an error of one violation whose message is also the error's.
func New(kind Kind, reason, message string, metadata ...string) *Error {
	return &Error{Kind: kind, Message: message, Violations: []Violation{{reason, message, Pairs(metadata...)}}}
}

// Wrap is New with a cause, which is logged and never shown.
func Wrap(cause error, kind Kind, reason, message string, metadata ...string) *Error {
	e := New(kind, reason, message, metadata...)
	e.cause = cause
	return e
}

// Many makes one error of several violations; there must be at least one.
func Many(kind Kind, violations []Violation) *Error {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.Message
	}
	return &Error{Kind: kind, Message: strings.Join(texts, " "), Violations: violations}
}

// Pairs makes metadata of alternating keys and values.
func Pairs(kv ...string) map[string]string {
	m := make(map[string]string, len(kv)/2)
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return m
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// Of is the public side of err: the first *Error in its chain, else an internal error that says
// nothing of the cause.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Wrap(err, Internal, ReasonInternal, "Something failed on our side. The request id finds it in the log.")
}
