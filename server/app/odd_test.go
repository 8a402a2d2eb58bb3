package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// post sends one event in binary mode and returns the answer.
func post(t *testing.T, addr, token, id, at, contentType string, data []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr+"/v1/events", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": contentType, "ce-specversion": "1.0",
		"ce-id": id, "ce-source": "/odd", "ce-type": "odd.v1", "ce-time": at,
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// found lists the ids that a search for words answers.
func found(t *testing.T, addr, token, words string) string {
	t.Helper()
	var page struct{ Events []struct{ ID string } }
	if code := apptest.GetJSON(t, addr+"/v1/events?from=-1h&q="+url.QueryEscape(words), token, &page); code != http.StatusOK {
		t.Fatalf("a search for %q answers %d", words, code)
	}
	ids := make([]string, len(page.Events))
	for i, e := range page.Events {
		ids[i] = e.ID
	}
	return strings.Join(ids, " ")
}

func TestOddPayloadsAreKeptToTheByteAndFoundByTheirWords(t *testing.T) {
	t.Parallel()
	nested := func(n int) []byte {
		return []byte(strings.Repeat("[", n) + `"abyss` + fmt.Sprint(n) + `"` + strings.Repeat("]", n))
	}
	accepted := map[string]struct {
		contentType string
		data        []byte
		by          string // words that find it, "" none of its data
		not         string // words that must not
	}{
		"big-integers":      {data: []byte(`{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2}`), by: "9007199254740993", not: "9007199254740992"},
		"duplicate-keys":    {data: []byte(`{"b":1,"aa":"walrus","aa":"narwhal","a":3,"b":4}`), by: "walrus narwhal"},
		"nul":               {data: []byte(`{"a":"marmot\u0000badger"}`), by: "marmot badger", not: "marmotbadger"},
		"escaped-backslash": {data: []byte(`{"a":"otter\\u0000lynx"}`), by: "otter"},
		"surrogates":        {data: []byte(`{"a":"\ud800 ibis \udc00","b":"\ud83d\ude00 heron"}`), by: "ibis heron"},
		"not-utf8":          {data: []byte("{\"a\":\"stork\xff\"}"), not: "stork"},
		"deep":              {data: nested(512), by: "abyss512"},
		"text":              {contentType: "text/plain", data: []byte("a line of prose\r\nabout a wombat"), by: "prose wombat"},
		"bytes":             {contentType: "application/octet-stream", data: []byte{0, 1, 2, 0xfe, 0xff}},
		"spaces":            {data: []byte("  {\n\t\"a\" : \"quokka\"\r\n}  ")},
	}
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		listen := apptest.FreeAddr(t)
		in.Serve(t, listen)
		addr := "http://" + listen
		at := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339Nano)
		for id, c := range accepted {
			if c.contentType == "" {
				c.contentType = "application/json"
			}
			if code, body := post(t, addr, in.Producer, id, at, c.contentType, c.data); code != http.StatusOK {
				t.Fatalf("%s answers %d %s", id, code, body)
			}
			expect(t, addr, in.Reader, wanted{source: "/odd", id: id, kind: "odd.v1", time: at, contentType: c.contentType, data: c.data, extensions: map[string]string{}})
			if c.by != "" && found(t, addr, in.Reader, c.by) != id {
				t.Errorf("%q finds %q, want %s", c.by, found(t, addr, in.Reader, c.by), id)
			}
			if c.not != "" && found(t, addr, in.Reader, c.not) != "" {
				t.Errorf("%q finds %q", c.not, found(t, addr, in.Reader, c.not))
			}
		}
		for id, c := range map[string]struct {
			data []byte
			want string
		}{
			"too-deep":      {nested(513), "512"},
			"far-too-deep":  {nested(20_000), "512"},
			"too-large":     {append([]byte(`"`), bytes.Repeat([]byte("x"), 1<<20)...), "1048576"},
			"far-too-large": {bytes.Repeat([]byte("x"), 18<<20), "1048576"},
		} {
			code, body := post(t, addr, in.Producer, id, at, "application/json", c.data)
			if code < 400 || code > 499 || !strings.Contains(body, c.want) {
				t.Errorf("%s answers %d %.300s, want a refusal that names %s", id, code, body, c.want)
			}
		}
		// What was refused is nowhere, once everything after it is stored.
		if code, body := post(t, addr, in.Producer, "last", at, "application/json", []byte(`{}`)); code != http.StatusOK {
			t.Fatalf("the last event answers %d %s", code, body)
		}
		expect(t, addr, in.Reader, wanted{source: "/odd", id: "last", kind: "odd.v1", time: at, contentType: "application/json", data: []byte(`{}`), extensions: map[string]string{}})
		pool := dbtest.Open(t, in.Database)
		var n int
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM event`).Scan(&n); err != nil || n != len(accepted)+1 {
			t.Errorf("%d events are stored (%v), want %d", n, err, len(accepted)+1)
		}
	})
}
