// Package child starts processes that end with this one. It promises that a child gets its signal
// however this process ends, a kill -9 included, and that every child is waited for. It must not know
// what the children are.
package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Process is a started child.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts cmd in a process group of its own, so that a terminal's Ctrl-C reaches only us and the
// order of stopping stays ours. orphaned is the signal it gets should we end first.
func Start(cmd *exec.Cmd, orphaned syscall.Signal) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(orphaned, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run owns the child from start to end. Linux ties the parent-death signal to the thread that forked,
// so the thread is never given back while the child lives.
func (p *Process) run(orphaned syscall.Signal, started chan<- error) {
	runtime.LockOSThread()
	untie, err := startTied(p.cmd, orphaned)
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	untie()
	close(p.done)
}

// Done is closed once the child has ended and was waited for.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the child ended, as exec.Cmd.Wait reports it. Call it after Done.
func (p *Process) Err() error { return p.err }

// Pid is the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Signal sends to the child. It reports nothing: a child that is gone is what every sender wants, and
// they wait for that.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the child and waits.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	<-p.done
}
