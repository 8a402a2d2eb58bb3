package dbtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"

	"oriel"
	"oriel/server/embedded"
	"oriel/server/schema"
)

// URLEnv names the environment variable with the URL of a superuser on a server to share.
const URLEnv = "ORIEL_TEST_DATABASE_URL"

const (
	testPrefix     = "oriel_test_"
	templatePrefix = "oriel_template_"
	cloneStrategy  = "file_copy"
	slots          = 32
	stale          = 6 * time.Hour
)

type server struct {
	url      string
	template func(ctx context.Context) (string, error)
}

// shared is the test binary's one server. A start that failed is not tried again: every test says why.
var shared = func() func(context.Context) (*server, error) {
	var once sync.Once
	var srv *server
	var err error
	return func(ctx context.Context) (*server, error) {
		once.Do(func() { srv, err = findServer(context.WithoutCancel(ctx)) })
		return srv, err
	}
}()

func findServer(ctx context.Context) (*server, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	srv := &server{url: os.Getenv(URLEnv)}
	if srv.url == "" {
		pg, err := StartServer(ctx)
		if err != nil {
			return nil, err
		}
		// Never stopped here: the server is tied to this process and goes with it, without a TestMain.
		srv.url = pg.URL("postgres")
	} else if _, err := url.Parse(srv.url); err != nil {
		return nil, fmt.Errorf("read %s: %w", URLEnv, err)
	}
	var once sync.Once
	var name string
	var err error
	srv.template = func(ctx context.Context) (string, error) {
		once.Do(func() { name, err = srv.makeTemplate(context.WithoutCancel(ctx)) })
		return name, err
	}
	return srv, errors.Join(srv.makeRoles(ctx), srv.dropStale(ctx))
}

func (s *server) migratedTemplate(ctx context.Context) (string, error) { return s.template(ctx) }

// StartServer starts the first free of a row of servers in the scratch folder. Their data stays between runs, so that only the first run pays for initdb and migrations; what a crash of the machine
// spoiled is made anew. The server ends with this process.
func StartServer(ctx context.Context) (*embedded.Postgres, error) {
	root := filepath.Join(scratch(), "oriel-dbtest-"+strconv.Itoa(os.Getuid()))
	if err := ownDir(root); err != nil {
		return nil, err
	}
	for slot := range slots {
		dir := filepath.Join(root, strconv.Itoa(slot))
		pg, err := startSlot(ctx, dir)
		if errors.Is(err, unix.EWOULDBLOCK) { // another binary's
			continue
		}
		if err == nil {
			return pg, nil
		}
		if rmErr := resetSlot(dir); rmErr != nil {
			return nil, errors.Join(err, rmErr)
		}
		if pg, err = startSlot(ctx, dir); err != nil {
			return nil, err
		}
		return pg, nil
	}
	return nil, fmt.Errorf("all %d test servers in %s are in use", slots, root)
}

// scratch is memory where the system has plenty of it as a folder: cloning a database makes hundreds of
// files, which takes 10 ms there and 300 ms on a disk.
func scratch() string {
	const dir, plenty = "/dev/shm", 4 << 30
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) >= plenty && unix.Access(dir, unix.W_OK) == nil {
		return dir
	}
	return os.TempDir()
}

func startSlot(ctx context.Context, dir string) (*embedded.Postgres, error) {
	// What a test does wrong it sees itself; only what no test can see is worth a line.
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	return embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir, Fast: true, Log: log})
}

// resetSlot drops a cluster that would not start; the binaries stay.
func resetSlot(dir string) error {
	return errors.Join(os.RemoveAll(filepath.Join(dir, "data")), os.RemoveAll(filepath.Join(dir, "data.new")))
}

// ownDir makes the folder, or refuses one that somebody else made for us.
func ownDir(dir string) error {
	err := os.Mkdir(dir, 0o711)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o022 != 0 {
		return fmt.Errorf("%s is not a folder of ours alone: remove it", dir)
	}
	return os.Chmod(dir, 0o711)
}

// makeTemplate migrates a database once per state of the migrations and grants, and per day, as the day partitions
// in it are those around today. Binaries that share a server wait for the first.
func (s *server) makeTemplate(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	hash, err := templateHash()
	if err != nil {
		return "", err
	}
	day := time.Now().UTC().Format("20060102")
	name := templatePrefix + day + "_" + hash
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the lock goes with it
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", templatePrefix); err != nil {
		return "", err
	}
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&exists); err != nil || exists {
		return name, err
	}
	if err := dropTemplates(ctx, conn, day); err != nil {
		return "", err
	}
	building := templatePrefix + "building"
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS " + building + " WITH (FORCE)",
		"CREATE DATABASE " + building + " TEMPLATE template0 OWNER " + ownerRole,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return "", err
		}
	}
	owner := s.withRole(building, ownerRole)
	if err := schema.Migrate(ctx, owner); err != nil {
		return "", err
	}
	if err := schema.Grant(ctx, owner, writeRole, readRole); err != nil {
		return "", err
	}
	// Renamed last: a template that exists is whole. Closed to sessions, as one would block its cloning.
	for _, sql := range []string{
		"ALTER DATABASE " + building + " ALLOW_CONNECTIONS false",
		"ALTER DATABASE " + building + " RENAME TO " + name,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return "", err
		}
	}
	return name, nil
}

// dropTemplates drops those of other days. One that is being cloned stays for the next time.
func dropTemplates(ctx context.Context, conn *pgx.Conn, day string) error {
	names, err := databases(ctx, conn, templatePrefix)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, templatePrefix+day) || name == templatePrefix+"building" {
			continue
		}
		if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()); err != nil && !inUse(err) {
			return err
		}
	}
	return nil
}

// dropStale drops the databases of test binaries that were killed: on a server of our own they all are,
// on a shared one those whose time has long passed.
func (s *server) dropStale(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is pending on it
	names, err := databases(ctx, conn, testPrefix)
	if err != nil {
		return err
	}
	own := os.Getenv(URLEnv) == ""
	for _, name := range names {
		made, _, _ := strings.Cut(strings.TrimPrefix(name, testPrefix), "_")
		at, err := strconv.ParseInt(made, 10, 64)
		if err != nil || !own && time.Since(time.Unix(at, 0)) < stale {
			continue
		}
		if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)"); err != nil && !inUse(err) {
			return err
		}
	}
	return dropStaleRoles(ctx, conn, own)
}

func databases(ctx context.Context, conn *pgx.Conn, prefix string) ([]string, error) {
	rows, err := conn.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", prefix)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// templateHash tells templates of other migrations, or other grants, apart.
func templateHash() (string, error) {
	h := sha256.New()
	for _, sql := range schema.Grants("", "public", writeRole, readRole) {
		_, _ = fmt.Fprintln(h, sql) // a hash takes everything
	}
	err := fs.WalkDir(oriel.Migrations, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(oriel.Migrations, path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(h, "%s %d\n%s", path, len(raw), raw)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:6]), err
}

// inUse is object_in_use or a race with another binary that drops the same database.
func inUse(err error) bool {
	refused := (*pgconn.PgError)(nil)
	return errors.As(err, &refused) && (refused.Code == "55006" || refused.Code == "3D000")
}
