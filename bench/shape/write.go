package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"golang.org/x/sync/errgroup"

	"oriel"
)

const day = 24 * time.Hour

// shape is one way of indexing an event's text.
type shape struct {
	name  string
	setup string // on the migrated schema
	index string // of the text, in the day's partition
	extra string // column beside those of the event
}

var shapes = []shape{
	{name: "none", setup: `DROP INDEX event_lexemes`},
	{name: "lexemes", index: "lexemes"},
	{name: "tsvector", setup: `DROP INDEX event_lexemes; ALTER TABLE event ADD words tsvector;
		CREATE INDEX event_words ON event USING gin (words)`, index: "words", extra: "words"},
}

type result struct {
	rate                     float64
	heap, toast, text, other int64
	// spare is the part of text that is empty pages: the pending list was there, and the next will be. A
	// burst as this one leaves up to a few times the list's bound in a day's partition, however full that
	// gets in the end; so it weighs the less, the more events are measured.
	spare       int64
	compression string // of the payloads that are compressed, as the server names it
}

func (r *result) total() int64 { return r.heap + r.toast + r.text + r.other }

// describe prints what of the server matters to the figures.
func describe(ctx context.Context, o options) error {
	c, err := pgx.Connect(ctx, o.url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Close(ctx)
	var version, toast, buffers, wal, sync string
	err = c.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('default_toast_compression'),
		current_setting('shared_buffers'), current_setting('max_wal_size'), current_setting('fsync')`).
		Scan(&version, &toast, &buffers, &wal, &sync)
	fmt.Printf("PostgreSQL %s, TOAST %s, shared_buffers %s, max_wal_size %s, fsync %s, %d connections, %d events a transaction\n",
		version, toast, buffers, wal, sync, o.conns, o.batch)
	return err
}

// write measures one shape in a database of its own.
func write(ctx context.Context, o options, s shape, set *prepared) (r result, err error) {
	admin, err := pgx.Connect(ctx, o.url)
	if err != nil {
		return r, err
	}
	defer admin.Close(context.WithoutCancel(ctx))
	name := "oriel_shape_" + s.name
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if _, err := admin.Exec(ctx, sql); err != nil {
			return r, err
		}
	}
	defer func() {
		_, dropped := admin.Exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+name)
		err = errors.Join(err, dropped)
	}()
	config, err := pgx.ParseConfig(o.url)
	if err != nil {
		return r, err
	}
	config.Database = name
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return r, err
	}
	defer c.Close(context.WithoutCancel(ctx))
	if err := schema(ctx, c, s, set); err != nil {
		return r, err
	}
	start := time.Now()
	if err := maintained(ctx, c, s, func() error { return load(ctx, o, config, s, set) }); err != nil {
		return r, err
	}
	r.rate = float64(len(set.rows)) / time.Since(start).Seconds()
	var rows int
	if err := c.QueryRow(ctx, `SELECT count(*) FROM event`).Scan(&rows); err != nil {
		return r, err
	}
	if rows != len(set.rows) {
		return r, fmt.Errorf("%d rows of %d arrived", rows, len(set.rows))
	}
	err = c.QueryRow(ctx, `
		WITH part AS (SELECT inhrelid AS id FROM pg_inherits WHERE inhparent = 'event'::regclass),
		     idx  AS (SELECT pg_relation_size(indexrelid) AS size, a.amname
		                FROM part JOIN pg_index ON indrelid = id JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = c.relam)
		SELECT (SELECT sum(pg_relation_size(id))::bigint FROM part),
		       (SELECT sum(pg_table_size(id) - pg_relation_size(id))::bigint FROM part),
		       (SELECT coalesce(sum(size), 0)::bigint FROM idx WHERE amname = 'gin'),
		       (SELECT sum(size)::bigint FROM idx WHERE amname <> 'gin')`).
		Scan(&r.heap, &r.toast, &r.text, &r.other)
	if err != nil {
		return r, err
	}
	if s.index != "" {
		if r.spare, err = spare(ctx, c); err != nil {
			return r, err
		}
	}
	// What the server did, which need not be what it was asked for.
	err = c.QueryRow(ctx, `SELECT coalesce(string_agg(DISTINCT pg_column_compression(data), '+'), 'none') FROM event`).Scan(&r.compression)
	return r, err
}

// spare counts the pages of the text index that are marked as deleted. Their flags are the last two bytes
// of a page, and no function of a plain server tells them.
func spare(ctx context.Context, c *pgx.Conn) (size int64, err error) {
	if _, err := c.Exec(ctx, "CHECKPOINT"); err != nil {
		return 0, err
	}
	err = c.QueryRow(ctx, `
		WITH idx AS (SELECT i.oid, pg_relation_filepath(i.oid) AS file, least(pg_relation_size(i.oid), 1 << 30) / 8192 AS pages
		               FROM pg_inherits JOIN pg_index ON indrelid = inhrelid JOIN pg_class i ON i.oid = indexrelid JOIN pg_am a ON a.oid = i.relam
		              WHERE inhparent = 'event'::regclass AND a.amname = 'gin')
		SELECT 8192 * count(*) FROM idx, generate_series(0, pages - 1) AS page
		 WHERE get_byte(pg_read_binary_file(file, page * 8192 + 8190, 1), 0) & 4 <> 0`).Scan(&size)
	return size, err
}

// maintained loads while the pending list of the text index is merged every second, as the product's
// maintenance does, and once more at the end. A list that grew to its bound first would leave as many
// empty pages in the index.
func maintained(ctx context.Context, c *pgx.Conn, s shape, load func() error) error {
	done := make(chan error, 1)
	go func() { done <- load() }()
	merge := func() error {
		if s.index == "" {
			return nil
		}
		_, err := c.Exec(ctx, `SELECT gin_clean_pending_list(indexrelid) FROM pg_index JOIN pg_class i ON i.oid = indexrelid
			JOIN pg_am a ON a.oid = i.relam JOIN pg_class t ON t.oid = indrelid
			WHERE a.amname = 'gin' AND i.relkind = 'i' AND t.relname LIKE 'event\_2%'`)
		return err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return errors.Join(err, merge())
		case <-tick.C:
			if err := merge(); err != nil {
				return errors.Join(err, <-done)
			}
		}
	}
}

func schema(ctx context.Context, c *pgx.Conn, s shape, set *prepared) error {
	up, err := oriel.Migrations.ReadFile("db/migrations/0001_init.up.sql")
	if err != nil {
		return err
	}
	for _, sql := range []string{
		string(up), s.setup,
		`INSERT INTO log (topic, topic_id) VALUES ('shape', gen_random_uuid())`,
		`INSERT INTO checkpoint (consumer, log, partition, next_offset) SELECT 'store', 1, p, 0 FROM generate_series(0, 63) p`,
	} {
		if _, err := c.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	days := map[time.Time]bool{}
	for i := range set.rows {
		days[set.rows[i].Time.UTC().Truncate(day)] = true
	}
	for d := range days {
		if _, err := c.Exec(ctx, `SELECT ensure_day('event', $1::date)`, d); err != nil {
			return err
		}
	}
	return nil
}

// load writes the rows, each connection its share as a partition.
func load(ctx context.Context, o options, config *pgx.ConnConfig, s shape, set *prepared) error {
	group, ctx := errgroup.WithContext(ctx)
	share := (len(set.rows) + o.conns - 1) / o.conns
	for w := range o.conns {
		rows := set.rows[min(w*share, len(set.rows)):min((w+1)*share, len(set.rows))]
		group.Go(func() error {
			c, err := pgx.ConnectConfig(ctx, config)
			if err != nil {
				return err
			}
			defer c.Close(context.WithoutCancel(ctx))
			// The tsvector is ready in PostgreSQL's binary format: its bytes pass as they are.
			c.TypeMap().RegisterType(&pgtype.Type{Name: "tsvector", OID: pgtype.TSVectorOID, Codec: pgtype.ByteaCodec{}})
			_, err = c.Exec(ctx, `CREATE TEMP TABLE staging (LIKE event INCLUDING DEFAULTS) ON COMMIT DELETE ROWS`)
			for first := 0; err == nil && first < len(rows); first += o.batch {
				err = commit(ctx, c, s, w, first, rows[first:min(first+o.batch, len(rows))])
			}
			return err
		})
	}
	return group.Wait()
}

var columns = []string{
	"occurred_at", "log", "partition", "offset", "commit", "kafka_time", "digest", "source", "id",
	"type", "subject", "time_text", "lexemes", "record_key", "data",
}

// commit writes one batch in one transaction.
func commit(ctx context.Context, c *pgx.Conn, s shape, partition, first int, rows []row) error {
	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after a commit it does nothing
	var number int64
	if err := tx.QueryRow(ctx, `UPDATE checkpoint SET next_offset = $1, commits = commits + 1, updated_at = clock_timestamp()
		WHERE consumer = 'store' AND log = 1 AND partition = $2 AND next_offset = $3 RETURNING commits`,
		first+len(rows), partition, first).Scan(&number); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	names := columns
	if s.extra != "" {
		names = append(names[:len(names):len(names)], s.extra)
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"staging"}, names, pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		r := &rows[i]
		v := []any{
			r.Time, int16(1), int32(partition), int64(first + i), number, r.Time, int64(i), r.Source, r.ID,
			r.Type, r.Subject, r.Time.Format(time.RFC3339Nano), nil, []byte(r.Source), r.Data,
		}
		switch s.index {
		case "lexemes":
			v[12] = r.lexemes
		case "words":
			v = append(v, r.words)
		}
		return v, nil
	})); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	var tag pgconn.CommandTag
	if tag, err = tx.Exec(ctx, `INSERT INTO event SELECT * FROM staging ORDER BY occurred_at, source, id
		ON CONFLICT (occurred_at, source, id) DO NOTHING`); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	if int(tag.RowsAffected()) != len(rows) {
		return fmt.Errorf("%d rows of a batch of %d are new", tag.RowsAffected(), len(rows))
	}
	return tx.Commit(ctx)
}
