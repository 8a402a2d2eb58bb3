package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/cloudevents"
)

func valid(t *testing.T, e *cloudevents.Event) {
	t.Helper()
	if v := cloudevents.Validate(e); len(v) > 0 {
		t.Errorf("%s %s: %+v", e.Type, e.ID, v)
	}
}

func TestEveryEventOfTheFleetsIsValid(t *testing.T) {
	t.Parallel()
	rng := newRand(1, 1)
	homes, shop := newHomes(rng), newShop(rng)
	types, severities, ids := map[string]int{}, map[string]int{}, map[string]bool{}
	traces := map[string]map[string]bool{}
	for i := range 6000 {
		at := base.Add(time.Duration(i) * time.Second)
		for _, e := range append(homes.next(at), shop.next(at)...) {
			valid(t, e)
			if ids[e.ID] {
				t.Fatalf("id %s twice", e.ID)
			}
			ids[e.ID] = true
			types[e.Type]++
			var data struct{ Severity string }
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatalf("data of %s: %v", e.Type, err)
			}
			severities[data.Severity]++
			for _, x := range e.Extensions {
				if x.Name == "traceparent" {
					trace := strings.Split(x.Value, "-")[1]
					if traces[trace] == nil {
						traces[trace] = map[string]bool{}
					}
					traces[trace][e.Type] = true
				}
			}
		}
	}
	if len(types) < 16 {
		t.Errorf("only %d types: %v", len(types), types)
	}
	for _, s := range []string{"", "notice", "warning", "error", "critical"} {
		if severities[s] == 0 {
			t.Errorf("no event of severity %q", s)
		}
	}
	shared := 0
	for _, kinds := range traces {
		if len(kinds) >= 3 {
			shared++
		}
	}
	if shared < 50 {
		t.Errorf("only %d traces are shared by three kinds of event", shared)
	}
}

func TestTheSameSeedMakesTheSameHistory(t *testing.T) {
	t.Parallel()
	a, b, other := makeHistory(1, base, nil), makeHistory(1, base, nil), makeHistory(2, base, nil)
	if len(a.fleet) != len(b.fleet) || len(a.fleet) < historyEvents {
		t.Fatalf("%d and %d events", len(a.fleet), len(b.fleet))
	}
	for i := range a.fleet {
		if a.fleet[i].ID != b.fleet[i].ID || !bytes.Equal(a.fleet[i].Data, b.fleet[i].Data) {
			t.Fatalf("event %d differs", i)
		}
	}
	if a.fleet[0].ID == other.fleet[0].ID {
		t.Fatal("another seed makes the same history")
	}
	var lastDay int
	for _, e := range a.fleet {
		if e.Time.Before(base.Add(-7*24*time.Hour-time.Second)) || e.Time.After(base) {
			t.Fatalf("an event at %s", e.TimeText)
		}
		if e.Time.After(base.Add(-24 * time.Hour)) {
			lastDay++
		}
	}
	if lastDay < historyEvents/3 || lastDay > historyEvents*3/4 {
		t.Fatalf("%d of %d events are of the last day", lastDay, len(a.fleet))
	}
}

func TestEveryOddityIsValidAndOddAsItSays(t *testing.T) {
	t.Parallel()
	odd := newOddities(newRand(1, 1))
	byKind := map[string][]*cloudevents.Event{}
	for range oddityKinds() {
		for _, e := range odd.next(base) {
			valid(t, e)
			if e.Time.Before(base.Add(-89*24*time.Hour)) || e.Time.After(base.Add(24*time.Hour)) {
				t.Errorf("%s lies outside of what ingest takes", e.Type)
			}
			kind := strings.TrimSuffix(strings.TrimPrefix(e.Type, "lab.oddity."), ".v1")
			byKind[kind] = append(byKind[kind], e)
		}
	}
	if len(byKind) != oddityKinds() {
		t.Fatalf("%d kinds of %d", len(byKind), oddityKinds())
	}
	same := byKind["duplicate"]
	if len(same) != 2 || same[0].Digest() != same[1].Digest() || same[0].ID != same[1].ID {
		t.Error("the duplicate is none")
	}
	conflict := byKind["conflicting-duplicate"]
	if len(conflict) != 2 || conflict[0].ID != conflict[1].ID || !conflict[0].Time.Equal(conflict[1].Time) ||
		conflict[0].Digest() == conflict[1].Digest() {
		t.Error("the conflicting duplicate does not conflict")
	}
	for kind, holds := range map[string]func(e *cloudevents.Event) bool{
		"late":               func(e *cloudevents.Event) bool { return e.Time.Before(base.Add(-24 * time.Hour)) },
		"no-data":            func(e *cloudevents.Event) bool { return e.Data == nil },
		"empty-data":         func(e *cloudevents.Event) bool { return e.Data != nil && len(e.Data) == 0 },
		"null-data":          func(e *cloudevents.Event) bool { return string(e.Data) == "null" },
		"binary":             func(e *cloudevents.Event) bool { return len(e.Data) == 256 && e.Data[255] == 255 },
		"malformed-json":     func(e *cloudevents.Event) bool { return !json.Valid(e.Data) },
		"control-characters": func(e *cloudevents.Event) bool { return json.Valid(e.Data) && bytes.Contains(e.Data, []byte(`\u0000`)) },
		"big-numbers": func(e *cloudevents.Event) bool {
			return json.Valid(e.Data) && bytes.Contains(e.Data, []byte("9007199254740993"))
		},
		"duplicate-keys": func(e *cloudevents.Event) bool { return bytes.Count(e.Data, []byte(`"status"`)) == 2 },
		"nanoseconds":    func(e *cloudevents.Event) bool { return strings.HasSuffix(e.TimeText, ".999999600Z") },
	} {
		if e := byKind[kind]; len(e) != 1 || !holds(e[0]) {
			t.Errorf("%s: %d events", kind, len(e))
		}
	}
}

