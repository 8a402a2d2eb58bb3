package ingest

import (
	"errors"
	"fmt"
	"time"

	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// retryAfter is what a producer is told to wait where only time can help.
const retryAfter = time.Second

// refusalOf knows the errors by which the broker says that it will never take this record.
func refusalOf(said *kerr.Error) (kind fault.Kind, ok bool) {
	switch said {
	case kerr.MessageTooLarge, kerr.RecordListTooLarge:
		return fault.TooLarge, true
	case kerr.InvalidRecord, kerr.InvalidTimestamp, kerr.PolicyViolation,
		// The protocol calls this one retriable; the client gives up on it at once, and so would we.
		kerr.CorruptMessage:
		return fault.InvalidArgument, true
	}
	return 0, false
}

// isOutage knows the errors by which the broker says that it did not write the record for a reason
// that is not the record's.
func isOutage(said *kerr.Error) bool {
	switch said {
	case kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed, kerr.SaslAuthenticationFailed,
		kerr.UnknownTopicID, kerr.UnknownTopicOrPartition, kerr.InvalidTopicException,
		kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.NotEnoughReplicas, kerr.KafkaStorageError,
		kerr.InvalidRequiredAcks, kerr.UnsupportedVersion:
		return true
	}
	return false
}

// classify turns the client's verdict on a record into what the producer is told. doubtful says that
// an earlier attempt may have been written, so that even a clear "no" to the last one settles nothing.
// What is not known to be a refusal is unknown: never the other way about.
func (p *Publisher) classify(err error, doubtful bool) *fault.Error {
	if errors.Is(err, kgo.ErrMaxBuffered) {
		return p.queueFull()
	}
	var said *kerr.Error
	if errors.As(err, &said) {
		if kind, ok := refusalOf(said); ok && !doubtful {
			return fault.Wrap(err, kind, fault.ReasonBrokerRefused,
				fmt.Sprintf("The broker refused the event: %s. It was not published.", said.Message))
		}
		if isOutage(said) && !doubtful {
			e := fault.Wrap(err, fault.Unavailable, fault.ReasonBrokerUnavailable,
				fmt.Sprintf("The broker does not take events now (%s). Nothing was published; send it again.", said.Message))
			e.RetryAfter = retryAfter
			return e
		}
	}
	return unknown(err, "The broker's answer was lost")
}

func unknown(cause error, what string) *fault.Error {
	e := fault.Wrap(cause, fault.Unavailable, fault.ReasonOutcomeUnknown,
		what+": it is not known whether the event was published. Send it again with the same id; "+
			"if it was, it is recognised as a duplicate.")
	e.Unknown = true
	e.RetryAfter = retryAfter
	return e
}

func (p *Publisher) queueFull() *fault.Error {
	limit := fmt.Sprintf("%d events, %d bytes", p.cfg.MaxBufferedRecords, p.cfg.MaxBufferedBytes)
	e := fault.New(fault.Unavailable, fault.ReasonQueueFull,
		"Too many events wait for the broker ("+limit+
			" at most, half of that for one partition). Nothing of this request was published; send it again.",
		"limit", limit)
	e.RetryAfter = retryAfter
	return e
}

func shuttingDown() *fault.Error {
	e := fault.New(fault.Unavailable, fault.ReasonShuttingDown,
		"This server is stopping. Nothing was published; send it again.")
	e.RetryAfter = retryAfter
	return e
}
