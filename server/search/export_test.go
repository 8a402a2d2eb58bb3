package search

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/server/fault"
	"oriel/server/query"
)

// export writes one to its end.
func (st *store) export(t testing.TB, params ...string) (string, error) {
	t.Helper()
	e, err := st.svc.Export(t.Context(), values(params...))
	if err != nil {
		t.Fatalf("export %v: %v", params, err)
	}
	defer e.Close()
	var out bytes.Buffer
	err = e.Write(t.Context(), &out)
	return out.String(), err
}

// exportedLines are the parts of an NDJSON.
type exportedLines struct {
	header  exportHeader
	events  []exported
	trailer exportTrailer
}

func readNDJSON(t testing.TB, text string) (out exportedLines) {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	if len(lines) < 3 || lines[len(lines)-1] != "" {
		t.Fatalf("%q is no whole NDJSON", text)
	}
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		var to any
		switch i {
		case 0:
			to = &out.header
		case len(lines) - 1:
			to = &out.trailer
		default:
			out.events = append(out.events, exported{})
			to = &out.events[len(out.events)-1]
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(to); err != nil {
			t.Fatalf("line %d %q: %v", i+1, line, err)
		}
	}
	return out
}

// readCSV reads RFC 4180 and nothing beyond it: what it takes, any reader takes.
func readCSV(t testing.TB, text string) (rows [][]string) {
	t.Helper()
	for text != "" {
		var row []string
		for {
			var cell string
			if strings.HasPrefix(text, `"`) {
				text = text[1:]
				for {
					end := strings.IndexByte(text, '"')
					if end < 0 {
						t.Fatalf("a quote is open: %q", text)
					}
					cell, text = cell+text[:end], text[end+1:]
					if !strings.HasPrefix(text, `"`) {
						break
					}
					cell, text = cell+`"`, text[1:]
				}
			} else {
				end := strings.IndexAny(text, ",\r\n\"")
				if end < 0 {
					t.Fatalf("a line without end: %q", text)
				}
				cell, text = text[:end], text[end:]
			}
			row = append(row, cell)
			if next, ok := strings.CutPrefix(text, ","); ok {
				text = next
				continue
			}
			next, ok := strings.CutPrefix(text, "\r\n")
			if !ok {
				t.Fatalf("%q follows a cell", text)
			}
			text = next
			break
		}
		rows = append(rows, row)
	}
	return rows
}

func TestAnExportIsEveryEventOfTheSnapshotExactlyOnce(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	var samples []sample
	for i := range 1700 { // of a few instants: pages end within them
		samples = append(samples, sample{
			at: noon().Add(-time.Duration(i%7) * time.Hour), partition: int32(i % 3), kind: []string{"a", "b"}[i%2], data: fmt.Appendf(nil, `{"i":%d}`, i),
		})
	}
	st.add(samples...)
	snapshot := st.list("type", "a").Snapshot
	st.add(sample{kind: "a", commit: 2, at: noon().Add(-3 * time.Hour)}, sample{kind: "a", commit: 2})
	for _, filter := range [][]string{{"type", "a"}, {"data.i", "100", "data.i", "101"}, {"q", "data.i>=200"}, {"type", "absent"}} {
		listed, _ := st.all(append(slices.Clone(filter), "snapshot", snapshot, "pageSize", "500")...)
		want := ids(listed)
		text, err := st.export(t, append(slices.Clone(filter), "snapshot", snapshot)...)
		if err != nil {
			t.Fatal(err)
		}
		got := readNDJSON(t, text)
		var found []string
		for _, e := range got.events {
			found = append(found, e.ID)
		}
		if !slices.Equal(found, want) {
			t.Errorf("%v: %d exported, %d listed", filter, len(found), len(want))
		}
		if tr := got.trailer.Trailer; !tr.Complete || tr.Count != len(want) || tr.Snapshot != snapshot || tr.Reason != "" {
			t.Errorf("the trailer is %+v", tr)
		}
		if h := got.header.Header; h.Snapshot != snapshot || h.From != "2026-11-29T12:00:00.000000Z" || h.Until != "" {
			t.Errorf("the header is %+v", h)
		}
		again, _ := url.ParseQuery(got.header.Header.Query)
		asked, _ := query.Decode(st.svc.schema, values(filter...), nil, "")
		if again.Encode() != query.Encode(asked).Encode() {
			t.Errorf("the header's query is %q", got.header.Header.Query)
		}
		csv, err := st.export(t, append(slices.Clone(filter), "snapshot", snapshot, "format", "csv", "columns", "id")...)
		if err != nil {
			t.Fatal(err)
		}
		rows := readCSV(t, csv)
		found = nil
		for _, r := range rows[1:] {
			found = append(found, r[0])
		}
		if !slices.Equal(found, want) || rows[0][0] != "id" {
			t.Errorf("%v: %d rows, %d listed", filter, len(found), len(want))
		}
	}
}

