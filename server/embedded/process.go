package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// process is the postmaster: started so that it ends with us, waited for, its log passed on.
type process struct {
	cmd      *exec.Cmd
	log      *slog.Logger
	stopping atomic.Bool
	done     chan struct{} // closed after Wait and the last log line
	waitErr  error         // valid once done is closed

	mu   sync.Mutex
	tail []string // the last lines it said, for a failed start
}

func startProcess(path string, args []string, dir string, acct *account, fast bool, log *slog.Logger) (*process, error) {
	p := &process{cmd: command(path, args, dir, acct), log: log, done: make(chan struct{})}
	// A server that loses its parent finishes cleanly where the data matters, at once where it does not.
	orphaned := syscall.SIGINT
	if fast {
		orphaned = syscall.SIGQUIT
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	started := make(chan error, 1)
	go p.run(orphaned, w, r, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run owns the child from start to end. Linux ties the parent-death signal to the thread that forked,
// so the thread is never given back while the child lives.
func (p *process) run(orphaned syscall.Signal, w, r *os.File, started chan<- error) {
	runtime.LockOSThread()
	untie, err := startTied(p.cmd, orphaned)
	closeErr := w.Close() // or the reader would never see the end
	if err != nil {
		started <- errors.Join(err, closeErr, r.Close())
		return
	}
	started <- nil
	lines := make(chan struct{})
	go p.readLog(r, lines)
	p.waitErr = p.cmd.Wait()
	untie()
	<-lines
	close(p.done)
}

// readLog passes the server's lines on until the last process that holds the pipe is gone.
func (p *process) readLog(r io.ReadCloser, end chan<- struct{}) {
	defer close(end)
	defer func() { _ = r.Close() }() // only read from: nothing to lose
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\n"); line != "" {
			p.remember(line)
			level, text := logLine(line, p.stopping.Load())
			p.log.Log(context.Background(), level, "postgresql: "+text)
		}
		if err != nil {
			return
		}
	}
}

func (p *process) remember(line string) {
	const keep = 12
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tail = append(p.tail, line)
	if len(p.tail) > keep {
		p.tail = p.tail[1:]
	}
}

func (p *process) said(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(strings.Join(p.tail, "\n"), text)
}

// failure is why it ended, in its own last words.
func (p *process) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.waitErr
	if err == nil {
		err = errors.New("it exited")
	}
	return fmt.Errorf("%w; its last words: %s", err, strings.Join(p.tail, " / "))
}

func (p *process) stop(ctx context.Context) error {
	p.stopping.Store(true)
	ctx, cancel := context.WithTimeout(ctx, fastStop)
	defer cancel()
	p.signal(syscall.SIGINT)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	}
	p.signal(syscall.SIGQUIT)
	select {
	case <-p.done:
		return errors.New("postgresql was stopped without its checkpoint: it did not finish in time; the next start recovers it")
	case <-time.After(hardStop):
	}
	p.kill()
	return errors.New("postgresql had to be killed: it did not react to an immediate shutdown; the next start recovers it")
}

func (p *process) kill() {
	p.stopping.Store(true)
	p.signal(syscall.SIGKILL)
	<-p.done
}

// signal reports nothing: a process that is gone is what every caller wants, and they wait for that.
func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// command runs a program of the server's as the account, in a process group of its own so that a
// terminal's Ctrl-C reaches only us and the order of stopping stays ours.
func command(path string, args []string, dir string, acct *account) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	// The server's messages are parsed, and its zone is not this machine's: nothing is inherited.
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if acct != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: acct.uid, Gid: acct.gid}
	}
	return cmd
}
