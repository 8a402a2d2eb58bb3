package consume

import (
	"slices"

	"oriel/server/cloudevents"
	"oriel/server/fault"
	"oriel/server/lexicon"
)

// maxDetail is how many bytes of explanation a dead letter holds.
const maxDetail = 1024

// limits are all that bounds the consumer, by the names of their series.
func (c Config) limits() map[string]float64 {
	return map[string]float64{
		"batch_records": float64(c.BatchRecords), "backlog_batch_records": float64(c.BacklogBatch), "batch_bytes": float64(c.BatchBytes), "batch_age_seconds": c.BatchAge.Seconds(),
		"queue_records": float64(highMark * c.BacklogBatch), "queue_bytes": float64(highMark * c.BatchBytes),
		"poll_records": float64(pollBatches * c.BacklogBatch), "fetch_bytes": fetchBytes,
		"fetch_partition_bytes": fetchPartitionBytes, "fetches": maxFetches,
		"isolation_records": isolateChunk, "panics": panicPatience,

		"decode_depth": cloudevents.MaxDepth, "attribute_bytes": cloudevents.MaxAttribute,
		"identity_bytes": cloudevents.MaxIdentity, "extension_bytes": cloudevents.MaxExtension,
		"attributes_bytes": cloudevents.MaxAttributes,
		"ahead_seconds":    windowFuture.Seconds(), "behind_seconds": windowPast.Seconds(), "retention_seconds": c.Retention.Seconds(),

		"event_words": lexicon.MaxLexemes, "event_paths": lexicon.MaxPaths, "vocabulary_entry_bytes": maxPathEntry,
		"facet_bytes": maxFacetValue, "facet_values": maxPerField, "tags": maxTags,
		"dead_letter_detail_bytes": maxDetail, "expired_listed": maxListed,

		"statement_seconds": statementTimeout.Seconds(), "lock_seconds": lockTimeout.Seconds(),
		"idle_transaction_seconds": idleTimeout.Seconds(), "finish_seconds": finishIn.Seconds(),
		"backoff_seconds": backoffCap.Seconds(), "drain_seconds": drainIn.Seconds(),
		"rebalance_seconds": rebalanceTimeout.Seconds(), "stall_seconds": c.StallAfter.Seconds(),
		"attempt_seconds": c.AttemptIn.Seconds(), "look_seconds": lookIn.Seconds(), "confirm_seconds": confirmIn.Seconds(),
		"keepalive_seconds": (keepaliveIdle + keepaliveCount*keepaliveInterval).Seconds(), "unacknowledged_seconds": unackedTimeout.Seconds(),

		"breaker_ratio": c.BreakerRatio, "breaker_records": float64(c.BreakerWindow), "breaker_letters": float64(c.BreakerLetters),
		"breaker_seconds": c.BreakerWithin.Seconds(),
	}
}

// reasonOther stands for a reason that is not of the set, which would be a fault of ours.
const reasonOther = "OTHER"

const reasonCount = 17

// deadReasons are the reasons that a dead letter can have.
func deadReasons() [reasonCount]string {
	return [reasonCount]string{
		fault.ReasonMissingAttribute, fault.ReasonInvalidAttribute, fault.ReasonAttributeTooLong,
		fault.ReasonAttributesTooLarge, fault.ReasonUnsupportedSpecVersion, fault.ReasonUnsupportedContentMode,
		fault.ReasonMalformedJSON, fault.ReasonInvalidUTF8, fault.ReasonDepthExceeded, fault.ReasonDataConflict,
		fault.ReasonBatchTooLarge, fault.ReasonUndecodable, fault.ReasonTimeOutOfWindow,
		fault.ReasonConflictingDuplicate, fault.ReasonRejected, fault.ReasonPanic, reasonOther,
	}
}

// reasonIndex is the place of a reason among deadReasons.
func reasonIndex(reason string) int {
	reasons := deadReasons()
	if i := slices.Index(reasons[:], reason); i >= 0 {
		return i
	}
	return reasonCount - 1
}
