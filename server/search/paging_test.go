package search

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"oriel/server/fault"
	"oriel/server/query"
)

// genQuery draws parameters that fit the model's events.
func genQuery() *rapid.Generator[url.Values] {
	word := rapid.SampledFrom([]string{"tea", "GREEN", "hot", "kettle", "72", "ref-80123456789", "80123456789", "uni", "本語", "100", "rare", "order", "absent", "3", "green-tea"})
	return rapid.Custom(func(t *rapid.T) url.Values {
		v := url.Values{}
		some := func(name string, from ...string) {
			for range max(0, rapid.IntRange(-3, 2).Draw(t, name)) {
				v.Add(name, rapid.SampledFrom(from).Draw(t, name))
			}
		}
		some("type", "order.paid", "order.lost", "absent")
		some("type!", "order.paid", "door.open")
		some("source", "/shop", "/home")
		some("subject", "s-1", "s-2")
		some("subject!", "s-1", "s-2")
		some("severity", "info", "error", "critical")
		some("severity!", "warning", "emergency")
		for _, name := range []string{"q", "q!"} {
			for range max(0, rapid.IntRange(-1, 2).Draw(t, name)) {
				v.Add(name, strings.Join(rapid.SliceOfN(word, 1, 2).Draw(t, "words"), " "))
			}
		}
		v.Set("from", rapid.SampledFrom([]string{"-1h", "", "-2d", "-7d"}).Draw(t, "from"))
		v.Set("until", rapid.SampledFrom([]string{"", "-1d", "now", "2026-11-30T06:00:00.000001Z"}).Draw(t, "until"))
		return v
	})
}

// tight draws limits that force every plan, every branch and every early end at the size of the model.
func tight(t *rapid.T, l limits) limits {
	l.probe = rapid.SampledFrom([]int{0, 3, 20, 1000}).Draw(t, "probe")
	l.dayProbe = rapid.SampledFrom([]int{0, 5, 10_000}).Draw(t, "day probe")
	l.glance = rapid.SampledFrom([]int{1, 5, 250}).Draw(t, "glance")
	l.peek = rapid.SampledFrom([]int{1, 7, 2000}).Draw(t, "peek")
	l.walk = rapid.SampledFrom([]int{7, 50, 20_000}).Draw(t, "walk")
	l.firstChunk = rapid.SampledFrom([]int{1, 3, 500}).Draw(t, "first chunk")
	l.lastChunk = rapid.SampledFrom([]int{3, 5000}).Draw(t, "last chunk")
	l.budget = rapid.SampledFrom([]time.Duration{time.Nanosecond, time.Minute}).Draw(t, "budget")
	return l
}

// The law of paging: the pages of a snapshot, in either direction, are one big answer cut in pieces,
// whatever plan each page takes and whatever is stored meanwhile.
func TestPagesConcatenatedAreOneAnswer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("dataset ", seed), func(t *testing.T) {
			t.Parallel()
			m := newModel(t, seed)
			rapid.Check(t, func(t *rapid.T) {
				params := genQuery().Draw(t, "query")
				svc := *m.svc
				svc.limits = tight(t, svc.limits)
				size := rapid.SampledFrom([]int{7, 50, 500}).Draw(t, "page size")
				params.Set("pageSize", strconv.Itoa(size))
				d := newDecoder(params)
				f := svc.search(d, "pageSize", "pageToken").filter
				if err := d.err(); err != nil {
					t.Fatal(err)
				}
				w, err := query.ResolveWindow(f.From, f.Until, noon())
				if err != nil {
					t.Skip("the drawn window is empty")
				}
				want := m.answer(f.Where, w, m.commit)

				// Forward, while others store.
				interrupt := rapid.IntRange(0, 3).Draw(t, "store after page")
				var got []string
				var last *Page
				pages := 0
				for token := ""; ; pages++ {
					params.Set("pageToken", token)
					p, err := svc.List(t.Context(), params)
					if err != nil {
						t.Fatalf("page %d: %v", pages, err)
					}
					checkPage(t, p, size, w)
					got = append(got, ids(p.Events)...)
					last = p
					if token = p.NextToken; token == "" {
						break
					}
					if pages == interrupt && len(m.stored) < 600 {
						m.grow(6)
					}
					if pages > 5000 {
						t.Fatal("paging does not end")
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("forward:\ngot  %v\nwant %v", got, want)
				}

				// Back from the last page.
				got = ids(last.Events)
				for p := last; p.PrevToken != ""; pages-- {
					params.Set("pageToken", p.PrevToken)
					back, err := svc.List(t.Context(), params)
					if err != nil {
						t.Fatalf("back: %v", err)
					}
					checkPage(t, back, size, w)
					got = append(ids(back.Events), got...)
					if pages < -10_000 {
						t.Fatal("paging back does not end")
					}
					p = back
				}
				if !slices.Equal(got, want) {
					t.Fatalf("backward:\ngot  %v\nwant %v", got, want)
				}
			})
		})
	}
}

