package outbox

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func topicDenied() *kerr.Error { return kerr.TopicAuthorizationFailed }
func noLeader() *kerr.Error    { return kerr.NotLeaderForPartition }
func timedOut() *kerr.Error    { return kerr.RequestTimedOut }

func always(err *kerr.Error, mod func(*kfake.Fault)) kfake.Fault {
	f := kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: -1}
	if mod != nil {
		mod(&f)
	}
	return f
}

// noise does not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func TestAMessageTooLargeForItsTopicIsDeadAtOnceAndTheOthersFlow(t *testing.T) {
	t.Parallel()
	eachBroker(t, 1, func(t *testing.T, r *rig) {
		r.topic = r.newTopic(1, map[string]string{"max.message.bytes": "100000"})
		rel := r.start(nil)
		r.spread(r.topic, "before", 50)
		r.exec("INSERT INTO outbox (order_key, seq, topic, record_value, blocks_key) VALUES ('waits', 0, $1, $2, true), ('goes', 0, $1, $2, false)",
			r.topic, noise(200_000))
		r.enqueue(r.topic, "waits", 1, 2)
		r.enqueue(r.topic, "goes", 1, 2)
		r.spread(r.topic, "after", 50)
		r.await("only what waits for the dead one is left", func() bool { return r.pending() == 2 && r.dead() == 2 })
		if n := r.count("SELECT count(*) FROM outbox WHERE dead AND seq = 0 AND reason = 'TOO_LARGE' AND detail <> '' AND attempts = 1 AND died_at IS NOT NULL"); n != 2 {
			t.Errorf("the dead are\n%s", r.picture())
		}
		if n := rel.value(t, "dead_total", "reason=TOO_LARGE"); n != 2 {
			t.Errorf("%v dead by the metrics", n)
		}
		r.await("the gauge says so", func() bool { return rel.value(t, "dead_messages", "") == 2 })
		if n := r.count("SELECT count(*) FROM outbox WHERE NOT dead AND order_key <> 'waits'"); n != 0 {
			t.Errorf("%d others are left", n)
		}
		if n := r.count("SELECT count(*) FROM outbox_backoff"); n != 0 {
			t.Errorf("%d pauses for one message's fault", n)
		}
		// The operator's word: what waited goes.
		r.exec("DELETE FROM outbox WHERE dead AND order_key = 'waits'")
		r.drained()
		want := slices.Concat(spreadValues("before", 50), spreadValues("after", 50), values("goes", 1, 2), values("waits", 1, 2))
		if repeats := r.expectAll(r.topic, want); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
	})
}

func TestWhatIsTooLargeGoesAsItsSmallerValue(t *testing.T) {
	t.Parallel()
	eachBroker(t, 1, func(t *testing.T, r *rig) {
		r.topic = r.newTopic(1, map[string]string{"max.message.bytes": "100000"})
		rel := r.start(nil)
		r.exec("INSERT INTO outbox (order_key, seq, topic, record_value, smaller_value) VALUES ('k', 0, $1, $2, 'k 0'), ('fits', 0, $1, 'fits 0', 'never 0')",
			r.topic, noise(200_000))
		r.drained()
		r.expectAll(r.topic, []string{"k 0", "fits 0"})
		if n := rel.value(t, "shrunk_total", ""); n != 1 {
			t.Errorf("%v shrunk", n)
		}
	})
}

// A batch of many small messages may be more than the topic takes at once.
func TestABatchThatIsTooLargeBuriesNobody(t *testing.T) {
	t.Parallel()
	eachBroker(t, 1, func(t *testing.T, r *rig) {
		r.topic = r.newTopic(1, map[string]string{"max.message.bytes": "30000"})
		r.start(nil)
		r.exec(`INSERT INTO outbox (order_key, seq, topic, record_value)
			SELECT 'k' || i, 0, $1, (SELECT string_agg(decode(md5(i || ' ' || j), 'hex'), '') FROM generate_series(1, 600) j)
			  FROM generate_series(1, 60) i`, r.topic)
		r.drained()
		if r.dead() != 0 {
			t.Errorf("%d are dead\n%s", r.dead(), r.picture())
		}
		if n := len(r.published(r.topic)); n != 60 {
			t.Errorf("%d records of 60 messages", n)
		}
	})
}

func TestABatchRefusedForOneBuriesThatOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    *kerr.Error
		reason string
	}{
		"an invalid record":                  {kerr.InvalidRecord, reasonInvalid},
		"a policy":                           {kerr.PolicyViolation, reasonPolicy},
		"a timestamp":                        {kerr.InvalidTimestamp, reasonInvalid},
		"a batch that arrives corrupt again": {kerr.CorruptMessage, reasonCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, r := faulty(t, 1)
			cluster.Fault(always(c.err, func(f *kfake.Fault) {
				f.When = func(req kmsg.Request) bool {
					return bytes.Contains(req.AppendTo(nil), []byte("poison"))
				}
			}))
			r.plain = true
			r.enqueue(r.topic, "poison", 0, 2)
			r.spread(r.topic, "good", 200)
			r.start(nil)
			more := 0
			r.await("one is dead and all others are published", func() bool {
				if r.pending() == 2 && r.dead() == 0 { // what may be an outage is one until others are taken
					more++
					r.enqueue(r.topic, "more", more, 1)
				}
				return r.pending() == 1 && r.dead() == 1
			})
			if n := r.count("SELECT count(*) FROM outbox WHERE dead AND order_key = 'poison' AND seq = 0 AND reason = $1", c.reason); n != 1 {
				t.Errorf("the dead are\n%s", r.picture())
			}
			r.expectAll(r.topic, append(spreadValues("good", 200), values("more", 1, more)...))
		})
	}
}

func TestAnErrorThatTheTableDoesNotKnowIsNoOutageAndNoDeathSentence(t *testing.T) {
	t.Parallel()
	cluster, r := faulty(t, 1)
	r.plain = true
	h := cluster.Fault(always(kerr.UnknownServerError, func(f *kfake.Fault) {
		f.When = func(req kmsg.Request) bool { return bytes.Contains(req.AppendTo(nil), []byte("strange")) }
	}))
	r.enqueue(r.topic, "strange", 0, 1)
	r.start(nil)
	for i := range 5 {
		r.spread(r.topic, "good"+string(rune('a'+i)), 20)
		r.await("the others are published", func() bool { return r.pending() == 1 })
	}
	r.await("it counts against the message", func() bool {
		r.spread(r.topic, "more", 1)
		r.await("the others are published", func() bool { return r.pending() == 1 })
		return r.count("SELECT attempts FROM outbox WHERE order_key = 'strange'") >= 2
	})
	if r.dead() != 0 {
		t.Error("it is dead")
	}
	h.Remove()
	r.drained()
}

