package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the unprivileged user that the server runs as when we are root, which it refuses; nil means
// that it runs as us.
type account struct {
	name     string
	uid, gid uint32
}

func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	// initdb looks its user up, so a number alone will not do.
	names := []string{"nobody", "postgres", "daemon", "bin"}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return &account{name, uint32(uid), uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("postgresql refuses to run as root and none of the users %v exists: run as an ordinary user", names)
}

func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, int(a.uid), int(a.gid))
}

// ClosedDirError says that the server's user may not pass through a folder above the data.
type ClosedDirError struct {
	Dir  string // the folder that is closed
	User string
}

func (e *ClosedDirError) Error() string {
	return fmt.Sprintf("the folder %s is closed to the user %s, as whom postgresql must run because it refuses root: "+
		"open it with `chmod o+x %s`, or keep the data in a folder that other users may enter", e.Dir, e.User, e.Dir)
}

// Enterable reports a *ClosedDirError where the server's user could not reach dir. dir need not exist.
func Enterable(dir string) error {
	acct, err := serverAccount()
	if err != nil || acct == nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	return acct.enter(dir)
}

func (a *account) enter(dir string) error {
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		switch {
		case errors.Is(err, fs.ErrNotExist): // made by us later, open
		case err != nil:
			return err
		case !a.mayPass(info):
			return &ClosedDirError{d, a.name}
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

func (a *account) mayPass(info fs.FileInfo) bool {
	bit := fs.FileMode(0o001)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		switch {
		case st.Uid == a.uid:
			bit = 0o100
		case st.Gid == a.gid:
			bit = 0o010
		}
	}
	return info.Mode()&bit != 0
}
