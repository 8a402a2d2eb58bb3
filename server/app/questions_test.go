package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// asker asks one installation.
type asker struct {
	t    *testing.T
	addr string
	in   apptest.Installation
	at   string // the time of its events
}

func newAsker(t *testing.T, b dbtest.Broker) *asker {
	in := apptest.Install(t, b)
	listen := apptest.FreeAddr(t)
	in.Serve(t, listen)
	return &asker{t, "http://" + listen, in, time.Now().Add(-time.Minute).UTC().Format(time.RFC3339Nano)}
}

func (a *asker) send(id string, data []byte) {
	a.t.Helper()
	if code, body := post(a.t, a.addr, a.in.Producer, id, a.at, "application/json", data); code != http.StatusOK {
		a.t.Fatalf("%s answers %d %s", id, code, body)
	}
}

// batch publishes structured events.
func (a *asker) batch(events ...map[string]any) (status int, answer string) {
	a.t.Helper()
	body, err := json.Marshal(events)
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.addr+"/v1/events:batchCreate", bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.in.Producer)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

func event(id, at string, data any) map[string]any {
	return map[string]any{"specversion": "1.0", "id": id, "source": "/questions", "type": "q.v1", "time": at, "data": data}
}

// ask reads one answer; parameters are name, value, …
func (a *asker) ask(method string, into any, params ...string) {
	a.t.Helper()
	if code := apptest.GetJSON(a.t, a.addr+"/v1/events"+method+"?"+query(params...), a.in.Reader, into); code != http.StatusOK {
		a.t.Fatalf("%s %v answers %d: %+v", method, params, code, into)
	}
}

func query(params ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		v.Add(params[i], params[i+1])
	}
	return v.Encode()
}

type counted struct {
	Value    int
	Relation string
	Covered  struct{ From, Until string }
	Snapshot string
}

type listed struct {
	Events                                     []struct{ ID, Time, OccurredAt string }
	NextPageToken, PreviousPageToken, Snapshot string
}

// until waits until so many events are stored.
func (a *asker) until(n int) {
	a.t.Helper()
	var c counted
	apptest.Eventually(a.t, 30*time.Second, func() bool {
		a.ask(":count", &c)
		return c.Value == n
	}, func() string { return fmt.Sprintf("%d of %d events are stored", c.Value, n) })
}

// ids are those that a filter lists, sorted; count, histogram and export must say the same.
func (a *asker) ids(params ...string) []string {
	a.t.Helper()
	var page listed
	a.ask("", &page, append([]string{"pageSize", "500"}, params...)...)
	out := make([]string, len(page.Events))
	for i, e := range page.Events {
		out[i] = e.ID
	}
	slices.Sort(out)

	params = append([]string{"snapshot", page.Snapshot}, params...)
	var n counted
	a.ask(":count", &n, params...)
	var h struct {
		Total   counted
		Buckets []struct{ Count int }
	}
	a.ask(":histogram", &h, params...)
	sum := 0
	for _, b := range h.Buckets {
		sum += b.Count
	}
	var f struct {
		Facets []struct{ Values []struct{ Count int } }
	}
	a.ask(":facets", &f, append(params, "field", "source")...)
	sources := 0
	for _, v := range f.Facets[0].Values {
		sources += v.Count
	}
	exported := len(a.export(params...))
	if n.Value != len(out) || n.Relation != "exact" || h.Total.Value != len(out) || sum != len(out) || sources != len(out) || exported != len(out) {
		a.t.Errorf("%v: %d are listed, %d %s counted, the histogram has %d in all and %d in its buckets, the sources have %d, %d are exported",
			params, len(out), n.Value, n.Relation, h.Total.Value, sum, sources, exported)
	}
	return out
}

type exportedEvent struct {
	ID, Time, DataText, DataBase64 string
}

// export reads an NDJSON to its trailer.
func (a *asker) export(params ...string) []exportedEvent {
	a.t.Helper()
	code, body := apptest.Get(a.t, a.addr+"/v1/events:export?"+query(params...), a.in.Reader)
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	var last struct {
		Trailer struct {
			Complete bool
			Count    int
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); code != http.StatusOK || err != nil || !last.Trailer.Complete || last.Trailer.Count != len(lines)-2 {
		a.t.Fatalf("export %v answers %d %.500s", params, code, body)
	}
	out := make([]exportedEvent, 0, len(lines)-2)
	for _, line := range lines[1 : len(lines)-1] {
		var e exportedEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			a.t.Fatalf("%q: %v", line, err)
		}
		out = append(out, e)
	}
	return out
}