// checkPage is what holds for any page.
func checkPage(t *rapid.T, p *Page, size int, w query.Window) {
	if len(p.Events) > size {
		t.Fatalf("%d events on a page of %d", len(p.Events), size)
	}
	if p.CoveredFrom.UnixMicro() < w.From.Micros || w.Until.Given && p.CoveredUntil.UnixMicro() > w.Until.Micros {
		t.Fatalf("covered %s to %s is outside of the window", p.CoveredFrom, p.CoveredUntil)
	}
	for i := range p.Events {
		at := p.Events[i].OccurredAt
		if at.Before(p.CoveredFrom) || !p.CoveredUntil.IsZero() && !at.Before(p.CoveredUntil) {
			t.Fatalf("event at %s is outside of what the page covers, %s to %s", at, p.CoveredFrom, p.CoveredUntil)
		}
	}
}

func TestOneTimestampPagesInAStableOrderBothWays(t *testing.T) {
	t.Parallel()
	for name, spread := range map[string]time.Duration{"the same microsecond": 0, "spread over 1,000 nanoseconds": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStore(t)
			samples := make([]sample, 1000)
			for i := range samples {
				samples[i] = sample{at: noon().Add(-time.Hour).Add(time.Duration(i) * spread), partition: int32(i % 3), offset: int64(i/3 + 1), id: fmt.Sprint("e", i)}
			}
			rand.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
			st.add(samples...)
			events, pages := st.all("pageSize", "100")
			if pages != 10 {
				t.Errorf("%d pages, want 10", pages)
			}
			forward := ids(events)
			if distinct := slices.Compact(slices.Sorted(slices.Values(forward))); len(forward) != 1000 || len(distinct) != 1000 {
				t.Fatalf("%d events, %d distinct", len(forward), len(distinct))
			}
			p := st.list("pageSize", "100")
			for p.NextToken != "" {
				p = st.list("pageSize", "100", "pageToken", p.NextToken)
			}
			back := ids(p.Events)
			for pages = 1; p.PrevToken != ""; pages++ {
				p = st.list("pageSize", "100", "pageToken", p.PrevToken)
				back = append(ids(p.Events), back...)
			}
			if pages != 10 || !slices.Equal(back, forward) {
				t.Errorf("back in %d pages, the same order: %v", pages, slices.Equal(back, forward))
			}
		})
	}
}

