package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/dbtest"
	"oriel/server/ingest"
	"oriel/server/kafka"
)

// The producing client keeps a record until the broker has it, long after a handler's buffers were
// given to another request: the checksum that each event carries tells whose bytes arrived.
func TestEveryAcknowledgedEventIsOnTheBrokerWithItsOwnBytes(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		const producers, rounds = 200, 3
		log := slog.New(slog.DiscardHandler)
		opts, err := kafka.Options(kafka.Config{Brokers: b.Brokers, Topic: b.Topic}, log)
		if err != nil {
			t.Fatal(err)
		}
		publisher, err := ingest.New(ingest.Config{Topic: b.Topic, Retention: 91 * 24 * time.Hour}, opts, log, prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		e := start(t, func(d *Deps) { d.Publisher = publisher })
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := publisher.Close(ctx); err != nil {
				t.Error(err)
			}
		})
		tr := &http.Transport{MaxIdleConnsPerHost: producers}
		defer tr.CloseIdleConnections()
		client := &http.Client{Transport: tr, Timeout: 60 * time.Second}
		now := time.Now().UTC().Format(time.RFC3339Nano)
		var wg sync.WaitGroup
		for p := range producers {
			wg.Go(func() {
				for round := range rounds {
					if err := publishOne(client, e.addr, fmt.Sprintf("%d-%d", p, round), now, p%2 == 0, p*53+round); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		arrived := consume(t, b, producers*rounds)
		for id, n := range arrived {
			if n != 1 {
				t.Errorf("%s arrived %d times", id, n)
			}
		}
		if len(arrived) != producers*rounds {
			t.Errorf("%d events arrived, want %d", len(arrived), producers*rounds)
		}
	})
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func publishOne(client *http.Client, addr, id, now string, chunked bool, size int) error {
	body := `"` + strings.Repeat(id+" ", size%2000+1) + `"`
	subject := "s " + strings.Repeat(id, size%7+1)
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/v1/events", strings.NewReader(body))
	if err != nil {
		return err
	}
	if chunked {
		req.ContentLength = -1
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + writer, "Content-Type": "application/json", "Ce-Specversion": "1.0", "Ce-Type": "t",
		"Ce-Source": "urn:home:" + id, "Ce-Id": id, "Ce-Time": now, "Ce-Subject": subject, "Ce-Sum": sum(id + subject + body),
	} {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(answer), `"id":"`+id+`"`) {
		err = errors.Join(err, fmt.Errorf("%s got %d %s", id, resp.StatusCode, answer))
	}
	return errors.Join(err, resp.Body.Close())
}

// consume counts n records of the topic by id and checks each one's checksum.
func consume(t *testing.T, b dbtest.Broker, n int) map[string]int {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.ConsumeTopics(b.Topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	arrived := map[string]int{}
	for seen := 0; seen < n; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("after %d records: %v", seen, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			h := map[string]string{}
			for _, header := range r.Headers {
				h[header.Key] = string(header.Value)
			}
			seen++
			arrived[h["ce_id"]]++
			if h["ce_source"] != "urn:home:"+h["ce_id"] || h["ce_sum"] != sum(h["ce_id"]+h["ce_subject"]+string(r.Value)) {
				t.Errorf("%s has another's bytes: %v %.80q", h["ce_id"], h, r.Value)
			}
		})
	}
	return arrived
}
