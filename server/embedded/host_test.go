package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
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
