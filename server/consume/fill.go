package consume

import (
	"context"
	"fmt"

	"oriel/server/db"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Fill stores records of one partition without a broker, by the steps of a worker and under a checkpoint as
// any: a database gets a past without a topic that holds it. next makes the records from an offset on, in
// order, and none is the end. The first error is the last: whoever fills begins again, where the checkpoint
// is. A consumer that fills is not started.
func (c *Consumer) Fill(ctx context.Context, topicID [16]byte, partition int32, next func(offset int64) []*kgo.Record) error {
	key, err := c.lexiconKey(ctx)
	if err != nil {
		return err
	}
	log, err := c.queries.EnsureLog(ctx, db.EnsureLogParams{Topic: c.cfg.Topic, TopicID: topicID})
	if err != nil {
		return fmt.Errorf("record the log: %w", err)
	}
	if _, err := c.queries.InsertCheckpoint(ctx, db.InsertCheckpointParams{Consumer: c.cfg.Consumer, Log: log, Partition: partition}); err != nil {
		return fmt.Errorf("record the checkpoint of partition %d: %w", partition, err)
	}
	taken, err := c.queries.TakeOver(ctx, db.TakeOverParams{
		Consumer: c.cfg.Consumer, Log: log, Partitions: []int32{partition}, Owner: c.cfg.Instance,
	})
	if err != nil {
		return fmt.Errorf("take partition %d over: %w", partition, err)
	}
	if len(taken) != 1 {
		return fmt.Errorf("take partition %d over: it has no checkpoint", partition)
	}
	pos := position{
		log: log, part: partition, epoch: taken[0].OwnerEpoch,
		next: taken[0].NextOffset, commits: taken[0].Commits, high: taken[0].HighOffset,
	}
	prep := newPreparer(c, key)
	for records := next(pos.next); len(records) > 0; records = next(pos.next) {
		b := prep.readAll(false, pos.next, records)
		prep.indexAll(false, b)
		b.stage()
		if err := c.ensureDays(ctx, b.days); err != nil {
			return err
		}
		if err := c.storeVocabulary(ctx, &b.words); err != nil {
			return err
		}
		if _, err := c.write(ctx, pos, b, atOnce); err != nil {
			return fmt.Errorf("partition %d, offsets %d to %d: %w", partition, b.from, b.to, err)
		}
		pos.next, pos.commits = b.to, pos.commits+1
	}
	return nil
}
