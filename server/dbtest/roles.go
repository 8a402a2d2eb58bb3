package dbtest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Roles are the server's, not a database's: those of an installation are made once and shared by all tests
// of all binaries on it; a test that changes roles makes its own.
const (
	ownerRole  = "oriel_test_owner"
	writeRole  = "oriel_test_write"
	readRole   = "oriel_test_read"
	rolePrefix = "oriel_test_role_"
)

// AppURL is a database of NewURL as the role that the application has: it writes and owns nothing.
func AppURL(t testing.TB, url string) string { t.Helper(); return as(t, url, writeRole) }

// ReadURL is a database of NewURL as the role that can only read.
func ReadURL(t testing.TB, url string) string { t.Helper(); return as(t, url, readRole) }

// OwnerURL is a database as the role that owns it and, in one of NewURL, the tables. It is no superuser.
func OwnerURL(t testing.TB, url string) string { t.Helper(); return as(t, url, ownerRole) }

// NewRole makes a role for one test, which may log in, and its URL of a database. It goes with the test, and
// with it what it owns in that database.
func NewRole(t testing.TB, database string) (name, roleURL string) {
	t.Helper()
	name = fmt.Sprintf("%s%d_%s", rolePrefix, time.Now().Unix(), randomHex())
	roleURL = as(t, database, name)
	u, err := url.Parse(roleURL)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	inDatabase := &server{url: database}
	if err := inDatabase.exec(ctx, "CREATE ROLE "+name+" LOGIN PASSWORD '"+password+"'"); err != nil {
		t.Fatalf("make a role: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, sql := range []string{"REASSIGN OWNED BY " + name + " TO CURRENT_USER", "DROP OWNED BY " + name, "DROP ROLE " + name} {
			if err := inDatabase.exec(ctx, sql); err != nil {
				t.Errorf("drop the role of the test: %v", err)
			}
		}
	})
	return name, roleURL
}

// as is a database's URL with another role.
func as(t testing.TB, database, role string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	srv, err := shared(ctx)
	if err != nil {
		t.Fatalf("start the test database server: %v", err)
	}
	u, err := url.Parse(database)
	if err != nil {
		t.Fatalf("read the database url: %v", err)
	}
	u.User = url.UserPassword(role, srv.password(role))
	return u.String()
}

// withRole is withDatabase as a role.
func (s *server) withRole(name, role string) string {
	u, err := url.Parse(withDatabase(s.url, name))
	if err != nil {
		panic("unreachable: the url was parsed when the server was found: " + err.Error())
	}
	u.User = url.UserPassword(role, s.password(role))
	return u.String()
}

// password follows from the superuser's, so that binaries that share a server agree without a word.
func (s *server) password(role string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		panic("unreachable: the url was parsed when the server was found: " + err.Error())
	}
	secret, _ := u.User.Password()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(role))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// makeRoles makes the shared roles, or sets those that are there right. Binaries that share a server do so
// one after another.
func (s *server) makeRoles(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the lock goes with it
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", rolePrefix); err != nil {
		return err
	}
	for _, role := range []string{ownerRole, writeRole, readRole} {
		var verb string
		if err := conn.QueryRow(ctx, "SELECT CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = $1) THEN 'ALTER' ELSE 'CREATE' END", role).
			Scan(&verb); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, verb+" ROLE "+role+" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD '"+
			s.password(role)+"'"); err != nil {
			return err
		}
	}
	return nil
}

// dropStaleRoles drops the roles of tests that were killed, once their databases are gone.
func dropStaleRoles(ctx context.Context, conn *pgx.Conn, own bool) error {
	rows, err := conn.Query(ctx, "SELECT rolname FROM pg_roles WHERE starts_with(rolname, $1)", rolePrefix)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		made, _, _ := strings.Cut(strings.TrimPrefix(name, rolePrefix), "_")
		at, err := strconv.ParseInt(made, 10, 64)
		if err != nil || !own && time.Since(time.Unix(at, 0)) < stale {
			continue
		}
		refused := (*pgconn.PgError)(nil)
		if _, err := conn.Exec(ctx, "DROP ROLE IF EXISTS "+pgx.Identifier{name}.Sanitize()); err != nil &&
			(!errors.As(err, &refused) || refused.Code != "2BP01") { // its database is still in use
			return err
		}
	}
	return nil
}
