package dirlock_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"oriel/server/embedded/dirlock"
)

func TestAFolderHasOneHolderUntilItIsReleased(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := dirlock.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dirlock.Take(dir)
	if !errors.Is(err, unix.EWOULDBLOCK) || !strings.Contains(err.Error(), fmt.Sprintf("pid %d", os.Getpid())) {
		t.Fatalf("a second taker is told %v", err)
	}
	for range 2 {
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
	again, err := dirlock.Take(dir)
	if err != nil {
		t.Fatalf("a released folder is refused: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

// Not parallel: another test's collection must not stand in for this one's.
func TestALockThatNobodyRefersToIsStillHeld(t *testing.T) {
	dir := t.TempDir()
	if _, err := dirlock.Take(dir); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
	}
	if _, err := dirlock.Take(dir); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Fatalf("the garbage collector released the lock: %v", err)
	}
}
