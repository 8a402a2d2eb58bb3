//go:build unix && !linux

package child

import (
	"os/exec"
	"syscall"
)

// startTied starts the child and a watcher that passes it the signal once this process is gone: systems
// without a parent-death signal still close a dead process's pipes.
func startTied(cmd *exec.Cmd, orphaned syscall.Signal) (untie func(), err error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	untie, err = watchParent(cmd.Process.Pid, orphaned)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return untie, nil
}
