package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/bench/events"
	"oriel/bench/stored"
	"oriel/bench/webhooks"
)

// spread is over how long the events' times are spread: how long the backlog took to grow.
const spread = 10 * time.Minute

// partitions of every topic.
const partitions = 6

// workload is one kind of events.
type workload struct {
	name string
	n    int
	past stored.Past
	next func() events.Event
}

func workloads(o options, now time.Time) ([]workload, error) {
	rng := rand.New(rand.NewPCG(1, 5))
	at := func() time.Time {
		return now.Add(-time.Duration(rng.Int64N(int64(spread)))).Truncate(time.Microsecond)
	}
	short := events.New(rng, now, 5)
	set, err := webhooks.Load(o.webhooks)
	if err != nil {
		return nil, err
	}
	return []workload{
		{"650 B events", o.events, stored.Past{Events: o.stored, Until: now.Add(-spread)}, func() events.Event {
			e := short.Next()
			e.Time = at()
			return e
		}},
		{"varied webhook payloads", o.hooks, stored.Past{Hooks: o.hookPast, Until: now.Add(-spread), Webhooks: o.webhooks}, func() events.Event { return set.Varied(rng, at()) }},
	}, nil
}

// form is how a backlog looks.
type form string

const (
	asEvents form = "events" // CloudEvents in binary mode
	asSkewed form = "skewed" // the same, nine of ten in one partition
	asRows   form = "rows"   // JSON objects for a converter that knows their schema
)

// backlog is a topic of new events.
type backlog struct {
	topic string
	n     int
	bytes int // of data
}

// skew puts nine of ten records in one partition.
func skew(i int) int32 {
	if i%10 != 0 {
		return 0
	}
	return int32(1 + i/10%(partitions-1))
}

func (s *stage) publish(ctx context.Context, w workload, f form) (b backlog, err error) {
	s.topics++
	b = backlog{n: w.n, topic: fmt.Sprintf("bench.peers.%d.%d.%s", time.Now().Unix(), s.topics, f)}
	cl, err := kgo.NewClient(kgo.SeedBrokers(s.brokers...), kgo.ProducerLinger(20*time.Millisecond),
		kgo.RecordPartitioner(asSaid{kgo.StickyKeyPartitioner(nil)}), kgo.MaxBufferedRecords(5000), kgo.MaxBufferedBytes(64<<20))
	if err != nil {
		return b, err
	}
	defer cl.Close()
	made, err := kadm.NewClient(cl).CreateTopics(ctx, partitions, 1, nil, b.topic)
	if err == nil {
		err = made.Error()
	}
	if err != nil {
		return b, err
	}
	failed := make(chan error, 1)
	produce := func(r *kgo.Record) {
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	for i := range w.n {
		e := w.next()
		b.bytes += len(e.Data)
		r := stored.Record(&e)
		r.Topic, r.Partition = b.topic, anyPartition
		switch f {
		case asSkewed:
			r.Partition = skew(i)
		case asRows:
			if r.Value, err = asRow(&e); err != nil {
				return b, err
			}
			r.Headers = nil
		case asEvents:
		}
		produce(r)
	}
	if err := cl.Flush(ctx); err != nil {
		return b, err
	}
	select {
	case err := <-failed:
		return b, err
	default:
		return b, nil
	}
}

// row is an event as a sink can store it without transforming it.
type row struct {
	OccurredAt      string `json:"occurred_at"`
	Source          string `json:"source"`
	ID              string `json:"id"`
	Type            string `json:"type"`
	Subject         string `json:"subject"`
	DataContentType string `json:"datacontenttype"`
	Data            string `json:"data"`
}

// rowSchema is what a converter is told of it once, so that no record carries it. A sink needs to know
// where the column of the data is no text.
func rowSchema(asJSON bool) string {
	data := `{"field":"data","type":"string","optional":true}`
	if asJSON {
		data = `{"field":"data","type":"string","optional":true,"name":"io.debezium.data.Json","version":1}`
	}
	return `{"type":"struct","optional":false,"fields":[` +
		`{"field":"occurred_at","type":"string","optional":false,"name":"io.debezium.time.ZonedTimestamp","version":1},` +
		`{"field":"source","type":"string","optional":false},{"field":"id","type":"string","optional":false},` +
		`{"field":"type","type":"string","optional":false},{"field":"subject","type":"string","optional":true},` +
		`{"field":"datacontenttype","type":"string","optional":true},` +
		data + `]}`
}

func asRow(e *events.Event) ([]byte, error) {
	return json.Marshal(row{
		OccurredAt: e.Time.Format(time.RFC3339Nano), Source: e.Source, ID: e.ID, Type: e.Type, Subject: e.Subject,
		DataContentType: "application/json", Data: string(e.Data),
	})
}

// anyPartition leaves the choice to the key.
const anyPartition = -1

// asSaid is a partitioner that heeds a record's own partition.
type asSaid struct{ kgo.Partitioner }

func (p asSaid) ForTopic(topic string) kgo.TopicPartitioner {
	return asSaidIn{p.Partitioner.ForTopic(topic)}
}

type asSaidIn struct{ kgo.TopicPartitioner }

func (p asSaidIn) Partition(r *kgo.Record, n int) int {
	if r.Partition != anyPartition {
		return int(r.Partition)
	}
	return p.TopicPartitioner.Partition(r, n)
}