func TestDataOfAnExportIsExact(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	payloads := map[string][]byte{
		"numbers":   []byte(`{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2}`),
		"twice":     []byte(`{"b":1,"aa":2,"a":3,"b":4}`),
		"nul":       []byte(`{"a":"x\u0000y"}`),
		"literal":   []byte(`{"a":"x\\u0000y"}`),
		"lone":      []byte(`{"a":"\ud800","b":"\udc00","c":"\ud83d\ude00"}`),
		"bytes":     []byte("{\"a\":\"\xff\"}"),
		"separator": []byte("{\"a\":\"\u2028</script>&\"}"),
		"spaces":    []byte("{ \"a\" :\t1 }\r\n"),
		"empty":     {},
	}
	var samples []sample
	for id, data := range payloads {
		samples = append(samples, sample{id: id, data: data, headers: [][]byte{[]byte("h"), {0xfe}, []byte("h"), []byte("text")}, recordK: "k"})
	}
	samples = append(samples, sample{id: "absent", extensions: []string{"floor", "integer", "-5"}, subject: "s", severity: 6, tags: []string{"x"}, facets: []string{"room=k"}, traceID: bytes.Repeat([]byte{0xab}, 16)})
	st.add(samples...)
	text, err := st.export(t)
	if err != nil {
		t.Fatal(err)
	}
	got := readNDJSON(t, text)
	if len(got.events) != len(payloads)+1 {
		t.Fatalf("%d events", len(got.events))
	}
	for _, e := range got.events {
		want, has := payloads[e.ID]
		switch {
		case !has:
			if e.DataText != nil || e.DataBase64 != nil || e.DataKind != "absent" || e.Extensions["floor"] != (exportedExtension{"integer", "-5"}) || e.Severity != "error" ||
				e.Tags[0] != "x" || e.Facets["room"][0] != "k" || e.TraceID != strings.Repeat("ab", 16) || e.Subject != "s" || e.Position.Topic != "events" || e.Position.Offset == "" {
				t.Errorf("got %+v", e)
			}
		case e.DataText != nil:
			if *e.DataText != string(want) || e.DataBase64 != nil {
				t.Errorf("%s is %q", e.ID, *e.DataText)
			}
		case e.DataBase64 != nil:
			if b, err := base64.StdEncoding.DecodeString(*e.DataBase64); err != nil || !bytes.Equal(b, want) || e.ID != "bytes" {
				t.Errorf("%s is %q", e.ID, b)
			}
		default:
			t.Errorf("%s has no data", e.ID)
		}
		if has && (len(e.Headers) != 2 || e.Headers[0].ValueBase64 == nil || *e.Headers[1].Value != "text" || *e.RecordKey != "k") {
			t.Errorf("%s has the headers %+v", e.ID, e.Headers)
		}
	}
}

