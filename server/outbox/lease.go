package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"oriel/server/db"
	"oriel/server/failpoint"
)

// lease is one shard in our hands. Its end is reckoned by this process's clock from before the statement that
// took or renewed it, and earlier than the database's: we stop before anybody else begins.
type lease struct {
	token   int64
	until   time.Time
	leaving bool // to be given to another relay once nothing of it is in hand
	drained bool // nothing is
}

// leases are the shards that a relay holds. The leases' goroutine writes them, the loop reads them.
type leases struct {
	mu sync.Mutex
	of map[int16]lease
}

func newLeases() *leases { return &leases{of: map[int16]lease{}} }

func (l *leases) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, x := range l.of {
		if !x.leaving {
			n++
		}
	}
	return n
}

// usable are the shards whose messages may be read now.
func (l *leases) usable() map[int16]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, m := time.Now(), make(map[int16]int64, len(l.of))
	for shard, x := range l.of {
		if !x.leaving && now.Before(x.until) {
			m[shard] = x.token
		}
	}
	return m
}

// holds says whether a message that was read under a token may still be sent.
func (l *leases) holds(shard int16, token int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, ok := l.of[shard]
	return ok && !x.leaving && x.token == token && time.Now().Before(x.until)
}

// renewed replaces what we hold by what the database says that we hold.
func (l *leases) renewed(rows []db.OutboxRenewRow, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := make(map[int16]lease, len(rows))
	for _, row := range rows {
		next[row.Shard] = lease{row.Token, until, l.of[row.Shard].leaving, l.of[row.Shard].drained}
	}
	l.of = next
}

func (l *leases) taken(rows []db.OutboxAcquireRow, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		l.of[row.Shard] = lease{token: row.Token, until: until}
	}
}

// give marks n shards to be given up.
func (l *leases) give(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for shard, x := range l.of {
		if n <= 0 {
			return
		}
		if !x.leaving {
			x.leaving = true
			l.of[shard] = x
			n--
		}
	}
}

// drain asks of each shard that is to be given up whether something of it is still in hand.
func (l *leases) drain(busy func(shard int16) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for shard, x := range l.of {
		if x.leaving && !x.drained && !busy(shard) {
			x.drained = true
			l.of[shard] = x
		}
	}
}

// free takes the drained shards off our hands.
func (l *leases) free() []int16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []int16
	for shard, x := range l.of {
		if x.drained {
			out = append(out, shard)
			delete(l.of, shard)
		}
	}
	return out
}

// keepLeases renews what we hold and takes our share of what is free, until ctx ends. From the end of fetch on
// it only renews: what is under way is still ours.
func (r *Relay) keepLeases(fetch, ctx context.Context) {
	every := min(r.cfg.TTL/3, r.cfg.PollMax)
	tick := time.NewTicker(every)
	defer tick.Stop()
	var renewed time.Time
	for {
		err := r.beat(fetch, ctx, &renewed)
		switch {
		case err == nil:
			r.beaten.Store(time.Now().UnixNano())
		case ctx.Err() != nil:
			return
		default:
			if errors.Is(err, context.DeadlineExceeded) {
				r.pool.Reset() // as the loop's trouble
			}
			r.metrics.databaseErrors.Inc()
			r.log.Warn("cannot look after the leases of the outbox", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *Relay) beat(fetch, ctx context.Context, renewed *time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.statementIn())
	defer cancel()
	// A quarter of the lease is for clocks that do not run alike.
	began, trust, ttl := time.Now(), r.cfg.TTL*3/4, r.cfg.TTL.Seconds()
	if began.Sub(*renewed) >= r.cfg.TTL/3 {
		rows, err := r.queries.OutboxRenew(ctx, db.OutboxRenewParams{Owner: r.name, TtlSeconds: ttl})
		if err != nil {
			return err
		}
		r.leases.renewed(rows, began.Add(trust))
		*renewed = began
	}
	if free := r.leases.free(); len(free) > 0 {
		// Where this fails the leases come back with the next renewal.
		if _, err := r.queries.OutboxRelease(ctx, db.OutboxReleaseParams{Owner: r.name, Shards: free}); err != nil {
			return err
		}
		r.log.Info("gave shards of the outbox to another relay", "shards", len(free))
	}
	if fetch.Err() == nil {
		relays, err := r.queries.OutboxBeat(ctx, db.OutboxBeatParams{Name: r.name, TtlSeconds: ttl})
		if err != nil {
			return err
		}
		share := (shardCount + int(relays) - 1) / max(int(relays), 1)
		if own := r.leases.count(); own < share {
			if err := r.take(ctx, share-own, trust); err != nil {
				return err
			}
		} else {
			r.leases.give(own - share)
		}
	}
	r.metrics.leases.Set(float64(r.leases.count()))
	return r.observe(ctx)
}

// take acquires at most n free shards.
func (r *Relay) take(ctx context.Context, n int, trust time.Duration) error {
	began := time.Now()
	rows, err := r.queries.OutboxAcquire(ctx, db.OutboxAcquireParams{
		Owner: r.name, MaxShards: int32(n), TtlSeconds: r.cfg.TTL.Seconds(),
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	failpoint.Hit("out.after_claim")
	r.leases.taken(rows, began.Add(trust))
	r.log.Info("took shards of the outbox", "shards", len(rows))
	r.Wake()
	return nil
}

// leave gives everything back at the end.
func (r *Relay) leave(ctx context.Context) {
	all := make([]int16, shardCount)
	for i := range all {
		all[i] = int16(i)
	}
	_, err := r.queries.OutboxRelease(ctx, db.OutboxReleaseParams{Owner: r.name, Shards: all})
	if err == nil {
		err = r.queries.OutboxLeave(ctx, r.name)
	}
	if err != nil {
		r.log.Warn("cannot give the shards of the outbox back; their leases run out", "error", err)
	}
	r.leases.renewed(nil, time.Time{})
	r.metrics.leases.Set(0)
}

// observe fills the numbers that are about the table as a whole.
func (r *Relay) observe(ctx context.Context) error {
	if err := r.queries.OutboxForgetBackoffs(ctx); err != nil {
		return err
	}
	state, err := r.queries.OutboxState(ctx)
	if err != nil {
		return err
	}
	r.metrics.observe(state)
	return nil
}
