package consume

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/fault"

	"github.com/twmb/franz-go/pkg/kgo"
)

// copying makes a consumer enqueue copies.
func (r *rig) copying(c *Config) { c.DeadLetterTopic = r.broker.Topic + ".dlq" }

// enqueued is a row of the outbox.
type enqueued struct {
	Key, Topic     string
	RecordKey      []byte
	Headers        [][]byte
	Value, Smaller []byte
}

func (r *rig) enqueued() (all []enqueued) {
	r.t.Helper()
	rows, err := r.pool.Query(r.t.Context(), "SELECT order_key, topic, record_key, headers, record_value, smaller_value FROM outbox ORDER BY id")
	if err != nil {
		r.t.Fatal(err)
	}
	for rows.Next() {
		var e enqueued
		if err := rows.Scan(&e.Key, &e.Topic, &e.RecordKey, &e.Headers, &e.Value, &e.Smaller); err != nil {
			r.t.Fatal(err)
		}
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return all
}

// opened is a copy as a consumer of the dead-letter topic reads it.
func opened(t *testing.T, value []byte) (*cloudevents.Event, map[string]any) {
	t.Helper()
	rec := cloudevents.Record{Value: value, Headers: []cloudevents.Header{{Key: "content-type", Value: []byte("application/cloudevents+json; charset=UTF-8")}}}
	e, _, err := cloudevents.DecodeRecord(rec)
	if err != nil {
		t.Fatalf("the copy is no event: %v", err)
	}
	var data map[string]any
	if err := json.Unmarshal(e.Data, &data); err != nil {
		t.Fatal(err)
	}
	return e, data
}

func TestEachDeadLetterIsEnqueuedWithItWholeAndOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		raw := &kgo.Record{
			Key: []byte{0xff, 1}, Value: []byte("\x00 not \"JSON\" <é>"),
			Headers: []kgo.RecordHeader{{Key: "b", Value: []byte{0xfe}}, {Key: "a\xff", Value: nil}, {Key: "b", Value: []byte{}}, {Key: "b", Value: []byte("ü")}},
		}
		told := make(chan struct{}, 10)
		with := func(c *Config) {
			r.copying(c)
			c.DeadLetterSource = "https://oriel.example.com/consumers/store"
			c.Buried = func() { told <- struct{}{} }
		}
		m := r.start(with)
		r.produce(record(event("good"), 0), raw, &kgo.Record{}, record(event("also good"), 0))
		r.await("two letters", func() bool { return r.count("SELECT count(*) FROM dead_letter") == 2 })
		<-told
		all := r.enqueued()
		if len(all) != 2 {
			t.Fatalf("%d copies", len(all))
		}
		var log int
		r.one(&log, "SELECT id FROM log")
		place := b.Topic + "/0/1"
		if c := all[0]; c.Topic != b.Topic+".dlq" || string(c.RecordKey) != place || c.Key != fmt.Sprintf("store/%d/0/1", log) ||
			len(c.Headers) != 2 || string(c.Headers[0]) != "content-type" || string(c.Headers[1]) != "application/cloudevents+json; charset=UTF-8" {
			t.Errorf("the row is %+v", c)
		}
		e, data := opened(t, all[0].Value)
		if e.ID != fmt.Sprintf("store/%d/0/1", log) || e.Type != "oriel.dead_letter.v1" || e.Source != "https://oriel.example.com/consumers/store" ||
			e.Subject != place || time.Since(e.Time) > time.Minute {
			t.Errorf("the event is %+v", e)
		}
		got, err := json.Marshal(data["record"])
		if err != nil {
			t.Fatal(err)
		}
		want := `{"headers":[{"name":{"text":"b"},"value":{"base64":"/g=="}},{"name":{"base64":"Yf8="},"value":null},` +
			`{"name":{"text":"b"},"value":{"text":""}},{"name":{"text":"b"},"value":{"text":"ü"}}],` +
			`"key":{"base64":"/wE="},"value":{"text":"\u0000 not \"JSON\" \u003cé\u003e"}}`
		if string(got) != want {
			t.Errorf("the record is\n%s, want\n%s", got, want)
		}
		delete(data, "record")
		if data["reason"] != fault.ReasonUndecodable || data["detail"] == "" || data["consumer"] != "store" || data["recordTime"] == "" || data["event"] != nil ||
			fmt.Sprint(data["position"]) != fmt.Sprintf("map[log:%d offset:1 partition:0 topic:%s]", log, b.Topic) || data["recordBytes"] != float64(2+17+8) {
			t.Errorf("the rest is %v", data)
		}
		// What is null stays null.
		if _, data := opened(t, all[1].Value); fmt.Sprint(data["record"]) != "map[headers:[] key:<nil> value:<nil>]" {
			t.Errorf("the empty record is %v", data["record"])
		}
		// The pointer says the same without the bytes.
		if _, data := opened(t, all[0].Smaller); data["record"] != nil || data["omitted"] == "" || data["reason"] != fault.ReasonUndecodable {
			t.Errorf("the pointer is %v", data)
		}
		// Met again, published or not: the letter stays and is enqueued no more.
		r.exec("DELETE FROM outbox WHERE order_key = $1", all[0].Key)
		r.halt(m)
		r.exec("UPDATE checkpoint SET next_offset = 0")
		r.start(with)
		r.await("all is read again", func() bool {
			return r.count("SELECT count(*) FROM ledger WHERE dead > 0") >= 2 && r.count("SELECT next_offset FROM checkpoint") == 4
		})
		if again := r.enqueued(); len(again) != 1 || again[0].Key != all[1].Key {
			t.Errorf("%d copies after the second reading", len(again))
		}
	})
}

