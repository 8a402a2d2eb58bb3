package apptest

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// failing builds the program with its failpoints once for the whole test binary.
var failing = sync.OnceValues(func() (string, error) { return buildAs("oriel-failing", "-tags", "failpoint") })

// StartFailing is Start for the program with its failpoints, whose rules are in env (package failpoint). Its
// descriptors from 3 on are files, which stay the caller's to close.
func StartFailing(t *testing.T, env []string, files []*os.File, args ...string) *Child {
	t.Helper()
	return start(t, failing, env, files, args...)
}

// EndedBy is the signal that ended the process, or 0 while it runs or where it ended by itself.
func (c *Child) EndedBy() syscall.Signal {
	if !c.Exited() {
		return 0
	}
	status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0
	}
	return status.Signal()
}

// Pid is the process's id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }
