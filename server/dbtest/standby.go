package dbtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/embedded"
	"oriel/server/schema"
)

// NewStandby starts a server of the test's own and a hot standby that follows it, and answers the URLs of one
// migrated database on both, as a superuser: AppURL and ReadURL are the same as a program has them. Both end with
// the test.
func NewStandby(t testing.TB) (primary, standby string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	root, err := os.MkdirTemp(scratch(), "oriel-standby-")
	if err == nil {
		err = os.Chmod(root, 0o711)
	}
	if err != nil {
		t.Fatalf("make a folder for a standby: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Errorf("remove the folder of the standby: %v", err)
		}
	})
	first, second := filepath.Join(root, "primary"), filepath.Join(root, "standby")
	leads := []string{"wal_level=replica", "max_wal_senders=4", "wal_keep_size=256MB", "max_connections=60", "shared_buffers=32MB"}

	// A cluster that was shut down is a whole copy of itself.
	pg := startOwn(ctx, t, first, leads)
	if err := pg.Stop(ctx); err != nil {
		t.Fatalf("stop the primary: %v", err)
	}
	if err := copyCluster(ctx, first, second); err != nil {
		t.Fatalf("copy the primary: %v", err)
	}
	pg = startOwn(ctx, t, first, leads)
	u, err := url.Parse(pg.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	follows := append(leads, "hot_standby=on", "primary_conninfo=host="+u.Query().Get("host")+" port="+u.Query().Get("port")+
		" user="+u.User.Username(), "wal_retrieve_retry_interval=100ms")
	srv := &server{url: pg.URL("postgres")}
	if err := srv.makeOne(ctx); err != nil {
		t.Fatalf("migrate the primary: %v", err)
	}
	follower := startOwn(ctx, t, second, follows).URL("postgres")
	CaughtUp(t, srv.url, follower)
	return withDatabase(srv.url, ofStandby), withDatabase(follower, ofStandby)
}

// CaughtUp waits until the standby has replayed what the primary has written until now.
func CaughtUp(t testing.TB, primary, standby string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var at string
	var has bool
	if err := ask(ctx, primary, &at, "SELECT pg_current_wal_insert_lsn()::text"); err != nil {
		t.Fatalf("ask the primary how far it is: %v", err)
	}
	for !has {
		if err := ask(ctx, standby, &has, "SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, false)", at); err != nil {
			t.Fatalf("wait until the standby has caught up: %v", err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the standby does not catch up")
		}
	}
}

func ask(ctx context.Context, url string, answer any, sql string, args ...any) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is pending on it
	return conn.QueryRow(ctx, sql, args...).Scan(answer)
}

// ofStandby is the database of NewStandby.
const ofStandby = testPrefix + "standby"

func startOwn(ctx context.Context, t testing.TB, dir string, settings []string) *embedded.Postgres {
	t.Helper()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresConfig{DataDir: dir, Fast: true, Log: log, Settings: settings})
	if err != nil {
		t.Fatalf("start a server of the test's own: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := pg.Stop(ctx); err != nil {
			t.Errorf("stop a server of the test's own: %v", err)
		}
	})
	return pg
}

// copyCluster makes a follower's cluster, with all owners and modes.
func copyCluster(ctx context.Context, from, to string) error {
	if err := os.Mkdir(to, 0o711); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "cp", "-a", filepath.Join(from, "data"), to).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return os.WriteFile(filepath.Join(to, "data", "standby.signal"), nil, 0o644)
}

// makeOne makes the roles and one migrated database.
func (s *server) makeOne(ctx context.Context) error {
	if err := s.makeRoles(ctx); err != nil {
		return err
	}
	if err := s.exec(ctx, "CREATE DATABASE "+ofStandby+" TEMPLATE template0 OWNER "+ownerRole); err != nil {
		return err
	}
	owner := s.withRole(ofStandby, ownerRole)
	return errors.Join(schema.Migrate(ctx, owner), schema.Grant(ctx, owner, writeRole, readRole))
}
