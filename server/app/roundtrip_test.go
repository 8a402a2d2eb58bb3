package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"oriel/bench/webhooks"
	"oriel/server/apptest"
	"oriel/server/dbtest"
)

func TestTheJavaScriptSDKReadsBackAsSentInEveryMode(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		addr := apptest.FreeAddr(t)
		in.Serve(t, addr)
		url := "http://" + addr
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "node", filepath.Join("testdata", "send.mjs"), url, in.Producer)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lines := bufio.NewScanner(bytes.NewReader(out))
		lines.Buffer(nil, 1<<20)
		sent := 0
		for lines.Scan() {
			var line struct {
				Mode, Answer string
				Status       int
				Headers      map[string]any
				Body         *string
			}
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				t.Fatalf("%v: %s", err, lines.Text())
			}
			if line.Status != http.StatusOK && line.Status != 0 {
				t.Errorf("%s answered %d: %s", line.Mode, line.Status, line.Answer)
				continue
			}
			body := ""
			if line.Body != nil {
				body = *line.Body
			}
			switch line.Mode {
			case "structured":
				expect(t, url, in.Reader, fromJSON(t, []byte(body)))
				sent++
			case "batch":
				var elements []json.RawMessage
				if err := json.Unmarshal([]byte(body), &elements); err != nil {
					t.Fatal(err)
				}
				for _, e := range elements {
					expect(t, url, in.Reader, fromJSON(t, e))
					sent++
				}
			case "binary":
				w := fromHeaders(line.Headers)
				if body != "" {
					w.data = []byte(body)
				}
				expect(t, url, in.Reader, w)
				sent++
			}
		}
		if sent != 5+5+1+2+3 {
			t.Errorf("%d events went round, want 16", sent)
		}
	})
}

// recorder keeps the bodies that the Go SDK sends.
type recorder struct {
	token string
	body  []byte
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		r.body = body
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	return http.DefaultTransport.RoundTrip(req)
}

func TestTheGoSDKReadsBackAsSentInEveryMode(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		addr := apptest.FreeAddr(t)
		in.Serve(t, addr)
		url := "http://" + addr
		wire := &recorder{token: in.Producer}
		client, err := cloudevents.NewClientHTTP(cehttp.WithTarget(url+"/v1/events"), cehttp.WithRoundTripper(wire))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-time.Minute)
		make := func(id string) cloudevents.Event {
			e := cloudevents.NewEvent()
			e.SetID(id)
			e.SetSource("/sdk/go")
			e.SetType("sdk.test.v1")
			e.SetTime(at)
			e.SetSubject("café 100%")
			e.SetDataSchema("https://example.com/schema#1")
			e.SetExtension("tenant", "north")
			e.SetExtension("attempt", 3)
			e.SetExtension("dry", true)
			return e
		}
		// Set as []byte, the SDK sends JSON as it is; the other cases are its own encodings.
		cases := map[string]func(e *cloudevents.Event) error{
			"json": func(e *cloudevents.Event) error {
				return e.SetData("application/json", []byte(`{"b":1,"aa":2,"a":3,"b":4,"big":9007199254740993,"f":1.0,"受":"注"}`))
			},
			"object": func(e *cloudevents.Event) error {
				return e.SetData("application/json", map[string]any{"n": 1.5, "s": "<&>"})
			},
			"text":    func(e *cloudevents.Event) error { return e.SetData("text/plain", "first\nsecond") },
			"bytes":   func(e *cloudevents.Event) error { return e.SetData("application/octet-stream", []byte{0, 1, 254, 255}) },
			"nothing": func(*cloudevents.Event) error { return nil },
		}
		for name, fill := range cases {
			for mode, with := range map[string]func(context.Context) context.Context{"binary": cloudevents.WithEncodingBinary, "structured": cloudevents.WithEncodingStructured} {
				e := make(mode + "-" + name)
				if err := fill(&e); err != nil {
					t.Fatal(err)
				}
				wire.body = nil
				if result := client.Send(with(t.Context()), e); !cloudevents.IsACK(result) {
					t.Fatalf("%s: %v", e.ID(), result)
				}
				w := wanted{
					source: "/sdk/go", id: e.ID(), kind: "sdk.test.v1", subject: "café 100%",
					time: e.Time().UTC().Format(time.RFC3339Nano), contentType: e.DataContentType(), dataSchema: e.DataSchema(),
					extensions: map[string]string{"tenant": "string:north", "attempt": "string:3", "dry": "string:true"},
				}
				if len(wire.body) > 0 {
					w.data = wire.body
				}
				if mode == "structured" {
					w = fromJSON(t, wire.body)
				}
				expect(t, url, in.Reader, w)
			}
		}
		// The SDK's batch body ends in a newline.
		one, two := make("batch-1"), make("batch-2")
		if err := cases["json"](&one); err != nil {
			t.Fatal(err)
		}
		req, err := cehttp.NewHTTPRequestFromEvents(t.Context(), url+"/v1/events", []cloudevents.Event{one, two})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: wire}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			answer, _ := io.ReadAll(resp.Body)
			t.Fatalf("the batch answered %d: %s", resp.StatusCode, answer)
		}
		var elements []json.RawMessage
		if err := json.Unmarshal(wire.body, &elements); err != nil {
			t.Fatal(err)
		}
		for _, e := range elements {
			expect(t, url, in.Reader, fromJSON(t, e))
		}
	})
}

func TestEveryWebhookPayloadReadsBackByteForByte(t *testing.T) {
	t.Parallel()
	set, err := webhooks.Load(filepath.Join("..", "..", "node_modules", "@octokit", "webhooks-examples"))
	if err != nil {
		t.Fatalf("the payloads come with `npm ci`: %v", err)
	}
	if set.Len() != 329 {
		t.Fatalf("%d payloads, want 329", set.Len())
	}
	dbtest.EachBroker(t, 3, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		addr := apptest.FreeAddr(t)
		in.Serve(t, addr)
		url := "http://" + addr
		at := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339Nano)
		var all []wanted
		for i := range set.Len() {
			w := wanted{source: "/hooks", id: fmt.Sprint(i), kind: "hook.v1", time: at, contentType: "application/json", data: set.Original(i), extensions: map[string]string{}}
			header := http.Header{"Authorization": {"Bearer " + in.Producer}}
			body := w.data
			if i%3 == 0 {
				for n, v := range map[string]string{"ce-specversion": "1.0", "ce-id": w.id, "ce-source": w.source, "ce-type": w.kind, "ce-time": w.time, "content-type": w.contentType} {
					header.Set(n, v)
				}
			} else {
				body = fmt.Appendf(nil, `{"specversion":"1.0","id":%q,"source":"/hooks","type":"hook.v1","time":%q,"datacontenttype":"application/json","data":%s}`, w.id, at, w.data)
				header.Set("Content-Type", "application/cloudevents+json")
				if i%3 == 2 {
					body = append(append([]byte("["), body...), ']')
					header.Set("Content-Type", "application/cloudevents-batch+json")
				}
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/events", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = header
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("payload %d answered %d: %s", i, resp.StatusCode, answer)
			}
			all = append(all, w)
		}
		for _, w := range all {
			expect(t, url, in.Reader, w)
		}
	})
}
