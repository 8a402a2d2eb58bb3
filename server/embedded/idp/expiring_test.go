package idp

import (
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func TestWhatExpiresIsGoneAndTheOldestMakesRoom(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	e := newExpiring[int](time.Minute, 3, func() time.Time { return now })
	for i := range 5 {
		e.put(strconv.Itoa(i), i)
	}
	for key, want := range map[string]bool{"0": false, "1": false, "2": true, "3": true, "4": true} {
		if _, ok := e.get(key); ok != want {
			t.Errorf("%s is there: %v", key, ok)
		}
	}
	if v, ok := e.take("3"); !ok || v != 3 {
		t.Errorf("took %d, %v", v, ok)
	}
	if _, ok := e.take("3"); ok {
		t.Error("taken twice")
	}
	now = now.Add(30 * time.Second)
	e.put("2", 22) // begins anew
	now = now.Add(30 * time.Second)
	if _, ok := e.get("4"); ok {
		t.Error("it outlived its time")
	}
	if v, ok := e.get("2"); !ok || v != 22 {
		t.Errorf("got %d, %v", v, ok)
	}
	now = now.Add(time.Hour)
	e.put("x", 1)
	if len(e.byKey) != 1 || e.order.Len() != 1 {
		t.Errorf("%d keys, %d in order", len(e.byKey), e.order.Len())
	}
}

func TestGrantsExpireAndAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	g := loadGrants(filepath.Join(t.TempDir(), "grants.json"), nil)
	g.now = func() time.Time { return now }
	first, err := g.create(grant{Subject: "a"})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(grantLife - time.Second)
	if _, err := g.find(first); err != nil {
		t.Errorf("too early: %v", err)
	}
	now = now.Add(2 * time.Second)
	if _, err := g.find(first); err == nil {
		t.Error("it outlived its time")
	}
	for range mostGrant + 5 {
		now = now.Add(time.Second)
		if _, err := g.create(grant{Subject: "b"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.byID) != mostGrant {
		t.Errorf("%d are kept", len(g.byID))
	}
}
