package search

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/cloudevents"
	"oriel/server/consume"
	"oriel/server/dbtest"
	"oriel/server/lexicon"
	"oriel/server/query"
)

// What the consumer indexes and what the verifier reads must be the same event, or a word is lost: the
// lexemes that it stored are those of the row as a search reads it.
func TestTheConsumerIndexesWhatTheVerifierReads(t *testing.T) {
	t.Parallel()
	// Each as the role that it has in an installation.
	url := dbtest.NewURL(t)
	app, pool := dbtest.Open(t, dbtest.AppURL(t, url)), dbtest.Open(t, dbtest.ReadURL(t, url))
	broker := dbtest.NewKfake(t, 2)
	events := consumed(t, broker)

	cons := consume.New(consume.Config{
		Consumer: "store", Topic: broker.Topic, Group: "store", Instance: "test", Retention: 91 * oneDay,
	}, app, []kgo.Opt{kgo.SeedBrokers(broker.Brokers...)}, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), nil)
	if err := cons.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cons.Stop(context.Background()); err != nil {
			t.Errorf("stop the consumer: %v", err)
		}
	}()
	st := &store{t: t, pool: pool, svc: New(pool, Config{Retention: 91 * oneDay}, slog.New(slog.DiscardHandler), prometheus.NewRegistry())}
	st.svc.limits.budget = time.Minute
	st.until(t, "everything is stored", func() bool { return len(st.list().Events) == len(events) })

	var key []byte
	if err := pool.QueryRow(t.Context(), `SELECT key FROM lexicon_version WHERE state = 'live'`).Scan(&key); err != nil {
		t.Fatal(err)
	}
	analyzer := lexicon.New(lexicon.Key(key), nil)
	for _, e := range events {
		d, err := st.svc.Get(t.Context(), cloudevents.EscapeName(e.Source, e.ID), values("time", e.TimeText))
		if err != nil {
			t.Fatalf("%s: %v", e.ID, err)
		}
		if !bytes.Equal(d.Data, e.Data) || (d.Data == nil) != (e.Data == nil) || d.Mode != e.Mode || d.Type != e.Type || d.Subject != e.Subject ||
			d.DataContentType != e.DataContentType || !slices.Equal(d.Extensions, e.Extensions) || d.TimeText != e.TimeText {
			t.Errorf("%s came back as %+v", e.ID, d)
		}
		vw, err := parseSnapshot(st.list().Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		where := query.Equal{Field: query.Field{Kind: query.Attribute, Name: "type"}, Value: e.Type}
		q := question{where: where, view: vw, window: vw.window, verify: true, limit: 10}
		sql, args := q.compile(&facts{})
		var lexemes []int64
		if err := pool.QueryRow(t.Context(), `SELECT lexemes FROM event WHERE type = $1`, e.Type).Scan(&lexemes); err != nil {
			t.Fatal(err)
		}
		conn, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n, err := ask(t.Context(), conn, sql, args, func(r *row) bool {
			out := analyzer.Analyze(inputOf(r.candidate()), nil)
			if !slices.Equal(out.Lexemes, lexemes) {
				t.Errorf("%s: the consumer stored %d lexemes, the row has %d", e.ID, len(lexemes), len(out.Lexemes))
			}
			if out.Invalid != r.flags.Has(cloudevents.FlagDataInvalid) {
				t.Errorf("%s: invalid %v, flags %b", e.ID, out.Invalid, r.flags)
			}
			return true
		})
		conn.Release()
		if err != nil || n != 1 {
			t.Fatalf("%s: %d rows, %v", e.ID, n, err)
		}
	}
	for _, c := range [][2]string{
		{"kettle", "json structured text"},
		{"2026.5", "json"},
		{"extended", "json"},
		{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "trace"},
		{"malformed.kind", "malformed"},
		{"w3999", "wide"},
	} {
		events, _ := st.all("q", c[0])
		got := ids(events)
		slices.Sort(got)
		if strings.Join(got, " ") != c[1] {
			t.Errorf("%q found %v, want %s", c[0], got, c[1])
		}
	}
}

// consumed publishes one event of each kind and returns them.
func consumed(t *testing.T, broker dbtest.Broker) []*cloudevents.Event {
	t.Helper()
	var wide strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&wide, " word%d w%d", i, i)
	}
	at := time.Now().UTC().Add(-time.Minute).Truncate(time.Microsecond)
	events := []*cloudevents.Event{
		{
			ID: "json", DataContentType: "application/json", Subject: "s", Data: []byte(`{"note":"the kettle","n":2026.50,"t":[true,"日本語"]}`),
			Extensions: []cloudevents.Extension{{Name: "word", Value: "extended"}},
		},
		{
			ID: "structured", Mode: cloudevents.Structured, Data: []byte(`"kettle"`),
			Extensions: []cloudevents.Extension{{Name: "flag", Type: cloudevents.Boolean, Value: "true"}, {Name: "n", Type: cloudevents.Integer, Value: "-7"}},
		},
		{ID: "text", DataContentType: "text/plain; charset=utf-8", Data: []byte("a kettle\nboils")},
		{ID: "opaque", DataContentType: "application/octet-stream", Data: []byte("kettle")},
		{ID: "nameless", Data: []byte(`{"note":"kettle"}`)},
		{ID: "malformed", DataContentType: "application/json", Data: []byte("{\"note\":\"kettle\xff\"}")},
		{ID: "absent"},
		{
			ID: "trace", DataContentType: "application/json", Data: []byte(`null`),
			Extensions: []cloudevents.Extension{{Name: "traceparent", Value: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}},
		},
		{ID: "wide", DataContentType: "application/json", Data: jsonOf(wide.String())},
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker.Brokers...), kgo.DefaultProduceTopic(broker.Topic))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, e := range events {
		e.Source, e.Type, e.Time, e.TimeText = "/stored/test", e.ID+".kind", at, at.Format(time.RFC3339Nano)
		enc := cloudevents.EncodeRecord(e)
		rec := &kgo.Record{Key: enc.Key, Value: enc.Value, Timestamp: at}
		for _, h := range enc.Headers {
			rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
		if err := cl.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	return events
}
