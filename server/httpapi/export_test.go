package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/fault"
)

// many is more than the buffers between a server and a client that reads nothing hold.
const many = 30_000

type reading struct {
	t    *testing.T
	resp *http.Response
	in   *bufio.Reader
	stop context.CancelFunc
}

// open begins an export and reads its first line.
func (o *office) open(token string, header ...string) *reading {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	o.t.Cleanup(cancel)
	tr := &http.Transport{DisableKeepAlives: true}
	o.t.Cleanup(tr.CloseIdleConnections)
	resp, err := (&http.Client{Transport: tr}).Do(o.request("GET", "/v1/auditEntries:export", token, header...).WithContext(ctx))
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = resp.Body.Close() })
	x := &reading{o.t, resp, bufio.NewReader(resp.Body), cancel}
	if line, err := x.in.ReadString('\n'); err != nil || !strings.Contains(line, `"auditEntries/`) {
		o.t.Fatalf("%d %q: %v", resp.StatusCode, line, err)
	}
	return x
}

// rest reads to the end: how many entries there were with the first, and the trailer where there is one.
func (x *reading) rest() (entries int, last *exportTrailer, err error) {
	x.t.Helper()
	entries = 1
	for {
		line, err := x.in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return entries, last, nil
		}
		if err != nil {
			return entries, last, err
		}
		if last != nil {
			x.t.Fatalf("%q follows the trailer", line)
		}
		if strings.HasPrefix(string(line), `{"trailer"`) {
			last = &exportTrailer{}
			if err := json.Unmarshal(line, last); err != nil {
				x.t.Fatal(err)
			}
			continue
		}
		var e AuditEntry
		if err := json.Unmarshal(line, &e); err != nil || e.Name == "" {
			x.t.Fatalf("%q: %v", line, err)
		}
		entries++
	}
}

// outcome waits for the end of the newest export on the record.
func (o *office) outcome() audit.Entry {
	o.t.Helper()
	var e audit.Entry
	await(o.t, "the export has an outcome", func() bool {
		all := o.entries(audit.Filter{Actions: []string{audit.ActionAuditExport}})
		if len(all) > 0 {
			e = all[0]
		}
		return len(all) > 0 && e.Outcome != audit.Unknown
	})
	await(o.t, "the export's connection is back", func() bool { return o.metric("oriel_audit_exports", nil) == 0 })
	return e
}

func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain: " + what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func TestAnExportHasEveryEntryAndItsOwnIsOnTheRecord(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.fill(1200)
	listed := into[AuditPage](t, o.get("/v1/auditEntries?actor=Ada*&pageSize=500"))
	r := o.get("/v1/auditEntries:export?actor=Ada*&from=2020-01-01T00:00:00Z&q=")
	for name, want := range map[string]string{
		"Content-Type": "^application/x-ndjson$", "Content-Disposition": `^attachment; filename="oriel-audit-\d{8}T\d{6}Z\.ndjson"$`,
		"Cache-Control": "^no-store$", "X-Content-Type-Options": "^nosniff$", "Content-Security-Policy": "default-src 'none'",
	} {
		if got := r.Header.Get(name); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %q", name, got)
		}
	}
	lines := strings.Split(strings.TrimSuffix(string(r.body), "\n"), "\n")
	if len(lines) != 1201 || lines[1200] != `{"trailer":{"complete":true,"entries":1200}}` {
		t.Fatalf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	for i, want := range listed.Entries {
		text, err := json.Marshal(want)
		if err != nil || lines[i] != string(text) {
			t.Fatalf("line %d is %s, the list has %s", i, lines[i], text)
		}
	}
	e := o.outcome()
	if e.Outcome != audit.Done || e.Actor.Name != "boss" || e.RequestID != r.Header.Get("X-Request-Id") || e.Target != "auditEntries" ||
		fmt.Sprint(e.After["entries"]) != "1200" || fmt.Sprint(e.After["filter"]) != "map[actor:[Ada*] from:2020-01-01T00:00:00.000000Z]" {
		t.Errorf("got %+v", e)
	}
}

func TestAnExportOfNothingIsComplete(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	if r := o.get("/v1/auditEntries:export?actor=Nobody"); string(r.body) != `{"trailer":{"complete":true,"entries":0}}`+"\n" {
		t.Errorf("got %q", r.body)
	}
}

func TestTheHeadOfAnExportExportsNothing(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	r := o.do(o.request("HEAD", "/v1/auditEntries:export", o.admin))
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "application/x-ndjson" || len(r.body) != 0 {
		t.Errorf("got %d, %v", r.StatusCode, r.Header)
	}
	if n := len(o.entries(audit.Filter{})); n != 0 {
		t.Errorf("%d entries", n)
	}
}

