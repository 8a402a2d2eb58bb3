package search

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// sets keeps sets by filter and view, the least recently used ones giving way where they take more than a number
// of bytes. What it loses is made again. Who asks for a set that is being made waits for it.
type sets struct {
	limit int

	mu     sync.Mutex
	bytes  int
	byKey  map[string]*list.Element // of *kept
	recent *list.List               // the most recently used first
	making map[string]chan struct{} // closed when the making has ended, well or not
}

type kept struct {
	key   string
	set   *set
	bytes int
}

func newSets(limit int) *sets {
	return &sets{limit: limit, byKey: map[string]*list.Element{}, recent: list.New(), making: map[string]chan struct{}{}}
}

// get is the set of a key, which find makes where there is none, or makes of the one before where that is worth
// another try. A failure is the failure of who made it alone: another one then tries for itself.
func (s *sets) get(ctx context.Context, key string, find func(before *set) (*set, error)) (*set, error) {
	for {
		found, others, done := s.claim(key)
		switch {
		case done == nil && others == nil:
			return found, nil
		case others != nil:
			select {
			case <-others:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		made, err := func() (*set, error) {
			defer done()
			made, err := find(found)
			if err == nil {
				s.keep(key, made)
			}
			return made, err
		}()
		return made, err
	}
}

// claim is the set where it is kept and is the last word for now, else the end of its making by others, else the end
// of our own, with what there is before.
func (s *sets) claim(key string) (found *set, others <-chan struct{}, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.recent.MoveToFront(e)
		found = e.Value.(*kept).set //nolint:forcetypeassert // the list holds nothing else
		if found.again.IsZero() || time.Now().Before(found.again) {
			return found, nil, nil
		}
	}
	if c, ok := s.making[key]; ok {
		return nil, c, nil
	}
	c := make(chan struct{})
	s.making[key] = c
	return found, nil, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.making, key)
		close(c)
	}
}

// keep keeps a set, unless it is larger than all that may be kept.
func (s *sets) keep(key string, made *set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &kept{key, made, made.bytes() + len(key)}
	if k.bytes > s.limit {
		return
	}
	if before, ok := s.byKey[key]; ok {
		s.drop(before)
	}
	s.byKey[key] = s.recent.PushFront(k)
	s.bytes += k.bytes
	for s.bytes > s.limit {
		s.drop(s.recent.Back())
	}
}

func (s *sets) drop(e *list.Element) {
	k := s.recent.Remove(e).(*kept) //nolint:forcetypeassert // the list holds nothing else
	delete(s.byKey, k.key)
	s.bytes -= k.bytes
}
