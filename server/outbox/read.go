package outbox

import (
	"cmp"
	"context"
	"slices"
	"time"

	"oriel/server/db"

	"github.com/twmb/franz-go/pkg/kgo"
)

// look reads what may go next and takes as much of it as there is room for, the oldest first.
func (l *loop) look(work context.Context) {
	l.lastRead, l.nextRead = time.Now(), time.Time{}
	usable := l.leases.usable()
	if len(usable) == 0 {
		l.failures = 0 // there is nothing to fail at
		l.idle()
		return
	}
	shards := make([]int16, 0, len(usable))
	for shard := range usable {
		shards = append(shards, shard)
	}
	for id, d := range l.shy {
		if _, ok := usable[d.shard]; !ok {
			delete(l.shy, id)
		}
	}
	held := make([]int64, 0, len(l.held))
	for id := range l.held {
		held = append(held, id)
	}
	ctx, cancel := l.statement(work)
	defer cancel()
	rows, err := l.queries.OutboxHeads(ctx, db.OutboxHeadsParams{
		Shards: shards, Held: held, PerLane: int32(l.cfg.ShardMessages),
	})
	if err != nil {
		l.trouble(work, "read what is pending", err)
		return
	}
	l.failures = 0
	slices.SortFunc(rows, func(a, b db.OutboxHeadsRow) int { return cmp.Compare(a.ID, b.ID) })
	taken := l.choose(rows, usable)
	if len(taken) == 0 {
		l.idle()
		return
	}
	if err := l.load(work, taken); err != nil {
		for _, m := range taken {
			l.drop(m)
		}
		l.trouble(work, "read messages", err)
		return
	}
	l.pause, l.nextRead = l.cfg.PollMin, time.Now()
}

// choose takes rows as far as there is room. One that comes after another of its key is only taken where
// that one is in hand: nothing else knows when its turn is.
func (l *loop) choose(rows []db.OutboxHeadsRow, usable map[int16]int64) []*message {
	var taken []*message
	for i := range rows {
		row := &rows[i]
		if len(l.held) >= l.cfg.MaxHeld || l.bytes >= l.cfg.MaxHeldBytes {
			break
		}
		m := &message{
			id: row.ID, shard: row.Shard, token: usable[row.Shard], topic: row.Topic,
			key: place{row.OrderKey, row.Seq}, attempts: row.Attempts, fails: row.Fails, size: int(row.Size),
		}
		if !row.First {
			before := place{row.OrderKey, row.Previous}
			prev := l.byPlace[before]
			switch {
			case prev == nil || l.followed[before] != nil:
				continue
			case prev.state != finished:
				m.state, m.before = follows, &before
				l.followed[before] = m
			}
		}
		l.held[m.id], l.byPlace[m.key] = m, m
		l.bytes += m.size
		if _, known := l.paused[m.lane()]; row.Fails > 0 && !known {
			l.paused[m.lane()] = time.Time{}
		}
		taken = append(taken, m)
	}
	return taken
}

// load reads the bytes. A message that is gone was published by another relay, or discarded.
func (l *loop) load(work context.Context, taken []*message) error {
	ids := make([]int64, len(taken))
	for i, m := range taken {
		ids[i] = m.id
	}
	ctx, cancel := l.statement(work)
	defer cancel()
	rows, err := l.queries.OutboxLoad(ctx, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		row := &rows[i]
		m := l.held[row.ID]
		m.smaller = row.HasSmaller
		m.record = &kgo.Record{Topic: m.topic, Key: row.RecordKey, Value: row.RecordValue, Partition: -1}
		for j := 0; j+1 < len(row.Headers); j += 2 {
			m.record.Headers = append(m.record.Headers, kgo.RecordHeader{Key: string(row.Headers[j]), Value: row.Headers[j+1]})
		}
	}
	for _, m := range taken {
		switch {
		case l.held[m.id] != m: // went with the one before it
		case m.record == nil:
			l.drop(m)
		case m.state == ready:
			l.queue = append(l.queue, m)
		}
	}
	return nil
}
