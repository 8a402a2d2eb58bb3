package search

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/dbtest"
	"oriel/server/query"
	"oriel/server/search/reference"
)

// within is the world as a snapshot has it: the events up to its commits.
func (w *world) within(ctx context.Context, token string) (*world, error) {
	v, err := parseSnapshot(token)
	if err != nil {
		return nil, err
	}
	commits := map[[2]int32]int64{}
	for _, p := range v.upper {
		commits[[2]int32{int32(p.log), p.partition}] = p.commits
	}
	type identity struct {
		micros     int64
		source, id string
	}
	known := map[identity]*reference.Event{}
	for _, e := range w.events {
		known[identity{e.Micros, e.Source, e.ID}] = e
	}
	rows, err := w.pool.Query(ctx, storedPlaces)
	if err != nil {
		return nil, err
	}
	out := *w
	out.events = nil
	var at, arrived time.Time
	var e reference.Event
	_, err = pgx.ForEachRow(rows, []any{&at, &e.Source, &e.ID, &e.Log, &e.Partition, &e.Offset, &e.Commit, &arrived}, func() error {
		if e.Commit <= commits[[2]int32{int32(e.Log), e.Partition}] {
			ref := *known[identity{at.UnixMicro(), e.Source, e.ID}]
			ref.Log, ref.Partition, ref.Offset, ref.Commit = e.Log, e.Partition, e.Offset, e.Commit
			ref.Arrived = arrived.UnixMicro()
			out.events = append(out.events, &ref)
		}
		return nil
	})
	reference.Sort(out.events)
	return &out, err
}

// Rows, counts, facets, histograms and exports of one snapshot are those of the events up to its commits, page
// by page and at once, forward and backward, however often they are asked for, while consumers write, hours are
// folded, blocks are merged and events are delivered again.
func TestASnapshotAnswersTheSameWhileEverythingIsWrittenAndMerged(t *testing.T) {
	t.Parallel()
	d, sent := shop(*agreeSeed+7000, 1500)
	url := dbtest.NewURL(t)
	broker := dbtest.NewKfake(t, 3)
	w := &world{t: t, draw: d, pool: dbtest.Open(t, url), sizes: map[string]int64{}, sent: sent}
	w.keeper = maintainerOf(w)
	for _, e := range sent {
		w.events = append(w.events, reference.New(e, nil, reference.DefaultFacets()))
	}
	reference.Sort(w.events)
	reader := dbtest.Open(t, dbtest.ReadURL(t, url))
	w.wide, w.narrow = w.service(reader), w.service(reader)
	narrowed(&w.narrow.limits)
	filters := make([]query.And, 0, 40)
	for range cap(filters) - 1 {
		filters = append(filters, d.Where(w.events))
	}
	filters = append(filters, nil)
	window := reference.Window{From: w.events[len(w.events)-1].Micros - 1, Until: w.events[0].Micros + 1}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var background sync.WaitGroup
	written := make(chan struct{})
	background.Go(func() {
		defer close(written)
		w.writing(ctx, url, broker)
	})
	background.Go(func() {
		for ctx.Err() == nil {
			w.disturb(ctx)
		}
	})
	defer background.Wait()
	defer cancel()

	during, again := 0, map[string][]string{}
	for n := 0; ; n++ {
		over := false
		select {
		case <-written:
			over = true
		default:
			during++
		}
		bounds := values("from", stamp(window.From), "until", stamp(window.Until))
		snap, err := w.wide.Snapshot(ctx, bounds)
		if err != nil {
			t.Fatalf("snapshot: %v", err)
		}
		inside, err := w.within(ctx, snap.Token)
		if err != nil {
			t.Fatal(err)
		}
		a := &inquiry{w: inside, svc: w.wide, where: filters[n%len(filters)], window: window, seed: uint64(n), snapshot: snap.Token}
		if n%4 == 3 {
			a.svc = w.narrow
		}
		if p := a.problem(ctx); p != "" {
			t.Fatalf("%d of %d events stored, filter %q: %s", len(inside.events), len(sent), query.Format(a.where), p)
		}
		// What was seen of a snapshot some time ago is what it has now.
		again[snap.Token] = placesOf(a.truth())
		for token, want := range again {
			if n%5 != 0 || token == snap.Token {
				break
			}
			old, err := w.within(ctx, token)
			if err != nil {
				t.Fatal(err)
			}
			b := &inquiry{w: old, svc: w.wide, window: window, seed: uint64(n), snapshot: token}
			if p := b.problem(ctx); p != "" {
				t.Fatalf("asked again after a while, of %d events: %s", len(want), p)
			}
			break
		}
		if over {
			if len(inside.events) != len(sent) {
				t.Fatalf("%d of %d events are in the last snapshot", len(inside.events), len(sent))
			}
			break
		}
	}
	if during < 10 {
		t.Errorf("only %d snapshots were made while events were written", during)
	}
	t.Logf("%d snapshots while events were written", during)
}

