package app_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// The guide's examples are run as they stand there.
func TestTheExamplesOfTheGuidesWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatalf("the examples are curl's: %v", err)
	}
	var examples []string
	for _, name := range []string{"api.md", "query.md"} {
		guide, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
			if strings.Contains(m[1], "curl ") {
				examples = append(examples, m[1])
			}
		}
	}
	if len(examples) < 9 {
		t.Fatalf("%d examples", len(examples))
	}
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		a := newAsker(t, b)
		e := event("1", time.Now().Add(-time.Minute).UTC().Format(time.RFC3339), map[string]any{"amount": 12.50, "why": "insufficient funds, declined"})
		e["type"], e["severity"] = "com.example.shop.payment.declined.v1", "warning"
		if status, answer := a.batch(e); status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		a.until(1)
		for _, example := range examples {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "bash", "-euc", example)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "ORIEL_URL="+a.addr, "READER_TOKEN="+a.in.Reader)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s\n%v: %s", example, err, out)
				continue
			}
			for _, written := range []string{"events.ndjson", "events.csv"} {
				if text, err := os.ReadFile(filepath.Join(dir, written)); err == nil {
					out = text
				}
			}
			switch {
			case strings.Contains(example, "events.csv"):
				if !bytes.HasPrefix(out, []byte("time,type,data.amount\r\n")) || !bytes.HasSuffix(out, []byte(",com.example.shop.payment.declined.v1,12.5\r\n")) {
					t.Errorf("%s\nwrites %q", example, out)
				}
			case strings.Contains(example, "events.ndjson"):
				if !bytes.Contains(out, []byte(`{"trailer":{"complete":true,"count":1,`)) {
					t.Errorf("%s\nwrites %q", example, out)
				}
			default:
				var answer map[string]any
				if err := json.Unmarshal(out, &answer); err != nil || answer["error"] != nil || len(answer) == 0 {
					t.Errorf("%s\nanswers %s", example, out)
				}
			}
		}
		if code, _ := apptest.Get(t, a.addr+"/v1/shareLinks/aaaaaaaaaaaaaaaaaaaa", a.in.Reader); code != 404 {
			t.Errorf("a link that there is not answers %d", code)
		}
	})
}