func TestHostileTextsAreExportedAsText(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	hostile := "</script><script>alert(1)</script>\x00\x1b[2J\n\u202e{\"trailer\":{\"complete\":true}}\xff"
	if err := o.log.Record(t.Context(), nil, audit.Entry{
		Action: audit.ActionTokenRevoke, Actor: audit.Actor{Kind: "person", Name: hostile, ID: hostile}, Target: hostile, Reason: hostile, Outcome: audit.Failed,
	}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(o.get("/v1/auditEntries:export?action=token.*").body)), "\n")
	if len(lines) != 2 || strings.ContainsAny(lines[0], "<>\x00\x1b") {
		t.Fatalf("got %q", lines)
	}
	var e AuditEntry
	if err := json.Unmarshal([]byte(lines[0]), &e); err != nil {
		t.Fatal(err)
	}
	if want := "</script><script>alert(1)</script>␀␛[2J\n[U+202E]{\"trailer\":{\"complete\":true}}\ufffd"; e.Reason != want || e.Actor != want || e.Target != want {
		t.Errorf("got %q", e.Reason)
	}
}

// visitor is a session that ends, or whose role is taken, when told.
type visitor struct {
	sessions
	mu   sync.Mutex
	role string
	gone bool
}

func (v *visitor) Verify(context.Context, string) (*auth.Principal, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.gone {
		return nil, fault.New(fault.Unauthenticated, fault.ReasonSessionExpired, "The session has ended.")
	}
	return &auth.Principal{Kind: auth.KindPerson, ID: "issuer#ada", Name: "Ada", Roles: auth.RolesUpTo(v.role), Scopes: auth.RoleScopes(v.role)}, nil
}

func (v *visitor) change(f func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f()
}

