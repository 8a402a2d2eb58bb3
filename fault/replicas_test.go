package fault

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
	"oriel/server/dbtest/kafkatest"
	"oriel/server/kafka"
)

func TestThreeReplicasLoseNothingThroughARollingRestartABrokerKillAndAnImmediateStopOfPostgreSQL(t *testing.T) {
	if asked := os.Getenv(dbtest.KafkaEnv); asked == "" || asked == "0" {
		t.Skipf("NOT RUN on Apache Kafka: %s is not set", dbtest.KafkaEnv)
	}
	t.Parallel()
	brokers := kafkatest.New(t, 3)
	b := dbtest.Broker{Kind: "apache", Brokers: brokers.Brokers(), Topic: "events"}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cfg := kafka.Config{Brokers: b.Brokers, Topic: b.Topic, Partitions: 6}
	if err := kafka.EnsureTopics(ctx, cfg, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	s := newServer(t)
	way := newFront(t, s.where)
	r := newRigAt(t, b, nil, s.through(way, true))
	names := []string{"one", "two", "three"}
	addrs := []string{apptest.FreeAddr(t), apptest.FreeAddr(t), apptest.FreeAddr(t)}
	replicas := make([]*apptest.Child, len(names))
	start := func(i int, life string) {
		replicas[i] = r.start(addrs[i], as(t, s.through(way, false), names[i]+life), nil)
	}
	ready := func() {
		for i, c := range replicas {
			c.WaitReady("http://"+addrs[i], time.Minute)
		}
	}
	for i := range replicas {
		start(i, ".1")
	}
	ready()
	flow := r.startFlow(6, 40, addrs...)
	under := func(what string, do func()) {
		began := time.Now()
		flow.allow(300)
		do()
		flow.allow(300)
		flow.waitDone(t, 2*time.Minute)
		t.Logf("%s: everything has an answer after %s", what, time.Since(began).Round(10*time.Millisecond))
	}
	under("a rolling restart", func() {
		for i, c := range replicas {
			if code := c.Stop(time.Minute); code != 0 {
				t.Errorf("replica %s ended with %d", names[i], code)
			}
			start(i, ".2")
			replicas[i].WaitReady("http://"+addrs[i], time.Minute)
			flow.allow(50)
		}
	})
	under("a broker killed", func() { brokers.Kill(0) })
	if err := brokers.Restart(ctx, 0); err != nil {
		t.Fatal(err)
	}
	under("PostgreSQL stopped at once", func() {
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		flow.allow(100)
		pause(ctx, 3*time.Second)
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
	})
	flow.stop()
	h := r.verify()
	ready()
	for i, c := range replicas {
		if c.Exited() {
			t.Errorf("replica %s has ended", names[i])
		}
	}
	t.Logf("%s; %d records, %d rows, %d letters, %d commits", flow, len(h.records), len(h.rows), len(h.letters), len(h.ledger))
}
