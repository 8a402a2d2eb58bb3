// Package cloudevents is the CloudEvents 1.0 envelope without loss: the JSON event format, the HTTP
// and the Kafka protocol bindings, the partition key, the content digest and the attribute limits.
// It knows no HTTP framework, no Kafka client and nothing else of the project.
package cloudevents

import "time"

// Limits, stated in every refusal and in docs/events.md. Bytes of UTF-8.
const (
	MaxBody       = 1 << 20 // one request body, and the data of one event
	MaxBatch      = 256     // events in one batch
	MaxDepth      = 512     // nested arrays and objects of JSON
	MaxAttribute  = 1024    // id, source, type, subject, each
	MaxIdentity   = 2048    // source and id together
	MaxExtension  = 4096    // value of one extension, dataschema, datacontenttype
	MaxAttributes = 16384   // all names and values together
	MaxName       = 20      // an extension's name, [a-z0-9]
)

// Mode is how the event reached us.
type Mode uint8

// The content modes of the HTTP binding.
const (
	Binary Mode = iota
	Structured
	Batch
)

// Type is the CloudEvents type of an extension as it was sent. Headers have no types: Binary mode
// yields String only.
type Type uint8

// The types that JSON can express.
const (
	String Type = iota
	Boolean
	Integer
)

// Extension is one extension attribute; Value is its text as sent: that of a String, "true" or "false",
// the digits of an Integer with the minus before them.
type Extension struct {
	Name  string
	Type  Type
	Value string
}

// Event is one CloudEvent, lossless.
type Event struct {
	ID, Source, Type string
	Subject          string // "" is absent
	DataSchema       string // "" is absent
	// DataContentType is as sent; "" is absent. A structured event without one is JSON
	// by the format's rule, and still shown as absent.
	DataContentType string
	// TimeText is the attribute as sent; Time is its instant in UTC, floored to microseconds.
	TimeText   string
	Time       time.Time
	Extensions []Extension // sorted by name, unique
	Data       []byte      // nil is absent, empty is empty; never altered
	Mode       Mode
}

// Header is one name and value, of an HTTP request or a Kafka record. Order and repeats count.
type Header struct {
	Key   string
	Value []byte
}

// Record is a Kafka record without a client: what EncodeRecord makes and DecodeRecord reads. A nil
// Value is a tombstone (absent data), an empty one is empty data.
type Record struct {
	Key     []byte
	Value   []byte
	Headers []Header
}

// Violation is one thing wrong with an event. Reason is of the closed set in package fault, by value;
// Attribute, Value (cut to 200 characters), Limit and Accepted are "" where they say nothing.
type Violation struct {
	Reason, Message                   string
	Attribute, Value, Limit, Accepted string
}

// Error is every violation of one event, at least one, in a stable order.
type Error struct{ Violations []Violation }

func (e *Error) Error() string { return e.Violations[0].Message }
