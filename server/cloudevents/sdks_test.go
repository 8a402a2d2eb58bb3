package cloudevents_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"

	"github.com/cloudevents/sdk-go/v2/binding"
	sdk "github.com/cloudevents/sdk-go/v2/event"
	sdkhttp "github.com/cloudevents/sdk-go/v2/protocol/http"
)

// receive reads one HTTP request as it was on the wire and decodes it as ingest does.
func receive(t *testing.T, wire string) (*cloudevents.Event, error) {
	t.Helper()
	head, body, _ := strings.Cut(wire, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")[1:]
	h := make([]cloudevents.Header, 0, len(lines))
	contentType, hasSpecVersion := "", false
	for _, line := range lines {
		key, value, _ := strings.Cut(line, ":")
		h = append(h, cloudevents.Header{Key: key, Value: []byte(value)})
		switch strings.ToLower(key) {
		case "content-type":
			contentType = strings.TrimSpace(value)
		case "ce-specversion":
			hasSpecVersion = true
		}
	}
	mode, ok := cloudevents.ContentMode(contentType, hasSpecVersion)
	if !ok {
		t.Fatalf("no content mode in %q", head)
	}
	switch mode {
	case cloudevents.Binary:
		return cloudevents.DecodeBinary(h, []byte(body))
	case cloudevents.Structured:
		return cloudevents.DecodeStructured(contentType, []byte(body))
	default:
		elements, err := cloudevents.DecodeBatch(contentType, []byte(body))
		if err != nil {
			return nil, err
		}
		if len(elements) != 2 || elements[0].Err != nil || elements[1].Err != nil {
			t.Fatalf("batch: %+v", elements)
		}
		return elements[1].Event, nil
	}
}

// wireCase is a request as an SDK was seen to send it, and what of the event is looked at.
type wireCase struct {
	wire                           string
	subject, timeText, contentType string
	data                           string
	noData                         bool
	extension                      cloudevents.Extension
}

const jsonType = "application/json"

// Requests as the official SDKs put them on the wire: npm cloudevents 10.0.0, PyPI cloudevents 2.2.0, Maven
// cloudevents-http-basic 4.0.1, crate cloudevents-sdk 0.9.0.
func wireCases() map[string]wireCase {
	flag := cloudevents.Extension{Name: "flag", Value: "true"}
	typed := cloudevents.Extension{Name: "flag", Type: cloudevents.Boolean, Value: "true"}
	const node = "POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1:8080\r\nconnection: keep-alive\r\n"
	const nodeTail = "accept: */*\r\naccept-language: *\r\nsec-fetch-mode: cors\r\nuser-agent: node\r\naccept-encoding: gzip, deflate\r\n"
	const nodeAttributes = "ce-id: e-1\r\nce-time: 2026-11-30T12:34:56.789Z\r\nce-type: com.example.reading.v1\r\nce-source: /sensors/kitchen\r\nce-specversion: 1.0\r\n"
	const python = "POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: python-requests/2.32\r\nAccept-Encoding: gzip, deflate\r\nAccept: */*\r\nConnection: keep-alive\r\n"
	const pythonAttributes = "ce-id: e-1\r\nce-source: /sensors/kitchen\r\nce-type: com.example.reading.v1\r\nce-time: 2026-11-30T12:34:56.789123+02:00\r\nce-specversion: 1.0\r\n"
	const java = "POST /v1/events HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nHost: 127.0.0.1:8080\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\nUser-Agent: Java-http-client/17\r\n"
	const rust = "POST /v1/events HTTP/1.1\r\n"
	return map[string]wireCase{
		"JavaScript, binary": {
			wire:    node + "content-type: application/json; charset=utf-8\r\n" + nodeAttributes + "ce-subject: s 100%\r\nce-flag: true\r\n" + nodeTail + "content-length: 10\r\n\r\n" + `{"t":21.5}`,
			subject: "s 100%", timeText: "2026-11-30T12:34:56.789Z", contentType: "application/json; charset=utf-8", data: `{"t":21.5}`, extension: flag,
		},
		"JavaScript, structured": {
			wire: node + "content-type: application/cloudevents+json; charset=utf-8\r\n" + nodeTail + "content-length: 205\r\n\r\n" +
				`{"id":"e-1","time":"2026-11-30T12:34:56.789Z","type":"com.example.reading.v1","source":"/sensors/kitchen","specversion":"1.0","subject":"café 房间 100%","data":{"t":21.5,"s":"é"},"flag":true}`,
			subject: "café 房间 100%", timeText: "2026-11-30T12:34:56.789Z", data: `{"t":21.5,"s":"é"}`, extension: typed,
		},
		"JavaScript, no data but a content type": {
			wire:     node + "content-type: application/json; charset=utf-8\r\n" + nodeAttributes + nodeTail + "content-length: 0\r\n\r\n",
			timeText: "2026-11-30T12:34:56.789Z", contentType: "application/json; charset=utf-8", noData: true,
		},
		"JavaScript, text": {
			wire:     "POST /v1/events HTTP/1.1\r\ncontent-type: text/plain\r\n" + nodeAttributes + "ce-subject: s\r\nHost: 127.0.0.1:8080\r\nConnection: keep-alive\r\n\r\nplain text",
			timeText: "2026-11-30T12:34:56.789Z", subject: "s", contentType: "text/plain", data: "plain text",
		},
		"JavaScript, a batch by hand": {
			wire: node + "content-type: application/cloudevents-batch+json\r\n\r\n[" + structured("") + "," +
				structured(`,"subject":"s","flag":true`) + "]",
			timeText: "2026-11-30T12:00:00Z", subject: "s", noData: true, extension: typed,
		},
		"Python, binary": {
			wire: python + pythonAttributes + "ce-subject: caf%C3%A9%20100%25%20%E6%88%BF%E9%97%B4\r\nce-flag: True\r\ncontent-type: application/json\r\n\r\n" +
				`{"t": 21.5, "s": "\u00e9"}`,
			subject: "café 100% 房间", timeText: "2026-11-30T12:34:56.789123+02:00", contentType: jsonType, data: `{"t": 21.5, "s": "\u00e9"}`,
			extension: cloudevents.Extension{Name: "flag", Value: "True"},
		},
		"Python, structured": {
			wire: python + "content-type: application/cloudevents+json\r\n\r\n" +
				`{"id": "e-1", "source": "/sensors/kitchen", "type": "com.example.reading.v1", "time": "2026-11-30T12:34:56.789123+02:00", "specversion": "1.0", "subject": "caf\u00e9 100% \u623f\u95f4", "flag": true, "count": 7, "datacontenttype": "application/json", "data": {"t": 21.5, "s": "\u00e9"}}`,
			subject: "café 100% 房间", timeText: "2026-11-30T12:34:56.789123+02:00", contentType: jsonType, data: `{"t": 21.5, "s": "\u00e9"}`, extension: typed,
		},
		"Python, structured text": {
			wire: python + "content-type: application/cloudevents+json\r\n\r\n" +
				`{"id": "e-1", "source": "/sensors/kitchen", "type": "com.example.reading.v1", "time": "2026-11-30T12:34:56.789123+02:00", "specversion": "1.0", "datacontenttype": "text/plain", "data": "plain \u00e9"}`,
			timeText: "2026-11-30T12:34:56.789123+02:00", contentType: "text/plain", data: "plain é",
		},
		"Python, no data": {
			wire:     python + pythonAttributes + "Content-Length: 0\r\n\r\n",
			timeText: "2026-11-30T12:34:56.789123+02:00", noData: true,
		},
		"Java, binary": {
			wire:    java + "ce-id: e-1\r\nce-source: /sensors/kitchen\r\nce-specversion: 1.0\r\nce-subject: caf? 100%\r\nce-time: 2026-11-30T12:34:56.789123+02:00\r\nce-type: com.example.reading.v1\r\nce-flag: true\r\ncontent-type: application/json\r\n\r\n" + `{"t":21.5}`,
			subject: "caf? 100%", timeText: "2026-11-30T12:34:56.789123+02:00", contentType: jsonType, data: `{"t":21.5}`, extension: flag,
		},
		"Java, structured text as base64": {
			wire: java + "content-type: application/cloudevents+json\r\n\r\n" +
				`{"specversion":"1.0","id":"e-1","source":"/sensors/kitchen","type":"com.example.reading.v1","datacontenttype":"text/plain","time":"2026-11-30T12:34:56.789123+02:00","flag":true,"data_base64":"cGxhaW4gw6k="}`,
			timeText: "2026-11-30T12:34:56.789123+02:00", contentType: "text/plain", data: "plain é", extension: typed,
		},
		"Rust, binary": {
			wire:    rust + "ce-specversion: 1.0\r\nce-id: e-1\r\nce-type: com.example.reading.v1\r\nce-source: /sensors/kitchen\r\nce-subject: café 100% 房间\r\nce-time: 2026-11-30T12:34:56.789123456+00:00\r\nce-flag: true\r\ncontent-type: application/json\r\naccept: */*\r\n\r\n" + `{"t":21.5}`,
			subject: "café 100% 房间", timeText: "2026-11-30T12:34:56.789123456+00:00", contentType: jsonType, data: `{"t":21.5}`, extension: flag,
		},
		"Rust, structured text as a string": {
			wire: rust + "content-type: application/cloudevents+json\r\n\r\n" +
				`{"specversion":"1.0","id":"e-1","type":"com.example.reading.v1","source":"/sensors/kitchen","datacontenttype":"text/plain","time":"2026-11-30T12:34:56.789123456Z","data":"plain é","flag":true}`,
			timeText: "2026-11-30T12:34:56.789123456Z", contentType: "text/plain", data: "plain é", extension: typed,
		},
		"Rust, no data and no length": {
			wire:     rust + "ce-specversion: 1.0\r\nce-id: e-1\r\nce-type: com.example.reading.v1\r\nce-source: /sensors/kitchen\r\nce-time: 2026-11-30T12:34:56Z\r\n\r\n",
			timeText: "2026-11-30T12:34:56Z", noData: true,
		},
	}
}

func TestWhatTheSDKsSendIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range wireCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := receive(t, c.wire)
			if err != nil {
				t.Fatalf("refused: %+v", violations(t, err))
			}
			if e.Subject != c.subject || e.TimeText != c.timeText || e.DataContentType != c.contentType ||
				string(e.Data) != c.data || (e.Data == nil) != c.noData {
				t.Errorf("got %+v with data %q", e, e.Data)
			}
			if c.extension.Name != "" {
				found := false
				for _, x := range e.Extensions {
					found = found || x == c.extension
				}
				if !found {
					t.Errorf("extensions %+v, want %+v among them", e.Extensions, c.extension)
				}
			}
			checkRoundTrips(t, e)
		})
	}
}

