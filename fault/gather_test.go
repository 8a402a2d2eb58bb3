package fault

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/kafka"
)

// gather reads what is known once everything has come to rest.
func (r *rig) gather() *history {
	r.t.Helper()
	h := &history{notes: r.journal.read(r.t), records: r.readTopic(), copies: r.readCopies()}
	r.mu.Lock()
	h.foreign, h.commits = r.foreign, r.commits
	r.mu.Unlock()
	read(r, `SELECT partition, "offset", commit, id, subject FROM event`, func(rows pgx.Rows) error {
		var s stored
		err := rows.Scan(&s.part, &s.offset, &s.commit, &s.id, &s.key)
		h.rows = append(h.rows, s)
		return err
	})
	read(r, `SELECT partition, "offset", commit, coalesce(id, ''), reason FROM dead_letter`, func(rows pgx.Rows) error {
		var l letter
		err := rows.Scan(&l.part, &l.offset, &l.commit, &l.id, &l.reason)
		h.letters = append(h.letters, l)
		return err
	})
	read(r, `SELECT partition, commit, from_offset, to_offset, stored, duplicate, dead, skipped, expired FROM ledger`, func(rows pgx.Rows) error {
		var e entry
		err := rows.Scan(&e.part, &e.commit, &e.from, &e.to, &e.stored, &e.duplicate, &e.dead, &e.skipped, &e.expired)
		h.ledger = append(h.ledger, e)
		return err
	})
	read(r, `SELECT partition, old_next, new_next, old_commits, new_commits, old_epoch, new_epoch, writer FROM fault_change ORDER BY seq`, func(rows pgx.Rows) error {
		var c change
		err := rows.Scan(&c.part, &c.oldNext, &c.newNext, &c.oldCommits, &c.newCommits, &c.oldEpoch, &c.newEpoch, &c.writer)
		h.changes = append(h.changes, c)
		return err
	})
	h.queued = scan[int](r.t, r.pool, `SELECT count(*) FROM outbox`)
	ends := logEnds(r.t, r.broker, r.broker.Topic)
	read(r, `SELECT partition, next_offset, commits, state FROM checkpoint`, func(rows pgx.Rows) error {
		var m checkpoint
		err := rows.Scan(&m.part, &m.next, &m.commits, &m.state)
		m.at = ends[m.part]
		h.marks = append(h.marks, m)
		return err
	})
	h.rolled = scan[int64](r.t, r.pool, `SELECT coalesce(sum(n), 0)::bigint FROM rollup_minute`)
	return h
}

func read(r *rig, sql string, each func(pgx.Rows) error) {
	r.t.Helper()
	rows, err := r.pool.Query(r.t.Context(), sql)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
}

// readTopic reads the whole topic of events up to its present end.
func (r *rig) readTopic() []logged {
	r.t.Helper()
	var all []logged
	r.eachRecord(r.broker.Topic, func(rec *kgo.Record) {
		l := logged{place: place{rec.Partition, rec.Offset}}
		for _, h := range rec.Headers {
			if h.Key == "ce_id" {
				l.id = string(h.Value)
			}
		}
		all = append(all, l)
	})
	return all
}

// readCopies reads the dead-letter topic: the key of a copy says where its record is.
func (r *rig) readCopies() []place {
	r.t.Helper()
	var all []place
	r.eachRecord(kafka.DeadLetterTopic(r.broker.Topic), func(rec *kgo.Record) {
		var p place
		if _, err := fmt.Sscanf(strings.TrimPrefix(string(rec.Key), r.broker.Topic), "/%d/%d", &p.part, &p.offset); err != nil {
			r.t.Errorf("the key %q of a dead letter: %v", rec.Key, err)
		}
		all = append(all, p)
	})
	return all
}

func (r *rig) eachRecord(topic string, each func(*kgo.Record)) {
	r.t.Helper()
	left := map[int32]int64{}
	from := map[int32]kgo.Offset{}
	for p, end := range logEnds(r.t, r.broker, topic) {
		if end > 0 {
			from[p], left[p] = kgo.NewOffset().At(0), end
		}
	}
	if len(left) == 0 {
		return
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		r.t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			r.t.Fatalf("read %s up to %v: %v", topic, left, err)
		}
		fetches.EachRecord(func(rec *kgo.Record) {
			end, ok := left[rec.Partition]
			if !ok {
				return // beyond the end that it had
			}
			if rec.Offset >= end-1 {
				delete(left, rec.Partition)
			}
			each(rec)
		})
	}
}

// verify waits until everything is consumed and Kafka knows it, and checks every promise.
func (r *rig) verify() *history {
	r.t.Helper()
	r.writers.Wait()
	waitCaughtUp(r.t, r.pool, r.broker)
	r.waitTold()
	r.waitPublished()
	if r.cluster == nil {
		r.waitPolled()
	}
	checkBlocks(r.t, r.pool)
	h := r.gather()
	for _, broken := range h.check() {
		r.t.Error(broken)
	}
	if len(h.commits) == 0 {
		r.t.Error("no commit of an offset was watched")
	}
	return h
}

// waitTold waits until the group's offsets are the log's ends: a hint that was lost comes again.
func (r *rig) waitTold() {
	r.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Brokers...))
	if err != nil {
		r.t.Fatal(err)
	}
	defer client.Close()
	var last string
	told := func() bool {
		ends := logEnds(r.t, r.broker, r.broker.Topic)
		offsets, err := kadm.NewClient(client).FetchOffsets(r.t.Context(), r.group)
		if err != nil {
			last = err.Error()
			return false
		}
		last = fmt.Sprintf("the group is at %v, the logs end at %v", offsets.Offsets().KOffsets(), ends)
		for p, end := range ends {
			if o, ok := offsets.Lookup(r.broker.Topic, p); end > 0 && (!ok || o.At != end) {
				return false
			}
		}
		return true
	}
	for deadline := time.Now().Add(time.Minute); !told(); pause(r.t.Context(), 20*time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Errorf("I10: after a minute %s", last)
			return
		}
	}
}

// waitPolled waits until the offsets were asked for once more.
func (r *rig) waitPolled() {
	r.t.Helper()
	polled := func() int { r.mu.Lock(); defer r.mu.Unlock(); return len(r.commits) }
	before := polled()
	for deadline := time.Now().Add(time.Minute); polled() == before; pause(r.t.Context(), 10*time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Error("nobody asks for the group's offsets any more")
			return
		}
	}
}

// waitPublished waits until the outbox is empty.
func (r *rig) waitPublished() {
	r.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for scan[int](r.t, r.pool, `SELECT count(*) FROM outbox`) > 0 {
		if time.Now().After(deadline) {
			r.t.Error("I10: after a minute the outbox is not empty")
			return
		}
		pause(r.t.Context(), 20*time.Millisecond)
	}
}

// caughtUp says that every checkpoint is at its log's end.
func (r *rig) caughtUp() bool {
	durable, err := r.durable()
	if err != nil {
		return false
	}
	for p, end := range logEnds(r.t, r.broker, r.broker.Topic) {
		if durable[p] != end {
			return false
		}
	}
	return true
}
