// Package dbtest gives every test its own migrated PostgreSQL database, and brokers of both kinds. It
// promises that nothing it starts outlives the test binary. Only tests and benchmarks import it.
package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// patience bounds every single step against the test server.
const patience = 2 * time.Minute

// New clones a fresh database from the migrated template; the server is shared by the test binary and
// found through ORIEL_TEST_DATABASE_URL or started from the embedded binaries.
func New(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return Open(t, NewURL(t))
}

// Open is a pool on a database of NewURL, closed with the test.
func Open(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatalf("open the test database: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// NewURL is New for tests that start a process or a proxy. It names a superuser: AppURL and ReadURL are the
// same database as a program has it.
func NewURL(t testing.TB) string {
	t.Helper()
	return newDatabase(t, true)
}

// NewEmptyURL is a fresh database that nothing was migrated in.
func NewEmptyURL(t testing.TB) string {
	t.Helper()
	return newDatabase(t, false)
}

func newDatabase(t testing.TB, migrated bool) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	srv, err := shared(ctx)
	if err != nil {
		t.Fatalf("start the test database server: %v", err)
	}
	template := "template0"
	if migrated {
		if template, err = srv.migratedTemplate(ctx); err != nil {
			t.Fatalf("migrate the template database: %v", err)
		}
	}
	// The time lets a later run on the same server tell what a killed one left.
	name := fmt.Sprintf("%s%d_%s", testPrefix, time.Now().Unix(), randomHex())
	if err := srv.exec(ctx, "CREATE DATABASE "+name+" OWNER "+ownerRole+" TEMPLATE "+template+" STRATEGY "+cloneStrategy); err != nil {
		t.Fatalf("clone a test database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := srv.exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return withDatabase(srv.url, name)
}

func (s *server) exec(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is pending on it
	_, err = conn.Exec(ctx, sql)
	return err
}

// withDatabase is the server's url with another database. The server's url was parsed before.
func withDatabase(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic("unreachable: the url was parsed when the server was found: " + err.Error())
	}
	u.Path = "/" + name
	return u.String()
}

func randomHex() string {
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		panic("no randomness: " + err.Error()) // crypto/rand never returns one
	}
	return hex.EncodeToString(b)
}
