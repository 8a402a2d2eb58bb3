package consume

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/twmb/franz-go/pkg/kgo"
)

// series are n events of one partition with ids from first on.
func series(partition int32, first, n int) []*kgo.Record {
	recs := make([]*kgo.Record, n)
	for i := range recs {
		recs[i] = record(event(fmt.Sprintf("p%d-%05d", partition, first+i)), partition)
	}
	return recs
}

func TestARewindByHandIsFollowed(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		r.produce(series(0, 0, 300)...)
		r.produce(series(1, 0, 10)...)
		r.start(nil)
		r.settle()
		commits := r.count("SELECT commits FROM checkpoint WHERE partition = 0")

		r.exec("UPDATE checkpoint SET next_offset = 150 WHERE partition = 0")
		r.await("the records above the rewind are met again", func() bool { return r.outcomes().duplicate >= 150 })
		r.produce(series(0, 300, 50)...)
		r.settle()
		r.expect(tally{stored: 360, duplicate: 150})
		if after := r.count("SELECT commits FROM checkpoint WHERE partition = 0"); after <= commits {
			t.Errorf("commits went from %d to %d", commits, after)
		}
	})
}

func TestASkipByHandUnderLoadLeavesTheSkippedRecordsAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.produce(series(0, 0, 100)...)
	m := r.start(func(c *Config) { c.BatchRecords = 10 })
	r.settle()
	r.halt(m)
	r.produce(series(0, 100, 100)...)
	r.exec("UPDATE checkpoint SET next_offset = 150")
	r.start(nil)
	r.settle()
	r.expect(tally{stored: 150})
}

func TestRewindsUnderLoadNeverLoseARecord(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 2))
	r.start(func(c *Config) { c.BatchRecords = 20 })
	for round := range 10 {
		r.produce(series(0, round*100, 100)...)
		r.produce(series(1, round*100, 100)...)
		r.exec("UPDATE checkpoint SET next_offset = next_offset / 2 WHERE partition = $1", round%2)
	}
	r.settle()
	if got := r.outcomes().stored; got != 2000 {
		t.Errorf("stored %d of 2000\n%s", got, r.picture())
	}
}

func TestARecreatedTopicIsFatalUntilItIsAdopted(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		r.produce(series(0, 0, 20)...)
		r.produce(series(1, 0, 5)...)
		m := r.start(nil)
		r.settle()
		commits := r.count("SELECT sum(commits) FROM checkpoint")

		ctx := t.Context()
		if _, err := r.admin.DeleteTopic(ctx, b.Topic); err != nil {
			t.Fatal(err)
		}
		r.await("the topic is created again", func() bool {
			resp, err := r.admin.CreateTopic(ctx, 2, 1, nil, b.Topic)
			return err == nil && resp.Err == nil
		})
		r.client.PurgeTopicsFromClient(b.Topic)
		r.await("the consumer is fatal", func() bool { return m.Status().State == StateFatal })
		if s := m.Status(); s.Ready() || s.Assigned != 2 {
			t.Errorf("status %+v", s)
		}
		r.produce(series(0, 1000, 30)...)
		r.expect(tally{stored: 25})

		if err := AdoptTopic(ctx, r.pool, []kgo.Opt{kgo.SeedBrokers(b.Brokers...)}, "store", b.Topic, "", "tester", nil); err == nil {
			t.Error("a decision without a reason was taken")
		}
		if err := AdoptTopic(ctx, r.pool, []kgo.Opt{kgo.SeedBrokers(b.Brokers...)}, "store", b.Topic, "was recreated", "tester", nil); err != nil {
			t.Fatal(err)
		}
		r.settle()
		r.expect(tally{stored: 55})
		r.await("the consumer runs", func() bool { return m.Status().Ready() })
		if n := r.count("SELECT sum(commits) FROM checkpoint WHERE log = 1"); n != commits {
			t.Errorf("the old log's commits went from %d to %d", commits, n)
		}
		if n := r.count("SELECT count(*) FROM consumer_decision WHERE action = 'adopt-topic' AND reason = 'was recreated' AND log = 2"); n != 1 {
			t.Errorf("%d decisions are recorded", n)
		}
		err := AdoptTopic(ctx, r.pool, []kgo.Opt{kgo.SeedBrokers(b.Brokers...)}, "store", b.Topic, "again", "tester", nil)
		if err == nil || !strings.Contains(err.Error(), "nothing to adopt") {
			t.Errorf("adopted twice: %v", err)
		}
	})
}