func TestAnExportEndsWhenItsCallerMayNoLonger(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		token  bool
		end    func(*testing.T, *office, *visitor)
		reason string
	}{
		"the session has ended": {false, func(_ *testing.T, _ *office, v *visitor) { v.change(func() { v.gone = true }) }, fault.ReasonSessionExpired},
		"the role was taken":    {false, func(_ *testing.T, _ *office, v *visitor) { v.change(func() { v.role = auth.RoleOperator }) }, fault.ReasonRoleMissing},
		"the token was revoked": {true, func(t *testing.T, o *office, _ *visitor) {
			if _, err := o.tokens.Revoke(t.Context(), 1, "test", nil); err != nil {
				t.Fatal(err)
			}
		}, fault.ReasonTokenInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &visitor{role: auth.RoleAdmin}
			o := startOffice(t, func(d *Deps) { d.Sessions, d.Config.Recheck = v, 20*time.Millisecond })
			o.fill(many)
			token, header := o.admin, []string(nil)
			if !c.token {
				token, header = "", []string{"Host", "events.example.com", "Cookie", "__Host-oriel=" + strings.Repeat("A", 43)}
			}
			x := o.open(token, header...)
			c.end(t, o, v)
			entries, last, err := x.rest()
			if err != nil || last == nil || last.Trailer.Complete || last.Trailer.Reason != c.reason || last.Trailer.Message == "" || last.Trailer.Entries != entries || entries >= many {
				t.Fatalf("%d entries, %+v, %v", entries, last, err)
			}
			e := o.outcome()
			if e.Outcome != audit.Refused || !strings.HasPrefix(e.Detail, c.reason+": ") || !strings.HasSuffix(e.Detail, fmt.Sprintf(" %d entries were sent.", entries)) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// The writer waits for a client that takes nothing, and who asks about the token does not.
func TestAClientThatTakesNothingIsCutWhenItsTokenIsRevoked(t *testing.T) {
	t.Parallel()
	o := startOffice(t, func(d *Deps) { d.Config.Recheck = 20 * time.Millisecond })
	o.stall = time.Hour
	o.fill(many)
	x := o.open(o.admin)
	await(t, "the writer waits for the client", func() bool {
		return o.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction' AND state_change < now() - interval '1 second'`) == 1
	})
	if _, err := o.tokens.Revoke(t.Context(), 1, "test", nil); err != nil {
		t.Fatal(err)
	}
	if e := o.outcome(); e.Outcome != audit.Refused || !strings.HasPrefix(e.Detail, fault.ReasonTokenInvalid+": ") {
		t.Errorf("got %+v", e)
	}
	if entries, last, _ := x.rest(); last != nil || entries >= many {
		t.Errorf("%d entries, %+v", entries, last)
	}
}

func TestAnExportGoesOnForAsLongAsItsCallerMay(t *testing.T) {
	t.Parallel()
	o := startOffice(t, func(d *Deps) { d.Config.Recheck = time.Millisecond })
	o.fill(5000)
	if entries, last, err := o.open(o.admin).rest(); err != nil || last == nil || !last.Trailer.Complete || entries != 5001 || last.Trailer.Entries != 5001 {
		t.Errorf("%d entries, %+v, %v", entries, last, err)
	}
}

func TestAClientThatLeavesIsNoticed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave func(*reading)
		said  string
	}{
		"it closes the connection": {func(x *reading) { x.stop() }, "The client left before the end. "},
		"it takes nothing":         {func(*reading) {}, "The client was too slow: it took nothing for 500ms and was cut off. "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startOffice(t)
			o.stall = 500 * time.Millisecond
			o.fill(many)
			x := o.open(o.admin)
			c.leave(x)
			e := o.outcome()
			if e.Outcome != audit.Failed || !strings.HasPrefix(e.Detail, c.said) {
				t.Errorf("got %+v", e)
			}
			if _, last, _ := x.rest(); last != nil {
				t.Errorf("what was cut has the trailer %+v", last)
			}
			await(t, "no statement is left", func() bool {
				return o.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`) == 0
			})
		})
	}
}

func TestAStopEndsAnExportWithATrailerThatSaysSo(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.fill(many)
	x := o.open(o.admin)
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		stopped <- o.Shutdown(ctx)
	}()
	await(t, "the server stops", o.ending.Load)
	entries, last, err := x.rest()
	if err != nil || last == nil || last.Trailer.Complete || last.Trailer.Reason != fault.ReasonShuttingDown || last.Trailer.Entries != entries {
		t.Errorf("%d entries, %+v, %v", entries, last, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if e := o.outcome(); e.Outcome != audit.Failed || !strings.HasPrefix(e.Detail, "SHUTTING_DOWN: ") {
		t.Errorf("got %+v", e)
	}
}

func TestAStopWithoutTimeWaitsForTheOutcomeOfAnExport(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.fill(many)
	x := o.open(o.admin)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.Shutdown(ctx); err == nil {
		t.Error("it had no time")
	}
	if e := o.entries(audit.Filter{Actions: []string{audit.ActionAuditExport}})[0]; e.Outcome != audit.Failed {
		t.Errorf("got %+v", e)
	}
	if _, last, _ := x.rest(); last != nil && last.Trailer.Complete {
		t.Errorf("what was cut has the trailer %+v", last)
	}
}

func TestAnExportThatTheDatabaseCutsSaysSo(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.fill(many)
	x := o.open(o.admin)
	if n := o.count(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`); n != 1 {
		t.Fatalf("%d connections cut", n)
	}
	entries, last, err := x.rest()
	if err != nil || last == nil || last.Trailer.Complete || last.Trailer.Reason != fault.ReasonDatabaseUnavailable || last.Trailer.Entries != entries {
		t.Errorf("%d entries, %+v, %v", entries, last, err)
	}
	if e := o.outcome(); e.Outcome != audit.Failed || !strings.HasPrefix(e.Detail, "DATABASE_UNAVAILABLE: ") {
		t.Errorf("got %+v", e)
	}
	if n := o.metric("oriel_http_errors_total", map[string]string{"reason": fault.ReasonDatabaseUnavailable}); n != 1 {
		t.Errorf("counted %v", n)
	}
}

func TestAnExportWithoutItsEntryIsNotComplete(t *testing.T) {
	t.Parallel()
	o := startOffice(t)
	o.fill(3)
	o.refusing("audit", "NEW.outcome = 'done'")
	entries, last, err := o.open(o.admin).rest()
	if err != nil || last == nil || last.Trailer.Complete || last.Trailer.Reason != fault.ReasonDatabaseUnavailable || entries != 4 {
		t.Errorf("%d entries, %+v, %v", entries, last, err)
	}
}

// Not parallel: it measures the heap of the process.
func TestAnExportOfAHundredThousandEntriesHoldsFewOfThem(t *testing.T) {
	const entries, most = 100_000, 32 << 20
	o := startOffice(t)
	o.fill(entries)
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, highest, lines := live(), uint64(0), 0
	c, err := net.Dial("tcp", o.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Fprintf(c, "GET /v1/auditEntries:export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", o.admin); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in, last := bufio.NewScanner(resp.Body), ""
	for in.Scan() {
		if lines++; lines%10_000 == 0 {
			highest = max(highest, live())
		}
		last = in.Text()
	}
	if want := fmt.Sprintf(`{"trailer":{"complete":true,"entries":%d}}`, entries+1); in.Err() != nil || last != want || lines != entries+2 {
		t.Fatalf("%d lines, the last %q, %v", lines, last, in.Err())
	}
	if highest > before+most {
		t.Errorf("it holds %d MiB", (highest-before)>>20)
	}
	t.Logf("%d KiB above what was held before", (int64(highest)-int64(before))>>10)
}
