package consume

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"oriel/server/db"
	"oriel/server/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The actions of recorded decisions, beside ActionAdoptTopic.
const (
	ActionMove   = "move"
	ActionResume = "resume"
)

// Move is an operator's decision where a partition goes on.
type Move struct {
	Consumer, Topic string
	Partition       int32
	To              int64
	From            *int64 // where the operator saw the checkpoint; nil: wherever it is
	Reason, Actor   string
}

// Moved is what a decision did.
type Moved struct {
	Log       int16
	From, To  int64
	Skipped   int64 // offsets that are accounted for as skipped
	WasState  string
	WasReason string
}

// MovePartition sets a partition's checkpoint and has it run from there, in one transaction with the
// record of the decision. Offsets that it passes over are in the ledger as skipped, under a commit of their
// own; going back adds nothing to it, as what is met again is counted then. The owner is fenced off, and a
// running consumer goes on within its watch interval. with, where not nil, runs in the same transaction.
func MovePartition(ctx context.Context, pool *pgxpool.Pool, opts []kgo.Opt, m Move,
	with func(ctx context.Context, tx pgx.Tx, done Moved) error,
) (Moved, error) {
	if err := reasonGiven(m.Reason); err != nil {
		return Moved{}, err
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return Moved{}, fmt.Errorf("make the Kafka client: %w", err)
	}
	defer cl.Close()
	id, partitions, err := describeTopic(ctx, cl, m.Topic)
	if err != nil {
		return Moved{}, err
	}
	if m.Partition < 0 || int(m.Partition) >= partitions {
		return Moved{}, invalid("partition", fmt.Sprintf("Topic %q has partitions 0 to %d.", m.Topic, partitions-1))
	}
	q := db.New(pool)
	if err := q.EnsureLedgerDays(ctx); err != nil {
		return Moved{}, fmt.Errorf("make the ledger's day partitions: %w", err)
	}
	var done Moved
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// The log's bounds are asked for under the checkpoint's lock: its owner advances it no further.
		done, err = m.move(ctx, q.WithTx(tx), id, func() ([2]int64, error) { return bounds(ctx, kadm.NewClient(cl), m.Topic, m.Partition) })
		if err != nil || with == nil {
			return err
		}
		return with(ctx, tx, done)
	})
	return done, err
}

func (m Move) move(ctx context.Context, q *db.Queries, id topicID, bounds func() ([2]int64, error)) (done Moved, err error) {
	log, err := currentLog(ctx, q, m.Consumer, m.Topic, &id)
	if err != nil {
		return done, err
	}
	at, err := q.LockForMove(ctx, db.LockForMoveParams{Consumer: m.Consumer, Log: log, Partition: m.Partition})
	if errors.Is(err, pgx.ErrNoRows) {
		return done, refused(fmt.Sprintf("Consumer %q has no checkpoint of partition %d yet: it begins at the log's start.", m.Consumer, m.Partition))
	}
	if err != nil {
		return done, fmt.Errorf("read the checkpoint: %w", err)
	}
	ends, err := bounds()
	if err != nil {
		return done, err
	}
	done = Moved{Log: log, From: at.NextOffset, To: m.To, WasState: at.State}
	if at.StateReason != nil {
		done.WasReason = *at.StateReason
	}
	if err := m.sane(done, ends); err != nil {
		return done, err
	}
	commits := at.Commits
	if m.To > at.NextOffset {
		done.Skipped = m.To - at.NextOffset
		commits++
		err := q.InsertSkipped(ctx, db.InsertSkippedParams{
			Consumer: m.Consumer, Log: log, Partition: m.Partition, Commit: commits,
			FromOffset: at.NextOffset, ToOffset: m.To, Skipped: done.Skipped,
		})
		if err != nil {
			return done, fmt.Errorf("account for what is skipped: %w", err)
		}
	}
	n, err := q.MoveCheckpoint(ctx, db.MoveCheckpointParams{
		Consumer: m.Consumer, Log: log, Partition: m.Partition, FromOffset: at.NextOffset, ToOffset: m.To, EndOffset: ends[1], Commits: commits,
	})
	if err == nil && n != 1 {
		err = errFenced
	}
	if err != nil {
		return done, fmt.Errorf("move the checkpoint: %w", err)
	}
	return done, q.InsertDecision(ctx, db.InsertDecisionParams{
		Consumer: m.Consumer, Action: ActionMove, Log: &log, Partition: &m.Partition, Reason: m.Reason, Actor: m.Actor,
		Detail: fmt.Sprintf("%d -> %d, %d skipped; was %s", done.From, done.To, done.Skipped, strings.TrimSuffix(done.WasState+": "+done.WasReason, ": ")),
	})
}

