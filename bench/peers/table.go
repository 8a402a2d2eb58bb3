package main

import (
	"context"
	"sync"
	"time"
)

// The peers' tables name their columns alike, so that what fills one fills the other.

// columns are what a peer fills.
const columns = "occurred_at, source, id, type, subject, datacontenttype, data"

// searchable answers what the product's table answers: the same btree indexes, and every word of the data's
// values under GIN. seq stands for the product's position and commit: it breaks ties of a page and orders the
// tail. The table is not partitioned, which spares the peers the choice of a partition; its data is jsonb,
// which loses the spelling but made the vector of a webhook in half the time that text took.
const searchable = `CREATE TABLE event (
	seq             bigint GENERATED ALWAYS AS IDENTITY,
	occurred_at     timestamptz NOT NULL,
	source          text NOT NULL,
	id              text NOT NULL,
	type            text NOT NULL,
	subject         text,
	datacontenttype text,
	data            jsonb,
	severity        smallint GENERATED ALWAYS AS (array_position('{trace,debug,info,notice,warning,error,critical,emergency}'::text[], data->>'severity')) STORED,
	search          tsvector GENERATED ALWAYS AS (jsonb_to_tsvector('simple', data, '["string", "numeric", "boolean"]')) STORED,
	PRIMARY KEY (occurred_at, source, id)
);
CREATE INDEX event_page ON event (occurred_at, seq);
CREATE INDEX event_type ON event (type, occurred_at);
CREATE INDEX event_source ON event (source, occurred_at);
CREATE INDEX event_subject ON event (subject, occurred_at) WHERE subject IS NOT NULL;
CREATE INDEX event_error ON event (occurred_at, seq) WHERE severity >= 6;
CREATE INDEX event_search ON event USING gin (search);
CREATE INDEX event_tail ON event (seq)`

// plain keeps an event once and answers nothing.
const plain = `CREATE TABLE event (
	occurred_at     timestamptz NOT NULL,
	source          text NOT NULL,
	id              text NOT NULL,
	type            text NOT NULL,
	subject         text,
	datacontenttype text,
	data            text,
	PRIMARY KEY (source, id)
)`

// merge takes what is pending in every GIN index into it.
const merge = `SELECT gin_clean_pending_list(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
	WHERE a.amname = 'gin' AND c.relkind = 'i' AND c.relnamespace = 'public'::regnamespace`

// makeTable makes a peer's table, and merges its index every second as the product's maintenance does.
func (d *database) makeTable(ctx context.Context, ddl string) error {
	if _, err := d.pool.Exec(ctx, ddl); err != nil {
		return err
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	var failed error
	done.Go(func() {
		for pause(working, time.Second) == nil {
			if _, err := d.pool.Exec(working, merge); err != nil {
				if working.Err() == nil {
					failed = err
				}
				return
			}
		}
	})
	d.closers = append(d.closers, func(context.Context) error {
		stop()
		done.Wait()
		return failed
	})
	return nil
}
