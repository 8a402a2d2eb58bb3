package child

import (
	"os/exec"
	"syscall"
)

// startTied starts the child so that the kernel sends it the signal when this process ends, however it
// ends. The calling goroutine must stay locked to its thread until the child was waited for.
func startTied(cmd *exec.Cmd, orphaned syscall.Signal) (untie func(), err error) {
	cmd.SysProcAttr.Pdeathsig = orphaned
	return func() {}, cmd.Start()
}
