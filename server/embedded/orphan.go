package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopOrphans ends a server that an earlier process left on the cluster, and its leftover children, and
// removes a pid file that points at somebody else. The caller holds the folder's lock, so no process of
// ours still wants that server.
func stopOrphans(ctx context.Context, cluster string, log *slog.Logger) error {
	steps := []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, fastStop}, {syscall.SIGQUIT, hardStop}, {syscall.SIGKILL, hardStop}}
	for _, step := range steps {
		pids, whole, err := serversOn(cluster)
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return removeStalePid(cluster)
		}
		if !whole {
			// Children whose postmaster was killed can finish nothing: recovery follows in any case.
			step.signal, step.wait = syscall.SIGKILL, hardStop
		}
		log.Info("stopping a postgresql that an earlier run left behind", "pids", pids, "signal", step.signal.String())
		for _, pid := range pids {
			if err := syscall.Kill(pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop the postgresql with pid %d that an earlier run left behind: %w", pid, err)
			}
		}
		gone, err := waitGone(ctx, cluster, step.wait)
		if err != nil {
			return err
		}
		if gone {
			return removeStalePid(cluster)
		}
	}
	return fmt.Errorf("a postgresql that an earlier run left on %s cannot be stopped", cluster)
}

func waitGone(ctx context.Context, cluster string, limit time.Duration) (bool, error) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		pids, _, err := serversOn(cluster)
		if err != nil || len(pids) == 0 {
			return err == nil, err
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return false, err
		}
	}
	return false, nil
}

// removeStalePid removes the pid file of a server that is gone. The server does so itself unless the
// number has been given to another process, which it would take for its predecessor.
func removeStalePid(cluster string) error {
	err := os.Remove(filepath.Join(cluster, "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recordedPid is the pid that the cluster's pid file names, 0 for none.
func recordedPid(cluster string) (int, error) {
	raw, err := os.ReadFile(filepath.Join(cluster, "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	// What is no number was torn by a crash of the machine, and names nobody.
	if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 1 {
		return pid, nil
	}
	return 0, nil
}
