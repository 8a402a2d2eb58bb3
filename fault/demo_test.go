package fault

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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
	var got map[string]int
	apptest.Eventually(t, time.Minute, func() bool {
		got = map[string]int{}
		for _, id := range pageThrough(t, addr, first.ReaderToken, "") {
			got[id]++
		}
		return len(missing(l, got)) == 0
	}, func() string { return fmt.Sprintf("acknowledged and not stored: %.10v", missing(l, got)) })
	for id, n := range got {
		if n != 1 {
			t.Errorf("%s is stored %d times", id, n)
		}
		if o, sent := l.journal["/load/one/"+strings.Split(id, "-")[0]+"\x00"+id]; !sent || o == refused {
			t.Errorf("%s is stored and was refused or never sent", id)
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

// missing lists the acknowledged events that are not among those stored. A producer puts its own number
// into its ids, so an id is an event.
func missing(l *load, stored map[string]int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var ids []string
	for key, o := range l.journal {
		_, id, _ := strings.Cut(key, "\x00")
		if o == acked && stored[id] == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestTheDemoAnswersNobodyWithoutACredential(t *testing.T) {
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
	if code := ask(addr, ""); code != http.StatusUnauthorized {
		t.Errorf("who has no credential is answered %d", code)
	}
	if code := ask("evil.example.com", ""); code < 400 || code >= 500 {
		t.Errorf("a foreign Host is answered %d", code)
	}
	if code := ask(addr, "orl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); code != http.StatusUnauthorized {
		t.Errorf("an unknown token is answered %d", code)
	}
}

func TestTheDemoEndsClearlyWhenItsDatabaseIsKilledAndKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	dir, addr := demoDir(t), apptest.FreeAddr(t)
	c, file := startDemo(t, dir, addr)
	l := startLoad(t, "one", "http://"+addr, file.ProducerToken, 4)
	apptest.Eventually(t, time.Minute, func() bool { return l.count(acked) >= 100 }, func() string { return "the load does not flow" })
	var pid int
	found, err := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	code, said := c.Wait(time.Minute)
	if code != 1 || !strings.Contains(said, "embedded PostgreSQL has ended") {
		t.Errorf("the demo ended with %d:\n%s", code, said)
	}
	startDemo(t, dir, addr)
	l.stop()
	apptest.Eventually(t, time.Minute, func() bool {
		return len(pageThrough(t, addr, file.ReaderToken, "")) >= l.count(acked)
	}, func() string { return "not every acknowledged event is stored" })
}

func TestABusyPortIsToldBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := demoDir(t)
	out := apptest.Fails(t, []string{"ORIEL_ADDR=" + l.Addr().String(), "ORIEL_DATA_DIR=" + dir}, "demo")
	if !strings.Contains(out, "ORIEL_ADDR") || !strings.Contains(out, "in use") {
		t.Errorf("said:\n%s", out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
}

func TestASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	t.Parallel()
	addr := apptest.FreeAddr(t)
	c, file := startDemo(t, demoDir(t), addr)
	// A request that is being read holds the drain.
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /v1/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 10\r\n\r\nhalf", addr, file.ProducerToken); err != nil {
		t.Fatal(err)
	}
	c.Signal(syscall.SIGINT)
	apptest.Eventually(t, 10*time.Second, func() bool {
		code, _ := apptest.Readiness("http://" + addr)
		return code != http.StatusOK
	}, func() string { return "the first signal changes nothing" })
	c.Signal(syscall.SIGINT)
	if code, said := c.Wait(5 * time.Second); code != 130 {
		t.Errorf("ended with %d:\n%s", code, said)
	}
}
