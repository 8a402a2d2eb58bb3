package embedded

import (
	"os"
	"path/filepath"
	"strconv"
)

// serversOn finds the processes of any PostgreSQL that work in the cluster: the postmaster and its
// children have it as their working directory. A pid alone proves nothing, as numbers are given again.
func serversOn(cluster string) ([]int, error) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	postmaster, err := recordedPid(cluster)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, proc := range procs {
		pid, err := strconv.Atoi(proc.Name())
		if err != nil {
			continue
		}
		// Unreadable is another user's or already gone: neither is ours to stop.
		cwd, err := os.Readlink(filepath.Join("/proc", proc.Name(), "cwd"))
		if err != nil || cwd != cluster {
			continue
		}
		exe, err := os.Readlink(filepath.Join("/proc", proc.Name(), "exe"))
		if err != nil || !isServer(exe) {
			continue
		}
		if pid == postmaster { // it alone: its children follow, in its order
			return []int{pid}, nil
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

func isServer(exe string) bool {
	name := filepath.Base(exe)
	return name == "postgres" || name == "postgres (deleted)"
}