// disturb does what maintenance does, all the time.
func (w *world) disturb(ctx context.Context) {
	steps := []func() error{
		func() error {
			_, err := w.pool.Exec(ctx, `UPDATE event_block SET made_at = made_at - interval '2 hours' WHERE random() < 0.5`)
			return err
		},
		func() error { return w.keeper.Merge(ctx) },
		func() error { return w.keeper.Fold(ctx) },
	}
	for _, s := range steps {
		if err := s(); err != nil && ctx.Err() == nil {
			w.t.Errorf("maintenance: %v", err)
			return
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// writing sends all events, bit by bit and some of them again, and consumes them.
func (w *world) writing(ctx context.Context, url string, b dbtest.Broker) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...), kgo.DefaultProduceTopic(b.Topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		w.t.Error(err)
		return
	}
	defer cl.Close()
	app := dbtest.Open(w.t, dbtest.AppURL(w.t, url))
	c := consume.New(consume.Config{
		Consumer: "store", Topic: b.Topic, Group: "store-" + b.Topic, Instance: "test", Retention: ages,
		BatchRecords: 20, BatchAge: 5 * time.Millisecond, WatchEvery: 50 * time.Millisecond, BreakerRatio: 1,
	}, app, []kgo.Opt{
		kgo.SeedBrokers(b.Brokers...), kgo.MetadataMinAge(100 * time.Millisecond), kgo.HeartbeatInterval(200 * time.Millisecond),
	}, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), func() {})
	if err := c.Start(ctx); err != nil {
		w.t.Error(err)
		return
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if err := c.Stop(stop); err != nil {
			w.t.Errorf("stop the consumer: %v", err)
		}
	}()
	sent := int64(0)
	for i := 0; i < len(w.sent) && ctx.Err() == nil; i += 10 {
		var records []*kgo.Record
		for j := i; j < min(i+10, len(w.sent)); j++ {
			records = append(records, sentTo(w.sent[j], int32(j%3)))
			if j%7 == 0 { // an old one again, where it was sent before
				records = append(records, sentTo(w.sent[j/2], int32(j/2%3)))
			}
		}
		if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
			if ctx.Err() == nil {
				w.t.Errorf("produce: %v", err)
			}
			return
		}
		sent += int64(len(records))
		// The next ones follow once these are stored, or nearly.
		for done := int64(0); done < sent-40 || i+10 >= len(w.sent) && done < sent; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(2 * time.Millisecond):
			}
			if err := w.pool.QueryRow(ctx, `SELECT coalesce(sum(next_offset), 0) FROM checkpoint`).Scan(&done); err != nil {
				if ctx.Err() == nil {
					w.t.Error(err)
				}
				return
			}
		}
	}
}

