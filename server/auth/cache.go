package auth

import (
	"sync"
	"sync/atomic"
	"time"

	"oriel/server/fault"
)

// known is a token that the database confirmed.
type known struct {
	id        int64
	principal *Principal
	expires   *time.Time
	confirmed time.Time
	used      *atomic.Int64 // unix nanoseconds of the last recorded use, shared by successive answers
}

type refused struct {
	err   *fault.Error
	until time.Time
}

// cache remembers confirmed tokens for the grace time and refused ones for a moment, both bounded.
type cache struct {
	mu      sync.RWMutex
	known   map[digest]*known
	refused map[digest]refused
}

func (c *cache) init() {
	c.known, c.refused = make(map[digest]*known), make(map[digest]refused)
}

func (c *cache) get(hash digest, now time.Time) (*known, *fault.Error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if r, ok := c.refused[hash]; ok && now.Before(r.until) {
		return nil, r.err
	}
	return c.known[hash], nil
}

func (c *cache) keep(hash digest, k *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.refused, hash)
	if _, ok := c.known[hash]; !ok && len(c.known) >= maxKnown {
		for h, old := range c.known {
			if time.Since(old.confirmed) >= graceFor {
				delete(c.known, h)
			}
		}
		for h := range c.known { // all in use: a map's order is random enough to choose by
			if len(c.known) < maxKnown {
				break
			}
			delete(c.known, h)
		}
	}
	c.known[hash] = k
}

// refuse forgets the token and remembers why, and returns the reason.
func (c *cache) refuse(hash digest, err *fault.Error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, hash)
	if len(c.refused) >= maxRefused {
		clear(c.refused)
	}
	c.refused[hash] = refused{err, time.Now().Add(refusedFor)}
	return err
}
