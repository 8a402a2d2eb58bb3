package app

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"oriel/server/schema"
)

// The roles that the demo's program connects as, as an installation's does.
const (
	demoWriteRole = "oriel_write"
	demoReadRole  = "oriel_read"
)

// ensureDatabase makes the named database where it does not exist.
func ensureDatabase(ctx context.Context, url, name string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the embedded database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, name).Scan(&exists); err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	return err
}

// demoRoles makes the roles that the program connects as, gives them what they need and no more, and
// returns their addresses.
func demoRoles(ctx context.Context, owner, dir string) (write, read string, err error) {
	conn, err := pgx.Connect(ctx, owner)
	if err != nil {
		return "", "", fmt.Errorf("connect to the embedded database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	addresses := map[string]string{}
	for _, role := range []string{demoWriteRole, demoReadRole} {
		password, err := kept(filepath.Join(dir, "password-"+role), newPassword)
		if err != nil {
			return "", "", err
		}
		if err := demoRole(ctx, conn, role, password); err != nil {
			return "", "", fmt.Errorf("database role %s: %w", role, err)
		}
		u, err := url.Parse(owner)
		if err != nil {
			return "", "", fmt.Errorf("address of the embedded database: %w", err)
		}
		u.User = url.UserPassword(role, password)
		addresses[role] = u.String()
	}
	if err := schema.Grant(ctx, owner, demoWriteRole, demoReadRole); err != nil {
		return "", "", err
	}
	return addresses[demoWriteRole], addresses[demoReadRole], nil
}

// demoRole makes a role that may connect and nothing else, or sets one that is there back to that.
func demoRole(ctx context.Context, conn *pgx.Conn, role, password string) error {
	var verb, secret string
	if err := conn.QueryRow(ctx, `SELECT CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = $1) THEN 'ALTER' ELSE 'CREATE' END,
		quote_literal($2::text)`, role, password).Scan(&verb, &secret); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, verb+" ROLE "+pgx.Identifier{role}.Sanitize()+
		" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD "+secret)
	return err
}
