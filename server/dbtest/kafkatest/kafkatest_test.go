package kafkatest_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"oriel/server/dbtest/kafkatest"
	"oriel/server/kafka"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tests that start brokers are not parallel: several starting JVMs starve each other.

func TestThreeBrokersKeepEveryAcknowledgedRecordThroughKills(t *testing.T) {
	if asked := os.Getenv("ORIEL_TEST_KAFKA"); asked == "" || asked == "0" {
		t.Skip("NOT RUN: ORIEL_TEST_KAFKA is not set")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	began := time.Now()
	c := kafkatest.New(t, 3)
	t.Logf("three brokers after %v", time.Since(began))

	cfg := kafka.Config{Brokers: c.Brokers(), Topic: "events", Partitions: 3}
	log := slog.New(slog.DiscardHandler)
	if err := kafka.EnsureTopics(ctx, cfg, log); err != nil {
		t.Fatal(err)
	}
	opts, err := kafka.Options(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, name := range []string{"events", "events.dlq"} { // brokers learn of a topic after its creator
		for kafka.Ping(ctx, cl, name) != nil {
			select {
			case <-ctx.Done():
				t.Fatalf("%s has no leaders: %v", name, kafka.Ping(ctx, cl, name))
			case <-time.After(20 * time.Millisecond):
			}
		}
		topics, err := kadm.NewClient(cl).ListTopics(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if n := topics[name].Partitions.NumReplicas(); n != 3 {
			t.Errorf("%s has %d replicas and not 3", name, n)
		}
	}
	configs, err := kadm.NewClient(cl).DescribeTopicConfigs(ctx, "events")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs[0].Configs {
		if c.Key == "min.insync.replicas" && c.MaybeValue() != "2" {
			t.Errorf("min.insync.replicas is %s and not 2", c.MaybeValue())
		}
	}

	acked := 0
	produce := func(n int) {
		for range n {
			rec := &kgo.Record{Topic: "events", Key: fmt.Append(nil, acked), Value: fmt.Append(nil, acked)}
			if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
				t.Fatalf("after %d records: %v", acked, err)
			}
			acked++
		}
	}
	produce(50)
	for i := range 3 {
		began := time.Now()
		c.Kill(i)
		produce(50)
		t.Logf("50 records after the kill of broker %d: %v", i, time.Since(began))
		began = time.Now()
		if err := c.Restart(ctx, i); err != nil {
			t.Fatal(err)
		}
		t.Logf("broker %d is back after %v", i, time.Since(began))
		produce(50)
	}

	reader, err := kgo.NewClient(append(opts, kgo.ConsumeTopics("events"), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	seen := map[string]int{}
	for len(seen) < acked {
		fetches := reader.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("read %d of %d acknowledged records: %v", len(seen), acked, fetches.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) { seen[string(r.Value)]++ })
	}
	for v, n := range seen {
		if n != 1 {
			t.Errorf("record %s is there %d times, although the producer is idempotent", v, n)
		}
	}
}

func TestNoBrokerOutlivesItsCluster(t *testing.T) {
	if asked := os.Getenv("ORIEL_TEST_KAFKA"); asked == "" || asked == "0" {
		t.Skip("NOT RUN: ORIEL_TEST_KAFKA is not set")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	began := time.Now()
	c, err := kafkatest.Start(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("one broker after %v", time.Since(began))
	for range 2 {
		if err := c.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Brokers()...), kgo.RetryTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if err := cl.Ping(ctx); err == nil {
		t.Fatal("a stopped broker answers")
	}
}

func TestAClusterOfNoBrokersIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := kafkatest.Start(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "0 brokers") {
		t.Fatalf("got %v", err)
	}
}
