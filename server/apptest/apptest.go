// Package apptest runs the built program as a child process for tests: against a database and a broker
// of their own, or as the demo. Only tests import it.
package apptest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oriel/server/dbtest"
)

// binary builds the program once for the whole test binary.
var binary = sync.OnceValues(func() (string, error) { return buildAs("oriel") })

// buildAs builds the program into the folder of tests under a name.
func buildAs(name string, flags ...string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	// Built aside and renamed: test binaries run side by side, and a running program stays whole.
	path := filepath.Join(root, "bin", "test", name)
	aside := fmt.Sprintf("%s-%d", path, os.Getpid())
	cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-o", aside}, flags, []string{"./server"})...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return path, os.Rename(aside, path)
}

// moduleRoot is the folder of go.mod.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// Child is the program as a process of its own, in a process group of its own.
type Child struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	mu   sync.Mutex
	tail []string
}

// Start runs the program; its last lines of log show when the test fails.
func Start(t *testing.T, env []string, args ...string) *Child {
	t.Helper()
	return start(t, binary, env, nil, args...)
}

// start runs one of the builds; its descriptors from 3 on are files.
func start(t *testing.T, build func() (string, error), env []string, files []*os.File, args ...string) *Child {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &Child{t: t, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			c.mu.Lock()
			c.tail = append(c.tail, lines.Text())
			if len(c.tail) > 60 {
				c.tail = c.tail[1:]
			}
			c.mu.Unlock()
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		c.KillGroup()
		if t.Failed() {
			c.mu.Lock()
			t.Logf("last lines of %v:\n%s", args, strings.Join(c.tail, "\n"))
			c.mu.Unlock()
		}
	})
	return c
}

// Kill ends the process as a power cut would; no handler of it runs.
func (c *Child) Kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL)
	<-c.done
}

// KillGroup kills the process and everything it started.
func (c *Child) KillGroup() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.done
}

// Stop asks for a graceful end and returns the exit code.
func (c *Child) Stop(within time.Duration) int {
	c.t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(within):
		c.t.Fatalf("the process did not stop within %s", within)
	}
	return c.cmd.ProcessState.ExitCode()
}

// Exited tells whether the process has ended.
func (c *Child) Exited() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Signal sends a signal to the process alone.
func (c *Child) Signal(sig syscall.Signal) { _ = c.cmd.Process.Signal(sig) }

// Wait waits until the process ends by itself, and returns its exit code and last lines.
func (c *Child) Wait(within time.Duration) (int, string) {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(within):
		c.t.Fatalf("the process did not end within %s", within)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cmd.ProcessState.ExitCode(), strings.Join(c.tail, "\n")
}

// WaitReady waits until readiness says yes.
func (c *Child) WaitReady(url string, within time.Duration) {
	c.t.Helper()
	var last string
	Eventually(c.t, within, func() bool {
		if c.Exited() {
			c.t.Fatalf("the process ended with %d", c.cmd.ProcessState.ExitCode())
		}
		var code int
		code, last = Readiness(url)
		return code == http.StatusOK
	}, func() string { return "not ready: " + last })
}

func Readiness(url string) (int, string) {
	resp, err := http.Get(url + "/health/ready")
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// Run executes a command of the program and returns what it printed.
func Run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	stdout, stderr, err := execute(t, env, args...)
	if err != nil {
		t.Fatalf("oriel %v: %v\n%s", args, err, stderr)
	}
	return strings.TrimSpace(stdout)
}

// Fails executes a command that must end with code 1 or 2, and returns what it printed on both streams.
func Fails(t *testing.T, env []string, args ...string) string {
	t.Helper()
	stdout, stderr, err := execute(t, env, args...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() < 1 || exit.ExitCode() > 2 {
		t.Fatalf("oriel %v ended with %v, want a failure\n%s%s", args, err, stdout, stderr)
	}
	return stdout + stderr
}

func execute(t *testing.T, env []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	return out.String(), log.String(), err
}

// FreeAddr is a loopback address that nobody listens on now, so that a restarted Child can have it again.
func FreeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Eventually waits for a condition, asking every 50 ms.
func Eventually(t *testing.T, within time.Duration, condition func() bool, explain func() string) {
	t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("after %s: %s", within, explain())
		case <-tick.C:
		}
	}
}

// Installation is a database and a broker, and the environment that names them: the database as the roles
// that write and that read.
type Installation struct {
	Broker   dbtest.Broker
	Database string // as a superuser, for a test to look at
	Env      []string
	Producer string
	Reader   string
}

// Install makes a database and tokens for a broker's topic.
func Install(t *testing.T, b dbtest.Broker) Installation {
	t.Helper()
	in := Installation{Broker: b, Database: dbtest.NewURL(t)}
	in.Env = []string{
		"ORIEL_DATABASE_URL=" + dbtest.AppURL(t, in.Database),
		"ORIEL_DATABASE_READ_URL=" + dbtest.ReadURL(t, in.Database),
		"ORIEL_KAFKA_BROKERS=" + strings.Join(b.Brokers, ","),
		"ORIEL_KAFKA_TOPIC=" + b.Topic,
		"ORIEL_KAFKA_GROUP=group-" + b.Topic,
		"ORIEL_KAFKA_SESSION_TIMEOUT=6s",
	}
	in.Producer = Run(t, in.Env, "token", "create", "--scope", "events:write", "--name", "producer")
	in.Reader = Run(t, in.Env, "token", "create", "--scope", "events:read", "--name", "reader")
	return in
}

// MigrateEnv is the environment of `oriel migrate`, which alone knows the owner of the tables.
func (in Installation) MigrateEnv(t *testing.T) []string {
	t.Helper()
	return append(slices.Clone(in.Env), "ORIEL_DATABASE_MIGRATE_URL="+dbtest.OwnerURL(t, in.Database))
}

// Serve starts a replica at addr and waits until it is ready.
func (in Installation) Serve(t *testing.T, addr string, extra ...string) *Child {
	t.Helper()
	env := append([]string{"ORIEL_ADDR=" + addr, "ORIEL_PUBLIC_URL=http://" + addr}, in.Env...)
	c := Start(t, append(env, extra...), "serve")
	c.WaitReady("http://"+addr, time.Minute)
	return c
}

// Get reads an answer with a token.
func Get(t *testing.T, url, token string) (status int, body []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// GetJSON reads a JSON answer with a token.
func GetJSON(t *testing.T, url, token string, into any) (status int) {
	t.Helper()
	status, body := Get(t, url, token)
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("%s: %v: %s", url, err, body)
	}
	return status
}
