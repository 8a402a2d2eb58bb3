package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/embedded"
)

func TestCommittedRowsSurviveAKillOfTheHostingProcess(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	h := startHost(t, dir)
	exec1(t, h.url, "CREATE TABLE kept (n int)")
	for round := 1; round <= 3; round++ {
		exec1(t, h.url, "INSERT INTO kept VALUES ("+strconv.Itoa(round)+")")
		// A session in the middle of its work holds the server's shared memory at the kill.
		busy, err := pgx.Connect(bounded(t), h.url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := busy.Exec(t.Context(), "BEGIN; INSERT INTO kept VALUES (-1)"); err != nil {
			t.Fatal(err)
		}
		h.kill()
		_ = busy.Close(t.Context())
		h = startHost(t, dir)
		if n := query[int](t, h.url, "SELECT count(*) FILTER (WHERE n > 0) * 1000 + count(*) FROM kept"); n != round*1001 {
			t.Fatalf("after %d kills the rows kept and all rows are %d", round, n)
		}
	}
}

// The whole process group and the server too: nobody is left to clean up.
func TestAKillOfEverythingLeavesNothingThatStopsTheNextStart(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	h := startHost(t, dir)
	exec1(t, h.url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
	pids := serverPids(t, dir)
	if len(pids) < 3 {
		t.Fatalf("found %d processes of the server", len(pids))
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	_ = syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL)
	h.kill()
	h = startHost(t, dir)
	if n := query[int](t, h.url, "SELECT n FROM kept"); n != 7 {
		t.Fatalf("the row is %d", n)
	}
}

// A postmaster alone is killed: its children go on for a moment and hold the shared memory.
func TestAKilledPostmasterWhoseChildrenLiveOnIsReplaced(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	h := startHost(t, dir)
	postmaster := pidFile(t, dir)
	var child int
	for _, pid := range serverPids(t, dir) {
		if pid != postmaster {
			child = pid
			_ = syscall.Kill(pid, syscall.SIGSTOP) // cannot notice its parent's end
		}
	}
	_ = syscall.Kill(postmaster, syscall.SIGKILL)
	h.kill()
	h = startHost(t, dir)
	if n := query[int](t, h.url, "SELECT 1"); n != 1 {
		t.Fatal("unreachable")
	}
	if alive(child) {
		t.Errorf("the orphan %d lives beside the new server", child)
	}
}

func TestARecycledPidInThePidFileIsNotTakenForTheServer(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	pidfile := filepath.Join(dir, "data", "postmaster.pid")
	raw, err := os.ReadFile(pidfile)
	if err != nil {
		t.Fatal(err)
	}
	pg.Kill()
	// A process of the server's own user, which the server could not tell from its predecessor.
	other := exec.Command("sleep", "300")
	if os.Geteuid() == 0 {
		info, err := os.Stat(pidfile)
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: st.Uid, Gid: st.Gid}}
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	_, rest, _ := strings.Cut(string(raw), "\n")
	if err := os.WriteFile(pidfile, []byte(strconv.Itoa(other.Process.Pid)+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	pg = start(t, embedded.PostgresConfig{DataDir: dir})
	if n := query[int](t, pg.URL("postgres"), "SELECT 1"); n != 1 {
		t.Fatal("unreachable")
	}
	if !alive(other.Process.Pid) {
		t.Fatal("a stranger's process was ended")
	}
}

func TestAnOrphanedServerThatStillRunsIsStoppedFirst(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	exec1(t, pg.URL("postgres"), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// As a system without parent-death signals would leave it: started by nobody of ours.
	sockets := newDir(t)
	if err := os.Mkdir(sockets, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(sockets, 0o777); err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Glob(filepath.Join(dir, "postgres-*", "bin", "postgres"))
	if err != nil || len(bin) != 1 {
		t.Fatalf("the copied server: %v, %v", bin, err)
	}
	orphan := exec.Command(bin[0], "-D", filepath.Join(dir, "data"), "-c", "listen_addresses=", "-c", "unix_socket_directories="+sockets)
	orphan.Dir = filepath.Join(dir, "data")
	info, err := os.Stat(orphan.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		st := info.Sys().(*syscall.Stat_t)
		orphan.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: st.Uid, Gid: st.Gid}}
	}
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = orphan.Wait(); close(ended) }()
	defer func() { _ = orphan.Process.Kill(); <-ended }()
	ctx := bounded(t)
	for pidFile(t, dir) != orphan.Process.Pid {
		select {
		case <-ctx.Done():
			t.Fatal("the orphan did not come up")
		case <-time.After(10 * time.Millisecond):
		}
	}
	pg = start(t, embedded.PostgresConfig{DataDir: dir})
	select {
	case <-ended:
	case <-ctx.Done():
		t.Fatal("the orphan still runs beside the new server")
	}
	if n := query[int](t, pg.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Fatalf("the row is %d", n)
	}
}
