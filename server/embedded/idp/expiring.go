package idp

import (
	"container/list"
	"sync"
	"time"
)

// expiring keeps values for a while, and no more than so many: the oldest go first.
type expiring[V any] struct {
	life time.Duration
	most int
	now  func() time.Time

	mu    sync.Mutex
	byKey map[string]*list.Element
	order *list.List // oldest first
}

type entry[V any] struct {
	key   string
	value V
	until time.Time
}

func newExpiring[V any](life time.Duration, most int, now func() time.Time) *expiring[V] {
	return &expiring[V]{life: life, most: most, now: now, byKey: map[string]*list.Element{}, order: list.New()}
}

// put keeps a value from now on.
func (e *expiring[V]) put(key string, v V) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(key)
	now := e.now()
	for first := e.order.Front(); first != nil; first = e.order.Front() {
		old := first.Value.(*entry[V])
		if e.order.Len() < e.most && now.Before(old.until) {
			break
		}
		e.remove(old.key)
	}
	e.byKey[key] = e.order.PushBack(&entry[V]{key, v, now.Add(e.life)})
}

func (e *expiring[V]) get(key string) (V, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.look(key)
}

// take gives a value to one caller only.
func (e *expiring[V]) take(key string) (V, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.look(key)
	e.remove(key)
	return v, ok
}

func (e *expiring[V]) look(key string) (v V, ok bool) {
	if at, found := e.byKey[key]; found {
		if it := at.Value.(*entry[V]); e.now().Before(it.until) {
			return it.value, true
		}
		e.remove(key)
	}
	return v, false
}

func (e *expiring[V]) remove(key string) {
	if at, ok := e.byKey[key]; ok {
		e.order.Remove(at)
		delete(e.byKey, key)
	}
}