func TestQuestionsAboutOddPayloadsAgreeAndKeepEverySpelling(t *testing.T) {
	t.Parallel()
	payloads := map[string][]byte{
		"big":     []byte(`{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2}`),
		"near":    []byte(`{"id":9007199254740992,"f":1.1}`),
		"twice":   []byte(`{"b":1,"aa":2,"a":3,"b":4}`),
		"nul":     []byte(`{"a":"marmot\u0000badger"}`),
		"literal": []byte(`{"a":"otter\\u0000lynx"}`),
		"emoji":   []byte(`{"a":"\ud83d\ude00","lone":"\ud800 ibis \udc00"}`),
		"bytes":   []byte("{\"a\":\"stork\xff\"}"),
		"text":    []byte(`{"f":"1.0","id":"9007199254740993"}`),
	}
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		a := newAsker(t, b)
		for id, data := range payloads {
			a.send(id, data)
		}
		a.until(len(payloads))
		for filter, want := range map[string]string{
			"data.id=9007199254740993":      "big text",
			"data.id=9007199254740992":      "near",
			`data.id="9007199254740993"`:    "text",
			"data.id!=9007199254740993":     "bytes emoji literal near nul twice",
			"data.neg=-9222742375320771188": "big",
			"data.neg=-9222742375320771187": "",
			"data.f=1":                      "big",
			"data.f=1.0":                    "big text",
			"data.z=0":                      "big",
			"data.e=100":                    "big",
			"q=data.id>9007199254740992":    "big",
			"q=data.f>1 data.f<1.2":         "near",
			"data.b=1":                      "twice",
			"data.b=4":                      "twice",
			"q=data.b:1 data.b:4":           "twice",
			"q=marmot badger":               "nul",
			"q=marmotbadger":                "",
			"q=otter":                       "literal",
			"data.a=😀":                      "emoji",
			"q=ibis":                        "emoji",
			"q=stork":                       "",
			"data.a=*":                      "emoji literal nul twice",
			"q=NOT data.a:*":                "big bytes near text",
		} {
			name, value, _ := strings.Cut(filter, "=")
			if got := strings.Join(a.ids(name, value), " "); got != want {
				t.Errorf("%s finds %q, want %q", filter, got, want)
			}
		}
		for _, e := range a.export() {
			got := []byte(e.DataText)
			if e.DataBase64 != "" {
				got, _ = base64.StdEncoding.DecodeString(e.DataBase64)
			}
			if !bytes.Equal(got, payloads[e.ID]) || (e.DataBase64 != "") != (e.ID == "bytes") {
				t.Errorf("%s is exported as %q", e.ID, got)
			}
		}
		_, csv := apptest.Get(t, a.addr+"/v1/events:export?"+query("format", "csv", "columns", "id", "columns", "data.id", "columns", "data.f", "columns", "data.z", "columns", "data.b", "columns", "data.neg"), a.in.Reader)
		for _, line := range []string{"big,9007199254740993,1.0,-0,,-9222742375320771188\r\n", "near,9007199254740992,1.1,,,\r\n", "twice,,,,\"[1,4]\",\r\n"} {
			if !strings.Contains(string(csv), line) {
				t.Errorf("the CSV lacks %q: %s", line, csv)
			}
		}
		var f struct {
			Fields []struct {
				Field, Least, Most string
				Present            int
			}
		}
		a.ask(":fields", &f, "field", "data.id")
		if len(f.Fields) != 1 || f.Fields[0].Least != "9007199254740992" || f.Fields[0].Most != "9007199254740993" || f.Fields[0].Present != 3 {
			t.Errorf("the fields are %+v", f)
		}

		if status, answer := a.batch(map[string]any{"specversion": "1.0", "id": "x", "source": "/x", "type": "a\x01b", "time": a.at}); status != http.StatusMultiStatus || !strings.Contains(answer, "INVALID_ATTRIBUTE") {
			t.Errorf("a control character in an attribute answers %d %s", status, answer)
		}
	})
}

func TestAnEventIsInTheSecondThatItsTimeSays(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		a := newAsker(t, b)
		second := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
		text := second.Format("2006-01-02T15:04:05") + ".999999600Z"
		if status, answer := a.batch(event("late", text, map[string]any{})); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		a.until(1)
		next := second.Add(time.Second)
		inside := []string{"from", second.Format(time.RFC3339), "until", next.Format(time.RFC3339)}
		if got := a.ids(inside...); len(got) != 1 {
			t.Errorf("it is not in its second: %q", got)
		}
		if got := a.ids("from", next.Format(time.RFC3339)); len(got) != 0 {
			t.Errorf("it is in the next second: %q", got)
		}
		var h struct {
			Buckets []struct {
				From  string
				Count int
			}
		}
		a.ask(":histogram", &h, "from", second.Add(-time.Second).Format(time.RFC3339), "until", next.Add(time.Second).Format(time.RFC3339), "interval", "1s")
		for _, b := range h.Buckets {
			at, err := time.Parse(time.RFC3339, b.From)
			if err != nil || (b.Count == 1) != at.Equal(second) {
				t.Errorf("the bucket at %s has %d, %v", b.From, b.Count, err)
			}
		}
		if e := a.export(inside...); len(e) != 1 || e[0].Time != text {
			t.Errorf("it is exported as %+v", e)
		}
	})
}

