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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"oriel/server/embedded/child"
)

// process is the postmaster: started so that it ends with us, its log passed on.
type process struct {
	*child.Process
	log      *slog.Logger
	stopping atomic.Bool
	logged   chan struct{} // closed after the last line

	mu   sync.Mutex
	tail []string // the last lines it said, for a failed start
}

func startProcess(path string, args []string, dir string, acct *account, fast bool, log *slog.Logger) (*process, error) {
	// A server that loses us finishes cleanly where the data matters, at once where it does not.
	orphaned := syscall.SIGINT
	if fast {
		orphaned = syscall.SIGQUIT
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := command(path, args, dir, acct)
	cmd.Stdout, cmd.Stderr = w, w
	started, err := child.Start(cmd, orphaned)
	closeErr := w.Close() // or the reader would never see the end
	if err != nil {
		return nil, errors.Join(err, closeErr, r.Close())
	}
	p := &process{Process: started, log: log, logged: make(chan struct{})}
	go p.readLog(r)
	return p, nil
}

// readLog passes the server's lines on until the last process that holds the pipe is gone.
func (p *process) readLog(r io.ReadCloser) {
	defer close(p.logged)
	defer func() { _ = r.Close() }() // only read from: nothing to lose
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimRight(line, "\n"); line != "" {
			p.remember(line)
			level, text := logLine(line, p.stopping.Load())
			p.log.Log(context.Background(), level, "postgresql", "says", text)
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

// failure is why it ended, in its own last words. Call it after Done.
func (p *process) failure() error {
	p.drained()
	err := p.Err()
	if err == nil {
		err = errors.New("it exited")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("%w; its last words: %s", err, strings.Join(p.tail, " / "))
}

// drained waits for the last log line. A child of the server can hold the pipe a moment longer than the
// server lives; nothing waits for more than that.
func (p *process) drained() {
	select {
	case <-p.logged:
	case <-time.After(5 * time.Second):
	}
}

func (p *process) stop(ctx context.Context) error {
	p.stopping.Store(true)
	defer p.drained()
	ctx, cancel := context.WithTimeout(ctx, fastStop)
	defer cancel()
	p.Signal(syscall.SIGINT)
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
	}
	p.Signal(syscall.SIGQUIT)
	select {
	case <-p.Done():
		return errors.New("postgresql was stopped without its checkpoint: it did not finish in time; the next start recovers it")
	case <-time.After(hardStop):
	}
	p.Kill()
	return errors.New("postgresql had to be killed: it did not react to an immediate shutdown; the next start recovers it")
}

func (p *process) crash() {
	p.stopping.Store(true)
	p.Kill()
	p.drained()
}

// command is a program of the server's, run as the account.
func command(path string, args []string, dir string, acct *account) *exec.Cmd {
	// Not bound to a context: its end is ours to order, or the kernel's should we be gone.
	cmd := exec.Command(path, args...) //nolint:gosec,noctx // our own copy of the binaries; see above
	cmd.Dir = dir
	// The server's messages are parsed, and its zone is not this machine's: nothing is inherited.
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if acct != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: acct.uid, Gid: acct.gid}
	}
	return cmd
}
