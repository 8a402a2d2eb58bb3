package outbox

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// tell produces one record as the relay does, and returns what the client says of it.
func tell(t *testing.T, brokers []string, rec *kgo.Record) error {
	t.Helper()
	cfg := quick().withDefaults()
	r := &Relay{cfg: cfg, opts: clientOptions(brokers)}
	cl, err := kgo.NewClient(append(r.clientOptions(), kgo.RecordRetries(5))...)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return cl.ProduceSync(ctx, rec).FirstErr()
}

// Every row of the table that a broker can answer is answered by one; what the client makes of it is what
// the relay has to judge. It tries again by itself what the protocol calls retriable.
func TestEveryAnswerOfABrokerIsJudgedByTheTable(t *testing.T) {
	t.Parallel()
	again := map[error]bool{ // the client gives up on these with errors of its own
		kerr.NotLeaderForPartition: true, kerr.LeaderNotAvailable: true, kerr.FencedLeaderEpoch: true, kerr.UnknownLeaderEpoch: true,
		kerr.NotEnoughReplicas: true, kerr.KafkaStorageError: true, kerr.ReplicaNotAvailable: true, kerr.ThrottlingQuotaExceeded: true,
		kerr.RequestTimedOut: true, kerr.NotEnoughReplicasAfterAppend: true, kerr.NetworkException: true, kerr.InconsistentTopicID: true,
		kerr.UnknownTopicOrPartition: true,
	}
	fine := map[error]bool{ // and these it mends: a new sequence, or an acknowledgement
		kerr.OutOfOrderSequenceNumber: true, kerr.DuplicateSequenceNumber: true, kerr.UnknownProducerID: true,
		kerr.InvalidProducerIDMapping: true, kerr.InvalidProducerEpoch: true,
	}
	answered := 0
	for _, v := range verdicts() {
		said := (*kerr.Error)(nil)
		if !errors.As(v.err, &said) {
			continue
		}
		answered++
		t.Run(said.Message, func(t *testing.T) {
			t.Parallel()
			cluster, r := faulty(t, 1)
			count := -1
			if fine[v.err] {
				count = 1
			}
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: said, Count: count})
			err := tell(t, r.brokers, &kgo.Record{Topic: r.topic, Value: []byte("v")})
			if fine[v.err] {
				if err != nil {
					t.Errorf("the client says %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("the record was taken")
			}
			want := v
			if again[v.err] && !errors.Is(err, v.err) {
				want = verdict{class: unknown}
				if !errors.Is(err, kgo.ErrRecordRetries) && !errors.Is(err, kgo.ErrRecordTimeout) {
					t.Errorf("the client says %v", err)
				}
			}
			if got := classify(err); got.class != want.class || got.reason != want.reason || got.tries != want.tries {
				t.Errorf("%v is judged %v %q, want %v %q", err, got.class, got.reason, want.class, want.reason)
			}
		})
	}
	if answered < 35 {
		t.Errorf("only %d rows are answers", answered)
	}
}

func TestEveryRowIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	seen := map[error]bool{}
	for _, v := range verdicts() {
		if seen[v.err] {
			t.Errorf("%v has two rows", v.err)
		}
		seen[v.err] = true
		if got := classify(v.err); got != v {
			t.Errorf("%v is judged %v", v.err, got)
		}
		if buries := v.class == recordCaused || v.class == suspect; buries != (v.reason != "") || buries != (v.tries > 0) {
			t.Errorf("%v: only what buries has a reason and a number of tries", v.err)
		}
	}
	for err, want := range map[error]class{
		kerr.UnknownServerError:               suspect,
		kerr.GroupAuthorizationFailed:         suspect, // nothing that a produce request is answered, so unexpected
		io.EOF:                                environment,
		&net.OpError{Op: "dial", Err: io.EOF}: environment,
		errors.Join(kgo.ErrRecordTimeout, kerr.UnknownTopicOrPartition): configuration, // the cause comes first
	} {
		if got := classify(err); got.class != want {
			t.Errorf("%v is judged %v, want %v", err, got.class, want)
		}
	}
	if v := classify(kerr.UnknownServerError); v.reason != reasonUnexpected || v.tries != unexpectedTries {
		t.Errorf("what the table does not know is judged %v", v)
	}
}

func TestABrokerThatIsAwayIsNoFaultOfTheMessage(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	err = tell(t, []string{addr}, &kgo.Record{Topic: "letters", Value: []byte("v")})
	if c := classify(err).class; err == nil || c != environment && c != unknown {
		t.Errorf("%v is judged %v", err, c)
	}
}

// What each kind of broker really refuses, and how.
func TestRealRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		configs map[string]string
		record  kgo.Record
		topic   string // instead of one that is made
		apache  bool   // that broker alone enforces it
		class   class
		reason  string
	}{
		"a record larger than the topic takes": {
			configs: map[string]string{"max.message.bytes": "50000"}, record: kgo.Record{Value: noise(100_000)},
			class: recordCaused, reason: reasonTooLarge,
		},
		"a record larger than the client takes": {record: kgo.Record{Value: noise(5 << 20)}, class: recordCaused, reason: reasonTooLarge},
		"a record without a key for a compacted topic": {
			configs: map[string]string{"cleanup.policy": "compact"}, record: kgo.Record{Value: []byte("v")}, apache: true,
			class: recordCaused, reason: reasonInvalid,
		},
		"a timestamp that the topic does not take": {
			configs: map[string]string{"message.timestamp.after.max.ms": "60000"}, apache: true,
			record: kgo.Record{Value: []byte("v"), Timestamp: time.Now().Add(time.Hour)}, class: recordCaused, reason: reasonInvalid,
		},
		"a topic that is missing": {topic: "there.is.none", record: kgo.Record{Value: []byte("v")}, class: configuration},
		"a topic of no valid name": {
			topic: "no name", record: kgo.Record{Value: []byte("v")}, apache: true, class: recordCaused, reason: reasonInvalid,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
				if c.apache && b.Kind != "apache" {
					t.Skip("kfake takes it")
				}
				r := newRig(t, b.Brokers, "")
				rec := c.record
				if rec.Topic = c.topic; rec.Topic == "" {
					rec.Topic = r.newTopic(1, c.configs)
				}
				err := tell(t, b.Brokers, &rec)
				if err == nil {
					t.Fatal("the record was taken")
				}
				if v := classify(err); v.class != c.class || v.reason != c.reason {
					t.Errorf("%v is judged %v %q, want %v %q", err, v.class, v.reason, c.class, c.reason)
				}
			})
		})
	}
}

// The schema keeps out what no topic can be named; the table is for what slips through.
func TestATopicOfNoValidNameCannotBeEnqueued(t *testing.T) {
	t.Parallel()
	r := newRig(t, []string{"127.0.0.1:1"}, "")
	for _, name := range []string{"", ".", "..", "a b", "a/b", "ä", strings.Repeat("x", 250)} {
		if _, err := r.pool.Exec(t.Context(), "INSERT INTO outbox (order_key, seq, topic) VALUES ('k', 0, $1)", name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	for _, name := range []string{"a", "A.b_c-9", strings.Repeat("x", 249)} {
		if _, err := r.pool.Exec(t.Context(), "INSERT INTO outbox (order_key, seq, topic) VALUES ($1, 0, $1)", name); err != nil {
			t.Error(err)
		}
	}
}
