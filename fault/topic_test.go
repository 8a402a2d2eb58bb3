package fault

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// page is GET /v1/events as far as the tests here look at it.
type page struct {
	Events []struct {
		ID       string
		Position struct {
			Log    int
			Commit string
		}
	}
	Snapshot, NextPageToken string
}

// pageThrough reads a whole search under one snapshot, ten rows a page.
func pageThrough(t *testing.T, addr, token, snapshot string) []string {
	t.Helper()
	var ids []string
	query := url.Values{"type": {"load.v1"}, "pageSize": {"10"}, "from": {"-1h"}}
	if snapshot != "" {
		query.Set("snapshot", snapshot)
		query.Del("from")
	}
	for {
		var p page
		if code := apptest.GetJSON(t, "http://"+addr+"/v1/events?"+query.Encode(), token, &p); code != http.StatusOK {
			t.Fatalf("a page answered %d", code)
		}
		for _, e := range p.Events {
			ids = append(ids, e.ID)
		}
		if p.NextPageToken == "" {
			return ids
		}
		query.Set("pageToken", p.NextPageToken)
		query.Set("snapshot", p.Snapshot)
		query.Del("from")
	}
}

func TestARecreatedTopicStopsUntilItIsAdoptedAndPagesStayRight(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		addr := apptest.FreeAddr(t)
		in.Serve(t, addr)
		pool := dbtest.Open(t, in.Database)
		before := startLoad(t, "before", "http://"+addr, in.Producer, 2)
		apptest.Eventually(t, time.Minute, func() bool { return before.count(acked) >= 25 }, func() string { return "the load does not flow" })
		before.stop()
		waitCaughtUp(t, pool, b)
		rows := before.count(acked)
		var snap struct{ Snapshot string }
		if code := apptest.GetJSON(t, "http://"+addr+"/v1/events:snapshot?from=-1h", in.Reader, &snap); code != http.StatusOK {
			t.Fatalf("the snapshot answered %d", code)
		}

		recreate(t, b, 2)
		apptest.Eventually(t, time.Minute, func() bool {
			code, body := apptest.Readiness("http://" + addr)
			return code == http.StatusServiceUnavailable && strings.Contains(body, "fatal")
		}, func() string {
			_, body := apptest.Readiness("http://" + addr)
			return "readiness does not say fatal: " + body
		})

		apptest.Run(t, in.Env, "consumer", "adopt-topic", "--consumer", "store", "--reason", "the topic was deleted by mistake")
		apptest.Eventually(t, time.Minute, func() bool {
			code, _ := apptest.Readiness("http://" + addr)
			return code == http.StatusOK
		}, func() string {
			_, body := apptest.Readiness("http://" + addr)
			return "not ready after the adoption: " + body
		})
		after := startLoad(t, "after", "http://"+addr, in.Producer, 2)
		apptest.Eventually(t, time.Minute, func() bool { return after.count(acked) >= 25 }, func() string { return "the load does not flow" })
		after.stop()
		waitCaughtUp(t, pool, b)
		checkLedger(t, pool)

		if got := pageThrough(t, addr, in.Reader, snap.Snapshot); len(got) != rows {
			t.Errorf("the snapshot from before shows %d rows, want the %d of its time", len(got), rows)
		}
		want := rows + after.count(acked)
		if got := pageThrough(t, addr, in.Reader, ""); len(got) != want {
			t.Errorf("a new search shows %d rows, want %d", len(got), want)
		}
		if n := scan[int](t, pool, `SELECT count(*) FROM consumer_decision WHERE reason = 'the topic was deleted by mistake' AND actor LIKE 'cli:%'`); n == 0 {
			t.Error("the decision is not on record")
		}
	})
}

func TestARewindByHandStoresNothingTwiceAndKeepsSnapshotsRight(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		addr := apptest.FreeAddr(t)
		in.Serve(t, addr)
		pool := dbtest.Open(t, in.Database)
		l := startLoad(t, "one", "http://"+addr, in.Producer, 4)
		apptest.Eventually(t, time.Minute, func() bool { return l.count(acked) >= 100 }, func() string { return "the load does not flow" })
		l.stop()
		waitCaughtUp(t, pool, b)
		rows, commits := len(count(t, pool)), scan[int64](t, pool, `SELECT sum(commits)::bigint FROM checkpoint`)
		var snap struct{ Snapshot string }
		if code := apptest.GetJSON(t, "http://"+addr+"/v1/events:snapshot?from=-1h", in.Reader, &snap); code != http.StatusOK {
			t.Fatalf("the snapshot answered %d", code)
		}
		// Half of what is stored goes away with the rewind, as if it had been skipped before.
		lost := scan[int](t, pool, `WITH gone AS (DELETE FROM event WHERE "offset" % 2 = 0 RETURNING 1) SELECT count(*)::int FROM gone`)
		if _, err := pool.Exec(t.Context(), `UPDATE checkpoint SET next_offset = 0`); err != nil {
			t.Fatal(err)
		}
		waitCaughtUp(t, pool, b)
		if got := len(count(t, pool)); got != rows {
			t.Errorf("%d rows after the rewind, want %d", got, rows)
		}
		if now := scan[int64](t, pool, `SELECT sum(commits)::bigint FROM checkpoint`); now <= commits {
			t.Errorf("the commits went from %d to %d", commits, now)
		}
		if got := pageThrough(t, addr, in.Reader, snap.Snapshot); len(got) != rows-lost {
			t.Errorf("the snapshot from before shows %d rows, want %d: rows of later commits are outside", len(got), rows-lost)
		}
		if got := pageThrough(t, addr, in.Reader, ""); len(got) != rows {
			t.Errorf("a new search shows %d rows, want %d", len(got), rows)
		}
	})
}

// recreate deletes the topic and makes it again, empty.
func recreate(t *testing.T, b dbtest.Broker, partitions int32) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	adm := kadm.NewClient(client)
	if _, err := adm.DeleteTopic(ctx, b.Topic); err != nil {
		t.Fatal(err)
	}
	var last error
	apptest.Eventually(t, time.Minute, func() bool {
		_, last = adm.CreateTopic(ctx, partitions, 1, nil, b.Topic)
		return last == nil
	}, func() string { return "the topic was not created: " + last.Error() })
}
