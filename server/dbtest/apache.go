package dbtest

import (
	"os"
	"testing"
)

// OnApache is EachBroker for what only a broker of its own can show: f runs where the Apache Kafka lane runs.
func OnApache(t *testing.T, partitions int, f func(t *testing.T, b Broker)) {
	t.Helper()
	asked := os.Getenv(KafkaEnv)
	if asked == "" || asked == "0" {
		t.Logf("NOT RUN on Apache Kafka: %s is not set", KafkaEnv)
		return
	}
	t.Run("apache", func(t *testing.T) {
		t.Parallel()
		f(t, newApache(t, asked, partitions))
	})
}