func TestALatin1HeaderOfTheJavaScriptSDKIsRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	_, err := receive(t, "POST / HTTP/1.1\r\nce-id: e-1\r\nce-time: 2026-11-30T12:34:56.789Z\r\nce-type: t\r\nce-source: /s\r\nce-specversion: 1.0\r\nce-subject: caf\xe9 100%\r\n\r\n")
	refusal{"INVALID_UTF8", "subject", "percent-encode the value's UTF-8 bytes (é is %C3%A9) or send the event in structured mode", "percent-encoded"}.check(t, violations(t, err))
}

func TestTheGoSDKIsReadInEveryMode(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 34, 56, 789123456, time.FixedZone("", 7200))
	event := func(contentType string, data any) sdk.Event {
		e := sdk.New()
		e.SetID("e-1")
		e.SetSource("/sensors/kitchen")
		e.SetType("com.example.reading.v1")
		e.SetSubject(`café 100% "房间"`)
		e.SetTime(at)
		e.SetExtension("flag", true)
		e.SetExtension("count", 7)
		e.SetExtension("since", at)
		e.SetExtension("raw", []byte{1, 2})
		if data != nil {
			if err := e.SetData(contentType, data); err != nil {
				t.Fatal(err)
			}
		}
		return e
	}
	send := func(t *testing.T, ctx context.Context, e sdk.Event) *cloudevents.Event {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/v1/events", nil)
		if err == nil {
			err = sdkhttp.WriteRequest(ctx, binding.ToMessage(&e), request)
		}
		var wire bytes.Buffer
		if err == nil {
			err = request.Write(&wire)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := receive(t, wire.String())
		if err != nil {
			t.Fatalf("refused: %+v", violations(t, err))
		}
		if got.Subject != `café 100% "房间"` || got.TimeText != "2026-11-30T10:34:56.789123456Z" ||
			!got.Time.Equal(at.Truncate(time.Microsecond)) || len(got.Extensions) != 4 {
			t.Errorf("got %+v", got)
		}
		checkRoundTrips(t, got)
		return got
	}
	for sentence, mode := range map[string]func(context.Context) context.Context{
		"binary": binding.WithForceBinary, "structured": binding.WithForceStructured,
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			ctx := mode(t.Context())
			if got := send(t, ctx, event("application/json", map[string]any{"t": 21.5})); string(got.Data) != `{"t":21.5}` {
				t.Errorf("JSON data %q", got.Data)
			}
			if got := send(t, ctx, event("text/plain", "plain é")); string(got.Data) != "plain é" || got.DataContentType != "text/plain" {
				t.Errorf("text data %q", got.Data)
			}
			if got := send(t, ctx, event("", nil)); got.Data != nil {
				t.Errorf("no data %q", got.Data)
			}
		})
	}
}

