package outbox

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/dbtest"
	"oriel/server/kafka"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consume runs the consumer of the rig's topic.
func (r *rig) consume(buried func()) {
	r.t.Helper()
	pool := dbtest.Open(r.t, dbtest.AppURL(r.t, r.url))
	c := consume.New(consume.Config{
		Consumer: "store", Topic: r.topic, Group: "store", Instance: "test", BatchAge: 10 * time.Millisecond,
		DeadLetterTopic: kafka.DeadLetterTopic(r.topic), Buried: buried, BreakerRatio: 1,
	}, pool, append(clientOptions(r.brokers), kgo.SessionTimeout(10*time.Second)), testLog(r.t.Name()), prometheus.NewRegistry(), nil)
	if err := c.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := c.Stop(r.t.Context()); err != nil && r.t.Context().Err() == nil {
			r.t.Errorf("stop the consumer: %v", err)
		}
	})
}

// produce writes n records of which every second is poison of the size.
func (r *rig) produce(from, n, size int) {
	r.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.brokers...), kgo.DefaultProduceTopic(r.topic), kgo.ProducerBatchMaxBytes(2<<20))
	if err != nil {
		r.t.Fatal(err)
	}
	defer cl.Close()
	at := time.Now().UTC().Truncate(time.Microsecond)
	var recs []*kgo.Record
	for i := from; i < from+n; i++ {
		if i%2 == 1 {
			recs = append(recs, &kgo.Record{Key: []byte("poison"), Value: noise(size)})
			continue
		}
		enc := cloudevents.EncodeRecord(&cloudevents.Event{
			ID: fmt.Sprint(i), Source: "/s", Type: "t", Time: at, TimeText: at.Format(time.RFC3339Nano), Data: []byte("x"),
		})
		rec := &kgo.Record{Key: enc.Key, Value: enc.Value}
		for _, h := range enc.Headers {
			rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
		recs = append(recs, rec)
	}
	if err := cl.ProduceSync(r.t.Context(), recs...).FirstErr(); err != nil {
		r.t.Fatal(err)
	}
}

// stored waits until the consumer has given each of n records its outcome, half of them dead.
func (r *rig) stored(n int) {
	r.t.Helper()
	r.await("every record has its outcome", func() bool {
		return r.count("SELECT count(*) FROM event") == n/2 && r.count("SELECT count(*) FROM dead_letter") == n/2 &&
			r.count("SELECT coalesce(sum(to_offset - from_offset - stored - dead), 0) FROM ledger") == 0 &&
			r.count("SELECT coalesce(sum(next_offset), 0) FROM checkpoint") == n
	})
}

// copies are the ids of the copies on the dead-letter topic, each as often as it is there, with its data.
func (r *rig) copies() (ids map[string]int, data map[string]map[string]any) {
	r.t.Helper()
	ids, data = map[string]int{}, map[string]map[string]any{}
	for _, rec := range r.published(kafka.DeadLetterTopic(r.topic)) {
		in := cloudevents.Record{Key: rec.Key, Value: rec.Value}
		for _, h := range rec.Headers {
			in.Headers = append(in.Headers, cloudevents.Header{Key: h.Key, Value: h.Value})
		}
		e, _, err := cloudevents.DecodeRecord(in)
		if err != nil {
			r.t.Fatalf("a copy is no event: %v", err)
		}
		if e.Type != "oriel.dead_letter.v1" || e.Subject != string(rec.Key) || !strings.HasPrefix(string(rec.Key), r.topic+"/") {
			r.t.Fatalf("a copy is %+v with the key %q", e, rec.Key)
		}
		var d map[string]any
		if err := json.Unmarshal(e.Data, &d); err != nil {
			r.t.Fatal(err)
		}
		ids[e.ID]++
		data[e.ID] = d
	}
	return ids, data
}

// expectCopies requires a copy of each letter, under the letter's id.
func (r *rig) expectCopies(n int) (repeats int) {
	r.t.Helper()
	ids, _ := r.copies()
	if len(ids) != n {
		r.t.Errorf("%d letters were copied of %d", len(ids), n)
	}
	rows, err := r.pool.Query(r.t.Context(), `SELECT concat_ws('/', consumer, log, partition, "offset") FROM dead_letter`)
	if err != nil {
		r.t.Fatal(err)
	}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			r.t.Fatal(err)
		}
		if ids[id] == 0 {
			r.t.Errorf("the letter %s has no copy", id)
		}
		repeats += ids[id] - 1
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return repeats
}

