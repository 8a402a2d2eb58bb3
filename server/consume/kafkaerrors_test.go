package consume

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// faultyBroker is a kfake that a test makes fail.
func faultyBroker(t *testing.T, partitions int32) (*kfake.Cluster, dbtest.Broker) {
	t.Helper()
	const topic = "events.faulty"
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, dbtest.Broker{Kind: "kfake", Brokers: c.ListenAddrs(), Topic: topic}
}

func client(t *testing.T, b dbtest.Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(b.Brokers...), kgo.MetadataMinAge(50 * time.Millisecond), kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(b.Topic),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// reader reads partition 0 from an offset, as the product's client does.
func reader(t *testing.T, b dbtest.Broker, at kgo.Offset, opts ...kgo.Opt) *kgo.Client {
	return client(t, b, append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{b.Topic: {0: at}}), kgo.ConsumeResetOffset(kgo.NoResetOffset()),
	}, opts...)...)
}

// fetchError polls until a fetch fails.
func fetchError(t *testing.T, cl *kgo.Client) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		fetches := cl.PollFetches(ctx)
		if errs := fetches.Errors(); len(errs) > 0 {
			return errs[0].Err
		}
	}
}

// mustProduce publishes records to partition 0.
func mustProduce(t *testing.T, b dbtest.Broker, recs ...*kgo.Record) {
	t.Helper()
	if err := client(t, b, kgo.ProducerBatchCompression(kgo.GzipCompression())).ProduceSync(t.Context(), recs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// fetchCoverage remembers which rows of the table a test has met.
type fetchCoverage struct {
	mu  sync.Mutex
	met map[string]bool
}

func (c *fetchCoverage) check(t *testing.T, err error, action fetchAction, why string) {
	t.Helper()
	r := diagnoseFetch(err)
	if r.action != action || !strings.Contains(r.why, why) {
		t.Errorf("%v: action %d (%s), want %d (%s)", err, r.action, r.why, action, why)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.met[r.why] = true
}

func TestEveryRowOfTheTableOfFailedFetchesIsMetForReal(t *testing.T) {
	t.Parallel()
	cover := &fetchCoverage{met: map[string]bool{}}
	t.Run("on each broker", func(t *testing.T) {
		dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
			mustProduce(t, b, series(0, 0, 5)...)
			cover.check(t, fetchError(t, reader(t, b, kgo.NewOffset().At(100))), fetchRetakes, "out of range")
			cover.check(t, fetchError(t, reader(t, b, kgo.NewOffset().At(100).WithEpoch(0))), fetchSticks, "lost records")
			mustProduce(t, b, &kgo.Record{Value: bytes.Repeat([]byte("x"), 500_000)})
			cover.check(t, fetchError(t, reader(t, b, kgo.NewOffset().At(5), kgo.MaxDecompressBatchBytes(10_000))), fetchSticks, "too large")
			cl := reader(t, b, kgo.NewOffset().At(6))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			cover.check(t, cl.PollFetches(ctx).Err(), fetchEnds, "poll ended")
			cl.Close()
			cover.check(t, cl.PollFetches(t.Context()).Err(), fetchEnds, "poll ended")
			cover.check(t, recreated(t, b), fetchRebuilds, "topic's id")
		})
	})
	t.Run("on a broker that is made to", func(t *testing.T) {
		for name, c := range map[string]struct {
			err    *kerr.Error
			key    kmsg.Key
			opts   []kgo.Opt
			action fetchAction
			why    string
		}{
			"a topic that may not be read":     {kerr.TopicAuthorizationFailed, kmsg.Fetch, nil, fetchRefused, "does not let"},
			"a group that may not be joined":   {kerr.GroupAuthorizationFailed, kmsg.JoinGroup, group(), fetchJoins, "group session"},
			"a member that the group forgot":   {kerr.UnknownMemberID, kmsg.SyncGroup, group(), fetchJoins, "group session"},
			"an error that the client returns": {kerr.UnknownServerError, kmsg.Fetch, nil, fetchAgain, "tries again"},
			"a topic of another id":            {kerr.UnknownTopicID, kmsg.Fetch, nil, fetchRebuilds, "topic's id"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cluster, b := faultyBroker(t, 1)
				mustProduce(t, b, series(0, 0, 5)...)
				cluster.Fault(kfake.Fault{Keys: []kmsg.Key{c.key}, Err: c.err, Count: -1})
				var cl *kgo.Client
				if c.opts == nil {
					cl = reader(t, b, kgo.NewOffset().At(0))
				} else {
					cl = client(t, b, append(c.opts, kgo.ConsumeTopics(b.Topic))...)
				}
				cover.check(t, fetchError(t, cl), c.action, c.why)
			})
		}
		for name, spoil := range map[string]func([]byte) []byte{
			"a batch whose checksum is wrong":         func(raw []byte) []byte { raw[len(raw)-1] ^= 1; return raw },
			"a batch of a format of the future":       func(raw []byte) []byte { raw[16] = 9; return raw },
			"a batch whose count is negative":         func(raw []byte) []byte { copy(raw[57:], []byte{255, 255, 255, 0}); return sealed(raw) },
			"a batch whose compression is broken":     func(raw []byte) []byte { raw[22] = 1; return sealed(raw) },
			"a batch whose codec nobody has heard of": func(raw []byte) []byte { raw[22] = 7; return sealed(raw) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cluster, b := faultyBroker(t, 1)
				mustProduce(t, b, series(0, 0, 1)...)
				spoilFetches(t, cluster, b, spoil)
				cover.check(t, fetchError(t, reader(t, b, kgo.NewOffset().At(0))), fetchSticks, "cannot be read")
			})
		}
	})
	if t.Failed() {
		return
	}
	for _, r := range fetchRules() {
		if !cover.met[r.why] {
			t.Errorf("no real error fits %q", r.why)
		}
	}
}