func TestAnOutageCostsNoAttemptAndItsPauseOutlivesTheRelay(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]*kerr.Error{
		"no leader": kerr.NotLeaderForPartition, "too few replicas": kerr.NotEnoughReplicas, "no right": topicDenied(),
		"an answer that is lost": kerr.RequestTimedOut, "an error nobody knows": kerr.UnknownServerError,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, r := faulty(t, 1)
			h := cluster.Fault(always(err, nil))
			r.enqueue(r.topic, "k", 0, 10)
			slow := func(c *Config) { c.BackoffBase, c.BackoffCap = time.Hour, 24*time.Hour }
			rel := r.start(slow)
			r.await("it pauses", func() bool { return r.count("SELECT count(*) FROM outbox_backoff") == 1 })
			r.halt(rel)
			tries := h.Hits()
			for range 5 {
				rel := r.start(slow)
				r.await("it has looked", func() bool {
					return rel.Leases() == shardCount && rel.value(t, "oldest_pending_seconds", "") > 0
				})
				r.halt(rel)
			}
			if more := h.Hits() - tries; more != 0 {
				t.Errorf("%d tries more after restarts", more)
			}
			if n := r.count("SELECT count(*) FROM outbox WHERE attempts = 0 AND NOT dead"); n != 10 {
				t.Errorf("the messages are\n%s", r.picture())
			}
			if n := r.count("SELECT count(*) FROM outbox_backoff WHERE fails = 1 AND until > clock_timestamp() + interval '1 second'"); n != 1 {
				t.Errorf("the pause is\n%s", r.picture())
			}
			h.Remove()
			r.exec("UPDATE outbox_backoff SET until = clock_timestamp()")
			r.exec("UPDATE outbox SET next_attempt_at = clock_timestamp()")
			r.start(nil)
			r.drained()
			r.expectAll(r.topic, values("k", 0, 10))
			r.expectOrder(r.topic)
			if n := r.count("SELECT count(*) FROM outbox_backoff"); n != 0 {
				t.Errorf("%d pauses are left", n)
			}
		})
	}
}

func TestAnAnswerThatIsLostAfterTheWriteRepeatsTheMessageInOrder(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]*kerr.Error{
		"a timeout": kerr.RequestTimedOut, "too few replicas after the append": kerr.NotEnoughReplicasAfterAppend,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, r := faulty(t, 2)
			cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: err, Count: 150})
			for _, k := range []string{"a", "b", "c"} {
				r.enqueue(r.topic, k, 0, 20)
			}
			r.start(nil)
			r.drained()
			r.expectAll(r.topic, slices.Concat(values("a", 0, 20), values("b", 0, 20), values("c", 0, 20)))
			r.expectOrder(r.topic)
		})
	}
}

func TestAPartitionInTroubleDelaysOnlyWhatIsForIt(t *testing.T) {
	t.Parallel()
	cluster, r := faulty(t, 3)
	h := cluster.Fault(always(kerr.NotEnoughReplicas, func(f *kfake.Fault) { f.Topic, f.Partitions = r.topic, []int32{1} }))
	var want []string
	keys := map[int32]int{}
	hasher := kgo.StickyKeyPartitioner(nil).ForTopic(r.topic)
	for i := range 60 {
		key := "key" + itoa(i)
		keys[int32(hasher.Partition(&kgo.Record{Key: []byte(key)}, 3))]++
		r.enqueue(r.topic, key, 0, 20)
		want = append(want, values(key, 0, 20)...)
	}
	if keys[1] == 0 || keys[1] == 60 {
		t.Fatal("the keys are all for one partition")
	}
	rel := r.start(nil)
	r.await("the others are published", func() bool { return r.pending() == keys[1]*20 })
	// Its first messages come back all at once; of those after them nobody can tell, as nothing else goes then.
	first, pauses := float64(keys[1]), 0
	r.await("its messages have come back, and another again", func() bool {
		n, back := r.count("SELECT count(*) FROM outbox_backoff"), rel.value(t, "retries_total", "class=unknown")
		if back <= first {
			pauses = max(pauses, n)
		}
		return back > first
	})
	if pauses != 0 {
		t.Errorf("%d pauses, and two of three partitions are fine", pauses)
	}
	for range 3 { // and go on being
		r.spread(r.topic, "more", 30)
		left := 0
		for i := range 30 {
			if hasher.Partition(&kgo.Record{Key: []byte("more" + itoa(i))}, 3) == 1 {
				left++
			}
		}
		r.await("the others are published", func() bool { return r.pending() == keys[1]*20+left })
		r.exec("DELETE FROM outbox WHERE order_key LIKE 'more%'")
	}
	if n := r.count("SELECT count(*) FROM outbox WHERE attempts > 0 OR dead"); n != 0 {
		t.Errorf("%d are blamed", n)
	}
	h.Remove()
	r.drained()
	got := map[string]int{}
	for _, rec := range r.published(r.topic) {
		if got[string(rec.Value)]++; got[string(rec.Value)] > 1 && rec.Partition != 1 && !bytes.HasPrefix(rec.Value, []byte("more")) {
			t.Errorf("%s was published again in partition %d", rec.Value, rec.Partition)
		}
	}
	for _, v := range want {
		if got[v] == 0 {
			t.Errorf("%s was not published", v)
		}
	}
}

