// Package embedded runs the parts that the demo and the tests bring along: a PostgreSQL server from the
// binaries of the npm package. It promises that the server stops with this process however that ends,
// that the data outlives both, and that no second process opens the same data. It must not know the
// schema.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"oriel/server/embedded/dirlock"
)

const (
	superuser = "postgres"
	port      = "5432" // only names the socket file: nothing listens on TCP

	// A busy orphan needs a checkpoint to stop fast; past this it is stopped without one.
	fastStop = 20 * time.Second
	hardStop = 10 * time.Second
)

// PostgresConfig says where the binaries are and where the data goes.
type PostgresConfig struct {
	Native  string // the npm package's native folder; "" finds it
	DataDir string // created; holds the cluster, a copy of the binaries, the password and the lock
	Fast    bool   // tests only: no fsync, no password
	// Settings are further ones, name=value, which hold against our own. Tests only.
	Settings []string
	Log      *slog.Logger
}

// Postgres is a running server.
type Postgres struct {
	log       *slog.Logger
	fast      bool
	settings  []string
	dir       string
	socketDir string
	password  string
	lock      *dirlock.Lock

	server  *process
	stop    sync.Once
	stopErr error
}

// StartPostgres initialises where needed and starts the server on a Unix socket. ctx bounds the start
// only; recovery after a crash can take as long as it allows.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (_ *Postgres, err error) {
	p := &Postgres{log: cfg.Log, fast: cfg.Fast, settings: cfg.Settings}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	native, err := findNative(cfg.Native)
	if err != nil {
		return nil, err
	}
	acct, err := serverAccount()
	if err != nil {
		return nil, err
	}
	if p.dir, err = makeDataDir(cfg.DataDir, acct); err != nil {
		return nil, err
	}
	if p.lock, err = dirlock.Take(p.dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.stop.Do(p.release)
		}
	}()
	if err := checkMajor(p.dir, native.major); err != nil {
		return nil, err
	}
	if err := stopOrphans(ctx, p.cluster(), p.log); err != nil {
		return nil, err
	}
	bin, err := native.install(p.dir)
	if err != nil {
		return nil, err
	}
	if p.socketDir, err = makeSocketDir(p.dir, acct); err != nil {
		return nil, err
	}
	if err := p.initialise(ctx, bin, acct); err != nil {
		return nil, err
	}
	if err := p.launch(ctx, bin, acct); err != nil {
		return nil, err
	}
	if err := p.preferLZ4(ctx); err != nil {
		return nil, errors.Join(err, p.Stop(context.WithoutCancel(ctx)))
	}
	return p, nil
}

// URL is a connection string for the named database of the superuser.
func (p *Postgres) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + database}
	if p.password != "" {
		u.User = url.UserPassword(superuser, p.password)
	}
	u.RawQuery = url.Values{"host": {p.socketDir}, "port": {port}, "sslmode": {"disable"}}.Encode()
	return u.String()
}

// Done is closed once the server has exited, asked or not.
func (p *Postgres) Done() <-chan struct{} { return p.server.Done() }

// Stop stops the server and waits. It lets the server finish cleanly (fast shutdown) until ctx ends or
// 20 seconds are over, then stops it without a checkpoint, which the next start repairs. Safe twice.
func (p *Postgres) Stop(ctx context.Context) error {
	p.stop.Do(func() {
		began := time.Now()
		p.stopErr = p.server.stop(ctx)
		p.release()
		p.log.Debug("postgresql stopped", "took", time.Since(began))
	})
	return p.stopErr
}

// Kill ends the server as a crash would, for fault tests, and waits. The data stays.
func (p *Postgres) Kill() {
	p.stop.Do(func() {
		p.server.crash()
		p.release()
	})
}

func (p *Postgres) cluster() string { return filepath.Join(p.dir, "data") }

func (p *Postgres) release() {
	if p.socketDir != "" {
		if err := os.RemoveAll(p.socketDir); err != nil {
			p.log.Warn("cannot remove the socket folder", "dir", p.socketDir, "error", err)
		}
	}
	if err := p.lock.Release(); err != nil {
		p.log.Warn("cannot release the lock of the data folder", "dir", p.dir, "error", err)
	}
}

// launch starts the server and waits until it answers. A server killed with its process group can leave
// children that hold its shared memory for a moment more; only that is tried again.
func (p *Postgres) launch(ctx context.Context, bin string, acct *account) error {
	args := append([]string{"-D", p.cluster()}, settings(p.socketDir, p.fast)...)
	for _, s := range p.settings {
		args = append(args, "-c", s)
	}
	for try := 1; ; try++ {
		began := time.Now()
		var err error
		if p.server, err = startProcess(filepath.Join(bin, "postgres"), args, p.cluster(), acct, p.fast, p.log); err != nil {
			return fmt.Errorf("start postgresql: %w", err)
		}
		err = p.waitReady(ctx)
		if err == nil {
			p.log.Debug("postgresql started", "dir", p.dir, "took", time.Since(began))
			return nil
		}
		stopErr := p.server.stop(context.WithoutCancel(ctx))
		if try < 20 && p.server.said("is still in use") {
			if err := sleep(ctx, 500*time.Millisecond); err == nil {
				continue
			}
		}
		return errors.Join(err, stopErr)
	}
}

func (p *Postgres) waitReady(ctx context.Context) error {
	for {
		conn, err := pgconn.Connect(ctx, p.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		// Only a server that has yet to come up is waited for; anything it says itself is final.
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code != "57P03" {
			return fmt.Errorf("connect to the embedded postgresql in %s: %w", p.dir, err)
		}
		select {
		case <-p.server.Done():
			return fmt.Errorf("postgresql in %s did not start: %w", p.dir, p.server.failure())
		case <-ctx.Done():
			return fmt.Errorf("postgresql in %s did not start in time: %w (last attempt: %w)", p.dir, context.Cause(ctx), err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
