package embedded

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// NativeEnv names the environment variable that points at the native folder.
const NativeEnv = "ORIEL_POSTGRES_NATIVE"

// native is the npm package's folder of binaries.
type native struct {
	dir   string
	major int
	stamp string // changes with the binaries
}

// findNative takes the first of: the argument, ORIEL_POSTGRES_NATIVE, and node_modules upward from the
// working directory and from the executable.
func findNative(explicit string) (native, error) {
	if explicit == "" {
		explicit = os.Getenv(NativeEnv)
	}
	if explicit != "" {
		return openNative(explicit)
	}
	name, err := npmPackage(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return native{}, err
	}
	var starts []string
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		starts = append(starts, filepath.Dir(exe))
	}
	for _, start := range starts {
		for d := start; ; d = filepath.Dir(d) {
			dir := filepath.Join(d, "node_modules", filepath.FromSlash(name), "native")
			if _, err := os.Stat(filepath.Join(dir, "bin", "postgres")); err == nil {
				return openNative(dir)
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	return native{}, fmt.Errorf("no embedded postgresql: the npm package %s is in no node_modules above %s; "+
		"run `npm ci`, or set %s to its native folder", name, strings.Join(starts, " or "), NativeEnv)
}

func npmPackage(goos, goarch string) (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64", "386": "ia32", "arm": "arm", "ppc64": "ppc64"}[goarch]
	if arch == "" || (goos != "linux" && goos != "darwin") {
		return "", fmt.Errorf("no embedded postgresql is published for %s/%s: use a server of your own", goos, goarch)
	}
	return "@embedded-postgres/" + goos + "-" + arch, nil
}

func openNative(dir string) (native, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return native{}, err
	}
	server, err := os.Stat(filepath.Join(dir, "bin", "postgres"))
	if err != nil {
		return native{}, fmt.Errorf("%s is no native folder of an embedded postgresql: %w", dir, err)
	}
	major, err := nativeMajor(dir)
	if err != nil {
		return native{}, err
	}
	var pkg struct{ Name, Version string }
	if raw, err := os.ReadFile(filepath.Join(dir, "..", "package.json")); err == nil {
		if err := json.Unmarshal(raw, &pkg); err != nil {
			return native{}, fmt.Errorf("read the package.json of %s: %w", dir, err)
		}
	}
	// npm gives every file the same time, so the version and the size tell builds apart.
	return native{dir, major, fmt.Sprintf("%s %s %d\n", pkg.Name, pkg.Version, server.Size())}, nil
}

// nativeMajor reads the version from the catalogue that initdb itself checks against the server.
func nativeMajor(dir string) (int, error) {
	f, err := os.Open(filepath.Join(dir, "share", "postgresql", "postgres.bki"))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(filepath.Join(dir, "share", "postgres.bki"))
	}
	if err != nil {
		return 0, fmt.Errorf("find the version of the embedded postgresql: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "# PostgreSQL ")))
	if err != nil {
		return 0, fmt.Errorf("read the version in %s: %w", f.Name(), err)
	}
	return major, nil
}

// install copies the binaries into the data folder and returns the folder of programs. The copy is what
// another user can reach when we are root, and what a reinstall of node_modules under a running server
// cannot pull away. The caller holds the lock and no server runs.
func (n native) install(dataDir string) (bin string, err error) {
	target := filepath.Join(dataDir, fmt.Sprintf("postgres-%d", n.major))
	stamp := filepath.Join(target, "stamp")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == n.stamp {
		return filepath.Join(target, "bin"), nil
	}
	fresh := target + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", err
	}
	if err := copyTree(n.dir, fresh); err != nil {
		return "", fmt.Errorf("copy the embedded postgresql: %w", err)
	}
	if err := n.link(fresh); err != nil {
		return "", fmt.Errorf("link the libraries of the embedded postgresql: %w", err)
	}
	if err := os.WriteFile(filepath.Join(fresh, "stamp"), []byte(n.stamp), 0o644); err != nil {
		return "", err
	}
	if err := os.RemoveAll(target); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, target); err != nil {
		return "", err
	}
	return filepath.Join(target, "bin"), nil
}

// link makes the links that npm cannot pack and that an install without scripts leaves out.
func (n native) link(root string) error {
	raw, err := os.ReadFile(filepath.Join(n.dir, "pg-symlinks.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(raw, &links); err != nil {
		return fmt.Errorf("read pg-symlinks.json: %w", err)
	}
	for _, l := range links {
		source, target := strings.TrimPrefix(l.Source, "native/"), strings.TrimPrefix(l.Target, "native/")
		if !filepath.IsLocal(source) || !filepath.IsLocal(target) {
			return fmt.Errorf("pg-symlinks.json leads out of its folder: %s to %s", l.Target, l.Source)
		}
		to, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return err
		}
		if err := os.Symlink(to, filepath.Join(root, target)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// copyTree copies what running needs: static libraries and headers stay behind. The modes let every
// user read, whatever the umask.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir() && (rel == "include" || d.Name() == "pkgconfig"):
			return fs.SkipDir
		case d.IsDir():
			if err := os.Mkdir(target, 0o755); err != nil {
				return err
			}
			return os.Chmod(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(to, target) //nolint:gosec // into a folder that we have just made
		case filepath.Ext(path) == ".a":
			return nil
		}
		mode := fs.FileMode(0o644)
		if filepath.Base(filepath.Dir(path)) == "bin" {
			mode = 0o755
		}
		return copyFile(path, target, mode)
	})
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Chmod(mode)
}
