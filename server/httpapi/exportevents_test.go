package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/auth"
	"oriel/server/fault"
	"oriel/server/search"
)

// archive is an office with stored events and a real search.
type archive struct {
	*office
	reader string // the secret of a token that may read them
}

// plenty of two kilobytes each are more than the buffers between a server and a client that reads nothing hold.
const plenty = 12_000

func startArchive(t *testing.T, events int, change ...func(*Deps)) *archive {
	t.Helper()
	o := officeWith(t, func(o *office, d *Deps) {
		d.Search = search.New(o.pool, search.Config{Retention: 91 * 24 * time.Hour}, slog.New(slog.DiscardHandler), d.Registry)
	}, change...)
	a := &archive{o, o.mint("reader", auth.ScopeEventsRead)}
	o.exec("SELECT ensure_day('event', d::date) FROM generate_series(now() - interval '1 day', now(), '1 day') d")
	o.exec("INSERT INTO log (topic, topic_id) VALUES ('events', gen_random_uuid())")
	o.exec(`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, source, id, type, time_text, datacontenttype, data)
		SELECT now() - i * interval '1 millisecond', 1, 0, i, 1, now(), 0, '/archive', i::text, 'a', '', 'application/json',
		       convert_to('{"i":' || i || ',"x":"' || repeat('x', 2000) || '"}', 'UTF8')
		  FROM generate_series(1, $1) i`, events)
	o.exec("INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) VALUES ('store', 1, 0, 0, 1)")
	return a
}

// begin sends the request of an export and reads the first line.
func (a *archive) begin(query string) *reading {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	a.t.Cleanup(cancel)
	tr := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	a.t.Cleanup(tr.CloseIdleConnections)
	resp, err := (&http.Client{Transport: tr}).Do(a.request("GET", "/v1/events:export"+query, a.reader).WithContext(ctx))
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = resp.Body.Close() })
	x := &reading{a.t, resp, bufio.NewReader(resp.Body), cancel}
	if line, err := x.in.ReadString('\n'); err != nil || resp.StatusCode != http.StatusOK {
		a.t.Fatalf("%d %q: %v", resp.StatusCode, line, err)
	}
	return x
}

// lines reads what is left, and how the body ended.
func (x *reading) lines() (n int, last string, err error) {
	x.t.Helper()
	for {
		line, err := x.in.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) && line == "" {
				err = nil
			}
			return n, last, err
		}
		n, last = n+1, line
	}
}

// trailerOf reads the last line of an NDJSON.
func trailerOf(t *testing.T, line string) (complete bool, count int, reason string) {
	t.Helper()
	var out struct {
		Trailer struct {
			Complete                  bool
			Count                     int
			Snapshot, Reason, Message string
		}
	}
	if err := json.Unmarshal([]byte(line), &out); err != nil || out.Trailer.Snapshot == "" {
		t.Fatalf("%q is no trailer: %v", line, err)
	}
	return out.Trailer.Complete, out.Trailer.Count, out.Trailer.Reason
}

