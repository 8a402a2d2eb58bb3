package consume

import (
	"context"
	"errors"
	"fmt"

	"oriel/server/db"
	"oriel/server/lexicon"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ActionAdoptTopic is the action of the recorded decision.
const ActionAdoptTopic = "adopt-topic"

// AdoptTopic records the operator's decision that the topic as it is now is a new log: checkpoints at 0.
// A running consumer notices within its watch interval. It refuses when there is nothing to adopt. with,
// where not nil, runs in the same transaction.
func AdoptTopic(ctx context.Context, pool *pgxpool.Pool, opts []kgo.Opt, consumer, topic, reason, actor string,
	with func(ctx context.Context, tx pgx.Tx) error,
) error {
	if err := reasonGiven(reason); err != nil {
		return err
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return fmt.Errorf("make the Kafka client: %w", err)
	}
	defer cl.Close()
	id, partitions, err := describeTopic(ctx, cl, topic)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(pool).WithTx(tx)
		newest, err := q.NewestLog(ctx, db.NewestLogParams{Topic: topic, Consumer: consumer})
		if errors.Is(err, pgx.ErrNoRows) {
			return refused(fmt.Sprintf(
				"Consumer %q has no checkpoints of topic %q yet: it takes the topic as it is when it starts.", consumer, topic))
		}
		if err != nil {
			return fmt.Errorf("find the log: %w", err)
		}
		if newest.TopicID == id {
			return refused(fmt.Sprintf(
				"Topic %q is the one that consumer %q reads already: nothing to adopt.", topic, consumer))
		}
		log, err := q.EnsureLog(ctx, db.EnsureLogParams{Topic: topic, TopicID: id})
		if err != nil {
			return fmt.Errorf("record the log: %w", err)
		}
		if log < newest.ID {
			return refused(fmt.Sprintf(
				"Topic %q with id %s is log %d, which was left for log %d: a log that was left is not adopted again.",
				topic, id, log, newest.ID))
		}
		for p := range int32(partitions) {
			if _, err := q.InsertCheckpoint(ctx, db.InsertCheckpointParams{Consumer: consumer, Log: log, Partition: p}); err != nil {
				return fmt.Errorf("record the checkpoint of partition %d: %w", p, err)
			}
		}
		err = q.InsertDecision(ctx, db.InsertDecisionParams{
			Consumer: consumer, Action: ActionAdoptTopic, Log: &log, Reason: reason, Actor: actor,
			Detail: fmt.Sprintf("topic %s: log %d (%s) is followed by log %d (%s) from offset 0 in %d partitions",
				topic, newest.ID, topicID(newest.TopicID), log, id, partitions),
		})
		if err != nil || with == nil {
			return err
		}
		return with(ctx, tx)
	})
}

// lexiconKey is the hash key of the version that new rows carry. Migrations made it.
func (c *Consumer) lexiconKey(ctx context.Context) (key lexicon.Key, err error) {
	raw, err := c.queries.LexiconKey(ctx, lexicon.Version)
	if err != nil {
		return key, fmt.Errorf("read the key of lexicon version %d: %w", lexicon.Version, err)
	}
	copy(key[:], raw)
	return key, nil
}