func TestNoPoisonIsAnEventOfItsTime(t *testing.T) {
	t.Parallel()
	outside := 0
	for i, r := range poisons(base, newRand(1, 1)) {
		var headers []cloudevents.Header
		for _, h := range r.Headers {
			headers = append(headers, cloudevents.Header{Key: h.Key, Value: h.Value})
		}
		e, _, err := cloudevents.DecodeRecord(cloudevents.Record{Key: r.Key, Value: r.Value, Headers: headers})
		if err != nil {
			continue
		}
		if e.Time.After(base.Add(-90 * 24 * time.Hour)) {
			t.Errorf("record %d is a good event", i)
		}
		outside++
	}
	if outside != 1 {
		t.Errorf("%d records have a time out of the window", outside)
	}
}

func TestWebhooksKeepTheirBytesAndNameTheirKind(t *testing.T) {
	t.Parallel()
	dir := writeWebhooks(t)
	hooks, err := loadWebhooks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ kind, source, subject, data string }{
		{"com.github.push", "/github/octokit/webhooks", "anna", `{"ref": "refs/heads/main",  "repository": {"full_name": "octokit/webhooks"}, "sender": {"login": "anna"}}`},
		{"com.github.issues.opened", "/github/octo", "", `{"action": "opened", "organization": {"login": "octo"}}`},
		{"com.github.issues.closed", "/github/octokit", "", `{"action":"closed","issue":{"id":9007199254740993}}`},
	}
	if len(hooks) != len(want) {
		t.Fatalf("%d webhooks", len(hooks))
	}
	for i, w := range want {
		e := hooks[i].event(base, "1")
		valid(t, e)
		if e.Type != w.kind || e.Source != w.source || e.Subject != w.subject || string(e.Data) != w.data ||
			e.Mode != cloudevents.Binary || e.DataContentType != "application/json" {
			t.Errorf("webhook %d is %+v", i, e)
		}
	}
	for name, text := range map[string]string{"is no JSON": "{", "is empty": "[]"} {
		if err := os.WriteFile(dir+"/api.github.com/index.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadWebhooks(dir); err == nil {
			t.Errorf("a package that %s was taken", name)
		}
	}
}

func TestHeadersSurviveOneRoundOfDecoding(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"plain", "café 100%", `say "hi"`, "客厅/温度", "%41", "a\tb"} {
		e := made(base, time.UTC, "/s", "t", "1")
		e.Subject = s
		h := map[string][]string{}
		binaryHeaders(e, h)
		for name, values := range h {
			if slices.ContainsFunc([]byte(values[0]), func(c byte) bool { return c < 0x20 || c > 0x7e }) {
				t.Errorf("%s: %q", name, values[0])
			}
		}
		got, err := cloudevents.DecodeBinary(flat(h), nil)
		if s == "a\tb" { // a control character is no attribute's
			if err == nil {
				t.Errorf("%q was taken", s)
			}
			continue
		}
		if err != nil || got.Subject != s {
			t.Errorf("%q became %+v, %v", s, got, err)
		}
	}
}

func flat(h map[string][]string) []cloudevents.Header {
	var out []cloudevents.Header
	for k, v := range h {
		out = append(out, cloudevents.Header{Key: k, Value: []byte(v[0])})
	}
	return out
}

func TestEveryPayloadOfThePackageIsAValidEvent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "node_modules", "@octokit", "webhooks-examples")
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the webhook payloads are missing; run npm ci at the top of the repository: %v", err)
	}
	hooks, err := loadWebhooks(dir)
	if err != nil || len(hooks) != 329 {
		t.Fatalf("%d payloads, %v", len(hooks), err)
	}
	kinds := map[string]bool{}
	for _, h := range hooks {
		e := h.event(base, "1")
		valid(t, e)
		if !json.Valid(e.Data) || e.Subject == "" && strings.Contains(string(e.Data), `"sender"`) {
			t.Errorf("%s: subject %q", e.Type, e.Subject)
		}
		kinds[e.Type] = true
	}
	if len(kinds) < 150 || !kinds["com.github.issues.opened"] || !kinds["com.github.push"] {
		t.Fatalf("%d kinds", len(kinds))
	}
}
