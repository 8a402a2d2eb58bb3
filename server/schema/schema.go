// Package schema brings a database to the version that this build knows, and refuses to run on any
// other. It promises that concurrent runs all succeed. It must not know what the tables mean, beyond
// the few rows and day partitions without which nothing can be written.
package schema

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/golang-migrate/migrate/v4"
	migratepgx "github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"oriel"
)

const (
	dir = "db/migrations"

	// lockKey is the advisory lock that runs of Migrate queue for.
	lockKey = "oriel.migrate"

	undefinedTable = "42P01"
)

// Migrate brings the database at url up to this build's version, and makes sure that the first lexicon
// version and the day partitions around today exist. Concurrent runs wait for each other until ctx ends.
func Migrate(ctx context.Context, url string) (err error) {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("read the database url: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("connect to migrate: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // its lock goes with it
	// The migration library gives its own lock 15 seconds, which a large index build outlasts: ours is
	// waited for as long as the caller has, so the library's is always free.
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", lockKey); err != nil {
		return fmt.Errorf("wait for another migration: %w", err)
	}
	if err := up(ctx, cfg); err != nil {
		return err
	}
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `INSERT INTO lexicon_version (version, key, state) VALUES (1, $1, 'live')
		ON CONFLICT (version) DO NOTHING`, key); err != nil {
		return fmt.Errorf("make the first lexicon version: %w", err)
	}
	today := time.Now().UTC()
	return EnsureDays(ctx, conn, today.AddDate(0, 0, -1), today.AddDate(0, 0, 7))
}

func up(ctx context.Context, cfg *pgx.ConnConfig) (err error) {
	source, err := iofs.New(oriel.Migrations, dir)
	if err != nil {
		return fmt.Errorf("open the migrations: %w", err)
	}
	db := stdlib.OpenDB(*cfg)
	target, err := migratepgx.WithInstance(db, &migratepgx.Config{})
	if err != nil {
		return errors.Join(fmt.Errorf("prepare to migrate: %w", err), source.Close(), db.Close())
	}
	m, err := migrate.NewWithInstance("iofs", source, "pgx5", target)
	if err != nil {
		return errors.Join(fmt.Errorf("prepare to migrate: %w", err), source.Close(), db.Close())
	}
	defer func() {
		sourceErr, targetErr := m.Close()
		err = errors.Join(err, sourceErr, targetErr)
	}()
	newest, err := Version()
	if err != nil {
		return err
	}
	have, dirty, err := m.Version()
	if err != nil && !errors.Is(err, migrate.ErrNilVersion) {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if dirty {
		return fmt.Errorf("migration %d broke off halfway: see what it left, then correct schema_migrations by hand", have)
	}
	if have > newest {
		return fmt.Errorf("the database has schema version %d and this build knows up to %d: use the newer build", have, newest)
	}
	// Between two migrations is the only place where stopping leaves nothing half done.
	stopWatch := context.AfterFunc(ctx, func() { m.GracefulStop <- true })
	defer stopWatch()
	if err := m.Up(); err != nil && !errors.Is(err, migrate.ErrNoChange) {
		return fmt.Errorf("migrate: %w", err)
	}
	return context.Cause(ctx)
}

// Check refuses a database whose schema is not exactly this build's, with the way out.
func Check(ctx context.Context, pool *pgxpool.Pool) error {
	newest, err := Version()
	if err != nil {
		return err
	}
	var have uint
	var dirty bool
	err = pool.QueryRow(ctx, "SELECT version, dirty FROM schema_migrations").Scan(&have, &dirty)
	refused := (*pgconn.PgError)(nil)
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.As(err, &refused) && refused.Code == undefinedTable:
		return errors.New("the database is empty: run `oriel migrate` first")
	case err != nil:
		return fmt.Errorf("read the schema version: %w", err)
	case dirty:
		return fmt.Errorf("migration %d broke off halfway: see what it left, correct schema_migrations by hand, then run `oriel migrate`", have)
	case have < newest:
		return fmt.Errorf("the database has schema version %d and this build needs %d: run `oriel migrate`", have, newest)
	case have > newest:
		return fmt.Errorf("the database has schema version %d and this build knows up to %d: use the newer build", have, newest)
	}
	return nil
}

// Version is the schema version that this build needs.
func Version() (uint, error) {
	files, err := fs.Glob(oriel.Migrations, path.Join(dir, "*.up.sql"))
	if err != nil {
		return 0, err
	}
	var newest uint
	for _, file := range files {
		number, _, _ := strings.Cut(path.Base(file), "_")
		v, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("a migration without a number: %s: %w", file, err)
		}
		newest = max(newest, uint(v))
	}
	if newest == 0 {
		return 0, errors.New("this build carries no migrations")
	}
	return newest, nil
}
