package child

import (
	"os/exec"
	"strconv"
	"syscall"
)

// watchParent starts a shell that waits for the end of a pipe of ours, which only our death or untie
// brings, and signals pid at our death. It is how systems without a parent-death signal are served.
func watchParent(pid int, sig syscall.Signal) (untie func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", `read -r word; [ "$word" = untie ] || kill -"$1" "$2"`,
		"sh", strconv.Itoa(int(sig)), strconv.Itoa(pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C must not end the watch
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
