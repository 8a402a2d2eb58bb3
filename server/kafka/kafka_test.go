package kafka_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/dbtest"
	"oriel/server/kafka"
)

func TestWrongSettingsAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	notPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(notPEM, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	seeds := []string{"127.0.0.1:1"}
	for name, c := range map[string]struct {
		cfg  kafka.Config
		want string
	}{
		"no brokers":                  {kafka.Config{}, "no kafka brokers"},
		"a mechanism nobody knows":    {kafka.Config{Brokers: seeds, SASL: "GSSAPI", Username: "u", Password: "p"}, "SCRAM-SHA-512 are accepted"},
		"a mechanism without a user":  {kafka.Config{Brokers: seeds, SASL: "PLAIN", Password: "p"}, "needs a user and a password"},
		"a user without a mechanism":  {kafka.Config{Brokers: seeds, Username: "u"}, "no SASL mechanism"},
		"a CA file that is not there": {kafka.Config{Brokers: seeds, TLS: true, TLSCAFile: "/nowhere/ca.pem"}, "read the kafka TLS CA file"},
		"a CA file that is none":      {kafka.Config{Brokers: seeds, TLS: true, TLSCAFile: notPEM}, "holds no PEM certificate"},
		"a CA file with TLS off":      {kafka.Config{Brokers: seeds, TLSCAFile: notPEM}, "TLS is off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := kafka.Options(c.cfg, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestTopicsAreCreatedOnceWithRoomForTheLargestEvent(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		log := slog.New(slog.DiscardHandler)
		cfg := kafka.Config{Brokers: b.Brokers, Topic: b.Topic + ".new", Partitions: 4}
		cl := newClient(t, b.Brokers[0], kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerBatchMaxBytes(2<<20))
		if err := kafka.Ping(ctx, cl, cfg.Topic); !errors.Is(err, kafka.ErrNoTopic) {
			t.Fatalf("a topic that is not there answers %v", err)
		}
		if err := kafka.EnsureTopics(ctx, cfg, log); err != nil {
			t.Fatal(err)
		}
		first := waitTopic(t, ctx, cl, cfg.Topic)
		if err := kafka.EnsureTopics(ctx, cfg, log); err != nil {
			t.Fatalf("a second run: %v", err)
		}
		again, err := kafka.TopicID(ctx, cl, cfg.Topic)
		if err != nil || again != first {
			t.Fatalf("a second run changed the topic's id from %x to %x (%v)", first, again, err)
		}
		large := &kgo.Record{Topic: cfg.Topic, Value: make([]byte, 1900<<10)}
		if err := cl.ProduceSync(ctx, large).FirstErr(); err != nil {
			t.Fatalf("the broker refuses a record that ingest may send: %v", err)
		}
		adm := kadm.NewClient(cl)
		topics, err := adm.ListTopics(ctx, cfg.Topic, kafka.DeadLetterTopic(cfg.Topic))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{cfg.Topic, cfg.Topic + ".dlq"} {
			if got := len(topics[name].Partitions); got != 4 {
				t.Errorf("%s has %d partitions and not 4", name, got)
			}
		}
		if _, err := adm.DeleteTopics(ctx, cfg.Topic, kafka.DeadLetterTopic(cfg.Topic)); err != nil {
			t.Fatal(err)
		}
		cl.PurgeTopicsFromClient(cfg.Topic)
		waitFor(t, ctx, "the topic's end", func() bool { return errors.Is(kafka.Ping(ctx, cl, cfg.Topic), kafka.ErrNoTopic) })
		if err := kafka.EnsureTopics(ctx, cfg, log); err != nil {
			t.Fatal(err)
		}
		if recreated := waitTopic(t, ctx, cl, cfg.Topic); recreated == first {
			t.Fatal("a recreated topic has the id of the one before")
		}
	})
}

// waitTopic waits for the new topic's leaders: brokers learn of a creation after its answer.
func waitTopic(t *testing.T, ctx context.Context, cl *kgo.Client, topic string) [16]byte {
	t.Helper()
	waitFor(t, ctx, "the topic's leaders", func() bool { return kafka.Ping(ctx, cl, topic) == nil })
	id, err := kafka.TopicID(ctx, cl, topic)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestTopicsThatWouldLoseOrRefuseEventsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ key, value, want string }{
		"a compacted topic":                 {"cleanup.policy", "compact", "drops events that share a key"},
		"a topic with a smaller size limit": {"max.message.bytes", "1000000", "refuse events that the API accepts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				cl := newClient(t, b.Brokers[0])
				made := b.Topic + ".made-by-hand"
				if _, err := kadm.NewClient(cl).CreateTopic(ctx, 1, 1, map[string]*string{c.key: &c.value}, made); err != nil {
					t.Fatal(err)
				}
				err := kafka.EnsureTopics(ctx, kafka.Config{Brokers: b.Brokers, Topic: made, Partitions: 1}, slog.New(slog.DiscardHandler))
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want an error with %q", err, c.want)
				}
			})
		})
	}
}

func TestPingFailsInTimeWhenNoBrokerIsThere(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cl := newClient(t, "127.0.0.1:1")
	began := time.Now()
	if err := kafka.Ping(ctx, cl, topic); err == nil {
		t.Fatal("a broker answers where none is")
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Fatalf("Ping with 300 ms to live took %v", took)
	}
}

func TestPingSeesThatTheBrokerIsGoneWhatTheClientSawBefore(t *testing.T) {
	t.Parallel()
	e := start(t, t.TempDir(), 0)
	cl := newClient(t, e.Brokers()[0])
	ctx := bounded(t, 20*time.Second)
	if err := kafka.Ping(ctx, cl, topic); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	if err := kafka.Ping(short, cl, topic); err == nil {
		t.Fatal("a broker that is gone answers")
	}
}