// The oldest message of a shard cannot go, and nothing else is there to tell why.
func TestAMessageThatCannotGoIsNotTheOnlyOneThatIsTried(t *testing.T) {
	t.Parallel()
	hasher := kgo.StickyKeyPartitioner(nil).ForTopic("letters")
	keys := [2]string{}
	for name, refusal := range map[string]kfake.Fault{
		"its partition takes nothing": always(kerr.NotEnoughReplicas, func(f *kfake.Fault) { f.Topic, f.Partitions = "letters", []int32{0} }),
		"it is refused at once": always(kerr.UnknownServerError, func(f *kfake.Fault) {
			f.When = func(req kmsg.Request) bool { return bytes.Contains(req.AppendTo(nil), []byte(keys[0]+" ")) }
		}),
	} {
		t.Run(name, func(t *testing.T) {
			cluster, r := faulty(t, 2)
			for i := 0; keys[0] == "" || keys[1] == ""; i++ {
				key := "key" + itoa(i)
				if r.count("SELECT hashtextextended($1, 0) & 31", key) == 3 {
					keys[hasher.Partition(&kgo.Record{Key: []byte(key)}, 2)] = key
				}
			}
			cluster.Fault(refusal)
			r.plain = true
			r.enqueue(r.topic, keys[0], 0, 1)
			r.start(nil)
			r.await("it has failed again", func() bool { return r.count("SELECT coalesce(sum(fails), 0) FROM outbox_backoff") >= 2 })
			r.enqueue(r.topic, keys[1], 0, 1)
			r.await("the other goes", func() bool { return r.pending() == 1 })
			r.expectAll(r.topic, values(keys[1], 0, 1))
		})
	}
}

func TestATopicThatIsMissingDelaysNoOther(t *testing.T) {
	t.Parallel()
	eachBroker(t, 2, func(t *testing.T, r *rig) {
		missing := r.topic + ".missing"
		r.enqueue(missing, "k", 0, 5)
		r.spread(missing, "m", 200)
		rel := r.start(nil)
		r.await("it pauses", func() bool { return rel.value(t, "backoffs", "class=configuration") > 0 })
		for i := range 3 {
			r.spread(r.topic, "k"+string(rune('a'+i)), 100)
			r.await("the other topic's are published", func() bool { return r.count("SELECT count(*) FROM outbox WHERE topic = $1", r.topic) == 0 })
		}
		if n := r.count("SELECT count(*) FROM outbox WHERE topic = $1 AND attempts = 0 AND NOT dead", missing); n != 205 {
			t.Errorf("the messages are\n%s", r.picture())
		}
		r.makeTopic(missing, 2, nil)
		r.drained()
		if repeats := r.expectAll(missing, slices.Concat(values("k", 0, 5), spreadValues("m", 200))); repeats != 0 {
			t.Errorf("%d repeats", repeats)
		}
	})
}

func TestATopicThatIsMadeAgainIsLearntAnew(t *testing.T) {
	t.Parallel()
	eachBroker(t, 2, func(t *testing.T, r *rig) {
		name := r.newTopic(2, nil)
		r.start(nil)
		r.spread(name, "before", 20)
		r.drained()
		if _, err := r.admin.DeleteTopic(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		r.await("it is gone", func() bool {
			made, err := r.admin.CreateTopic(t.Context(), 2, 1, nil, name)
			return err == nil && made.Err == nil
		})
		r.spread(name, "after", 20)
		r.drained()
		r.expectAll(name, spreadValues("after", 20))
	})
}