func (a *archive) ended(outcome string) {
	a.t.Helper()
	await(a.t, "the export is over as "+outcome, func() bool {
		return a.metric("oriel_search_exports_total", map[string]string{"format": "ndjson", "outcome": outcome}) == 1 && a.metric("oriel_search_exports", nil) == 0
	})
	await(a.t, "no statement is left", func() bool {
		return a.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`) == 0
	})
}

func TestEventsAreExportedInBothFormats(t *testing.T) {
	t.Parallel()
	a := startArchive(t, 1200)
	for query, c := range map[string]struct{ contentType, name string }{
		"?type=a":                       {"application/x-ndjson", `oriel-events-\d{8}T\d{6}Z\.ndjson`},
		"?type=a&format=csv&columns=id": {"text/csv; charset=utf-8; header=present", `oriel-events-\d{8}T\d{6}Z\.csv`},
	} {
		head := a.do(a.request("HEAD", "/v1/events:export"+query, a.reader))
		r := a.do(a.request("GET", "/v1/events:export"+query, a.reader))
		for name, want := range map[string]string{
			"Content-Type": "^" + regexp.QuoteMeta(c.contentType) + "$", "Content-Disposition": `^attachment; filename=` + c.name + `$`,
			"Cache-Control": "^no-store$", "X-Content-Type-Options": "^nosniff$",
		} {
			for method, got := range map[string]string{"GET": r.Header.Get(name), "HEAD": head.Header.Get(name)} {
				if !regexp.MustCompile(want).MatchString(got) {
					t.Errorf("%s of %s %s: %q", name, method, query, got)
				}
			}
		}
		if n := strings.Count(string(r.body), "\n"); n != 1202 && n != 1201 || len(head.body) != 0 {
			t.Errorf("%s: %d lines, and %d bytes for HEAD", query, n, len(head.body))
		}
	}
	if n := a.metric("oriel_search_exports", nil); n != 0 {
		t.Errorf("%v run", n)
	}
	a.do(a.request("GET", "/v1/events:export?format=xml", a.reader)).failure(t, 400, fault.ReasonInvalidParameter)
	a.do(a.request("HEAD", "/v1/events:export?format=xml", a.reader))
}

func TestACutExportNeverPassesForAWholeOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cut    func(*testing.T, *archive)
		reason string
	}{
		"the token was revoked": {func(t *testing.T, a *archive) {
			if _, err := a.tokens.Revoke(t.Context(), 3, "test", nil); err != nil {
				t.Fatal(err)
			}
		}, fault.ReasonTokenInvalid},
		"the server stops": {func(t *testing.T, a *archive) {
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				_ = a.Shutdown(ctx)
			}()
			await(t, "the server stops", a.ending.Load)
		}, fault.ReasonShuttingDown},
		"its day is dropped": {func(_ *testing.T, a *archive) {
			a.exec(`DO $$ DECLARE day regclass; BEGIN
				FOR day IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'event'::regclass LOOP EXECUTE 'DROP TABLE ' || day; END LOOP; END $$`)
		}, fault.ReasonSnapshotExpired},
	} {
		for _, format := range []string{"ndjson", "csv"} {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				a := startArchive(t, plenty, func(d *Deps) { d.Config.Recheck = 20 * time.Millisecond })
				x := a.begin("?format=" + format)
				c.cut(t, a)
				n, last, err := x.lines()
				if n >= plenty {
					t.Fatalf("all of it came: %d lines", n)
				}
				if format == "csv" {
					if err == nil {
						t.Errorf("%d lines, and the body ends as if that were all", n)
					}
					return
				}
				if err != nil {
					t.Fatalf("after %d lines: %v", n, err)
				}
				if complete, count, reason := trailerOf(t, last); complete || count != n-1 || reason != c.reason {
					t.Errorf("%d events, and the trailer %q", n-1, last)
				}
			})
		}
	}
}

func TestAnExportEndsWhenItsClientLeaves(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*reading){
		"it closes the connection": func(x *reading) { x.stop() },
		"it takes nothing":         func(*reading) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startArchive(t, plenty)
			a.stall = 500 * time.Millisecond
			leave(a.begin(""))
			a.ended("left")
		})
	}
}

// The statement is not left to itself: its client leaves while it waits.
func TestTheStatementOfAnExportWhoseClientLeftIsCancelled(t *testing.T) {
	t.Parallel()
	a := startArchive(t, plenty)
	x := a.begin("")
	tx, err := a.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "LOCK TABLE event IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		_, _, _ = x.lines()
	}()
	waiting := `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	await(t, "a statement waits", func() bool { return a.count(waiting) > 0 })
	x.stop()
	<-reading
	await(t, "it is cancelled", func() bool { return a.count(waiting) == 0 })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.ended("left")
}

func TestADayOfAZoneHasTheHoursThatItHas(t *testing.T) {
	t.Parallel()
	a := startArchive(t, 1)
	a.exec("SELECT ensure_day('event', d::date) FROM generate_series('2026-10-01'::timestamptz, '2026-10-27', '1 day') d")
	a.exec(`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, source, id, type, subject, time_text)
		SELECT at, 1, 1, extract(epoch FROM at), 1, now(), 0, '/hourly', at::text, 'a', 'hourly', ''
		  FROM generate_series('2026-10-01T00:15:00Z'::timestamptz, '2026-10-26T23:59:00Z', '1 hour') at`)
	a.exec("INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) VALUES ('store', 1, 1, 0, 1)")
	read := func(path string, into any) {
		t.Helper()
		if r := a.do(a.request("GET", path, a.reader)); r.StatusCode != http.StatusOK || json.Unmarshal(r.body, into) != nil {
			t.Fatalf("%s: %d %s", path, r.StatusCode, r.body)
		}
	}
	for name, c := range map[string]struct {
		zone, interval, from, until string
		want                        []string
	}{
		"days of Berlin, of which one has 25 hours": {"Europe/Berlin", "1d", "2026-10-23T22:00:00Z", "2026-10-26T23:00:00Z", []string{
			"2026-10-24T00:00:00.000000+02:00 24", "2026-10-25T00:00:00.000000+02:00 25", "2026-10-26T00:00:00.000000+01:00 24",
		}},
		"hours of Berlin, of which one comes twice": {"Europe/Berlin", "1h", "2026-10-24T23:00:00Z", "2026-10-25T03:00:00Z", []string{
			"2026-10-25T01:00:00.000000+02:00 1", "2026-10-25T02:00:00.000000+02:00 1", "2026-10-25T02:00:00.000000+01:00 1", "2026-10-25T03:00:00.000000+01:00 1",
		}},
		"days of Lord Howe, of which one lacks half an hour": {"Australia/Lord_Howe", "1d", "2026-10-02T13:30:00Z", "2026-10-05T13:00:00Z", []string{
			"2026-10-03T00:00:00.000000+10:30 24", "2026-10-04T00:00:00.000000+10:30 23", "2026-10-05T00:00:00.000000+11:00 24",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			filter := "subject=hourly&from=" + c.from + "&until=" + c.until
			h := Histogram{}
			read("/v1/events:histogram?"+filter+"&interval="+c.interval+"&zone="+c.zone, &h)
			var got []string
			sum := int64(0)
			for _, b := range h.Buckets {
				got = append(got, fmt.Sprint(b.From, " ", b.Count))
				sum += b.Count
				inside := EventCount{} // what a brush over the bucket selects
				read("/v1/events:count?subject=hourly&from="+url.QueryEscape(b.From)+"&until="+url.QueryEscape(b.Until), &inside)
				if inside.Value != b.Count || inside.Relation != Exact {
					t.Errorf("the bucket at %s has %d, and its range %d (%s)", b.From, b.Count, inside.Value, inside.Relation)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			n := EventCount{}
			read("/v1/events:count?"+filter, &n)
			if sum != n.Value || h.Total.Value != n.Value || h.Total.Relation != Exact {
				t.Errorf("the buckets have %d, the total is %d (%s), the count %d", sum, h.Total.Value, h.Total.Relation, n.Value)
			}
		})
	}
}
