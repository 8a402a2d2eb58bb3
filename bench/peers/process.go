package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/embedded/child"
)

// tick is how often a condition is looked at that says nothing by itself.
const tick = 50 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// process is a peer's, which ends with ours.
type process struct {
	*child.Process
	log string
}

func startProcess(cmd *exec.Cmd, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own
	cmd.Stdout, cmd.Stderr = out, out
	p, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	return &process{p, log}, nil
}

// ended is an error once the process has ended, with the last that it said.
func (p *process) ended() error {
	select {
	case <-p.Done():
		said, _ := os.ReadFile(p.log) // its absence leaves the error as it is
		const keep = 2000
		return fmt.Errorf("%w: %s", errors.Join(errors.New("the process ended"), p.Err()), said[max(0, len(said)-keep):])
	default:
		return nil
	}
}

// stop asks the process to end, and ends it where it takes too long.
func (p *process) stop() {
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Done():
	case <-time.After(10 * time.Second):
		p.Kill()
	}
}

// self is the processor time that this process spent.
func self() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// spent is the processor time of a process and of its children that ended, 0 where it is not to be seen.
func spent(pid int) time.Duration {
	fields := stat(pid)
	if len(fields) < 15 {
		return 0
	}
	var sum time.Duration
	for _, f := range fields[11:15] { // utime, stime, and those of children that ended
		n, _ := strconv.ParseInt(f, 10, 64)
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}

// spentTree is the processor time of a process and of all its children.
func spentTree(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	sum := spent(pid)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		other, _ := strconv.Atoi(filepath.Base(d))
		if fields := stat(other); len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			sum += spent(other)
		}
	}
	return sum
}

// postmaster is the process id of the server's parent process, or 0 where it is not to be seen.
func postmaster(ctx context.Context, conn *pgx.Conn) int {
	var pid int
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return 0
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	fields := stat(pid)
	if len(fields) < 2 || !strings.HasPrefix(string(name), "postgres") {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// stat are the fields of /proc/pid/stat from the state on.
func stat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)
}

// peak is the most memory that a process had resident, in megabytes; 0 where it is not to be seen.
func peak(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.Atoi(fields[0])
	return float64(kb) / 1024
}