func group() []kgo.Opt { return []kgo.Opt{kgo.ConsumerGroup("g")} }

// recreated is what a client gets whose topic was deleted and made again.
func recreated(t *testing.T, b dbtest.Broker) error {
	t.Helper()
	cl := reader(t, b, kgo.NewOffset().At(6))
	ctx := t.Context()
	if fetches := cl.PollFetches(bounded(t, time.Second)); fetches.NumRecords() > 0 {
		t.Fatal("records beyond the end")
	}
	adm := kadm.NewClient(client(t, b))
	if _, err := adm.DeleteTopic(ctx, b.Topic); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; {
		resp, err := adm.CreateTopic(ctx, 1, 1, nil, b.Topic)
		if err == nil && resp.Err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err, resp.Err)
		}
	}
	for {
		// While the topic is away its absence is what fails.
		if err := fetchError(t, cl); !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return err
		}
	}
}

func bounded(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// batch is a record batch in Kafka's format, of one record.
func rawBatch() []byte {
	rec := kmsg.Record{Value: []byte("value")}
	body := rec.AppendTo(nil)[1:] // without the length, which is 0 yet
	rec.Length = int32(len(body))
	rb := kmsg.RecordBatch{PartitionLeaderEpoch: 0, Magic: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: 1, Records: rec.AppendTo(nil)}
	raw := rb.AppendTo(nil)
	return sealed(raw)
}

// sealed sets the length and the checksum of a batch right.
func sealed(raw []byte) []byte {
	put := func(at int, v uint32) { copy(raw[at:], []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}) }
	put(8, uint32(len(raw)-12))
	put(17, crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// spoilFetches answers every fetch of partition 0 with one spoilt batch.
func spoilFetches(t *testing.T, c *kfake.Cluster, b dbtest.Broker, spoil func([]byte) []byte) {
	t.Helper()
	id, _, err := describeTopic(t.Context(), client(t, b), b.Topic)
	if err != nil {
		t.Fatal(err)
	}
	raw := spoil(rawBatch())
	c.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		resp.Version = req.GetVersion()
		p := kmsg.NewFetchResponseTopicPartition()
		p.HighWatermark, p.LastStableOffset, p.RecordBatches = 1, 1, raw
		resp.Topics = []kmsg.FetchResponseTopic{{Topic: b.Topic, TopicID: id, Partitions: []kmsg.FetchResponseTopicPartition{p}}}
		return resp, nil, true
	})
}

// A batch that the client cannot read is never passed over: the partition stops where it is.
func TestADamagedBatchStopsItsPartitionBeforeAnythingIsLost(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func([]byte) []byte{
		"a checksum that is wrong":   func(raw []byte) []byte { raw[len(raw)-1] ^= 1; return raw },
		"a format of the future":     func(raw []byte) []byte { raw[16] = 9; return raw },
		"a compression that is none": func(raw []byte) []byte { raw[22] = 1; return sealed(raw) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, b := faultyBroker(t, 1)
			r := newRig(t, b)
			r.produce(series(0, 0, 10)...)
			spoilFetches(t, cluster, b, spoil)
			m := r.start(nil)
			r.await("the partition is fatal", func() bool { return m.Status().State == StateFatal })
			if s := m.Status(); s.Ready() || !strings.Contains(s.Detail, "cannot be read") {
				t.Errorf("status %+v", s)
			}
			if n := r.count("SELECT next_offset FROM checkpoint WHERE state = 'fatal'"); n != 0 {
				t.Errorf("the checkpoint passed over it: %d", n)
			}
			r.halt(m)
		})
	}
}

func TestAConsumerThatMayNotReadIsNotReadyUntilItMay(t *testing.T) {
	t.Parallel()
	cluster, b := faultyBroker(t, 1)
	r := newRig(t, b)
	r.produce(series(0, 0, 10)...)
	refusal := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	m := r.start(nil)
	r.await("it says so", func() bool { return strings.Contains(m.Status().Detail, "does not let this user read") })
	if s := m.Status(); s.Ready() || !s.Degraded {
		t.Errorf("status %+v", s)
	}
	refusal.Remove()
	r.settle()
	r.await("the consumer is ready", func() bool { return m.Status().Ready() })
	r.expect(tally{stored: 10})
	r.halt(m)
}