func TestACellReadsBackAndIsNoFormula(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	texts := []string{
		"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\ttab", "\rcr", "\nlf", `=HYPERLINK("http://evil.example","click")`, "＝1", "＋1", "－1", "＠x",
		`a "quoted" word`, "a,b", "a\r\nb", "a\rb", "a\nb", " leading", "trailing ", "007", "12345678901234567890", "-5", "-1.5e3", "'=1", "'", "''x", "", `"`, `",=1`, "x\x00y", "null", "[1]", "Ünï 日本",
	}
	for i, text := range texts {
		data, err := json.Marshal(map[string]any{"v": text, "i": i})
		if err != nil {
			t.Fatal(err)
		}
		st.add(sample{data: data, commit: int64(i + 1), extensions: []string{"x", "string", strings.ReplaceAll(text, "\x00", "")}})
	}
	text, err := st.export(t, "format", "csv", "columns", "data.i", "columns", "data.v", "columns", "ext.x", "columns", "data", "columns", `data."v"`)
	if err != nil {
		t.Fatal(err)
	}
	rows := readCSV(t, text)
	if want := []string{"data.i", "data.v", "ext.x", "data", "data.v"}; !slices.Equal(rows[0], want) || len(rows) != len(texts)+1 {
		t.Fatalf("%d rows of %q", len(rows), rows[0])
	}
	for _, row := range rows[1:] {
		var i int
		if _, err := fmt.Sscan(row[0], &i); err != nil {
			t.Fatal(err)
		}
		for j, cell := range row[1:3] {
			want := texts[i]
			if j == 1 { // which holds no NUL
				want = strings.ReplaceAll(want, "\x00", "")
			}
			if strings.HasPrefix(cell, "'") {
				cell = cell[1:]
			} else if strings.ContainsAny(cell[:min(1, len(cell))], "=+@\t\r\n") || strings.HasPrefix(cell, "-") && cell != "-5" && cell != "-1.5e3" {
				t.Errorf("%q is a formula", cell)
			}
			if cell != want {
				t.Errorf("%q reads back as %q", want, cell)
			}
		}
	}
}

func TestOnlyWhatIsANumberHasASignWithoutAGuard(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	for name, c := range map[string]struct {
		of     sample
		column string
		want   string
	}{
		"a number of the data":            {sample{data: []byte(`{"v":-1}`)}, "data.v", "-1"},
		"a number with an exponent":       {sample{data: []byte(`{"v":-1.5e+3}`)}, "data.v", "-1.5e+3"},
		"a number in a list":              {sample{data: []byte(`{"v":[7,-1]}`)}, "data.v[1]", "-1"},
		"a text that looks like one":      {sample{data: []byte(`{"v":"-1"}`)}, "data.v", "'-1"},
		"the same in a list":              {sample{data: []byte(`{"v":["a","-1"]}`)}, "data.v[1]", "'-1"},
		"several values":                  {sample{data: []byte(`{"v":["-1","-2"]}`)}, "data.v[*]", `"[""-1"",""-2""]"`},
		"an extension that is an integer": {sample{extensions: []string{"x", "integer", "-1"}}, "ext.x", "-1"},
		"an extension that is a text":     {sample{extensions: []string{"x", "string", "-1"}}, "ext.x", "'-1"},
		"the data, a number":              {sample{data: []byte(`-1`)}, "data", "-1"},
		"the data, plain text":            {sample{contentType: "text/plain", data: []byte(`-1`)}, "data", "'-1"},
		"an attribute":                    {sample{subject: "-1"}, "subject", "'-1"},
		"nothing":                         {sample{subject: "s"}, "data.none", `""`},
		"an empty text":                   {sample{data: []byte(`{"v":""}`)}, "data.v", `""`},
	} {
		c.of.kind = name
		st.add(c.of)
		text, err := st.export(t, "type", name, "format", "csv", "columns", c.column)
		if want := c.column + "\r\n" + c.want + "\r\n"; err != nil || text != want {
			t.Errorf("%s: %q, want %q, %v", name, text, want, err)
		}
	}
}