func TestAThousandEventsOfOneInstantArePagedBothWaysWhileMoreAreStored(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		a := newAsker(t, b)
		instant := time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond)
		for from := 0; from < 1000; from += 250 {
			var events []map[string]any
			for i := from; i < from+250; i++ {
				at := instant.Add(time.Duration(i) * time.Nanosecond) // all within one microsecond
				e := event(fmt.Sprint(i), at.Format("2006-01-02T15:04:05.000000000Z"), map[string]any{"i": i})
				e["subject"] = fmt.Sprint(i % 50) // spread over partitions
				events = append(events, e)
			}
			if status, answer := a.batch(events...); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
		}
		a.until(1000)
		var first listed
		a.ask("", &first, "from", "-5m", "until", "now", "pageSize", "100")
		var there, back []string
		page := first
		for pages := 1; ; pages++ {
			for _, e := range page.Events {
				there = append(there, e.ID)
			}
			// More are stored before each page, at the same instant and after it.
			if status, answer := a.batch(event(fmt.Sprint("more-", pages), instant.Format(time.RFC3339Nano), 1), event(fmt.Sprint("now-", pages), time.Now().UTC().Format(time.RFC3339Nano), 1)); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
			var n counted
			a.ask(":count", &n, "snapshot", first.Snapshot)
			if n.Value != 1000 || n.Relation != "exact" {
				t.Errorf("with page %d the snapshot has %d (%s)", pages, n.Value, n.Relation)
			}
			if page.NextPageToken == "" {
				if pages != 10 {
					t.Errorf("%d pages", pages)
				}
				break
			}
			token := page.NextPageToken
			page = listed{}
			a.ask("", &page, "from", "-5m", "until", "now", "pageSize", "100", "pageToken", token)
		}
		for {
			var ids []string
			for _, e := range page.Events {
				ids = append(ids, e.ID)
			}
			back = slices.Concat(ids, back)
			if page.PreviousPageToken == "" {
				break
			}
			token := page.PreviousPageToken
			page = listed{}
			a.ask("", &page, "pageSize", "100", "pageToken", token)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(there)))
		if len(there) != 1000 || len(distinct) != 1000 || !slices.Equal(there, back) {
			t.Errorf("%d events there, %d of them distinct, %d back", len(there), len(distinct), len(back))
		}
		if got := a.export("snapshot", first.Snapshot); len(got) != 1000 || got[0].ID != there[0] || got[999].ID != there[999] {
			t.Errorf("%d are exported", len(got))
		}
		a.until(1020)
		var newer counted
		a.ask(":count", &newer, "newerThan", first.Snapshot)
		if newer.Value < 10 || newer.Value > 20 { // those at the instant, and of the others what lies before "now"
			t.Errorf("%d are newer", newer.Value)
		}
	})
}

func TestACSVReadsBackInASpreadsheetWithoutAFormula(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		a := newAsker(t, b)
		cells := map[string]string{ // as they stand in the file
			"=1+1": "'=1+1", "+1": "'+1", "@x": "'@x", "-x": "'-x", "-5": "'-5", "\tx": "'\tx", "\rx": "\"'\rx\"",
			`=HYPERLINK("http://a","b")`: `"'=HYPERLINK(""http://a"",""b"")"`, `say "hi", you`: `"say ""hi"", you"`, "a\r\nb": "\"a\r\nb\"", "a\rb": "\"a\rb\"",
			"007": "007", "12345678901234567890": "12345678901234567890", "it's": "it's", "'x": "''x",
		}
		var events []map[string]any
		for text := range cells {
			events = append(events, event(fmt.Sprint("e", len(events)), a.at, map[string]any{"v": text}))
		}
		if status, answer := a.batch(events...); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		a.until(len(cells))
		_, csv := apptest.Get(t, a.addr+"/v1/events:export?"+query("format", "csv", "columns", "data.v", "columns", "type"), a.in.Reader)
		rest, ok := strings.CutPrefix(string(csv), "data.v,type\r\n")
		if !ok {
			t.Fatalf("it begins with %.100q", csv)
		}
		for _, cell := range cells {
			line := cell + ",q.v1\r\n"
			if !strings.Contains(rest, line) {
				t.Errorf("%q lacks the line %q", rest, line)
			}
			rest = strings.Replace(rest, line, "", 1)
		}
		if rest != "" {
			t.Errorf("beside its lines it has %q", rest)
		}
		found := map[string]bool{}
		for _, e := range a.export() {
			var data struct{ V string }
			if err := json.Unmarshal([]byte(e.DataText), &data); err != nil {
				t.Fatal(err)
			}
			found[data.V] = true
		}
		for text := range cells {
			if !found[text] {
				t.Errorf("the NDJSON lacks %q", text)
			}
		}
	})
}
