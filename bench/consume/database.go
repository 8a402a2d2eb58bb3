package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/bench/stored"
	"oriel/server/maintain"
	"oriel/server/schema"
)

// database is one that all have maintained alike.
type database struct {
	name   string
	url    string
	pool   *pgxpool.Pool
	admin  *pgx.Conn
	keeper *maintain.Maintainer
}

const databaseName = "oriel_bench_consume"

// fill makes the database that has a past, where one is asked for.
func (s *stage) fill(ctx context.Context, o options) error {
	// What is measured is younger than all of it.
	past := stored.Past{Events: o.stored, Hooks: o.storedHooks, Until: s.began.Add(-o.spread), Webhooks: o.webhooks}
	if past.Rows() == 0 {
		return nil
	}
	d, err := s.openDatabase(ctx, o, databaseName+"_past", "")
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() error { return d.close(ctx) })
	s.past = d
	return stored.Fill(ctx, d.pool, past, s.log, s.out)
}

// database is the one that has a past, or an empty one; release is to be called with it in the end.
func (s *stage) database(ctx context.Context, o options) (d *database, release func(context.Context) error, err error) {
	if s.past != nil {
		return s.past, func(context.Context) error { return nil }, nil
	}
	d, err = s.openDatabase(ctx, o, databaseName, "")
	return d, d.close, err
}

func (s *stage) openDatabase(ctx context.Context, o options, name, setup string) (d *database, err error) {
	d = &database{name: name}
	begun := d
	defer func() {
		if err != nil {
			err = errors.Join(err, begun.close(ctx))
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
	if err := schema.Migrate(ctx, d.url); err != nil {
		return nil, err
	}
	if d.pool, err = pgxpool.New(ctx, d.url); err != nil {
		return nil, err
	}
	if _, err := d.pool.Exec(ctx, setup); err != nil {
		return nil, err
	}
	now := time.Now()
	if err := schema.EnsureDays(ctx, d.pool, now.Add(-o.spread), now); err != nil {
		return nil, err
	}
	keeper := maintain.New(d.pool, 91*24*time.Hour, s.log, prometheus.NewRegistry())
	if err := keeper.Start(ctx); err != nil {
		return nil, err
	}
	d.keeper = keeper
	return d, nil
}

func (d *database) close(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx)
	if d.keeper != nil {
		err = d.keeper.Stop(ctx)
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
