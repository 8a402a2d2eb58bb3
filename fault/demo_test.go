package fault

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"oriel/server/apptest"
)

// demoFile is demo.json as its users read it.
type demoFile struct {
	URL, ProducerToken, ReaderToken string
}

func startDemo(t *testing.T, dir, addr string) (*apptest.Child, demoFile) {
	t.Helper()
	c := apptest.Start(t, []string{"ORIEL_ADDR=" + addr, "ORIEL_DATA_DIR=" + dir, "ORIEL_DEMO_TRAFFIC=off"}, "demo")
	c.WaitReady("http://"+addr, time.Minute)
	text, err := os.ReadFile(filepath.Join(dir, "demo.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file demoFile
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "demo.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("demo.json has mode %v (%v), want 0600", info.Mode(), err)
	}
	return c, file
}

// demoDir is a folder that another user may pass through, unlike t.TempDir's.
func demoDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "oriel-demo-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheDemoKeepsEverythingWhenItsWholeGroupIsKilled(t *testing.T) {
	t.Parallel()
	dir, addr := demoDir(t), apptest.FreeAddr(t)
	c, first := startDemo(t, dir, addr)
	l := startLoad(t, "one", "http://"+addr, first.ProducerToken, 8)
	for range kills() {
		atLeast := l.count(acked) + 100
		apptest.Eventually(t, time.Minute, func() bool { return l.count(acked) >= atLeast }, func() string { return "the load does not flow" })
		c.KillGroup()
		var again demoFile
		c, again = startDemo(t, dir, addr)
		if again != first {
			t.Fatalf("demo.json changed from %+v to %+v", first, again)
		}
	}
	l.stop()
	if n := l.count(unknown) + l.count(refused); n > 8 {
		t.Errorf("%d events never got through", n)
	}
	var got []string
	apptest.Eventually(t, time.Minute, func() bool {
		got = pageThrough(t, addr, first.ReaderToken, "")
		return len(got) >= l.count(acked)
	}, func() string { return "not every acknowledged event is stored" })
	sorted := slices.Clone(got)
	slices.Sort(sorted)
	// Producers number their own events, so ids repeat between the sources, once each.
	if n := len(got) - l.count(acked); n > l.count(unknown) {
		t.Errorf("%d rows for %d acknowledged and %d unknown events", len(got), l.count(acked), l.count(unknown))
	}
	for i := 8; i < len(sorted); i++ {
		if sorted[i] == sorted[i-8] {
			t.Errorf("%s is stored more than once a producer", sorted[i])
		}
	}
	if code := c.Stop(40 * time.Second); code != 0 {
		t.Errorf("a graceful stop exited with %d", code)
	}
	startDemo(t, dir, addr)
	if again := pageThrough(t, addr, first.ReaderToken, ""); len(again) != len(got) {
		t.Errorf("%d rows after a graceful restart, %d before", len(again), len(got))
	}
}

func TestTheDemoAnswersTheBrowserWithoutATokenAndNobodyElse(t *testing.T) {
	t.Parallel()
	addr := apptest.FreeAddr(t)
	startDemo(t, demoDir(t), addr)
	ask := func(host, token string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if code := ask(addr, ""); code != http.StatusOK {
		t.Errorf("the demo analyst is answered %d", code)
	}
	if code := ask("evil.example.com", ""); code < 400 || code >= 500 {
		t.Errorf("a foreign Host is answered %d", code)
	}
	if code := ask(addr, "orl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); code != http.StatusUnauthorized {
		t.Errorf("an unknown token is answered %d", code)
	}
}
