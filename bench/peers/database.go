package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"oriel/bench/events"
	"oriel/bench/stored"
)

// database is one with a table event.
type database struct {
	name  string
	ddl   string
	url   string
	pool  *pgxpool.Pool
	admin *pgx.Conn
	// added is the condition of the rows that contenders add.
	added string
	// closers end what works beside the contender.
	closers []func(context.Context) error
}

// openDatabase makes an empty one.
func (s *stage) openDatabase(ctx context.Context, name, ddl string) (d *database, err error) {
	d = &database{name: name, ddl: ddl, added: "true"}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close(ctx))
		}
	}()
	if d.admin, err = pgx.Connect(ctx, s.url); err != nil {
		return nil, err
	}
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "CREATE DATABASE " + name} {
		if _, err := d.admin.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(s.url)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + name
	d.url = u.String()
	if d.pool, err = pgxpool.New(ctx, d.url); err != nil {
		return nil, err
	}
	if ddl == "" {
		return d, d.makeSchema(ctx, s)
	}
	return d, d.makeTable(ctx, ddl)
}

// fill makes the databases that the players need, with a past where the workload has one.
func (s *stage) fill(ctx context.Context, w workload, players []*player, out io.Writer) error {
	s.past = map[string]*database{}
	if w.past.Rows() == 0 {
		return nil
	}
	ours, err := s.openDatabase(ctx, databaseName, "")
	if err != nil {
		return err
	}
	s.past[""], ours.added = ours, "occurred_at >= '"+w.past.Until.Format(time.RFC3339Nano)+"'"
	if err := stored.Fill(ctx, ours.pool, w.past, s.log, out); err != nil {
		return err
	}
	for _, p := range players {
		ddl := p.play.table()
		if s.past[ddl] != nil {
			continue
		}
		name := fmt.Sprintf("%s_%d", databaseName, len(s.past))
		d, err := s.openDatabase(ctx, name, ddl)
		if err != nil {
			return err
		}
		s.past[ddl], d.added = d, ours.added
		began := time.Now()
		if err := d.copyFrom(ctx, ours, w.past.Until); err != nil {
			return fmt.Errorf("fill %s: %w", name, err)
		}
		var size string
		if err := d.pool.QueryRow(ctx, "SELECT pg_size_pretty(pg_database_size(current_database()))").Scan(&size); err != nil {
			return err
		}
		fmt.Fprintf(out, "the same rows for %s: %.0f s, %s\n", p.name, time.Since(began).Seconds(), size)
	}
	return nil
}

// copyFrom copies the events of the product's database, in two streams.
func (d *database) copyFrom(ctx context.Context, ours *database, until time.Time) error {
	middle := until.Add(-events.Days * 12 * time.Hour).Format(time.RFC3339Nano)
	group, copying := errgroup.WithContext(ctx)
	for _, half := range []string{"occurred_at < '" + middle + "'", "occurred_at >= '" + middle + "'"} {
		group.Go(func() error {
			from, into := io.Pipe()
			both, copying := errgroup.WithContext(copying)
			both.Go(func() error {
				err := ours.alone(copying, func(c *pgconn.PgConn) error {
					_, err := c.CopyTo(copying, into, `COPY (SELECT occurred_at, source, id, type, subject, datacontenttype,
						convert_from(data, 'UTF8') FROM event WHERE `+half+`) TO STDOUT`)
					return err
				})
				into.CloseWithError(err)
				return err
			})
			both.Go(func() error {
				err := d.alone(copying, func(c *pgconn.PgConn) error {
					_, err := c.CopyFrom(copying, from, "COPY event ("+columns+") FROM STDIN")
					return err
				})
				from.CloseWithError(err)
				return err
			})
			return both.Wait()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	tidy := "VACUUM (ANALYZE) event"
	if d.ddl == plain {
		tidy = "VACUUM (FULL, ANALYZE) event"
	}
	for _, sql := range []string{merge, tidy, "ALTER TABLE event SET (autovacuum_enabled = off)", "CHECKPOINT"} {
		if _, err := d.pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if d.ddl != plain {
		return nil
	}
	// No index of it says what is new. But, rewritten, its pages have no room that the server knows of: all that
	// is added is in the last one or behind it.
	var pages int64
	if err := d.pool.QueryRow(ctx, "SELECT pg_relation_size('event') / current_setting('block_size')::int").Scan(&pages); err != nil {
		return err
	}
	d.added = fmt.Sprintf("ctid >= '(%d,0)'", max(pages-1, 0))
	return nil
}

// alone works in a session of its own: those of the pool may be the consumer's, which end what takes long.
func (d *database) alone(ctx context.Context, work func(*pgconn.PgConn) error) error {
	conn, err := pgx.ConnectConfig(ctx, d.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return work(conn.PgConn())
}

// empty drops the databases.
func (s *stage) empty(ctx context.Context) (err error) {
	for _, d := range s.past {
		err = errors.Join(err, d.close(ctx))
	}
	s.past = nil
	return err
}

const databaseName = "oriel_bench_peers"

func (d *database) close(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx)
	for i := len(d.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, d.closers[i](ctx))
	}
	if d.pool != nil {
		d.pool.Close()
	}
	if d.admin != nil {
		_, dropped := d.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)")
		err = errors.Join(err, dropped, d.admin.Close(ctx))
	}
	return err
}
