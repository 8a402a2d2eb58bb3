package dbtest

import "testing"

// Broker is a running broker of either kind with one topic for this test.
type Broker struct {
	Kind    string // "kfake" or "apache"
	Brokers []string
	Topic   string
}

// EachBroker runs f as a parallel subtest per kind of broker: kfake always, Apache Kafka where its lane
// runs (ORIEL_TEST_KAFKA=1 or a list of brokers). A lane asked for that cannot start fails the test.
func EachBroker(t *testing.T, partitions int, f func(t *testing.T, b Broker)) { panic("unbuilt") }
