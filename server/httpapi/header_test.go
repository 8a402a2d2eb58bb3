package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/server/ingest"
)

func TestHeaderBytesReachThePublisherUnchanged(t *testing.T) {
	t.Parallel()
	e := start(t)
	sent := [][2]string{
		{"ce-specversion", "1.0"},
		{"Ce-Subject", "caf\xc3\xa9 100% \xe4\xb8\x96"},
		{"CE-LATIN", "caf\xe9"},
		{"ce-broken", "%FF%zz"},
		{"ce-repeat", "one"},
		{"x-between", "\"quoted, list\", a"},
		{"ce-repeat", "two"},
		{"ce-empty", ""},
		{"ce-inner", "a \t b:c"},
	}
	request := post("/v1/events", writer, "Cookie: secret=1", "Content-Type: application/json; charset=utf-8", "Content-Length: 2")
	for _, h := range sent {
		request += h[0] + ": \t" + h[1] + " \r\n"
	}
	r, _ := e.raw(request + "\r\n{}")
	if r.StatusCode != http.StatusOK {
		t.Fatalf("got %d %s", r.StatusCode, r.body)
	}
	got := e.publisher.all()[0]
	if got.ContentType != "application/json; charset=utf-8" {
		t.Errorf("content type %q", got.ContentType)
	}
	var kept [][2]string
	for _, h := range got.Headers {
		if strings.EqualFold(h.Key, "Authorization") || strings.EqualFold(h.Key, "Cookie") {
			t.Errorf("%s was passed on", h.Key)
		}
		if strings.HasPrefix(strings.ToLower(h.Key), "ce-") || h.Key == "x-between" {
			kept = append(kept, [2]string{h.Key, string(h.Value)})
		}
	}
	if fmt.Sprintf("%q", kept) != fmt.Sprintf("%q", sent) {
		t.Errorf("got  %q\nwant %q", kept, sent)
	}
	if fmt.Sprint(got.SourcePrefixes) != "[urn:home:]" {
		t.Errorf("source prefixes %v", got.SourcePrefixes)
	}
}

// Every request's own buffers are given to the next one by the framework, so the publisher holds on
// to each for longer than its request lives and looks again at the end.
func TestParallelProducersNeverSeeEachOthersBytes(t *testing.T) {
	t.Parallel()
	const producers, rounds = 200, 5
	e := start(t)
	var mu sync.Mutex
	digests := map[*ingest.Request]string{}
	e.publisher.answer = func(req *ingest.Request) (*ingest.Response, error) {
		mu.Lock()
		digests[req] = digestOfRequest(req)
		mu.Unlock()
		return &ingest.Response{Results: []ingest.Result{{Published: accepted(string(headerOf(req, "ce-id")))}}}, nil
	}
	tr := &http.Transport{MaxIdleConnsPerHost: producers}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr, Timeout: 30 * time.Second}
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for round := range rounds {
				id := fmt.Sprintf("%d-%d", p, round)
				body := strings.Repeat(id+";", 1+(p*37+round*11)%3000)
				req, _ := http.NewRequest(http.MethodPost, "http://"+e.addr+"/v1/events", strings.NewReader(body))
				if p%3 == 0 {
					req.ContentLength = -1 // chunked
				}
				req.Header.Set("Authorization", "Bearer "+writer)
				req.Header.Set("Ce-Id", id)
				req.Header.Set("Ce-Subject", strings.Repeat(id, 1+p%20))
				resp, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				var answer bytes.Buffer
				_, _ = answer.ReadFrom(resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK || !strings.Contains(answer.String(), `"id":"`+id+`"`) {
					t.Errorf("%s got %d %s", id, resp.StatusCode, answer.Bytes())
				}
			}
		})
	}
	wg.Wait()
	all := e.publisher.all()
	if len(all) != producers*rounds {
		t.Fatalf("%d requests, want %d", len(all), producers*rounds)
	}
	for _, req := range all {
		id := string(headerOf(req, "ce-id"))
		if digests[req] != digestOfRequest(req) {
			t.Errorf("%s changed after its request had ended", id)
		}
		if !strings.HasPrefix(string(req.Body), id+";") || strings.Count(string(req.Body), id+";")*len(id+";") != len(req.Body) {
			t.Errorf("%s has another's body %.60q", id, req.Body)
		}
		if s := string(headerOf(req, "ce-subject")); strings.ReplaceAll(s, id, "") != "" {
			t.Errorf("%s has another's subject %.60q", id, s)
		}
	}
}

func headerOf(req *ingest.Request, name string) []byte {
	for _, h := range req.Headers {
		if strings.EqualFold(h.Key, name) {
			return h.Value
		}
	}
	return nil
}

func digestOfRequest(req *ingest.Request) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q", req.ContentType, req.Body, req.Headers)
	return hex.EncodeToString(h.Sum(nil))
}

func TestTheProducersTraceReachesThePublisher(t *testing.T) {
	t.Parallel()
	e := start(t)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	e.do(e.request("POST", "/v1/events", writer, "Traceparent", parent, "Tracestate", "a=1"))
	got := e.publisher.all()[0]
	if got.TraceParent != parent || got.TraceState != "a=1" {
		t.Errorf("got %q %q", got.TraceParent, got.TraceState)
	}
	if id := traceIDOf(e.publisher.contexts[0]); id != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("the context carries trace %q", id)
	}
}
