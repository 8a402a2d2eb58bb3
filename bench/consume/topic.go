package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/bench/stored"
)

// publish writes a workload to a topic of its own and says how many bytes of data it has.
func (s *stage) publish(ctx context.Context, o options, w workload) (topic string, bytes int, err error) {
	s.topics++
	topic = fmt.Sprintf("bench.consume.%d.%d", time.Now().Unix(), s.topics)
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers...), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(20*time.Millisecond),
		kgo.MaxBufferedRecords(5000), kgo.MaxBufferedBytes(64<<20))
	if err != nil {
		return "", 0, err
	}
	defer cl.Close()
	if resp, err := kadm.NewClient(cl).CreateTopic(ctx, int32(o.partitions), 1, nil, topic); err != nil || resp.Err != nil {
		return "", 0, errors.Join(err, resp.Err)
	}
	failed := make(chan error, 1)
	for range w.n {
		e := w.next()
		bytes += len(e.Data)
		cl.Produce(ctx, stored.Record(&e), func(_ *kgo.Record, err error) {
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return "", 0, err
	}
	select {
	case err := <-failed:
		return "", 0, err
	default:
		return topic, bytes, nil
	}
}

// forget deletes a topic that was read.
func (s *stage) forget(ctx context.Context, topic string) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers...))
	if err != nil {
		return err
	}
	defer cl.Close()
	_, err = kadm.NewClient(cl).DeleteTopics(ctx, topic)
	return err
}

// shares splits n records over the partitions of a topic as its own are split.
func (s *stage) shares(ctx context.Context, topic string, n int) (map[int32]int64, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers...))
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return nil, err
	}
	var all, passed, given int64
	ends.Each(func(e kadm.ListedOffset) { all += e.Offset })
	if all < int64(n) {
		return nil, fmt.Errorf("the topic has %d records of %d", all, n)
	}
	counts := map[int32]int64{}
	ends.Each(func(e kadm.ListedOffset) {
		passed += e.Offset
		upTo := passed * int64(n) / all // rounded over the sum, so that the shares add up
		counts[e.Partition] = upTo - given
		given = upTo
	})
	return counts, nil
}
