package fault

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
	"oriel/server/failpoint"
)

func TestAZombieThatWakesBeforeItsBatchIsFencedOffThoughTheRangeIsStillFree(t *testing.T) {
	skipWithoutMatrix(t)
	t.Parallel()
	b, cluster := newCluster(t, 1)
	r := newRig(t, b, cluster)
	addr, other := apptest.FreeAddr(t), apptest.FreeAddr(t)
	zombie := r.start(addr, as(t, dbtest.AppURL(t, r.direct), "zombie"), nil, failpoint.Env+"=con.before_tx:1:stop")
	flow := r.startFlow(3, 5, addr, other)
	flow.allow(9)
	waitStopped(t, zombie)
	// The new owner is held at the same moment: both have a batch that begins where the checkpoint is.
	said, hold := pipe(t)
	hear, let := pipe(t)
	owner := r.start(other, as(t, dbtest.AppURL(t, r.direct), "owner"), []*os.File{hold, hear},
		failpoint.Env+"=con.before_tx:1:block", failpoint.SayEnv+"=3", failpoint.HearEnv+"=4")
	waitSaid(t, said, "con.before_tx")
	zombie.Signal(syscall.SIGCONT)
	apptest.Eventually(t, time.Minute, func() bool { return metric(t, addr, "oriel_consumer_fenced_total") > 0 },
		func() string { return "the zombie was not fenced off" })
	if n := scan[int](t, r.pool, `SELECT count(*) FROM event`); n != 0 {
		t.Errorf("%d rows are stored before the owner wrote any", n)
	}
	if _, err := let.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	flow.waitDone(t, time.Minute)
	flow.stop()
	r.verify()
	for url, c := range map[string]*apptest.Child{addr: zombie, other: owner} {
		c.WaitReady("http://"+url, time.Minute)
	}
}

func TestAZombieThatWakesBeforeItsCommitHasLostItsTransaction(t *testing.T) {
	skipWithoutMatrix(t)
	t.Parallel()
	b, cluster := newCluster(t, 1)
	r := newRig(t, b, cluster)
	addr, other := apptest.FreeAddr(t), apptest.FreeAddr(t)
	zombie := r.start(addr, as(t, dbtest.AppURL(t, r.direct), "zombie"), nil, failpoint.Env+"=con.before_commit:1:stop")
	flow := r.startFlow(3, 5, addr, other)
	flow.allow(9)
	waitStopped(t, zombie)
	r.start(other, as(t, dbtest.AppURL(t, r.direct), "owner"), nil)
	// The zombie's session holds the checkpoint until the server ends it for being idle in a transaction.
	apptest.Eventually(t, time.Minute, r.caughtUpTo(9), func() string { return "the new owner does not get the checkpoint" })
	if by := scan[string](t, r.pool, `SELECT string_agg(DISTINCT writer, ',') FROM fault_change WHERE new_commits > old_commits`); by != "owner" {
		t.Errorf("batches were committed by %s", by)
	}
	zombie.Signal(syscall.SIGCONT)
	apptest.Eventually(t, time.Minute, func() bool { return metric(t, addr, "oriel_consumer_fenced_total") > 0 },
		func() string { return "the zombie was not fenced off" })
	flow.allow(9)
	flow.waitDone(t, time.Minute)
	flow.stop()
	r.verify()
	zombie.WaitReady("http://"+addr, time.Minute)
}

func TestAPanicAtAnyPointOfABatchIsSurvived(t *testing.T) {
	skipWithoutMatrix(t)
	t.Parallel()
	for _, point := range []string{"con.before_tx", "con.tx_half", "con.before_commit", "con.after_commit", "con.words_stored"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b, cluster := newCluster(t, partitionsOfCase)
			r := newRig(t, b, cluster)
			addr := apptest.FreeAddr(t)
			c := r.start(addr, as(t, dbtest.AppURL(t, r.direct), "one"), nil, failpoint.Env+"="+point+":1:panic,"+point+":2:panic")
			flow := r.startFlow(3, 0, addr)
			flow.allow(15)
			flow.waitDone(t, time.Minute)
			flow.stop()
			if h := r.verify(); len(h.letters) != 0 {
				t.Errorf("the panic was blamed on %v", h.letters)
			}
			if code := c.Stop(time.Minute); code != 0 {
				t.Errorf("it ended with %d", code)
			}
		})
	}
}

func skipWithoutMatrix(t *testing.T) {
	t.Helper()
	if !*matrix {
		t.Skip("NOT RUN here: make fault runs what needs failpoints")
	}
}

// caughtUpTo says that the topic has n records and that they are consumed.
func (r *rig) caughtUpTo(n int64) func() bool {
	return func() bool {
		var sum int64
		for _, end := range logEnds(r.t, r.broker, r.broker.Topic) {
			sum += end
		}
		return sum >= n && r.caughtUp()
	}
}

// waitStopped waits until the kernel says that a process is stopped.
func waitStopped(t *testing.T, c *apptest.Child) {
	t.Helper()
	apptest.Eventually(t, time.Minute, func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(text), ") ")
		return strings.HasPrefix(after, "T")
	}, func() string { return "the process was not stopped" })
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// waitSaid waits for a line on a pipe that a child holds the other end of.
func waitSaid(t *testing.T, from *os.File, want string) {
	t.Helper()
	if err := from.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(from).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		t.Fatalf("it said %q, %v; want %s", line, err, want)
	}
}

// metric is the value of a replica's metric without labels, summed up where it has some.
func metric(t *testing.T, addr, name string) float64 {
	t.Helper()
	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		return 0 // it does not answer now
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0
	}
	sum := 0.0
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' '):]), 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		sum += v
	}
	return sum
}