// sane refuses what cannot be meant. log is the log's start and end.
func (m Move) sane(now Moved, log [2]int64) error {
	where := fmt.Sprintf("The checkpoint is at %d (%s), and the log has offsets %d to %d.", now.From, now.WasState, log[0], log[1])
	switch {
	case m.From != nil && *m.From != now.From:
		return refused(fmt.Sprintf("The checkpoint is not at %d any more. %s", *m.From, where))
	case m.To < log[0] || m.To > log[1]:
		return invalid("to", fmt.Sprintf("%d is outside of the log. %s", m.To, where))
	case now.WasState == StateRunning && m.To == now.From:
		return refused("The partition runs there already: nothing to move. " + where)
	case now.WasState == StateRunning && m.To > now.From && m.From == nil:
		return refused("The partition runs and is on its way there: to skip records all the same, say where it is with --from. " + where)
	}
	return nil
}

// bounds are the start and the end of one partition's log.
func bounds(ctx context.Context, adm *kadm.Client, topic string, partition int32) (b [2]int64, err error) {
	for i, list := range []func(context.Context, ...string) (kadm.ListedOffsets, error){adm.ListStartOffsets, adm.ListEndOffsets} {
		listed, err := list(ctx, topic)
		if err != nil {
			return b, fmt.Errorf("list the log's offsets: %w", err)
		}
		o, ok := listed.Lookup(topic, partition)
		if !ok {
			return b, fmt.Errorf("the broker does not list partition %d", partition)
		}
		if o.Err != nil {
			return b, fmt.Errorf("list the offsets of partition %d: %w", partition, o.Err)
		}
		b[i] = o.Offset
	}
	return b, nil
}

// ResumeTripped has the partitions run again that the breaker stopped, in one transaction with the record
// of the decision, and says which. It refuses where there are none.
func ResumeTripped(ctx context.Context, pool *pgxpool.Pool, consumer, topic, reason, actor string,
	with func(ctx context.Context, tx pgx.Tx, partitions []int32) error,
) (partitions []int32, err error) {
	if err := reasonGiven(reason); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(pool).WithTx(tx)
		log, err := currentLog(ctx, q, consumer, topic, nil)
		if err != nil {
			return err
		}
		if partitions, err = q.ResumeTripped(ctx, db.ResumeTrippedParams{Consumer: consumer, Log: log}); err != nil {
			return fmt.Errorf("resume the partitions: %w", err)
		}
		if len(partitions) == 0 {
			return nothingTripped(ctx, q, consumer, log)
		}
		err = q.InsertDecision(ctx, db.InsertDecisionParams{
			Consumer: consumer, Action: ActionResume, Log: &log, Reason: reason, Actor: actor, Detail: fmt.Sprintf("partitions %v", partitions),
		})
		if err != nil || with == nil {
			return err
		}
		return with(ctx, tx, partitions)
	})
	return partitions, err
}

// nothingTripped refuses, and says what the partitions are instead.
func nothingTripped(ctx context.Context, q *db.Queries, consumer string, log int16) error {
	rows, err := q.CheckpointStates(ctx, db.CheckpointStatesParams{Consumer: consumer, Log: log})
	if err != nil {
		return fmt.Errorf("read the checkpoints: %w", err)
	}
	var others []string
	for _, r := range rows {
		if r.State != StateRunning {
			others = append(others, fmt.Sprintf("partition %d is %s at offset %d", r.Partition, r.State, r.NextOffset))
		}
	}
	text := fmt.Sprintf("No partition of consumer %q has tripped: nothing to resume.", consumer)
	if len(others) > 0 {
		text += " But " + strings.Join(others, ", ") + ": that is for oriel consumer move to decide."
	}
	return refused(text)
}

// currentLog is the log that a consumer has checkpoints of. It refuses a topic that has another id by now.
func currentLog(ctx context.Context, q *db.Queries, consumer, topic string, id *topicID) (int16, error) {
	newest, err := q.NewestLog(ctx, db.NewestLogParams{Topic: topic, Consumer: consumer})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, refused(fmt.Sprintf("Consumer %q has no checkpoints of topic %q.", consumer, topic))
	case err != nil:
		return 0, fmt.Errorf("find the log: %w", err)
	case id != nil && newest.TopicID != *id:
		return 0, refused(fmt.Sprintf("Topic %q was recreated: its id is %s, the checkpoints are of %s. Adopt it with oriel consumer adopt-topic first.",
			topic, *id, topicID(newest.TopicID)))
	}
	return newest.ID, nil
}

func refused(text string) error { return fault.New(fault.Aborted, fault.ReasonInvalidParameter, text) }

func invalid(attribute, text string) error {
	return fault.New(fault.InvalidArgument, fault.ReasonInvalidParameter, text, "attribute", attribute)
}

func reasonGiven(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return invalid("reason", "A reason is required: it is recorded with the decision.")
	}
	return nil
}
