package embedded

import (
	"os"
	"path/filepath"
	"strconv"
)

// serversOn finds the processes of any PostgreSQL that work in the cluster: the postmaster and its
// children have it as their working directory. A pid alone proves nothing, as numbers are given again.
// whole says that the postmaster is there; it is then the only one named, as its children follow it.
func serversOn(cluster string) (pids []int, whole bool, err error) {
	procs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false, err
	}
	postmaster, err := recordedPid(cluster)
	if err != nil {
		return nil, false, err
	}
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
		if pid == postmaster {
			return []int{pid}, true, nil
		}
		pids = append(pids, pid)
	}
	return pids, false, nil
}

func isServer(exe string) bool {
	name := filepath.Base(exe)
	return name == "postgres" || name == "postgres (deleted)"
}