func TestAMovingNowLeavesTheSnapshotAlone(t *testing.T) {
	t.Parallel()
	m := newModel(t, 9)
	snap, err := m.svc.Snapshot(t.Context(), values("from", "-7d"))
	if err != nil {
		t.Fatal(err)
	}
	if !snap.Until.IsZero() || !snap.From.Equal(noon().AddDate(0, 0, -7)) {
		t.Errorf("froze %s to %s", snap.From, snap.Until)
	}
	before, _ := m.all("snapshot", snap.Token, "pageSize", "20")
	clock := noon()
	m.svc.now = func() time.Time { return clock }
	for range 5 {
		m.grow(30)
		clock = clock.Add(10 * time.Minute)
		after, _ := m.all("snapshot", snap.Token, "pageSize", "20")
		if !slices.Equal(ids(after), ids(before)) {
			t.Fatalf("the snapshot moved from %d to %d events", len(before), len(after))
		}
	}
	if fresh, _ := m.all("from", "-7d"); len(fresh) != len(m.stored) {
		t.Errorf("a new search sees %d of %d", len(fresh), len(m.stored))
	}
}

// Zooming into a bar of a histogram finds what the bar counted.
func TestAPartOfASnapshotHasItsEventsAlone(t *testing.T) {
	t.Parallel()
	m := newModel(t, 9)
	whole, err := m.svc.Snapshot(t.Context(), values("from", "-7d"))
	if err != nil {
		t.Fatal(err)
	}
	stored, _ := m.all("snapshot", whole.Token)
	m.grow(60)
	from, until := noon().Add(-72*time.Hour), noon().Add(-24*time.Hour)
	var want []string
	for _, e := range stored {
		if at := e.OccurredAt; !at.Before(from) && at.Before(until) {
			want = append(want, e.ID)
		}
	}
	part, err := m.svc.Snapshot(t.Context(), values("from", "-3d", "until", until.Format(time.RFC3339), "within", whole.Token))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := m.all("snapshot", part.Token, "pageSize", "20")
	if len(want) < 10 || !slices.Equal(ids(got), want) {
		t.Errorf("a part has %d events, want %d", len(got), len(want))
	}
	if same, err := m.svc.Snapshot(t.Context(), values("within", part.Token)); err != nil || !same.From.Equal(from) || !same.Until.Equal(until) {
		t.Errorf("bounds that are left out are the whole's: %+v, %v", same, err)
	}
	half := from.Add(until.Sub(from) / 2)
	if one, err := m.svc.Snapshot(t.Context(), values("until", half.Format(time.RFC3339), "within", part.Token)); err != nil || !one.From.Equal(from) || !one.Until.Equal(half) {
		t.Errorf("a part that begins with the whole: %+v, %v", one, err)
	}
	for name, params := range map[string][]string{
		"behind it":       {"from", until.Add(time.Hour).Format(time.RFC3339), "within", part.Token},
		"before it":       {"from", "-4d", "within", part.Token},
		"after it":        {"until", "-1h", "within", part.Token},
		"empty":           {"from", "-2d", "until", "-2d", "within", part.Token},
		"another arrival": {"arrivedFrom", "-1h", "within", part.Token},
		"no token":        {"within", "x"},
	} {
		if _, err := m.svc.Snapshot(t.Context(), values(params...)); reasonOf(err) != fault.ReasonInvalidParameter {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.svc.now = func() time.Time { return noon().Add(2 * time.Hour) }
	if _, err := m.svc.Snapshot(t.Context(), values("within", part.Token)); reasonOf(err) != fault.ReasonSnapshotExpired {
		t.Errorf("a part is as old as the whole: %v", err)
	}
}

func TestAPartitionTheSnapshotDoesNotKnowIsEmpty(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	st.add(sample{id: "old", partition: 0})
	snap, err := st.svc.Snapshot(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	st.exec(`INSERT INTO log (topic, topic_id) VALUES ('events', gen_random_uuid())`)
	st.add(sample{id: "far", partition: 70_000}, sample{id: "new", partition: 1})
	st.exec(`INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) VALUES ('store', 2, 0, 0, 5)`)
	st.add(sample{id: "reborn", log: 2, commit: 5})
	st.expect("old", "snapshot", snap.Token)
	st.expect("reborn far new old")
}