func TestACheckpointOutsideOfTheLogStopsItsPartitionAlone(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		for p := range int32(3) {
			r.produce(series(p, 0, 10)...)
		}
		m := r.start(nil)
		r.settle()
		r.halt(m)
		r.exec("UPDATE checkpoint SET next_offset = 2 WHERE partition = 0")
		r.exec("UPDATE checkpoint SET next_offset = 500 WHERE partition = 1")
		if err := r.deleteRecords(0, 6); err != nil {
			t.Fatal(err)
		}
		for p := range int32(3) {
			r.produce(series(p, 10, 10)...)
		}
		m = r.start(nil)
		r.await("partition 2 goes on", func() bool {
			return r.count("SELECT next_offset FROM checkpoint WHERE partition = 2") == 20
		})
		r.await("both states are stored", func() bool {
			return r.count("SELECT count(*) FROM checkpoint WHERE (partition, state) IN ((0, 'gap'), (1, 'fatal')) AND state_reason <> ''") == 2
		})
		r.await("the worst partition is shown", func() bool { return m.Status().State == StateFatal })
		r.expect(tally{stored: 40})

		// The operator decides: go on at the log's start, and at the end.
		r.exec("UPDATE checkpoint SET next_offset = 6, state = 'running', state_reason = NULL WHERE partition = 0")
		r.exec("UPDATE checkpoint SET next_offset = 10, state = 'running', state_reason = NULL WHERE partition = 1")
		r.settle()
		r.await("the consumer runs", func() bool { return m.Status().Ready() })
		r.expect(tally{stored: 60, duplicate: 4})
	})
}

func TestTheLogMovingAwayUnderARunningConsumerIsAGap(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.produce(series(0, 0, 20)...)
	m := r.start(nil)
	r.settle()
	if err := r.deleteRecords(0, 10); err != nil {
		t.Fatal(err)
	}
	r.exec("UPDATE checkpoint SET next_offset = 3")
	r.await("the partition has a gap", func() bool { return m.Status().State == StateGap })
	r.expect(tally{stored: 20})
}

func TestATopicThatComesLateIsConsumedFromItsStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	first := r.broker.Topic
	r.broker.Topic = first + "-late"
	m := r.start(nil)
	r.await("the status says what is missing", func() bool {
		return strings.Contains(m.Status().Detail, "does not exist")
	})
	if m.Status().Ready() {
		t.Error("ready without a topic")
	}
	if resp, err := r.admin.CreateTopic(t.Context(), 1, 1, nil, r.broker.Topic); err != nil || resp.Err != nil {
		t.Fatal(err, resp.Err)
	}
	recs := series(0, 0, 10)
	for _, rec := range recs {
		rec.Topic = r.broker.Topic
	}
	r.produce(recs...)
	r.settle()
	r.expect(tally{stored: 10})
}

func TestAddedPartitionsAreConsumedFromTheirStart(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		r.produce(series(0, 0, 10)...)
		r.start(nil)
		r.settle()
		if _, err := r.admin.UpdatePartitions(t.Context(), 3, b.Topic); err != nil {
			t.Fatal(err)
		}
		r.client.ForceMetadataRefresh()
		r.await("the producer knows the partitions", func() bool {
			err := r.client.ProduceSync(t.Context(), record(event(fmt.Sprint("n", time.Now().UnixNano())), 2)).FirstErr()
			return err == nil
		})
		r.settle()
		if n := r.count("SELECT count(*) FROM checkpoint"); n != 3 {
			t.Errorf("%d checkpoints", n)
		}
	})
}
