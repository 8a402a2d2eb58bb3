package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	ours "oriel/server/cloudevents"
)

// wanted is what a producer put on the wire, read back from there without our decoders.
type wanted struct {
	source, id, kind, subject, time, contentType string
	extensions                                   map[string]string // name → "type:value"
	data                                         []byte            // nil is absent
	dataSchema                                   string
}

// detail is GET /v1/events/{event} as a client sees it.
type detail struct {
	Event struct {
		ID, Source, Type, Subject, Time string
		DataContentType, DataKind       string
		DataSize                        int
	}
	DataSchema string
	Extensions map[string]struct{ Type, Value string }
	DataText   *string
	DataBase64 *string
}

// expect reads the event back through the API until it is there, and compares every byte.
func expect(t *testing.T, url, token string, w wanted) {
	t.Helper()
	name := ours.EscapeName(w.source, w.id)
	var got detail
	apptest.Eventually(t, 30*time.Second, func() bool {
		got = detail{}
		return apptest.GetJSON(t, url+"/v1/events/"+name, token, &got) == http.StatusOK
	}, func() string { return "not stored: " + name })
	e := got.Event
	for _, c := range []struct{ what, got, want string }{
		{"id", e.ID, w.id},
		{"source", e.Source, w.source},
		{"type", e.Type, w.kind},
		{"subject", e.Subject, w.subject},
		{"time", e.Time, w.time},
		{"datacontenttype", e.DataContentType, w.contentType},
		{"dataschema", got.DataSchema, w.dataSchema},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s is %q, sent %q", name, c.what, c.got, c.want)
		}
	}
	for n, x := range got.Extensions {
		if w.extensions[n] != x.Type+":"+x.Value {
			t.Errorf("%s: extension %s is %s:%q, sent %q", name, n, x.Type, x.Value, w.extensions[n])
		}
	}
	for n := range w.extensions {
		if _, ok := got.Extensions[n]; !ok {
			t.Errorf("%s: extension %s is missing", name, n)
		}
	}
	var data []byte
	switch {
	case got.DataText != nil:
		data = []byte(*got.DataText)
	case got.DataBase64 != nil:
		raw, err := base64.StdEncoding.DecodeString(*got.DataBase64)
		if err != nil {
			t.Fatal(err)
		}
		data = raw
	}
	if (data == nil) != (w.data == nil) || !bytes.Equal(data, w.data) {
		t.Errorf("%s: data is %.200q (absent %v), sent %.200q (absent %v)", name, data, data == nil, w.data, w.data == nil)
	}
	status, raw := apptest.Get(t, url+"/v1/events/"+name+"/data", token)
	switch {
	case w.data == nil && status != http.StatusNotFound:
		t.Errorf("%s: /data of absent data answers %d %.200q", name, status, raw)
	case w.data != nil && (status != http.StatusOK || !bytes.Equal(raw, w.data)):
		t.Errorf("%s: /data is %d %.200q, sent %.200q", name, status, raw, w.data)
	}
}

// fromJSON reads a structured event off the wire with the standard library.
func fromJSON(t *testing.T, body []byte) wanted {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	w := wanted{extensions: map[string]string{}}
	for name, raw := range members {
		var text string
		isText := json.Unmarshal(raw, &text) == nil
		switch name {
		case "specversion":
		case "id":
			w.id = text
		case "source":
			w.source = text
		case "type":
			w.kind = text
		case "subject":
			w.subject = text
		case "time":
			w.time = text
		case "dataschema":
			w.dataSchema = text
		case "datacontenttype":
			w.contentType = text
		case "data":
			w.data = raw
		case "data_base64":
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			w.data = data
		default:
			switch {
			case isText:
				w.extensions[name] = "string:" + text
			case string(raw) == "true" || string(raw) == "false":
				w.extensions[name] = "boolean:" + string(raw)
			default:
				w.extensions[name] = "integer:" + string(raw)
			}
		}
	}
	if isJSON := w.contentType == "" || strings.Contains(w.contentType, "json"); !isJSON && members["data"] != nil {
		var text string
		if err := json.Unmarshal(members["data"], &text); err != nil {
			t.Fatal(err)
		}
		w.data = []byte(text)
	}
	return w
}

// fromHeaders reads a binary event's attributes off the wire as they are: none of the values that the
// test sends has an escape.
func fromHeaders(headers map[string]any) wanted {
	w := wanted{extensions: map[string]string{}}
	for name, v := range headers {
		text := fmt.Sprint(v)
		name, isAttribute := strings.CutPrefix(strings.ToLower(name), "ce-")
		switch {
		case name == "content-type":
			w.contentType = text
		case !isAttribute || name == "specversion":
		case name == "id":
			w.id = text
		case name == "source":
			w.source = text
		case name == "type":
			w.kind = text
		case name == "subject":
			w.subject = text
		case name == "time":
			w.time = text
		case name == "dataschema":
			w.dataSchema = text
		default:
			w.extensions[name] = "string:" + text
		}
	}
	return w
}
