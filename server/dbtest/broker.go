package dbtest

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/dbtest/kafkatest"
	"oriel/server/kafka"
)

// KafkaEnv asks for the Apache Kafka lane: "1" starts a broker for the test binary, a comma-separated
// list of brokers uses those.
const KafkaEnv = "ORIEL_TEST_KAFKA"

// Broker is a running broker of either kind with one topic for this test.
type Broker struct {
	Kind    string // "kfake" or "apache"
	Brokers []string
	Topic   string
}

// EachBroker runs f as a parallel subtest per kind of broker: kfake always, Apache Kafka where its lane
// runs (ORIEL_TEST_KAFKA=1 or a list of brokers). A lane asked for that cannot start fails the test.
func EachBroker(t *testing.T, partitions int, f func(t *testing.T, b Broker)) {
	t.Helper()
	t.Run("kfake", func(t *testing.T) {
		t.Parallel()
		f(t, NewKfake(t, partitions))
	})
	OnApache(t, partitions, f)
}

// NewKfake is one kfake broker of the test's own, its log on disk, with the test's topics on it.
func NewKfake(t testing.TB, partitions int) Broker {
	t.Helper()
	topic := newTopic()
	e, err := kafka.StartEmbedded(t.TempDir(), 0, map[string]int{topic: partitions, kafka.DeadLetterTopic(topic): partitions},
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("start kfake: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("stop kfake: %v", err)
		}
	})
	return Broker{"kfake", e.Brokers(), topic}
}

func newApache(t testing.TB, asked string, partitions int) Broker {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	brokers, err := apacheBrokers(asked)
	if err != nil {
		t.Fatalf("the Apache Kafka lane was asked for with %s=%s and cannot run: %v", KafkaEnv, asked, err)
	}
	topic := newTopic()
	cfg := kafka.Config{Brokers: brokers, Topic: topic, Partitions: partitions}
	if err := kafka.EnsureTopics(ctx, cfg, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatalf("create the test's topics: %v", err)
	}
	t.Cleanup(func() { dropTopics(t, brokers, topic, kafka.DeadLetterTopic(topic)) })
	return Broker{"apache", brokers, topic}
}

func dropTopics(t testing.TB, brokers []string, topics ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	if err != nil {
		t.Errorf("drop the test's topics: %v", err)
		return
	}
	defer cl.Close()
	dropped, err := kadm.NewClient(cl).DeleteTopics(ctx, topics...)
	if err == nil {
		err = dropped.Error()
	}
	if err != nil {
		t.Errorf("drop the test's topics: %v", err)
	}
}

// apacheBrokers is the test binary's one cluster. It is tied to this process and goes with it, without
// a TestMain; a start that failed is not tried again: every test says why.
var apacheBrokers = func() func(string) ([]string, error) {
	var once sync.Once
	var brokers []string
	var err error
	return func(asked string) ([]string, error) {
		if asked != "1" {
			return strings.Split(asked, ","), nil
		}
		once.Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			var c *kafkatest.Cluster
			if c, err = kafkatest.Start(ctx, 1); err == nil {
				brokers = c.Brokers()
			}
		})
		return brokers, err
	}
}()

func newTopic() string { return "events." + randomHex() }
