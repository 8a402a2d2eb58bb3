package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// parentEnv makes the test binary a parent: "tied" starts a child as the product does, "watched" as
// systems without a parent-death signal do.
const parentEnv = "ORIEL_TEST_PARENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(parentEnv); how != "" {
		beParent(how)
	}
	goleak.VerifyTestMain(m)
}

// beParent starts a child that ignores everything but the signal, says its pid and waits to be killed.
func beParent(how string) {
	cmd := exec.Command("sleep", "300")
	var pid int
	switch how {
	case "tied":
		p, err := Start(cmd, syscall.SIGINT)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		pid = p.Pid()
	case "watched":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		pid = cmd.Process.Pid
		if _, err := watchParent(pid, syscall.SIGINT); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println(pid)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func TestAChildEndsWithItsParentHoweverThatEnds(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"tied", "watched"} {
		for name, end := range map[string]func(parent *os.Process){
			"killed":                        func(p *os.Process) { _ = p.Kill() },
			"killed with its process group": func(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) },
			"interrupted":                   func(p *os.Process) { _ = p.Signal(os.Interrupt) },
		} {
			t.Run(how+", the parent is "+name, func(t *testing.T) {
				t.Parallel()
				parent := exec.Command(os.Args[0])
				parent.Env = append(os.Environ(), parentEnv+"="+how)
				parent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				in, err := parent.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				out, err := parent.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := parent.Start(); err != nil {
					t.Fatal(err)
				}
				line, err := bufio.NewReader(out).ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				pid, err := strconv.Atoi(strings.TrimSpace(line))
				if err != nil {
					t.Fatal(err)
				}
				if !running(pid) {
					t.Fatalf("the child %d does not run", pid)
				}
				end(parent.Process)
				_ = parent.Wait()
				for limit := time.Now().Add(20 * time.Second); running(pid); {
					if time.Now().After(limit) {
						_ = syscall.Kill(pid, syscall.SIGKILL)
						t.Fatal("the child outlives its parent")
					}
					<-time.After(5 * time.Millisecond)
				}
			})
		}
	}
}

// running is false for a zombie too.
func running(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func TestAWatcherThatIsUntiedLeavesTheProcessAlone(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	untie, err := watchParent(cmd.Process.Pid, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	untie() // waits for the watcher's end
	if !running(cmd.Process.Pid) {
		t.Fatal("untying ended the process")
	}
}

func TestAChildsEndIsReported(t *testing.T) {
	t.Parallel()
	p, err := Start(exec.Command("sh", "-c", "exit 3"), syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.Err() == nil || p.Err().Error() != "exit status 3" {
		t.Fatalf("got %v", p.Err())
	}
	p.Kill() // of what is gone already
	if _, err := Start(exec.Command("/nowhere/program"), syscall.SIGKILL); err == nil {
		t.Fatal("a program that is not there starts")
	}
}