func TestACopyThatWouldBeTooLargeIsAPointerFromTheStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.start(r.copying)
	fits, large := bytes.Repeat([]byte("x"), 1<<20), bytes.Repeat([]byte{0xff}, 1_600_000) // and a third more in base64
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...), kgo.DefaultProduceTopic(r.broker.Topic), kgo.ProducerBatchMaxBytes(4<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, v := range [][]byte{fits, large} {
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Value: v}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	r.await("both are buried", func() bool { return r.count("SELECT count(*) FROM dead_letter") == 2 })
	all := r.enqueued()
	if len(all) != 2 || len(all[0].Value) < len(fits) || all[0].Smaller == nil {
		t.Fatalf("%d copies, the first of %d bytes", len(all), len(all[0].Value))
	}
	if _, data := opened(t, all[1].Value); data["record"] != nil || data["omitted"] == nil || data["recordBytes"] != float64(len(large)) || all[1].Smaller != nil {
		t.Errorf("the large one's copy is %v", data)
	}
	if n := r.count("SELECT octet_length(record_value) FROM dead_letter WHERE \"offset\" = 1"); n != len(large) {
		t.Errorf("the letter keeps %d bytes", n)
	}
}

func TestACopySaysWhoTheEventWasAsFarAsCanBeRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	r.start(r.copying)
	r.produce(without(record(event("no-type"), 0), "ce_type"))
	r.await("it is buried", func() bool { return r.count("SELECT count(*) FROM dead_letter") == 1 })
	_, data := opened(t, r.enqueued()[0].Value)
	if fmt.Sprint(data["event"]) != "map[id:no-type source:/homes/1]" || !strings.Contains(data["detail"].(string), "type") {
		t.Errorf("the copy is %v", data)
	}
}

func TestTheLetterAndItsCopyCommitTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	p := dbtest.NewProxy(t, r.url)
	m := r.startOn(dbtest.Open(t, p.URL()), r.copying)
	r.produce(record(event("good"), 0))
	r.settle()
	p.Next(dbtest.CutBefore, dbtest.LoseReply)
	r.produce(&kgo.Record{Value: []byte("poison")})
	r.await("it is buried", func() bool { return r.count("SELECT count(*) FROM dead_letter") == 1 })
	r.await("and accounted for", func() bool { return r.count("SELECT next_offset FROM checkpoint") == 2 })
	if n := len(r.enqueued()); n != 1 {
		t.Errorf("%d copies", n)
	}
	r.halt(m)
	p.Close()
}