func TestAThousandEventsOfOneInstantPageWithoutLossOrRepeat(t *testing.T) {
	t.Parallel()
	at := autumn()
	var events []*cloudevents.Event
	for i := range 1000 {
		events = append(events, &cloudevents.Event{
			ID: strconv.Itoa(i), Source: "/s", Type: "t" + strconv.Itoa(i%3), DataContentType: "application/json", Time: at,
			TimeText: at.Format(time.RFC3339Nano), Data: fmt.Appendf(nil, `{"n":%d,"word":"same"}`, i),
		})
	}
	w := newWorld(t, 6, nil, events)
	for _, where := range []query.And{
		nil,
		{query.Equal{Field: query.Field{Kind: query.Attribute, Name: "type"}, Value: "t1"}},
		{query.Word{Text: "same"}},
		{query.Compare{Field: query.Field{Kind: query.Data, Name: "n"}, Op: query.AtLeast, Value: "500"}},
	} {
		for seed := range uint64(8) {
			a := &inquiry{w: w, svc: w.wide, where: where, window: reference.Window{From: at.UnixMicro(), Until: at.UnixMicro() + 1}, seed: seed}
			if seed%2 == 1 {
				a.svc = w.narrow
			}
			if p := a.problem(t.Context()); p != "" {
				t.Errorf("filter %q, seed %d: %s", query.Format(where), seed, p)
			}
		}
	}
}

func TestPagesOfARelativeRangeStayWhereTheyWereWhileTimePasses(t *testing.T) {
	t.Parallel()
	now := autumn()
	var events []*cloudevents.Event
	for i := range 60 {
		at := now.Add(time.Duration(i-50) * time.Minute)
		events = append(events, &cloudevents.Event{
			ID: strconv.Itoa(i), Source: "/s", Type: "t", Time: at, TimeText: at.Format(time.RFC3339Nano),
		})
	}
	w := newWorld(t, 5, nil, events)
	w.wide.now = func() time.Time { return now }
	want := slices.DeleteFunc(slices.Clone(w.events), func(e *reference.Event) bool {
		return e.Micros < now.Add(-15*time.Minute).UnixMicro() || e.Micros >= now.UnixMicro()
	})
	var got []string
	var token, snapshot string
	for {
		p, err := w.wide.List(t.Context(), values("from", "-15m", "until", "now", "pageSize", "4", "pageToken", token))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, places(p.Events)...)
		now = now.Add(7 * time.Minute)
		if snapshot = p.Snapshot; p.NextToken == "" {
			break
		}
		token = p.NextToken
	}
	if !slices.Equal(got, placesOf(want)) {
		t.Errorf("the pages have %q instead of %q", got, placesOf(want))
	}
	c, err := w.wide.Count(t.Context(), values("from", "-15m", "until", "now", "snapshot", snapshot))
	if err != nil || c.Value != int64(len(want)) {
		t.Errorf("the count of the same snapshot is %+v (%v) instead of %d", c, err, len(want))
	}
}

func TestNeighboursGoOnInARangeThatBeginsBeforeThereAreEvents(t *testing.T) {
	t.Parallel()
	var events []*cloudevents.Event
	for i := range 9 {
		at := autumn().Add(time.Duration(i) * time.Minute)
		events = append(events, &cloudevents.Event{ID: strconv.Itoa(i), Source: "/s", Type: "t", Time: at, TimeText: at.Format(time.RFC3339Nano)})
	}
	w := newWorld(t, 5, nil, events)
	params := values("time", stamp(events[4].Time.UnixMicro()), "from", stamp(autumn().AddDate(-1, 0, 0).UnixMicro()), "before", "2", "after", "0")
	name := cloudevents.EscapeName("/s", "4")
	first, err := w.wide.Context(t.Context(), name, params)
	if err != nil {
		t.Fatal(err)
	}
	params.Set("pageToken", first.BeforeToken)
	next, err := w.wide.Context(t.Context(), name, params)
	if err != nil {
		t.Fatalf("the token of the answer before: %v", err)
	}
	if got := slices.Concat(ids(first.Before), ids(next.Before)); !slices.Equal(got, []string{"3", "2", "1", "0"}) {
		t.Errorf("earlier ones are %q", got)
	}
}