func TestColumnsAreOfWhateverAnEventHas(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{
		id: "1", kind: "t", source: "/s", subject: "sub", severity: 6, data: []byte(`{"n":1.50,"a":[{"k":"x"},{"k":"y"}],"o":{"p" : 1}}`), schema: "https://s.example",
		extensions: []string{"floor", "integer", "2"}, tags: []string{"a", "b"}, facets: []string{"room=kitchen"}, traceID: bytes.Repeat([]byte{1}, 16), timeText: "2026-11-30T12:59:00+01:00",
	}, sample{id: "2", contentType: "application/octet-stream", data: []byte{0xff, 0}})
	columns := map[string][2]string{
		"time": {"2026-11-30T12:59:00+01:00", "2026-11-30T11:59:00Z"}, "occurredAt": {"2026-11-30T11:59:00.000000Z", "2026-11-30T11:59:00.000000Z"},
		"ingestTime": {"2026-11-30T11:59:00.000Z", "2026-11-30T11:59:00.000Z"}, "id": {"1", "2"}, "type": {"t", "test.sample"}, "source": {"/s", "/test"},
		"subject": {"sub", ""}, "severity": {"error", ""}, "datacontenttype": {"application/json", "application/octet-stream"}, "dataschema": {"https://s.example", ""},
		"data": {`{"n":1.50,"a":[{"k":"x"},{"k":"y"}],"o":{"p" : 1}}`, ""}, "dataBase64": {"", "/wA="}, "trace": {strings.Repeat("01", 16), ""},
		"tag": {`["a","b"]`, ""}, "room": {"kitchen", ""}, "ext.floor": {"2", ""}, "data.n": {"1.50", ""}, "data.a[*].k": {`["x","y"]`, ""}, "data.a[1].k": {"y", ""},
		"data.o": {`{"p" : 1}`, ""}, "topic": {"events", "events"}, "partition": {"0", "0"}, "offset": {"0", "1"},
	}
	params := []string{"format", "csv"}
	var names []string
	for name := range columns {
		names, params = append(names, name), append(params, "columns", name)
	}
	text, err := st.export(t, params...)
	if err != nil {
		t.Fatal(err)
	}
	rows := readCSV(t, text)
	if len(rows) != 3 || !slices.Equal(rows[0], names) {
		t.Fatalf("got %q", rows)
	}
	for i, name := range names {
		if got := [2]string{rows[2][i], rows[1][i]}; got != columns[name] {
			t.Errorf("%s is %q, want %q", name, got, columns[name])
		}
	}
	text, err = st.export(t, "format", "csv")
	if err != nil || !strings.HasPrefix(text, "time,type,source,subject,id,severity,data\r\n") {
		t.Errorf("by default %q, %v", text, err)
	}
}

func TestWhatIsWrongWithAnExportIsToldBeforeItBegins(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{})
	for _, c := range []struct {
		params []string
		want   []string
	}{
		{[]string{"format", "xml", "colour", "x", "from", "noon", "pageSize", "5"}, []string{"INVALID_PARAMETER format", "INVALID_PARAMETER from", "UNKNOWN_PARAMETER colour", "UNKNOWN_PARAMETER pageSize"}},
		{[]string{"format", "csv", "columns", "colour", "columns", "data.[", "columns", "id"}, []string{"INVALID_PARAMETER columns", "INVALID_PARAMETER columns"}},
		{[]string{"columns", "id"}, []string{"INVALID_PARAMETER columns"}},
		{append([]string{"format", "csv"}, slices.Repeat([]string{"columns", "id"}, 51)...), []string{"INVALID_PARAMETER columns"}},
		{[]string{"snapshot", "x"}, []string{"INVALID_PARAMETER snapshot"}},
		{[]string{"from", "-1h", "until", "-2h"}, []string{"INVALID_PARAMETER until"}},
	} {
		_, err := st.svc.Export(t.Context(), values(c.params...))
		var got []string
		for _, v := range fault.Of(err).Violations {
			got = append(got, v.Reason+" "+v.Metadata["attribute"])
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: found %q, want %q", c.params, got, c.want)
		}
	}
	snapshot := st.list().Snapshot
	st.svc.now = func() time.Time { return noon().Add(2 * time.Hour) }
	if _, err := st.svc.Export(t.Context(), values("snapshot", snapshot)); fault.Of(err).Violations[0].Reason != fault.ReasonSnapshotExpired {
		t.Errorf("got %v", err)
	}
	if n := len(st.svc.exports.slots); n != 0 {
		t.Errorf("%d places are taken by exports that never began", n)
	}
}

