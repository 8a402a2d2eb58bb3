package outbox

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// class says what a failed message is told, and so what happens next.
type class uint8

const (
	// environment: brokers or network. It was not written; the topic's messages of the shard pause.
	environment class = iota
	// configuration: the same, and a person has to act: a topic that is missing, a right that is.
	configuration
	// unknown: it may have been written. It is published again after the same pause.
	unknown
	// recordCaused: no broker will ever take it. It is dead at once.
	recordCaused
	// suspect: perhaps the message, perhaps not. It counts as an attempt only where the topic took another
	// message meanwhile, and is dead after some.
	suspect
)

func (c class) String() string {
	return [...]string{"environment", "configuration", "unknown", "record", "suspect"}[c]
}

// The reasons of dead messages.
const (
	reasonTooLarge   = "TOO_LARGE"  // for the topic
	reasonInvalid    = "INVALID"    // as a record of this topic
	reasonPolicy     = "POLICY"     // of the broker
	reasonCorrupt    = "CORRUPT"    // on arrival, twice
	reasonUnexpected = "UNEXPECTED" // an error that the table below does not know, again and again
)

func deadReasons() []string {
	return []string{reasonTooLarge, reasonInvalid, reasonPolicy, reasonCorrupt, reasonUnexpected}
}

// unexpectedTries is some four hours at the cap of the pauses.
const unexpectedTries = 100

// verdict is one row of the table. reason and tries are of classes that bury: tries attempts, no sooner.
type verdict struct {
	err    error
	class  class
	reason string
	tries  int32
}

// verdicts is the table. Errors of a batch are said of each record in it, so a message is judged for what
// it caused only where it was alone (settle.go).
func verdicts() []verdict {
	return []verdict{
		{kerr.MessageTooLarge, recordCaused, reasonTooLarge, 1},
		{kerr.RecordListTooLarge, recordCaused, reasonTooLarge, 1},
		{kerr.InvalidRecord, recordCaused, reasonInvalid, 1},
		{kerr.InvalidTimestamp, recordCaused, reasonInvalid, 1},
		{kerr.InvalidTopicException, recordCaused, reasonInvalid, 1},
		{kerr.UnsupportedForMessageFormat, recordCaused, reasonInvalid, 1},
		{kerr.PolicyViolation, recordCaused, reasonPolicy, 1},
		// Called retriable by the protocol; the client gives up on it at once.
		{kerr.CorruptMessage, suspect, reasonCorrupt, 2},

		{kerr.TopicAuthorizationFailed, configuration, "", 0},
		{kerr.ClusterAuthorizationFailed, configuration, "", 0},
		{kerr.TransactionalIDAuthorizationFailed, configuration, "", 0},
		{kerr.SaslAuthenticationFailed, configuration, "", 0},
		{kerr.UnsupportedSaslMechanism, configuration, "", 0},
		{kerr.IllegalSaslState, configuration, "", 0},
		{kerr.SecurityDisabled, configuration, "", 0},
		{kerr.InvalidRequiredAcks, configuration, "", 0},
		{kerr.UnsupportedVersion, configuration, "", 0},
		{kerr.UnsupportedCompressionType, configuration, "", 0},
		{kerr.UnknownTopicOrPartition, configuration, "", 0},
		// The topic was deleted and made again: the client learns it anew.
		{kerr.UnknownTopicID, configuration, "", 0},
		{kerr.InconsistentTopicID, configuration, "", 0},

		{kerr.NotLeaderForPartition, environment, "", 0},
		{kerr.LeaderNotAvailable, environment, "", 0},
		{kerr.FencedLeaderEpoch, environment, "", 0},
		{kerr.UnknownLeaderEpoch, environment, "", 0},
		{kerr.NotEnoughReplicas, environment, "", 0},
		{kerr.KafkaStorageError, environment, "", 0},
		{kerr.BrokerNotAvailable, environment, "", 0},
		{kerr.ReplicaNotAvailable, environment, "", 0},
		{kerr.ThrottlingQuotaExceeded, environment, "", 0},
		{kgo.ErrMaxBuffered, environment, "", 0},

		{kerr.RequestTimedOut, unknown, "", 0},
		{kerr.NotEnoughReplicasAfterAppend, unknown, "", 0},
		{kerr.NetworkException, unknown, "", 0},
		// The client begins a new sequence.
		{kerr.OutOfOrderSequenceNumber, unknown, "", 0},
		{kerr.DuplicateSequenceNumber, unknown, "", 0},
		{kerr.UnknownProducerID, unknown, "", 0},
		{kerr.InvalidProducerIDMapping, unknown, "", 0},
		{kerr.InvalidProducerEpoch, unknown, "", 0},
		{kerr.ProducerFenced, unknown, "", 0},
		{kgo.ErrRecordTimeout, unknown, "", 0},
		{kgo.ErrRecordRetries, unknown, "", 0},
		{kgo.ErrAborting, unknown, "", 0},
		{kgo.ErrClientClosed, unknown, "", 0},
		{context.Canceled, unknown, "", 0},
		{context.DeadlineExceeded, unknown, "", 0},
	}
}

// classify finds an error's row, the first that fits: where the client wraps what it met last in a timeout,
// that comes first. What the brokers said and the table does not know is suspect; anything else is the
// network's.
func classify(err error) verdict {
	for _, v := range verdicts() {
		if errors.Is(err, v.err) {
			return v
		}
	}
	var said *kerr.Error
	if errors.As(err, &said) {
		return verdict{said, suspect, reasonUnexpected, unexpectedTries}
	}
	return verdict{err, environment, "", 0}
}
