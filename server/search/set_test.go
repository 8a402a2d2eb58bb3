package search

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oriel/server/fault"
	"oriel/server/query"
)

func TestSetsAreSharedAndGiveWay(t *testing.T) {
	t.Parallel()
	s := newSets(10_000)
	var made atomic.Int32
	begun, release := make(chan struct{}), make(chan struct{})
	find := func(*set) (*set, error) {
		if made.Add(1) == 1 {
			close(begun)
			<-release
		}
		return &set{found: make([]match, 10)}, nil
	}
	var all sync.WaitGroup
	got := make([]*set, 8)
	for i := range got {
		all.Go(func() { got[i], _ = s.get(context.Background(), "a", find) })
		if i == 0 {
			<-begun
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.get(ctx, "a", find); !errors.Is(err, context.Canceled) {
		t.Errorf("who no longer waits gets %v", err)
	}
	close(release)
	all.Wait()
	for _, g := range got {
		if g == nil || g != got[0] {
			t.Fatal("those who ask at once do not share")
		}
	}
	if made.Load() != 1 {
		t.Errorf("it was made %d times", made.Load())
	}
	for i := range 10 {
		if _, err := s.get(context.Background(), fmt.Sprint("b", i), find); err != nil {
			t.Fatal(err)
		}
	}
	if s.bytes > s.limit || len(s.byKey) != s.recent.Len() || s.recent.Len() == 0 {
		t.Errorf("%d bytes of %d sets are kept, %d may be", s.bytes, s.recent.Len(), s.limit)
	}
	if _, err := s.get(context.Background(), "a", find); err != nil || made.Load() != 12 {
		t.Errorf("the oldest was made again: %d, %v", made.Load(), err)
	}
	if _, err := s.get(context.Background(), "large", func(*set) (*set, error) { return &set{found: make([]match, 100)}, nil }); err != nil || s.byKey["large"] != nil {
		t.Errorf("one that is too large is kept: %v", err)
	}
}

// A failure is nobody else's: who waited tries again.
func TestAFailedSetIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := newSets(10_000)
	begun, fail := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		_, err := s.get(context.Background(), "a", func(*set) (*set, error) {
			close(begun)
			<-fail
			return nil, context.Canceled
		})
		first <- err
	}()
	<-begun
	second := make(chan error, 1)
	go func() {
		_, err := s.get(context.Background(), "a", func(*set) (*set, error) { return &set{}, nil })
		second <- err
	}()
	close(fail)
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second: %v", err)
	}
}

// setOf is the set of some parameters, in one session.
func (st *store) setOf(params ...string) (out *set) {
	st.t.Helper()
	err := st.svc.run(context.Background(), "count", nil, func(ctx context.Context, ses *session) error {
		d := newDecoder(values(params...))
		r := st.svc.search(d)
		if err := d.err(); err != nil {
			return err
		}
		v, err := st.svc.viewOf(ctx, ses, &r)
		if err == nil {
			out, err = st.svc.set(ctx, ses, r.filter.Where, v)
		}
		return err
	})
	if err != nil {
		st.t.Fatal(err)
	}
	return out
}

