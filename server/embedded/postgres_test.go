package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"oriel/server/embedded"
)

// hostEnv makes the test binary a process that hosts a server in the folder it names.
const hostEnv = "ORIEL_TEST_HOST_POSTGRES"

func TestMain(m *testing.M) {
	if dir := os.Getenv(hostEnv); dir != "" {
		host(dir)
	}
	goleak.VerifyTestMain(m)
}

func host(dir string) {
	pg, err := embedded.StartPostgres(context.Background(), embedded.PostgresConfig{DataDir: dir})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(pg.URL("postgres"))
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends or kills us
	os.Exit(0)
}

// hosted is a server in a process of its own, to be killed.
type hosted struct {
	url string
	cmd *exec.Cmd
	in  io.Closer
}

func startHost(t *testing.T, dir string) *hosted {
	t.Helper()
	h := &hosted{cmd: exec.Command(os.Args[0])}
	h.cmd.Env = append(os.Environ(), hostEnv+"="+dir)
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := h.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.in = in
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if h.url = strings.TrimSpace(line); err != nil || strings.HasPrefix(h.url, "error:") {
		t.Fatalf("the hosting process says %q: %v", h.url, err)
	}
	return h
}

// kill ends the hosting process as `kill -9` does.
func (h *hosted) kill() {
	if h.cmd.ProcessState == nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
		_ = h.in.Close()
	}
}

// newDir is a folder that the server's user can reach, which t.TempDir is not for root.
func newDir(t *testing.T) string {
	t.Helper()
	base := "" // memory where there is some as a folder: initdb writes a thousand files and syncs each
	if unix.Access("/dev/shm", unix.W_OK) == nil {
		base = "/dev/shm"
	}
	parent, err := os.MkdirTemp(base, "oriel-embedded-test-")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "pg")
	t.Cleanup(func() {
		// The server of a killed host is on its way out.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for pids := serverPids(t, parent); len(pids) > 0; pids = serverPids(t, parent) {
			select {
			case <-ctx.Done():
				t.Errorf("the processes %v outlive the one that started them", pids)
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		if sockets, err := os.ReadFile(filepath.Join(dir, "socket-dir")); err == nil {
			_ = os.RemoveAll(string(sockets))
		}
		_ = os.RemoveAll(parent)
	})
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func start(t *testing.T, cfg embedded.PostgresConfig) *embedded.Postgres {
	t.Helper()
	pg, err := embedded.StartPostgres(bounded(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return pg
}

func query[T any](t *testing.T, url, sql string) (v T) {
	t.Helper()
	ctx := bounded(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, sql).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func exec1(t *testing.T, url, sql string) {
	t.Helper()
	ctx := bounded(t)
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}

func TestDataAndPasswordOutliveAnOrderlyStop(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	began := time.Now()
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	t.Logf("first start with initdb: %v", time.Since(began))
	exec1(t, pg.URL("postgres"), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
	began = time.Now()
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("stop: %v", time.Since(began))
	began = time.Now()
	pg = start(t, embedded.PostgresConfig{DataDir: dir})
	t.Logf("second start: %v", time.Since(began))
	if n := query[int](t, pg.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Fatalf("the row is %d after a restart", n)
	}
	if on := query[string](t, pg.URL("postgres"), "SELECT current_setting('fsync') || current_setting('full_page_writes') || current_setting('synchronous_commit')"); on != "ononon" {
		t.Fatalf("durability is off outside of tests: %s", on)
	}
}

func TestOnlyTheSocketAndOnlyWithThePassword(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	cfg, err := pgx.ParseConfig(pg.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if listen := query[string](t, pg.URL("postgres"), "SELECT current_setting('listen_addresses')"); listen != "" {
		t.Errorf("the server listens on %q", listen)
	}
	for path, want := range map[string]os.FileMode{
		cfg.Host:                       0o700,
		filepath.Join(dir, "password"): 0o600,
		filepath.Join(dir, "data"):     0o700,
		dir:                            0o711,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o and not %o", path, got, want)
		}
	}
	if len(cfg.Password) < 32 {
		t.Errorf("the generated password has %d characters", len(cfg.Password))
	}
	cfg.Password = "wrong"
	if conn, err := pgx.ConnectConfig(bounded(t), cfg); err == nil {
		_ = conn.Close(t.Context())
		t.Error("a wrong password is let in")
	}
	exec1(t, pg.URL("postgres"), "CREATE EXTENSION pg_trgm") // the copy is whole
	if locale := query[string](t, pg.URL("postgres"), "SELECT datlocprovider::text || datlocale || pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'postgres'"); locale != "bC.UTF-8UTF8" {
		t.Errorf("the locale is %s", locale)
	}
}

func TestASecondServerOnTheDataIsRefused(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	start(t, embedded.PostgresConfig{DataDir: dir, Fast: true})
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir, Fast: true})
	if !errors.Is(err, unix.EWOULDBLOCK) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v", err)
	}
}

func TestDataOfAnotherMajorIsRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o711); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(dir, "data", "PG_VERSION")
	if err := os.WriteFile(version, []byte("15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), "belongs to PostgreSQL 15") || !strings.Contains(err.Error(), "move") {
		t.Fatalf("got %v", err)
	}
	if raw, err := os.ReadFile(version); err != nil || string(raw) != "15\n" {
		t.Fatalf("the refused data was touched: %q, %v", raw, err)
	}
}

func TestAClosedParentFolderIsNamed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs the server as another user")
	}
	closed := filepath.Dir(newDir(t))
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "below", "pg")
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir})
	found := (*embedded.ClosedDirError)(nil)
	if !errors.As(err, &found) || found.Dir != closed || !strings.Contains(err.Error(), "chmod o+x "+closed) {
		t.Fatalf("got %v", err)
	}
	if err := embedded.Enterable(dir); !errors.As(err, &found) {
		t.Fatalf("Enterable answers %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Fatal("a refused folder was made")
	}
	if err := os.Chmod(closed, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := embedded.Enterable(dir); err != nil {
		t.Fatalf("an open folder is refused: %v", err)
	}
}

func TestANativeFolderThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	none := t.TempDir()
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: newDir(t), Native: none})
	if err == nil || !strings.Contains(err.Error(), none) {
		t.Fatalf("got %v", err)
	}
}

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

func TestAnInterruptedInitialisationIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	half := filepath.Join(dir, "data.new")
	if err := os.MkdirAll(filepath.Join(half, "base"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("18\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "postgres-18.new", "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	if n := query[int](t, pg.URL("postgres"), "SELECT 1"); n != 1 {
		t.Fatal("unreachable")
	}
}

func TestAStartThatIsCalledOffLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("called off")
	time.AfterFunc(150*time.Millisecond, func() { cancel(cause) }) // in the middle of initdb or of the copy
	_, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir})
	if !errors.Is(err, cause) {
		t.Fatalf("got %v", err)
	}
	if pids := serverPids(t, dir); len(pids) > 0 {
		t.Fatalf("processes %v still run", pids)
	}
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	if n := query[int](t, pg.URL("postgres"), "SELECT 1"); n != 1 {
		t.Fatal("unreachable")
	}
}

func TestAMissingPasswordIsNamed(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "password")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Fatalf("got %v", err)
	}
}

func TestAServerThatDiesIsNoticed(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir, Fast: true, Log: slog.New(slog.DiscardHandler)})
	_ = syscall.Kill(pidFile(t, dir), syscall.SIGKILL)
	select {
	case <-pg.Done():
	case <-bounded(t).Done():
		t.Fatal("Done stays open after the server's end")
	}
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatalf("stopping what is gone: %v", err)
	}
	start(t, embedded.PostgresConfig{DataDir: dir, Fast: true}) // which also clears the shared memory it left
}

func pidFile(t *testing.T, dir string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	pid, _ := strconv.Atoi(line)
	return pid
}

// serverPids are the processes whose working folder is in dir.
func serverPids(t *testing.T, dir string) (pids []int) {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, proc := range procs {
		if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil && strings.HasPrefix(cwd, dir) {
			if pid, err := strconv.Atoi(filepath.Base(proc)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// alive is false for a zombie too.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(raw), ") Z ")
}
