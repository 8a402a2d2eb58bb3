package embedded_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"oriel/server/embedded"
)

func TestDataAndPasswordOutliveAnOrderlyStop(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	began := time.Now()
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	t.Logf("first start with initdb: %v", time.Since(began))
	exec1(t, pg.URL("postgres"), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
	began = time.Now()
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("stop: %v", time.Since(began))
	began = time.Now()
	pg = start(t, embedded.PostgresConfig{DataDir: dir})
	t.Logf("second start: %v", time.Since(began))
	if n := query[int](t, pg.URL("postgres"), "SELECT n FROM kept"); n != 7 {
		t.Fatalf("the row is %d after a restart", n)
	}
	if on := query[string](t, pg.URL("postgres"), "SELECT current_setting('fsync') || current_setting('full_page_writes') || current_setting('synchronous_commit')"); on != "ononon" {
		t.Fatalf("durability is off outside of tests: %s", on)
	}
}

func TestOnlyTheSocketAndOnlyWithThePassword(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	cfg, err := pgx.ParseConfig(pg.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	if listen := query[string](t, pg.URL("postgres"), "SELECT current_setting('listen_addresses')"); listen != "" {
		t.Errorf("the server listens on %q", listen)
	}
	for path, want := range map[string]os.FileMode{
		cfg.Host:                       0o700,
		filepath.Join(dir, "password"): 0o600,
		filepath.Join(dir, "data"):     0o700,
		dir:                            0o711,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o and not %o", path, got, want)
		}
	}
	if len(cfg.Password) < 32 {
		t.Errorf("the generated password has %d characters", len(cfg.Password))
	}
	cfg.Password = "wrong"
	if conn, err := pgx.ConnectConfig(bounded(t), cfg); err == nil {
		_ = conn.Close(t.Context())
		t.Error("a wrong password is let in")
	}
	exec1(t, pg.URL("postgres"), "CREATE EXTENSION pg_trgm") // the copy is whole
	if locale := query[string](t, pg.URL("postgres"), "SELECT datlocprovider::text || datlocale || pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'postgres'"); locale != "bC.UTF-8UTF8" {
		t.Errorf("the locale is %s", locale)
	}
}

func TestASecondServerOnTheDataIsRefused(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	start(t, embedded.PostgresConfig{DataDir: dir, Fast: true})
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir, Fast: true})
	if !errors.Is(err, unix.EWOULDBLOCK) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v", err)
	}
}

func TestDataOfAnotherMajorIsRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o711); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(dir, "data", "PG_VERSION")
	if err := os.WriteFile(version, []byte("15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), "belongs to PostgreSQL 15") || !strings.Contains(err.Error(), "move") {
		t.Fatalf("got %v", err)
	}
	if raw, err := os.ReadFile(version); err != nil || string(raw) != "15\n" {
		t.Fatalf("the refused data was touched: %q, %v", raw, err)
	}
}

func TestAClosedParentFolderIsNamed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs the server as another user")
	}
	closed := filepath.Dir(newDir(t))
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(closed, "below", "pg")
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir})
	found := (*embedded.ClosedDirError)(nil)
	if !errors.As(err, &found) || found.Dir != closed || !strings.Contains(err.Error(), "chmod o+x "+closed) {
		t.Fatalf("got %v", err)
	}
	if err := embedded.Enterable(dir); !errors.As(err, &found) {
		t.Fatalf("Enterable answers %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Fatal("a refused folder was made")
	}
	if err := os.Chmod(closed, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := embedded.Enterable(dir); err != nil {
		t.Fatalf("an open folder is refused: %v", err)
	}
}

func TestANativeFolderThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	none := t.TempDir()
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: newDir(t), Native: none})
	if err == nil || !strings.Contains(err.Error(), none) {
		t.Fatalf("got %v", err)
	}
}

func TestAnInterruptedInitialisationIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	half := filepath.Join(dir, "data.new")
	if err := os.MkdirAll(filepath.Join(half, "base"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "PG_VERSION"), []byte("18\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "postgres-18.new", "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	if n := query[int](t, pg.URL("postgres"), "SELECT 1"); n != 1 {
		t.Fatal("unreachable")
	}
}

func TestAStartThatIsCalledOffLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("called off")
	time.AfterFunc(150*time.Millisecond, func() { cancel(cause) }) // in the middle of initdb or of the copy
	_, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir})
	if !errors.Is(err, cause) {
		t.Fatalf("got %v", err)
	}
	if pids := serverPids(t, dir); len(pids) > 0 {
		t.Fatalf("processes %v still run", pids)
	}
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	if n := query[int](t, pg.URL("postgres"), "SELECT 1"); n != 1 {
		t.Fatal("unreachable")
	}
}

func TestAMissingPasswordIsNamed(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir})
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "password")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.StartPostgres(bounded(t), embedded.PostgresConfig{DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Fatalf("got %v", err)
	}
}

func TestAServerThatDiesIsNoticed(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	pg := start(t, embedded.PostgresConfig{DataDir: dir, Fast: true, Log: slog.New(slog.DiscardHandler)})
	_ = syscall.Kill(pidFile(t, dir), syscall.SIGKILL)
	select {
	case <-pg.Done():
	case <-bounded(t).Done():
		t.Fatal("Done stays open after the server's end")
	}
	if err := pg.Stop(t.Context()); err != nil {
		t.Fatalf("stopping what is gone: %v", err)
	}
	start(t, embedded.PostgresConfig{DataDir: dir, Fast: true}) // which also clears the shared memory it left
}
