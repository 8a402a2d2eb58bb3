package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	maxMessageBytes = 2 << 20 // twice what ingest accepts: the broker is never the one to refuse
	// A dead letter carries the record with its story.
	maxLetterBytes = maxMessageBytes + 64<<10
	letterDays     = 90
)

// ErrNoTopic says that the topic does not exist.
var ErrNoTopic = errors.New("the kafka topic does not exist")

// DeadLetterTopic is where copies of the topic's dead letters go.
func DeadLetterTopic(topic string) string { return topic + ".dlq" }

// EnsureTopics creates the topic and its dead-letter topic (replication min(3, brokers), min ISR 2
// where 3, max.message.bytes 2 MiB) where they do not exist. One that exists is left as it is; what
// would lose or refuse events on it is an error.
func EnsureTopics(ctx context.Context, cfg Config, log *slog.Logger) error {
	if cfg.Topic == "" || cfg.Partitions < 1 {
		return fmt.Errorf("cannot create the topic %q with %d partitions", cfg.Topic, cfg.Partitions)
	}
	opts, err := Options(cfg, log)
	if err != nil {
		return err
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return fmt.Errorf("make a kafka client: %w", err)
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	brokers, err := adm.ListBrokers(ctx)
	if err != nil {
		return fmt.Errorf("list the kafka brokers: %w", err)
	}
	replication := int16(min(3, len(brokers)))
	configs := map[string]string{"cleanup.policy": "delete"}
	if replication == 3 {
		configs["min.insync.replicas"] = "2"
		configs["unclean.leader.election.enable"] = "false"
	}
	dead := map[string]string{"retention.ms": strconv.Itoa(letterDays * 24 * 60 * 60 * 1000)}
	for k, v := range configs {
		dead[k] = v
	}
	configs["max.message.bytes"] = strconv.Itoa(maxMessageBytes)
	dead["max.message.bytes"] = strconv.Itoa(maxLetterBytes)
	return errors.Join(
		ensureTopic(ctx, adm, cfg.Topic, cfg.Partitions, replication, configs, log),
		ensureTopic(ctx, adm, DeadLetterTopic(cfg.Topic), cfg.Partitions, replication, dead, log),
	)
}

func ensureTopic(ctx context.Context, adm *kadm.Client, topic string, partitions int, replication int16, configs map[string]string, log *slog.Logger) error {
	values := make(map[string]*string, len(configs))
	for k, v := range configs {
		values[k] = &v
	}
	_, err := adm.CreateTopic(ctx, int32(partitions), replication, values, topic)
	switch {
	case err == nil:
		log.Info("created the kafka topic", "topic", topic, "partitions", partitions, "replication", replication)
		return nil
	case !errors.Is(err, kerr.TopicAlreadyExists):
		return fmt.Errorf("create the topic %s: %w", topic, err)
	}
	// The broker that is asked may learn of a new topic after the controller that knows it.
	for {
		err := checkSettings(ctx, adm, topic)
		if !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// SettingsError is a setting of an existing topic that would break a promise.
type SettingsError struct{ text string }

func (e *SettingsError) Error() string { return e.text }

// CheckTopic reports *SettingsError, joined, for what an existing topic must not have.
func CheckTopic(ctx context.Context, cl *kgo.Client, topic string) error {
	return checkSettings(ctx, kadm.NewClient(cl), topic)
}

func checkSettings(ctx context.Context, adm *kadm.Client, topic string) error {
	found, err := adm.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return fmt.Errorf("read the settings of the topic %s: %w", topic, err)
	}
	resource, err := found.On(topic, nil)
	if err == nil {
		// What could not be read must never pass for settings without a fault.
		err = resource.Err
	}
	if err != nil {
		return fmt.Errorf("read the settings of the topic %s: %w", topic, err)
	}
	var wrong []error
	for _, c := range resource.Configs {
		switch value := c.MaybeValue(); c.Key {
		case "cleanup.policy":
			if value != "delete" {
				wrong = append(wrong, &SettingsError{fmt.Sprintf(
					"the topic %s has cleanup.policy=%s, which drops events that share a key: set it to delete", topic, value)})
			}
		case "max.message.bytes":
			if n, err := strconv.Atoi(value); err == nil && n < maxMessageBytes {
				wrong = append(wrong, &SettingsError{fmt.Sprintf(
					"the topic %s has max.message.bytes=%d, so the broker would refuse events that the API accepts: set it to %d",
					topic, n, maxMessageBytes)})
			}
		}
	}
	return errors.Join(wrong...)
}

// TopicID is the id of the topic's present incarnation, asked from the broker, or ErrNoTopic.
func TopicID(ctx context.Context, cl *kgo.Client, topic string) ([16]byte, error) {
	found, err := describe(ctx, cl, topic)
	return found.TopicID, err
}

// Ping asks for the topic and says whether every partition could be written to: one small request.
func Ping(ctx context.Context, cl *kgo.Client, topic string) error {
	found, err := describe(ctx, cl, topic)
	if err != nil {
		return err
	}
	for _, p := range found.Partitions {
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil || p.Leader < 0 {
			return fmt.Errorf("partition %d of the topic %s has no leader: %w", p.Partition, topic, errors.Join(err, kerr.LeaderNotAvailable))
		}
	}
	return nil
}

// describe sends the request itself: kadm and the client's cache answer from what they have seen, which
// outlives a broker and a deleted topic.
func describe(ctx context.Context, cl *kgo.Client, topic string) (kmsg.MetadataResponseTopic, error) {
	req := kmsg.NewPtrMetadataRequest()
	one := kmsg.NewMetadataRequestTopic()
	one.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, one)
	resp, err := req.RequestWith(ctx, cl)
	if err == nil && len(resp.Topics) != 1 {
		err = fmt.Errorf("asked for one topic, got %d", len(resp.Topics))
	}
	if err != nil {
		return kmsg.MetadataResponseTopic{}, fmt.Errorf("ask kafka for the topic %s: %w", topic, err)
	}
	found := resp.Topics[0]
	switch err := kerr.ErrorForCode(found.ErrorCode); {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return found, fmt.Errorf("%w: %s", ErrNoTopic, topic)
	case err != nil && !errors.Is(err, kerr.LeaderNotAvailable): // a topic can be known before its leaders
		return found, fmt.Errorf("ask kafka for the topic %s: %w", topic, err)
	}
	return found, nil
}

// Ends are who a topic is, as the broker says now, and the next offsets of its partitions.
func Ends(ctx context.Context, cl *kgo.Client, topic string) (id [16]byte, ends map[int32]int64, err error) {
	if id, err = TopicID(ctx, cl, topic); err != nil {
		return id, nil, err
	}
	listed, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return id, nil, fmt.Errorf("ends of topic %s: %w", topic, err)
	}
	ends = map[int32]int64{}
	listed.Each(func(o kadm.ListedOffset) { ends[o.Partition] = o.Offset })
	return id, ends, nil
}
