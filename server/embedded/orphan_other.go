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
func serversOn(cluster string) ([]int, error) {
	pid, err := recordedPid(cluster)
	if err != nil || pid == 0 {
		return nil, err
	}
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, nil // no such process
	}
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(out), "postgres") || !strings.Contains(string(out), cluster) {
		return nil, nil
	}
	return []int{pid}, nil
}
