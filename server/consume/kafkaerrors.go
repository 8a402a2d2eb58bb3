package consume

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// fetchAction is what follows from a failed fetch.
type fetchAction uint8

const (
	// fetchEnds: the poll ended, or the client did.
	fetchEnds fetchAction = iota
	// fetchAgain: the client asks again by itself.
	fetchAgain
	// fetchJoins: the group is joined again by the client.
	fetchJoins
	// fetchRetakes: the checkpoint is outside of the log, and what that means is to be judged.
	fetchRetakes
	// fetchSticks: the partition is fatal until an operator decides.
	fetchSticks
	// fetchRebuilds: the topic is another one, so the client is of no more use.
	fetchRebuilds
	// fetchRefused: the broker does not let us read. The client asks again; a person has to act.
	fetchRefused
)

// fetchRule is one row of the table of failed fetches. The first that fits decides.
type fetchRule struct {
	is     func(error) bool
	action fetchAction
	why    string
}

func fetchRules() []fetchRule {
	is := func(targets ...error) func(error) bool {
		return func(err error) bool {
			return slices.ContainsFunc(targets, func(t error) bool { return errors.Is(err, t) })
		}
	}
	return []fetchRule{
		{is(context.Canceled, context.DeadlineExceeded, kgo.ErrClientClosed), fetchEnds, "the poll ended"},
		{isA[*kgo.ErrGroupSession], fetchJoins, "the group session ended"},
		{isA[*kgo.ErrDataLoss], fetchSticks, "the broker lost records below the checkpoint"},
		{isA[*kgo.ErrDecompressTooLarge], fetchSticks, "a batch is too large to be decompressed"},
		{isUnreadable, fetchSticks, "a batch cannot be read, and the client would go on behind it"},
		{is(kerr.OffsetOutOfRange), fetchRetakes, "the broker says that the checkpoint is out of range"},
		{is(kerr.UnknownTopicID, kerr.InconsistentTopicID), fetchRebuilds, "the broker does not know the topic's id any more"},
		{
			is(kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed, kerr.SaslAuthenticationFailed),
			fetchRefused, "the broker does not let this user read",
		},
		{func(error) bool { return true }, fetchAgain, "the client tries again"},
	}
}

func diagnoseFetch(err error) fetchRule {
	for _, r := range fetchRules() {
		if r.is(err) {
			return r
		}
	}
	panic("unreachable: the last row takes everything")
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// isUnreadable tells a batch that the client could not parse. Its errors have no type. It counts once and
// for all: the client may go on behind such a batch, and its records would be missing without a trace.
func isUnreadable(err error) bool {
	if isA[*kerr.Error](err) {
		return false
	}
	return slices.ContainsFunc([]string{
		"unable to read ", "encoded length ", "encoded crc ", "unknown magic ", "unknown batch magic", "unknown message magic",
		"unknown attributes on ", "invalid record batch", "invalid compressed message set", "message set v", "unable to decompress batch",
		"too short to allow for a crc",
	}, func(text string) bool { return strings.Contains(err.Error(), text) })
}

// offsetFate is what became of offsets that Kafka was told. None is fatal: the checkpoint decides.
type offsetFate uint8

const (
	// offsetsAgain: they were not stored, and the next second tells newer ones.
	offsetsAgain offsetFate = iota
	// offsetsMaybe: they may be stored.
	offsetsMaybe
	// offsetsOther: the group has moved on; the partition is, or soon will be, another member's.
	offsetsOther
	// offsetsRefused: they will never be stored as things are; a person has to act.
	offsetsRefused
)

func (f offsetFate) String() string {
	return [...]string{"again", "maybe", "moved", "refused"}[f]
}

// offsetRule is one row of the table of offset commits that failed.
type offsetRule struct {
	errs []*kerr.Error
	fate offsetFate
	why  string
}

func offsetRules() []offsetRule {
	return []offsetRule{
		{
			[]*kerr.Error{kerr.RebalanceInProgress, kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.FencedInstanceID, kerr.StaleMemberEpoch, kerr.FencedMemberEpoch},
			offsetsOther, "the group has moved on: whoever owns the partition starts from the checkpoint",
		},
		{
			[]*kerr.Error{kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend},
			offsetsMaybe, "the broker may have stored them",
		},
		{
			[]*kerr.Error{kerr.NotCoordinator, kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.UnknownTopicOrPartition, kerr.NotEnoughReplicas, kerr.KafkaStorageError},
			offsetsAgain, "the broker was not ready",
		},
		{
			[]*kerr.Error{kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.OffsetMetadataTooLarge, kerr.InvalidCommitOffsetSize, kerr.InvalidGroupID, kerr.UnknownTopicID},
			offsetsRefused, "the broker refuses them: tools that read the group's lag see a wrong number, and nothing else is affected",
		},
	}
}

// diagnoseOffsets reads an error of a partition's offset, or of the whole request.
func diagnoseOffsets(err error) offsetRule {
	for _, r := range offsetRules() {
		if slices.ContainsFunc(r.errs, func(e *kerr.Error) bool { return errors.Is(err, e) }) {
			return r
		}
	}
	if isA[*kerr.Error](err) {
		return offsetRule{fate: offsetsAgain, why: "the broker did not take them"}
	}
	return offsetRule{fate: offsetsMaybe, why: "no answer came"}
}
