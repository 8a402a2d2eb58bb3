// Package dirlock keeps a folder to one process. It promises that the lock is held until it is released
// or the process ends, however it ends. It must not know what is in the folder.
package dirlock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Name of the lock file in the folder, which stays when the lock is released.
const Name = "lock"

// Lock is a held lock. It has a bare descriptor: an *os.File that nobody refers to any more is closed
// by the garbage collector, and the lock would go with it while the folder is still in use.
type Lock struct {
	fd      int
	release sync.Once
	err     error
}

// Take takes the lock of a folder, or fails at once with an error that wraps unix.EWOULDBLOCK and names
// the holder.
func Take(dir string) (*Lock, error) {
	path := filepath.Join(dir, Name)
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the folder %s: %w", dir, err)
	}
	if err := flock(fd); err != nil {
		holder, _ := os.ReadFile(path) // only to name it; empty is fine
		err = fmt.Errorf("the folder %s is in use by another process (%s): stop it, or use another folder: %w",
			dir, strings.TrimSpace(string(holder)), err)
		return nil, errors.Join(err, unix.Close(fd))
	}
	err = unix.Ftruncate(fd, 0)
	if err == nil {
		_, err = unix.Pwrite(fd, []byte("pid "+strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock of the folder %s: %w", dir, err), unix.Close(fd))
	}
	return &Lock{fd: fd}, nil
}

func flock(fd int) error {
	for {
		if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Release gives the folder back. Safe twice.
func (l *Lock) Release() error {
	l.release.Do(func() { l.err = unix.Close(l.fd) })
	return l.err
}
