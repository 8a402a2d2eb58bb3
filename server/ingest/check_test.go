package ingest

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"

	"github.com/prometheus/client_golang/prometheus"
)

func TestTheTimeWindowIncludesBothItsEnds(t *testing.T) {
	t.Parallel()
	// A clock between two milliseconds: what is judged is the whole millisecond that the record keeps.
	now := time.Date(2026, 3, 29, 12, 0, 0, 123_999_999, time.UTC)
	at := now.Truncate(time.Millisecond)
	c := newCluster(t, 1)
	for name, tc := range map[string]struct {
		retention time.Duration
		time      time.Time
		text      string
		ok        bool
	}{
		"24 hours ahead is in":                             {91 * day, at.Add(day), "", true},
		"a microsecond more is out":                        {91 * day, at.Add(day + time.Microsecond), "", false},
		"nanoseconds under the microsecond change nothing": {91 * day, time.Time{}, "2026-03-30T12:00:00.123000999Z", true},
		"90 days behind is in":                             {91 * day, at.Add(-90 * day), "", true},
		"a microsecond before is out":                      {91 * day, at.Add(-90*day - time.Microsecond), "", false},
		"retention less a day is in where it is shorter":   {8 * day, at.Add(-7 * day), "", true},
		"and out before it":                                {8 * day, at.Add(-7*day - time.Microsecond), "", false},
		"90 days stay the most":                            {400 * day, at.Add(-91 * day), "", false},
		"another offset is the same instant":               {91 * day, time.Time{}, "2026-03-30T14:00:00.123+02:00", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := newPublisher(t, c.ListenAddrs(), setup{Config: Config{Retention: tc.retention, Now: func() time.Time { return now }}})
			if tc.text == "" {
				tc.text = tc.time.Format(time.RFC3339Nano)
			}
			req := structured("w", `"time":"`+tc.text+`"`)
			if tc.ok {
				got := accepted(t, p, req)[0]
				if got.Event.TimeText != tc.text {
					t.Fatalf("time became %s", got.Event.TimeText)
				}
				return
			}
			_, err := p.Publish(t.Context(), req)
			f := refused(t, err, fault.InvalidArgument, fault.ReasonTimeOutOfWindow)
			m := f.Violations[0].Metadata
			if m["attribute"] != "time" || m["value"] != tc.text || !strings.Contains(m["accepted"], " to ") {
				t.Fatalf("metadata %v", m)
			}
		})
	}
	for _, r := range readBack(t, c.ListenAddrs(), topic) {
		e, _, err := cloudevents.DecodeRecord(cloudevents.Record{Key: r.Key, Value: r.Value, Headers: recordHeadersOf(r)})
		if err != nil {
			t.Fatalf("decode: %v", err)
		}
		if e.Time.Before(r.Timestamp.Add(-behind)) || e.Time.After(r.Timestamp.Add(ahead)) {
			t.Fatalf("the consumer would refuse %s by the record's timestamp %s", e.TimeText, r.Timestamp.UTC())
		}
	}
}

func TestHowFarATimeIsOffIsTold(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := window{at, at.Add(-90 * day), at.Add(day)}
	for text, want := range map[string]string{
		"0000-01-01T00:00:00Z":      "740225 days before",
		"1700-01-01T00:00:00Z":      "119312 days before",
		"9999-12-31T23:59:59Z":      "2912108 days after",
		"2026-12-01T12:00:01Z":      "1s after",
		"2026-08-31T12:00:00Z":      "24h0m0s before",
		"2026-12-04T13:30:00+01:00": "3 days after",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			instant, err := cloudevents.ParseTime(text)
			if err != nil {
				t.Fatal(err)
			}
			got := w.check(&cloudevents.Event{Time: instant, TimeText: text})
			if got == nil || !strings.Contains(got.Message, text+" lies "+want+" the accepted window") {
				t.Fatalf("got %v, want %q", got, want)
			}
		})
	}
}

func TestAnErrorOfTheWholeRequest(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p, _ := newPublisher(t, c.ListenAddrs(), setup{})
	deep := strings.Repeat("[", cloudevents.MaxDepth+1) + strings.Repeat("]", cloudevents.MaxDepth+1)
	now := time.Now().UTC().Format(time.RFC3339)
	events := func(n int) *Request {
		var all []string
		for range n {
			all = append(all, element("x"))
		}
		return batch(all...)
	}
	asBatch := func(r *Request) *Request { r.BatchOnly = true; return r }
	for name, tc := range map[string]struct {
		req    *Request
		kind   fault.Kind
		reason string
	}{
		"plain JSON says no mode":                      {&Request{ContentType: "application/json", Body: []byte(element("a"))}, fault.UnsupportedMedia, fault.ReasonUnsupportedContentMode},
		"nothing at all says no mode":                  {&Request{}, fault.UnsupportedMedia, fault.ReasonUnsupportedContentMode},
		"one structured event is no batch":             {asBatch(structured("a")), fault.UnsupportedMedia, fault.ReasonUnsupportedContentMode},
		"binary mode is no batch":                      {asBatch(&Request{ContentType: "application/json", Headers: binary("ce-specversion", "1.0")}), fault.UnsupportedMedia, fault.ReasonUnsupportedContentMode},
		"half an event":                                {&Request{ContentType: "application/cloudevents+json", Body: []byte(`{"specversion":`)}, fault.InvalidArgument, fault.ReasonMalformedJSON},
		"257 events":                                   {events(cloudevents.MaxBatch + 1), fault.TooLarge, fault.ReasonBatchTooLarge},
		"time is required":                             {&Request{ContentType: "application/cloudevents+json", Body: []byte(`{"specversion":"1.0","id":"a","source":"/s","type":"t"}`)}, fault.InvalidArgument, fault.ReasonMissingAttribute},
		"JSON data of binary mode may not be too deep": {&Request{Headers: binary("ce-specversion", "1.0", "ce-id", "a", "ce-source", "/s", "ce-type", "t", "ce-time", now, "content-type", "application/json"), Body: []byte(deep)}, fault.InvalidArgument, fault.ReasonDepthExceeded},
		"a source that the token may not use":          {&Request{ContentType: "application/cloudevents+json", Body: []byte(element("a")), SourcePrefixes: []string{"/homes/", "/shop"}}, fault.PermissionDenied, fault.ReasonSourceNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := p.Publish(t.Context(), tc.req)
			refused(t, err, tc.kind, tc.reason)
		})
	}
	t.Cleanup(func() {
		if n := c.PartitionInfo(topic, 0).HighWatermark; n != 0 {
			t.Errorf("%d refused records were published", n)
		}
	})
}

func TestABatchMayComeAsPlainJSONWhereOnlyBatchesAreTaken(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	p, _ := newPublisher(t, c.ListenAddrs(), setup{})
	for _, contentType := range []string{"application/cloudevents-batch+json", "application/json", "application/json; charset=utf-8"} {
		req := batch(element("a"))
		req.ContentType, req.BatchOnly = contentType, true
		if got := accepted(t, p, req); len(got) != 1 {
			t.Fatalf("%s: %d results", contentType, len(got))
		}
	}
	if resp, err := p.Publish(t.Context(), batch()); err != nil || !resp.Batch || len(resp.Results) != 0 {
		t.Fatalf("an empty batch: %+v, %v", resp, err)
	}
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"without a topic":               {Retention: 91 * day},
		"without a window to accept in": {Topic: topic, Retention: day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(cfg, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry()); err == nil {
				t.Fatal("accepted")
			}
		})
	}
}
