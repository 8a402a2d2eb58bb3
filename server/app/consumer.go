package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/audit"
	"oriel/server/config"
	"oriel/server/consume"
	"oriel/server/kafka"
)

// decision is an operator's command about a consumer. It is on the record before anything happens, and its
// outcome commits with its effect.
type decision struct {
	pool *pgxpool.Pool
	opts []kgo.Opt
	op   *audit.Operation
}

// decide opens what a command about a consumer needs and runs it.
func decide(ctx context.Context, cfg config.Config, consumer string, entry audit.Entry, run func(decision) error) error {
	if len(cfg.Kafka.Brokers) == 0 {
		return errors.New("ORIEL_KAFKA_BROKERS: required")
	}
	if consumer != storeConsumer {
		return fmt.Errorf("--consumer %q: there is only %q", consumer, storeConsumer)
	}
	pool, err := openKnown(ctx, cfg, "oriel-consumer")
	if err != nil {
		return err
	}
	defer pool.Close()
	opts, err := kafka.Options(kafkaConfig(cfg), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	entry.Actor, entry.Target = commandLine(), "consumers/"+consumer
	op, err := audit.New(pool, prometheus.NewRegistry()).Begin(ctx, entry)
	if err != nil {
		return err
	}
	if err := run(decision{pool, opts, op}); err != nil {
		return errors.Join(err, op.End(ctx, err))
	}
	return nil
}

// AdoptTopic runs `oriel consumer adopt-topic`.
func AdoptTopic(ctx context.Context, cfg config.Config, out io.Writer, consumer, reason string) error {
	topic := cfg.Kafka.Topic
	err := decide(ctx, cfg, consumer, audit.Entry{
		Action: audit.ActionAdoptTopic, Reason: reason, Before: map[string]any{"topic": topic},
	}, func(d decision) error {
		return consume.AdoptTopic(ctx, d.pool, d.opts, consumer, topic, reason, actor(), func(ctx context.Context, tx pgx.Tx) error {
			return d.op.Done(ctx, tx, "", nil, nil)
		})
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: adopted for consumer %s; its partitions start at offset 0\n", topic, consumer)
	return err
}

// ConsumerMove is what `oriel consumer move` was asked for.
type ConsumerMove struct {
	Consumer  string
	Partition int32
	To        int64
	From      *int64
	Reason    string
}

// MoveConsumer runs `oriel consumer move`.
func MoveConsumer(ctx context.Context, cfg config.Config, out io.Writer, m ConsumerMove) error {
	var moved consume.Moved
	err := decide(ctx, cfg, m.Consumer, audit.Entry{
		Action: audit.ActionMoveConsumer, Reason: m.Reason, Before: map[string]any{"topic": cfg.Kafka.Topic, "partition": m.Partition, "to": m.To},
	}, func(d decision) (err error) {
		moved, err = consume.MovePartition(ctx, d.pool, d.opts, consume.Move{
			Consumer: m.Consumer, Topic: cfg.Kafka.Topic, Partition: m.Partition, To: m.To, From: m.From, Reason: m.Reason, Actor: actor(),
		}, func(ctx context.Context, tx pgx.Tx, done consume.Moved) error {
			return d.op.Done(ctx, tx, "",
				map[string]any{"log": done.Log, "partition": m.Partition, "offset": done.From, "state": done.WasState, "stateReason": done.WasReason},
				map[string]any{"log": done.Log, "partition": m.Partition, "offset": done.To, "state": consume.StateRunning, "skipped": done.Skipped})
		})
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "consumer %s, partition %d: moved from offset %d (%s) to %d, %d offsets skipped\n",
		m.Consumer, m.Partition, moved.From, moved.WasState, moved.To, moved.Skipped)
	return err
}

// ResumeConsumer runs `oriel consumer resume`.
func ResumeConsumer(ctx context.Context, cfg config.Config, out io.Writer, consumer, reason string) error {
	var resumed []int32
	err := decide(ctx, cfg, consumer, audit.Entry{
		Action: audit.ActionResumeConsumer, Reason: reason, Before: map[string]any{"topic": cfg.Kafka.Topic},
	}, func(d decision) (err error) {
		resumed, err = consume.ResumeTripped(ctx, d.pool, consumer, cfg.Kafka.Topic, reason, actor(), func(ctx context.Context, tx pgx.Tx, partitions []int32) error {
			return d.op.Done(ctx, tx, "", map[string]any{"partitions": partitions, "state": consume.StateTripped},
				map[string]any{"partitions": partitions, "state": consume.StateRunning})
		})
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "consumer %s: partitions %v run again\n", consumer, resumed)
	return err
}
