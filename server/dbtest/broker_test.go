package dbtest_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/dbtest"
)

func TestEachBrokerTakesAndGivesARecord(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		cl, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.ConsumeTopics(b.Topic),
			kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()))
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		rec := &kgo.Record{Topic: b.Topic, Key: []byte("k"), Value: []byte("v")}
		if err := cl.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
		got := cl.PollFetches(t.Context()).Records()
		if len(got) != 1 || string(got[0].Value) != "v" || got[0].Partition != rec.Partition {
			t.Fatalf("produced one record and read %v", got)
		}
	})
}