func TestEachDeadLetterHasItsCopyOnTheTopic(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		rel := r.start(func(c *Config) { c.PollMin, c.PollMax = time.Second, time.Second })
		r.consume(rel.Wake)
		r.produce(0, 200, 100)
		r.stored(200)
		r.drained()
		if repeats := r.expectCopies(100); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
	})
}

func TestADeadLetterTopicInTroubleStopsNoConsumerAndLosesNoLetter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault *kfake.Fault
		size  int
	}{
		"it is missing":         {nil, 100},
		"we may not write":      {&kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: topicDenied(), Count: -1}, 100},
		"it has no leader":      {&kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: noLeader(), Count: -1}, 100},
		"its answers never say": {&kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: timedOut(), Count: -1}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, r := faulty(t, 2)
			heal := func() { r.makeTopic(kafka.DeadLetterTopic(r.topic), 2, nil) }
			if c.fault != nil {
				heal()
				c.fault.Topic = kafka.DeadLetterTopic(r.topic)
				heal = cluster.Fault(*c.fault).Remove
			}
			rel := r.start(nil)
			r.consume(rel.Wake)
			r.produce(0, 100, c.size)
			r.stored(100)
			r.await("it shows", func() bool {
				sum := 0.0
				for _, class := range []string{"environment", "configuration", "unknown"} {
					sum += rel.value(t, "backoffs", "class="+class)
				}
				return sum > 0
			})
			r.produce(100, 100, c.size) // the consumer goes on
			r.stored(200)
			if n := r.count("SELECT count(*) FROM outbox WHERE NOT dead AND attempts = 0"); n != 100 && c.fault != nil && c.fault.Err != timedOut() {
				t.Errorf("%d copies wait\n%s", n, r.picture())
			}
			heal()
			r.drained()
			r.expectCopies(100)
			if r.dead() != 0 {
				t.Errorf("%d copies are dead", r.dead())
			}
		})
	}
}

func TestALetterTooLargeForItsTopicIsCopiedAsAPointer(t *testing.T) {
	t.Parallel()
	eachBroker(t, 1, func(t *testing.T, r *rig) {
		dlq := kafka.DeadLetterTopic(r.topic)
		if _, err := r.admin.DeleteTopic(t.Context(), dlq); err != nil {
			t.Fatal(err)
		}
		small := "20000"
		r.await("the topic is small", func() bool {
			made, err := r.admin.CreateTopic(t.Context(), 1, 1, map[string]*string{"max.message.bytes": &small}, dlq)
			return err == nil && made.Err == nil
		})
		rel := r.start(nil)
		r.consume(rel.Wake)
		r.produce(0, 20, 50_000)
		r.stored(20)
		r.drained()
		r.expectCopies(10)
		_, data := r.copies()
		for id, d := range data {
			if d["record"] != nil || d["omitted"] == nil {
				t.Errorf("%s is whole", id)
			}
		}
		if n := r.count("SELECT count(*) FROM dead_letter WHERE octet_length(record_value) = 50000"); n != 10 || r.dead() != 0 {
			t.Errorf("%d letters have their bytes, %d copies are dead", n, r.dead())
		}
	})
}

func TestRepeatsOfACopyCollapseOnItsId(t *testing.T) {
	t.Parallel()
	eachBroker(t, 2, func(t *testing.T, r *rig) {
		r.consume(nil)
		r.produce(0, 100, 100)
		r.stored(100)
		release := r.holdDeletes()
		a := r.fork("a")
		r.await("all are published", func() bool { return len(r.published(kafka.DeadLetterTopic(r.topic))) == 50 })
		a.kill()
		release()
		r.start(nil)
		r.drained()
		if repeats := r.expectCopies(50); repeats != 50 {
			t.Errorf("%d repeats", repeats)
		}
	})
}

func TestTwentyThousandDeadLettersDrain(t *testing.T) {
	t.Parallel()
	eachBroker(t, 3, func(t *testing.T, r *rig) {
		const n = 40_000
		r.consume(nil)
		r.produce(0, n, 500)
		r.stored(n)
		began := time.Now()
		r.start(nil)
		r.drained()
		took := time.Since(began)
		t.Logf("%d copies in %s, %.0f a second", n/2, took, n/2/took.Seconds())
		if took > patience/2 {
			t.Errorf("they took %s", took)
		}
		if repeats := r.expectCopies(n / 2); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
	})
}
