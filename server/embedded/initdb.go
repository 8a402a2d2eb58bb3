package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/embedded/child"
)

// initialise makes the cluster where there is none, beside its final place: a cluster is whole or absent.
func (p *Postgres) initialise(ctx context.Context, bin string, acct *account) error {
	passwordFile := filepath.Join(p.dir, "password")
	_, err := os.Stat(filepath.Join(p.cluster(), "PG_VERSION"))
	switch {
	case err == nil:
		raw, err := os.ReadFile(passwordFile)
		if errors.Is(err, fs.ErrNotExist) {
			if p.fast {
				return nil
			}
			return fmt.Errorf("%s is missing and the data in %s cannot be opened without it: restore it, or move the data away",
				passwordFile, p.cluster())
		}
		p.password = string(raw)
		return err
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	began := time.Now()
	auth := []string{"--auth=scram-sha-256", "--pwfile=" + filepath.Join(p.socketDir, "pwfile")}
	if p.fast {
		auth = []string{"--auth=trust", "--no-sync"}
	} else {
		if p.password, err = newPassword(passwordFile); err != nil {
			return err
		}
		// Where initdb, as another user, can read it and nobody else can.
		pwfile := filepath.Join(p.socketDir, "pwfile")
		if err := os.WriteFile(pwfile, []byte(p.password), 0o600); err != nil {
			return err
		}
		defer func() { _ = os.Remove(pwfile) }() // goes with its folder in any case
		if err := acct.own(pwfile); err != nil {
			return err
		}
	}
	fresh := p.cluster() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := acct.own(fresh); err != nil {
		return err
	}
	// One locale everywhere: byte order for sorting, Unicode for case, nothing from the machine.
	args := append([]string{
		"-D", fresh, "-U", superuser, "-E", "UTF8", "--locale=C",
		"--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions",
	}, auth...)
	if err := p.runInitdb(ctx, filepath.Join(bin, "initdb"), args, fresh, acct); err != nil {
		return err
	}
	if err := os.Rename(fresh, p.cluster()); err != nil {
		return err
	}
	p.log.Debug("postgresql initialised", "dir", p.dir, "took", time.Since(began))
	return nil
}

func (p *Postgres) runInitdb(ctx context.Context, path string, args []string, dir string, acct *account) error {
	cmd := command(path, args, dir, acct)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = hardStop // the server that it drives holds its output too, and ends with it
	run, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	select {
	case <-run.Done():
		if err := run.Err(); err != nil {
			return fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(out.String()))
		}
		return nil
	case <-ctx.Done():
		run.Kill()
		return fmt.Errorf("initdb: %w", context.Cause(ctx))
	}
}

// preferLZ4 has large values compressed with lz4 where this build has it: two times faster than the
// default there. Only the running server can say which methods it has.
func (p *Postgres) preferLZ4(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the embedded postgresql: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is pending on it
	rows, err := conn.Query(ctx, `SELECT name FROM pg_settings
		WHERE name IN ('default_toast_compression', 'wal_compression')
		  AND 'lz4' = ANY (enumvals) AND setting NOT IN ('lz4', 'off')`)
	if err != nil {
		return fmt.Errorf("ask for compression methods: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("ask for compression methods: %w", err)
	}
	for _, name := range names {
		if _, err := conn.Exec(ctx, "ALTER SYSTEM SET "+pgx.Identifier{name}.Sanitize()+" = 'lz4'"); err != nil {
			return fmt.Errorf("choose lz4: %w", err)
		}
	}
	if len(names) > 0 {
		if _, err := conn.Exec(ctx, "SELECT pg_reload_conf()"); err != nil {
			return fmt.Errorf("choose lz4: %w", err)
		}
	}
	return nil
}