func TestOnlySoManyExportsRunAtOnce(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{})
	var held []*Export
	for range exportsAtOnce {
		e, err := st.svc.Export(t.Context(), url.Values{})
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, e)
	}
	_, err := st.svc.Export(t.Context(), url.Values{})
	if e := fault.Of(err); e.Violations[0].Reason != fault.ReasonSearchBusy || e.Violations[0].Metadata["limit"] != "4" || e.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
	for _, e := range held {
		e.Close()
	}
	if e, err := st.svc.Export(t.Context(), url.Values{}); err != nil {
		t.Error(err)
	} else {
		e.Close()
	}
}

// hook writes to nowhere and calls f after each part.
type hook struct {
	n int
	f func(n int) error
	b bytes.Buffer
}

func (h *hook) Write(p []byte) (int, error) {
	h.n++
	if err := h.f(h.n); err != nil {
		return 0, err
	}
	return h.b.Write(p)
}

func (st *store) many(n int) {
	st.t.Helper()
	samples := make([]sample, n)
	for i := range samples {
		samples[i] = sample{at: noon().Add(-time.Duration(i) * time.Second), data: fmt.Appendf(nil, `{"i":%d}`, i)}
	}
	st.add(samples...)
}

// retain drops the days up to now's, as retention does.
func (st *store) retain() {
	st.t.Helper()
	st.exec(`DO $$ DECLARE day regclass; BEGIN
		FOR day IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'event'::regclass AND inhrelid::regclass::text <= 'event_20261130' LOOP
			EXECUTE 'DROP TABLE ' || day;
		END LOOP; END $$`)
}

func TestAnExportThatIsCutSaysSo(t *testing.T) {
	t.Parallel()
	stop := fault.New(fault.Unauthenticated, fault.ReasonSessionExpired, "The session has ended.")
	gone := errors.New("broken pipe")
	for name, c := range map[string]struct {
		at     func(st *store, cancel context.CancelCauseFunc) error // after event 600 of 1500
		reason string                                                // of the trailer; none where nobody takes one
	}{
		"the caller may no longer": {func(_ *store, cancel context.CancelCauseFunc) error { cancel(stop); return nil }, fault.ReasonSessionExpired},
		"retention drops its day": {func(st *store, _ context.CancelCauseFunc) error {
			st.retain()
			return nil
		}, fault.ReasonSnapshotExpired},
		"its client left": {func(*store, context.CancelCauseFunc) error { return gone }, ""},
	} {
		for _, format := range []string{"ndjson", "csv"} {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				st := newStore(t)
				st.many(1500)
				// What was read is written whatever happens: events are as large as a run holds.
				e, err := st.svc.Export(t.Context(), values("format", format))
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				out := &hook{f: func(n int) error {
					if n == 600 || n > 600 && c.reason == "" {
						return c.at(st, cancel)
					}
					return nil
				}}
				err = e.Write(ctx, out)
				if err == nil || e.SaysEnd != (format == "ndjson") {
					t.Fatalf("it ended with %v after %d parts", err, out.n)
				}
				if c.reason == "" {
					if !errors.Is(err, gone) {
						t.Errorf("it ended with %v", err)
					}
					return
				}
				if got := fault.Of(err).Violations[0].Reason; got != c.reason {
					t.Errorf("it ended with %v", err)
				}
				if format == "csv" {
					return
				}
				got := readNDJSON(t, out.b.String())
				if tr := got.trailer.Trailer; tr.Complete || tr.Reason != c.reason || tr.Count != len(got.events) || tr.Message == "" || len(got.events) >= 1500 || len(got.events) < 500 {
					t.Errorf("%d events and the trailer %+v", len(got.events), tr)
				}
			})
		}
	}
}

