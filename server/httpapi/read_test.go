package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
	"oriel/server/fault"
	"oriel/server/query"
	"oriel/server/search"
)

func stored() *search.Detail {
	at := time.Date(2026, 11, 30, 10, 0, 0, 123456000, time.FixedZone("", 3600))
	return &search.Detail{
		Event: search.Event{
			Source: "https://a.example/x y", ID: "é:1", Type: "door.opened", TimeText: "2026-11-30T10:00:00.123456789+01:00",
			OccurredAt: at, KafkaTime: at.Add(time.Second), Severity: 6, Summary: "opened", DataContentType: "text/html; charset=utf-8",
			DataSize: 8, DataKind: "text",
			Position: search.Position{Topic: "events", Log: 1, Partition: 2, Offset: 9007199254740993, Commit: 9007199254740995},
		},
		Mode: cloudevents.Structured, Extensions: extensionsOf(),
		Headers:   []cloudevents.Header{{Key: "a", Value: []byte("text")}, {Key: "a", Value: []byte{0xff}}, {Key: "b", Value: []byte{}}, {Key: "c"}},
		RecordKey: []byte("k"), TraceID: "0af7651916cd43dd8448eb211c80319c",
		Data: []byte("<b>\x00</b>"), Others: []time.Time{at.Add(-time.Hour)},
		OthersFrom: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
	}
}

func TestAnEventInFull(t *testing.T) {
	t.Parallel()
	e := start(t)
	var name, at string
	e.shelf.get = func(n string, params url.Values) (*search.Detail, error) {
		name, at = n, params.Encode()
		return stored(), nil
	}
	const escaped = "https%3A%2F%2Fa.example%2Fx%20y:%C3%A9%3A1"
	r := e.do(e.request("GET", "/v1/events/"+escaped+"?time=2026-11-30T09:00:00.123456Z", reader))
	if name != escaped || at != "time=2026-11-30T09%3A00%3A00.123456Z" {
		t.Errorf("asked for %q at %q", name, at)
	}
	golden(t, "event.json", indented(t, r.body, ""))
}

func TestAPageAndASnapshot(t *testing.T) {
	t.Parallel()
	e := start(t)
	var asked url.Values
	e.shelf.list = func(p url.Values) (*search.Page, error) {
		asked = p
		bare := search.Event{Source: "s", ID: "1", Type: "t", TimeText: "2026-11-30T10:00:00Z", DataKind: "absent"}
		bare.Columns = []search.Cell{{Kind: query.CellNumber, Text: "1.0"}, {Kind: query.CellString, Text: "x", Cut: true}}
		from := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
		return &search.Page{Events: []search.Event{stored().Event, bare}, CoveredFrom: from, NextToken: "n", Snapshot: "snap"}, nil
	}
	r := e.do(e.request("GET", "/v1/events?type!=a%2Cb&type!=c&q=&q=x+y&pageSize=abc&nonsense", reader))
	golden(t, "page.json", indented(t, r.body, ""))
	want := url.Values{"type!": {"a,b", "c"}, "q": {"", "x y"}, "pageSize": {"abc"}, "nonsense": {""}}
	if asked.Encode() != want.Encode() {
		t.Errorf("search was asked %v, want %v", asked, want)
	}

	e.shelf.snapshot = func(params url.Values) (*search.Snapshot, error) {
		if params.Encode() != "foo=1&from=-1h" {
			t.Errorf("asked %v", params)
		}
		return &search.Snapshot{Token: "snap", From: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)}, nil
	}
	r = e.do(e.request("GET", "/v1/events:snapshot?from=-1h&foo=1", reader))
	if string(r.body) != `{"from":"2026-11-29T00:00:00.000000Z","snapshot":"snap"}` {
		t.Errorf("got %s", r.body)
	}
}

func TestAQueryStringThatCannotBeRead(t *testing.T) {
	t.Parallel()
	e := start(t)
	for _, path := range []string{"/v1/events?q=%zz", "/v1/events/a:b?time=%", "/v1/events:snapshot?from=%", "/v1/events?a;b"} {
		e.do(e.request("GET", path, reader)).failure(t, 400, fault.ReasonInvalidParameter)
	}
}

