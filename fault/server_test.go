package fault

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"oriel/server/embedded"
	"oriel/server/schema"
)

// server is a PostgreSQL of its own, which a test may stop at any moment: it syncs, so a crash loses nothing
// that was committed.
type server struct {
	t        *testing.T
	dir      string
	password string

	mu sync.Mutex
	pg *embedded.Postgres
}

// writeRole is the role that the program has; it owns nothing.
const writeRole = "fault_write"

func newServer(t *testing.T) *server {
	t.Helper()
	dir := demoDir(t)
	s := &server{t: t, dir: dir, password: rand.Text()}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.mu.Lock(); defer s.mu.Unlock(); s.pg.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	owner := s.pg.URL("postgres")
	if err := schema.Migrate(ctx, owner); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, owner)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", writeRole, s.password)); err != nil {
		t.Fatal(err)
	}
	if err := schema.Grant(ctx, owner, writeRole, ""); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *server) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: filepath.Join(s.dir, "pg")})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pg = pg
	return nil
}

// stop is an immediate shutdown: sessions end where they are, and the next start recovers.
func (s *server) stop() error {
	text, err := os.ReadFile(filepath.Join(s.dir, "pg", "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	<-s.pg.Done()
	s.pg.Kill() // it is gone: this gives its folder back
	return nil
}

// where is the socket of the server that runs now, or ran last.
func (s *server) where() (network, addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cfg, err := pgconn.ParseConfig(s.pg.URL("postgres"))
	if err != nil {
		return "unix", "unreachable" // the url is the server's own
	}
	return pgconn.NetworkAddress(cfg.Host, cfg.Port)
}

// through is the database behind a front, as the superuser or as the program's role.
func (s *server) through(f *front, super bool) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := url.Parse(s.pg.URL("postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	if !super {
		u.User = url.UserPassword(writeRole, s.password)
	}
	u.Host = f.addr()
	u.RawQuery = url.Values{"sslmode": {"disable"}}.Encode()
	return u.String()
}