func TestAnExportOutlivesALostConnectionAndHoldsNoneBetweenPages(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.many(1500)
	e, err := st.svc.Export(t.Context(), url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	out := &hook{f: func(n int) error {
		if n%400 == 0 {
			if held := st.svc.pool.Stat().AcquiredConns(); held != 0 {
				return fmt.Errorf("it holds %d connections while it writes", held)
			}
			if len(st.svc.slots) != 0 {
				return errors.New("it holds a slot while it writes")
			}
			st.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		}
		return nil
	}}
	if err := e.Write(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if got := readNDJSON(t, out.b.String()); len(got.events) != 1500 || !got.trailer.Trailer.Complete {
		t.Errorf("%d events, %+v", len(got.events), got.trailer)
	}
}

func TestAnExportOfLargeEventsReadsFewAtOnce(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	samples := make([]sample, 10)
	for i := range samples {
		samples[i] = sample{contentType: "application/octet-stream", data: bytes.Repeat([]byte{0xff, byte(i)}, 1<<19)}
	}
	st.add(samples...)
	x := &exporting{Service: st.svc}
	if err := x.page(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(x.ready) != 4 || len(x.places) != 6 {
		t.Errorf("%d of %d are read", len(x.ready), len(x.ready)+len(x.places))
	}
	text, err := st.export(t)
	if err != nil || len(readNDJSON(t, text).events) != 10 {
		t.Errorf("got %d bytes, %v", len(text), err)
	}

	e, err := st.svc.Export(t.Context(), url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	out := &hook{f: func(n int) error {
		if n == 2 {
			st.retain()
		}
		return nil
	}}
	err = e.Write(t.Context(), out)
	if got := readNDJSON(t, out.b.String()); fault.Of(err).Violations[0].Reason != fault.ReasonSnapshotExpired || len(got.events) != 4 || got.trailer.Trailer.Complete {
		t.Errorf("with its day dropped between two reads: %d events, %v", len(got.events), err)
	}
}

func TestExportsAndListsAgreeWhileEventsAreStored(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.many(1200)
	done := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for commit := int64(2); ; commit++ {
			select {
			case <-done:
				return
			default:
				st.add(sample{commit: commit, at: noon().Add(-time.Duration(commit) * time.Minute)})
			}
		}
	})
	for range 5 {
		e, err := st.svc.Export(t.Context(), url.Values{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := e.Write(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		e.Close()
		var found []string
		for _, x := range readNDJSON(t, out.String()).events {
			found = append(found, x.ID)
		}
		listed, _ := st.all("snapshot", e.Snapshot, "pageSize", "500")
		if !slices.Equal(found, ids(listed)) {
			t.Errorf("%d exported, %d listed", len(found), len(listed))
		}
	}
	close(done)
	writing.Wait()
}

func TestTheEventsOfAnExportAreLookedUp(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.many(20_000)
	st.exec("ANALYZE")
	places := make([]place, 500)
	for i := range places {
		places[i] = place{key: key{at: noon().Add(-time.Duration(i*37) * time.Second).UnixMicro(), log: 1, offset: int64(i * 37)}}
	}
	err := st.svc.run(t.Context(), "export", nil, func(ctx context.Context, ses *session) error {
		rows, err := eventsAt(ctx, ses, places)
		if err != nil || len(rows) != 500 {
			return errors.Join(err, fmt.Errorf("%d rows", len(rows)))
		}
		var scans, looks int64
		err = ses.QueryRow(ctx, `SELECT sum(seq_scan), sum(idx_scan) FROM pg_stat_xact_all_tables WHERE relname = 'event_20261130'`).Scan(&scans, &looks)
		if err != nil || scans != 0 || looks < 500 || looks > 510 {
			return errors.Join(err, fmt.Errorf("%d scans of all, %d look-ups", scans, looks))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