func TestASearchThatTakesTooLongIsGivenUp(t *testing.T) {
	t.Parallel()
	e := start(t, func(d *Deps) { d.Config.Deadline = 30 * time.Millisecond; d.Search = waiting{} })
	r := e.do(e.request("GET", "/v1/events", reader))
	r.failure(t, 503, fault.ReasonQueryTimeout)
}

type waiting struct{ *shelf }

func (waiting) List(ctx context.Context, _ url.Values) (*search.Page, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDataIsADownloadOfTheExactBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id, declared                      string
		contentType, disposition, shownAs string
	}{
		"HTML is bytes to a browser":          {"1", "text/html; charset=utf-8", "application/octet-stream", `attachment; filename="event-1.bin"`, "text/html; charset=utf-8"},
		"JSON passes":                         {"1", "application/json; charset=utf-8", "application/json", `attachment; filename="event-1.json"`, "application/json; charset=utf-8"},
		"plain text passes":                   {"1", "TEXT/Plain", "text/plain", `attachment; filename="event-1.txt"`, "TEXT/Plain"},
		"a type that is no type":              {"1", "application/json\r\nSet-Cookie: a=1", "application/octet-stream", `attachment; filename="event-1.bin"`, "application/json??Set-Cookie: a=1"},
		"a type outside ASCII":                {"1", "text/caf\u00e9", "application/octet-stream", `attachment; filename="event-1.bin"`, "text/caf?"},
		"no type":                             {"1", "", "application/octet-stream", `attachment; filename="event-1.bin"`, ""},
		"an id that is no file name":          {"../\"é\r\n;x", "", "application/octet-stream", `attachment; filename="event-________x.bin"`, ""},
		"an id longer than file systems like": {strings.Repeat("a", 300), "", "application/octet-stream", `attachment; filename="event-` + strings.Repeat("a", 80) + `.bin"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := start(t)
			d := stored()
			d.ID, d.DataContentType, d.Data = c.id, c.declared, []byte("<script>\x00\xff\r\n")
			e.shelf.get = func(string, url.Values) (*search.Detail, error) { return d, nil }
			r := e.do(e.request("GET", "/v1/events/a:b/data", reader))
			if r.StatusCode != http.StatusOK || !bytes.Equal(r.body, d.Data) {
				t.Fatalf("got %d %q", r.StatusCode, r.body)
			}
			for header, want := range map[string]string{
				"Content-Type": c.contentType, "Content-Disposition": c.disposition, "Oriel-Content-Type": c.shownAs,
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Set-Cookie": "",
			} {
				if got := r.Header.Get(header); got != want {
					t.Errorf("%s is %q, want %q", header, got, want)
				}
			}
			if head := e.do(e.request("HEAD", "/v1/events/a:b/data", reader)); head.ContentLength != int64(len(d.Data)) || len(head.body) != 0 {
				t.Errorf("HEAD says %d", head.ContentLength)
			}
		})
	}
	t.Run("empty is not absent", func(t *testing.T) {
		t.Parallel()
		e := start(t)
		d := stored()
		d.Data = []byte{}
		e.shelf.get = func(string, url.Values) (*search.Detail, error) { return d, nil }
		if r := e.do(e.request("GET", "/v1/events/a:b/data", reader)); r.StatusCode != http.StatusOK || r.ContentLength != 0 {
			t.Errorf("empty: %d, %d bytes", r.StatusCode, r.ContentLength)
		}
	})
	t.Run("absent and erased data are not there", func(t *testing.T) {
		t.Parallel()
		e := start(t)
		d := stored()
		d.Data = nil
		e.shelf.get = func(string, url.Values) (*search.Detail, error) { return d, nil }
		e.do(e.request("GET", "/v1/events/a:b/data", reader)).failure(t, 404, fault.ReasonNotFound)
	})
}

// notFound finds nothing and keeps the name that it was asked for.
func notFound(asked *string) func(string, url.Values) (*search.Detail, error) {
	return func(name string, _ url.Values) (*search.Detail, error) {
		*asked = name
		return nil, fault.New(fault.NotFound, fault.ReasonNotFound, "There is no such event.")
	}
}
