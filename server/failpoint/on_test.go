//go:build failpoint

package failpoint

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestARuleIsForOnePassOrForAll(t *testing.T) {
	t.Parallel()
	r, err := parse(env(map[string]string{Env: "a:2:error,b:*:error"}))
	if err != nil {
		t.Fatal(err)
	}
	for pass, want := range []bool{false, true, false} {
		var injected *InjectedError
		if got := errors.As(r.pass("a"), &injected); got != want {
			t.Errorf("pass %d of a fails: %v, want %v", pass+1, got, want)
		}
		if !errors.As(r.pass("b"), &injected) || injected.Point != "b" {
			t.Errorf("pass %d of b does not fail", pass+1)
		}
		if err := r.pass("c"); err != nil {
			t.Error(err)
		}
	}
}

func TestPassesCountOnceTheFileIsThere(t *testing.T) {
	t.Parallel()
	when := filepath.Join(t.TempDir(), "now")
	r, err := parse(env(map[string]string{Env: "a:1:error", WhenEnv: when}))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.pass("a"); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(when, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.pass("a"); err == nil {
		t.Error("the first pass after the file does not fail")
	}
}

func TestEveryPointIsTracedOnce(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace")
	r, err := parse(env(map[string]string{TraceEnv: trace}))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_ = r.pass("a")
		_ = r.pass("b")
	}
	if got, err := os.ReadFile(trace); err != nil || string(got) != "a\nb\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", "a:1", "a:0:kill", "a:x:kill", "a:1:explode"} {
		if _, err := parse(env(map[string]string{Env: text})); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestAPanicSaysItsPoint(t *testing.T) {
	t.Parallel()
	r, err := parse(env(map[string]string{Env: "a:1:panic"}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if injected, ok := recover().(*InjectedError); !ok || injected.Point != "a" {
			t.Error("no panic of the point")
		}
	}()
	_ = r.pass("a")
}

// childEnv makes the test binary pass a point and say so.
const childEnv = "FAILPOINT_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		Hit("a")
		os.Stdout.WriteString("passed\n")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, extra []*os.File, vars ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"=1"), vars...)
	cmd.ExtraFiles = extra
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewReader(out)
}

func TestAKilledProcessDoesNotPassThePoint(t *testing.T) {
	t.Parallel()
	cmd, out := child(t, nil, Env+"=a:1:kill")
	if line, _ := out.ReadString('\n'); line != "" {
		t.Errorf("it said %q", line)
	}
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}

func TestAStoppedProcessPassesOnceItIsContinued(t *testing.T) {
	t.Parallel()
	cmd, out := child(t, nil, Env+"=a:1:stop")
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it did not stop: %v, %v", status, err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if line, _ := out.ReadString('\n'); line != "passed\n" {
		t.Errorf("it said %q", line)
	}
	_ = cmd.Wait()
}

func TestABlockedProcessSaysSoAndWaits(t *testing.T) {
	t.Parallel()
	said, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hear, let, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd, out := child(t, []*os.File{say, hear}, Env+"=a:1:block", SayEnv+"="+strconv.Itoa(3), HearEnv+"="+strconv.Itoa(4))
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "a" {
		t.Fatalf("it said %q, %v", line, err)
	}
	if _, err := let.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if line, _ := out.ReadString('\n'); line != "passed\n" {
		t.Errorf("it said %q", line)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
