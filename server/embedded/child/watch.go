package child

import (
	"os/exec"
	"strconv"
	"syscall"
)

// watchParent starts a shell that waits for the end of a pipe of ours, which only our death or untie
// brings, and signals pid at our death. It is how systems without a parent-death signal are served.
func watchParent(pid int, sig syscall.Signal) (untie func(), err error) {
	// Not bound to a context, as it must outlive us; the arguments are numbers.
	const script = `read -r word; [ "$word" = untie ] || kill -"$1" "$2"`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", strconv.Itoa(int(sig)), strconv.Itoa(pid)) //nolint:gosec,noctx // see above
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                                         // a terminal's Ctrl-C must not end the watch
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_, _ = in.Write([]byte("untie\n")) // a watcher that is gone needs no word
		_ = in.Close()
		_ = cmd.Wait()
	}, nil
}
