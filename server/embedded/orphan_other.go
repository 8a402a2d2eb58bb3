//go:build unix && !linux

package embedded

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
)

// serversOn finds the postmaster that the pid file names, if that process really is a server of this
// cluster: a pid alone proves nothing, as numbers are given again. Its children leave with it.
func serversOn(cluster string) (pids []int, whole bool, err error) {
	pid, err := recordedPid(cluster)
	if err != nil || pid == 0 {
		return nil, false, err
	}
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, false, nil // no such process
	}
	if err != nil {
		return nil, false, err
	}
	if !strings.Contains(string(out), "postgres") || !strings.Contains(string(out), cluster) {
		return nil, false, nil
	}
	return []int{pid}, true, nil
}
