package app_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/apptest"
	ours "oriel/server/cloudevents"
	"oriel/server/dbtest"
	"oriel/server/kafka"
)

// copies reads n records of the dead-letter topic.
func copies(t *testing.T, b dbtest.Broker, n int) (out []*ours.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.ConsumeTopics(kafka.DeadLetterTopic(b.Topic)),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for len(out) < n {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%d copies of %d: %v", len(out), n, fetches.Err())
		}
		fetches.EachRecord(func(rec *kgo.Record) {
			in := ours.Record{Key: rec.Key, Value: rec.Value}
			for _, h := range rec.Headers {
				in.Headers = append(in.Headers, ours.Header{Key: h.Key, Value: h.Value})
			}
			e, _, err := ours.DecodeRecord(in)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		})
	}
	return out
}

// The consumer and the relay run in two processes; the topic of the copies is away for a while.
func TestCopiesOfDeadLettersReachTheirTopicAndItsAbsenceHurtsNobody(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		client, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.DefaultProduceTopic(b.Topic))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		admin := kadm.NewClient(client)
		dlq := kafka.DeadLetterTopic(b.Topic)
		if _, err := admin.DeleteTopic(t.Context(), dlq); err != nil {
			t.Fatal(err)
		}
		const public = "ORIEL_PUBLIC_URL=https://oriel.example.com/events/"
		consumer, relay := apptest.FreeAddr(t), apptest.FreeAddr(t)
		in.Serve(t, consumer, "ORIEL_ROLES=consume", public)
		r := in.Serve(t, relay, "ORIEL_ROLES=relay", public)
		poison := func(from, n int) {
			t.Helper()
			for i := from; i < from+n; i++ {
				if err := client.ProduceSync(t.Context(), &kgo.Record{Value: []byte("poison " + fmt.Sprint(i))}).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
		}
		pool, err := pgxpool.New(t.Context(), in.Database)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		letters := func(n int, table string) {
			t.Helper()
			apptest.Eventually(t, time.Minute, func() bool {
				var got int
				if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&got); err != nil {
					t.Fatal(err)
				}
				return got == n
			}, func() string { return fmt.Sprintf("there are not %d of %s", n, table) })
		}
		paused := regexp.MustCompile(`oriel_outbox_backoffs{class="configuration"} [1-9]`)
		poison(0, 10)
		letters(10, "dead_letter")
		apptest.Eventually(t, time.Minute, func() bool {
			_, body := apptest.Get(t, "http://"+relay+"/metrics", in.Reader)
			return paused.Match(body)
		}, func() string { return "no metric says that the topic is missing" })
		for _, addr := range []string{consumer, relay} {
			if code, body := apptest.Readiness("http://" + addr); code != http.StatusOK {
				t.Errorf("a topic for copies that is missing makes readiness say %d %s", code, body)
			}
		}
		poison(10, 10) // and the consumer goes on
		letters(20, "dead_letter")
		// A restart of the relay changes nothing: the pause is on record, and so are the messages.
		if code := r.Stop(30 * time.Second); code != 0 {
			t.Errorf("the relay ended with %d", code)
		}
		apptest.Eventually(t, time.Minute, func() bool { // an old one may still be going
			made, err := admin.CreateTopic(t.Context(), 2, 1, nil, dlq)
			return err == nil && made.Err == nil
		}, func() string { return "the topic cannot be made" })
		if _, err := pool.Exec(t.Context(), "DELETE FROM outbox_backoff"); err != nil { // as the manual says
			t.Fatal(err)
		}
		again := in.Serve(t, relay, "ORIEL_ROLES=relay", public)
		seen := map[string]bool{}
		for _, e := range copies(t, b, 20) {
			seen[e.ID] = true
			if e.Source != "https://oriel.example.com/events/consumers/store" || e.Type != "oriel.dead_letter.v1" {
				t.Errorf("a copy is %s of %s", e.Type, e.Source)
			}
		}
		if len(seen) != 20 {
			t.Errorf("%d letters were copied", len(seen))
		}
		letters(0, "outbox")
		if code := again.Stop(30 * time.Second); code != 0 {
			t.Errorf("the relay ended with %d", code)
		}
		letters(0, "outbox_shard WHERE owner IS NOT NULL")
	})
}