func TestASetIsTheNewestAndSaysWhetherThatIsAll(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	samples := spread(40, time.Minute)
	st.add(samples...)
	for name, params := range map[string][]string{
		"no condition": nil, "a field": {"type", "test.sample"}, "a word": {"q", "tea"}, "an identifier": {"ext.common", "id-99999999999"},
		"what SQL cannot tell": {"data.n", "*"}, "a walk": {"q", `~"e"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := *st
			own.t = t
			svc := *st.svc
			svc.sets = newSets(1 << 20)
			own.svc = &svc
			if s := own.setOf(params...); s.relation != IsExact || len(s.matches) != 40 || s.matches[0].kind != "test.sample" || !s.covered.Until.IsZero() {
				t.Errorf("%d matches, %s", len(s.matches), s.relation)
			}
			svc.limits.set, svc.limits.firstChunk = 10, 5
			svc.sets = newSets(1 << 20)
			s := own.setOf(params...)
			if s.relation != IsAtLeast || len(s.matches) != 10 || !s.covered.From.Equal(samples[10].at.Add(time.Microsecond)) || s.matches[9].key.at != samples[9].at.UnixMicro() {
				t.Errorf("%d matches, %s, from %s", len(s.matches), s.relation, s.covered.From)
			}
		})
	}
}

func TestCountsSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(spread(60, time.Minute)...)
	st.svc.limits.set, st.svc.limits.firstChunk = 10, 5
	count := func(params ...string) *Count {
		t.Helper()
		st.svc.sets = newSets(1 << 20)
		c, err := st.svc.Count(t.Context(), values(params...))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, c := range map[string]struct {
		value    int64
		relation Relation
		params   []string
	}{
		"few":                         {1, IsExact, []string{"q", ref(55)}},
		"many that SQL can count":     {60, IsExact, []string{"q", "tea"}},
		"many of a field":             {60, IsExact, []string{"subject!", "x"}},
		"many that only reading can":  {10, IsAtLeast, []string{"data.n", "*"}},
		"none":                        {0, IsExact, []string{"q", "absent"}},
		"a facet that no text can be": {0, IsExact, []string{"q", "room:\"k\x00b\""}},
		"a type that no text can be":  {0, IsExact, []string{"q", "type:\"k\x00b\""}},
		"all but that type":           {60, IsExact, []string{"q!", "type:\"k\x00b\""}},
	} {
		got := count(c.params...)
		if got.Value != c.value || got.Relation != c.relation || got.Snapshot == "" {
			t.Errorf("%s: %d %s", name, got.Value, got.Relation)
		}
		if (got.Relation == IsAtLeast) != got.Covered.From.After(noon().Add(-oneDay)) {
			t.Errorf("%s: covers from %s", name, got.Covered.From)
		}
	}
	// A row over the lexicon's bound is one that words do not tell.
	st.add(sample{id: "over", over: true, data: jsonOf("tea")})
	if got := count("q", "tea"); got.Relation != IsAtLeast || got.Value != 10 {
		t.Errorf("with an event over the bound: %d %s", got.Value, got.Relation)
	}
}

func TestWhatIsNewerThanASnapshotIsCounted(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(spread(30, time.Minute)...)
	st.commits(1, 1)
	base := st.list("from", "-1h").Snapshot
	newer := func(params ...string) (int64, Relation) {
		t.Helper()
		c, err := st.svc.Count(t.Context(), values(append(params, "newerThan", base)...))
		if err != nil {
			t.Fatal(err)
		}
		return c.Value, c.Relation
	}
	if n, is := newer(); n != 0 || is != IsExact {
		t.Errorf("nothing is newer: %d %s", n, is)
	}
	st.add(sample{id: "n1", commit: 2, kind: "a"}, sample{id: "n2", commit: 2, partition: 1, kind: "b"}, sample{id: "late", commit: 2, at: noon().Add(-2 * time.Hour)},
		sample{id: "other", commit: 1, partition: 5})
	for want, params := range map[int64][]string{3: nil, 1: {"type", "a"}, 0: {"q", ref(3)}} {
		if n, is := newer(params...); n != want || is != IsExact {
			t.Errorf("%v: %d %s, want %d", params, n, is, want)
		}
	}
	for name, params := range map[string][]string{
		"beside a snapshot": {"newerThan", base, "snapshot", base}, "another range": {"newerThan", base, "from", "-3h"}, "no token": {"newerThan", "x"},
	} {
		if _, err := st.svc.Count(t.Context(), values(params...)); reasonOf(err) != fault.ReasonInvalidParameter {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bounds of arrival are those of the ledger's clock.
func TestArrivalIsBounded(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.exec(`SELECT ensure_day('ledger', $1::date), ensure_day('ledger', $1::date - 1)`, noon())
	for commit := range int64(4) { // an hour apart, the last one at noon
		commit++
		st.add(sample{id: fmt.Sprint("a", commit), commit: commit}, sample{id: fmt.Sprint("b", commit), commit: commit, partition: 1, at: noon().Add(-3 * time.Minute)})
		for p := range 2 {
			st.exec(`INSERT INTO ledger (consumer, log, partition, commit, from_offset, to_offset, stored, duplicate, dead, skipped, expired, committed_at)
				VALUES ('store', 1, $1, $2, 0, 1, 1, 0, 0, 0, 0, $3)`, p, commit, noon().Add(time.Duration(commit-4)*time.Hour))
		}
	}
	st.expect("a4 a3 b4 b3", "arrivedFrom", "-1h")
	st.expect("a2 a1 b2 b1", "arrivedUntil", "-1h")
	st.expect("a3 b3", "arrivedFrom", "-1h", "arrivedUntil", "-30m")
	st.expect("a3", "arrivedFrom", "-1h", "arrivedUntil", "-30m", "q", "id:a3")
	st.expect("a4 a3 a2 a1 b4 b3 b2 b1", "arrivedFrom", "-3h")
	st.expect("", "arrivedFrom", "now", "arrivedUntil", "2026-11-30T13:00:00Z", "type", "absent")
	if _, err := st.svc.List(t.Context(), values("arrivedFrom", "-1h", "arrivedUntil", "-2h")); reasonOf(err) != fault.ReasonInvalidParameter {
		t.Errorf("an empty range: %v", err)
	}
	// The bounds are the snapshot's.
	page := st.list("arrivedFrom", "-1h", "pageSize", "2")
	st.add(sample{id: "newer", commit: 5})
	next := st.list("arrivedFrom", "-1h", "pageSize", "2", "pageToken", page.NextToken)
	if got := append(ids(page.Events), ids(next.Events)...); fmt.Sprint(got) != "[a4 a3 b4 b3]" || next.NextToken != "" {
		t.Errorf("pages have %v", got)
	}
	v, err := parseSnapshot(page.Snapshot)
	if err != nil || fmt.Sprint(v.differs(query.Filter{ArrivedFrom: query.Bound{Now: true}})) != "[arrivedFrom]" {
		t.Errorf("another bound of arrival: %v, %v", v, err)
	}
}