func TestRecordsOfThePythonSDKAreRead(t *testing.T) {
	t.Parallel()
	binary := cloudevents.Record{Value: []byte(`{"t": 21.5, "s": "\u00e9"}`), Headers: headers("ce_id", "e-1", "ce_source", "/sensors/kitchen",
		"ce_type", "com.example.reading.v1", "ce_time", "2026-11-30T12:34:56.789123+02:00", "ce_specversion", "1.0",
		"ce_subject", "café 100% 房间", "ce_flag", "True", "ce_count", "7", "content-type", "application/json")}
	structured := cloudevents.Record{
		Headers: headers("content-type", "application/cloudevents+json"),
		Value:   []byte(`{"id": "e-1", "source": "/sensors/kitchen", "type": "com.example.reading.v1", "time": "2026-11-30T12:34:56.789123+02:00", "specversion": "1.0", "subject": "caf\u00e9 100% \u623f\u95f4", "flag": true, "count": 7, "datacontenttype": "application/json", "data": {"t": 21.5, "s": "\u00e9"}}`),
	}
	for _, r := range []cloudevents.Record{binary, structured} {
		e, rest, err := cloudevents.DecodeRecord(r)
		if err != nil || rest != nil || e.Subject != "café 100% 房间" || string(e.Data) != `{"t": 21.5, "s": "\u00e9"}` || len(e.Extensions) != 2 {
			t.Errorf("got %+v, %v, %v", e, rest, err)
		}
	}
}
