package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// cpu is processor time spent so far: ours, and the server's where it runs on this machine. On a machine
// that is shared with others it repeats where elapsed time does not.
type cpu struct {
	own, server time.Duration
}

func (c cpu) sub(o cpu) cpu { return cpu{c.own - o.own, c.server - o.server} }

// postmaster is the process id of the server's parent process, or 0 where it is not to be seen.
func postmaster(ctx context.Context, conn *pgx.Conn) int {
	var pid int
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return 0
	}
	fields := stat(pid)
	if len(fields) == 0 || !strings.HasPrefix(command(pid), "postgres") {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

func spent(server int) (c cpu) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err == nil {
		c.own = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	if server == 0 {
		return c
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		fields := stat(pid)
		if len(fields) < 15 || (pid != server && fields[1] != strconv.Itoa(server)) {
			continue
		}
		for _, i := range []int{11, 12, 13, 14} { // utime, stime, and those of children that ended
			n, _ := strconv.ParseInt(fields[i], 10, 64)
			c.server += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return c
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

func command(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return string(b)
}
