package reindex_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"oriel/bench/events"
	"oriel/server/dbtest"
	"oriel/server/maintain"
	"oriel/server/reindex"
	"oriel/server/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, dbtest.IgnoreServers()...) }

// site is a database with events of two days and two partitions that have no blocks.
type site struct {
	t    *testing.T
	pool *pgxpool.Pool
	app  *pgxpool.Pool
	days []time.Time
	gen  *events.Generator
}

func newSite(t *testing.T, commits, rows int) *site {
	t.Helper()
	today := time.Now().UTC().Truncate(24 * time.Hour)
	s := &site{
		t: t, pool: dbtest.New(t), days: []time.Time{today.AddDate(0, 0, -1), today},
		gen: events.New(rand.New(rand.NewPCG(1, 1)), today, 3),
	}
	s.app = dbtest.Open(t, dbtest.AppURL(t, s.pool.Config().ConnString()))
	if err := schema.EnsureDays(t.Context(), s.pool, s.days[0], s.days[1]); err != nil {
		t.Fatal(err)
	}
	s.exec("INSERT INTO log (topic, topic_id) VALUES ('t', '00000000-0000-0000-0000-000000000001')")
	for p := range 2 {
		for commit := 1; commit <= commits; commit++ {
			s.store(p, commit, rows)
		}
		s.exec("INSERT INTO block_gap (log, partition, through_commit) VALUES (1, $1, $2)", p, commits)
	}
	return s
}

func (s *site) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *site) count(sql string, args ...any) (n int) {
	s.t.Helper()
	if err := s.pool.QueryRow(s.t.Context(), sql, args...).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// store writes one commit as a build did that wrote no blocks.
func (s *site) store(partition, commit, rows int) {
	s.t.Helper()
	for i := range rows {
		e := s.gen.Next()
		at := s.days[i%2].Add(time.Duration(commit*rows+i) * time.Second)
		s.exec(`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, source, id, type, subject, time_text,
				datacontenttype, data, attributes, trace_id)
			VALUES ($1, 1, $2, $3, $4, now(), 0, $5, $6, $7, $8, '', 'application/json', $9, ARRAY['region', 'string', 'eu-7f3a9c01'], $10)`,
			at, partition, commit*rows+i, commit, e.Source, e.ID, e.Type, e.Subject, e.Data, []byte(e.ID))
	}
	s.exec(`INSERT INTO checkpoint (consumer, log, partition, next_offset, commits) VALUES ('store', 1, $1, $2, $3)
		ON CONFLICT (consumer, log, partition) DO UPDATE SET commits = EXCLUDED.commits`, partition, (commit+1)*rows, commit)
}

func (s *site) run(ctx context.Context, o reindex.Options, tell func(reindex.Progress)) (reindex.Done, error) {
	s.t.Helper()
	x, err := reindex.New(ctx, s.app)
	if err != nil {
		s.t.Fatal(err)
	}
	return x.Run(ctx, o, tell)
}

func (s *site) check() reindex.Checked {
	s.t.Helper()
	x, err := reindex.New(s.t.Context(), s.app)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := x.Check(s.t.Context(), reindex.Window{}, 50, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// whole requires that every event is in a block.
func (s *site) whole() {
	s.t.Helper()
	c := s.check()
	if want := s.count("SELECT count(*) FROM event"); len(c.Wrong) > 0 || c.Rows != want || c.Waiting != 0 || c.Keys == 0 {
		s.t.Errorf("of %d events: %+v", want, c)
	}
	if n := s.count("SELECT count(*) FROM block_gap"); n != 0 {
		s.t.Errorf("%d gaps are left", n)
	}
}

func TestEventsWithoutBlocksGetThem(t *testing.T) {
	t.Parallel()
	s := newSite(t, 10, 40)
	if c := s.check(); c.Waiting != 800 || len(c.Wrong) > 0 {
		t.Errorf("before: %+v", c)
	}
	// One day first: the gap stays, and so it is said.
	done, err := s.run(t.Context(), reindex.Options{Window: reindex.Window{From: s.days[1]}}, nil)
	if err != nil || done.Rows != 400 || len(done.Left) != 2 || s.count("SELECT count(*) FROM block_gap") != 2 {
		t.Errorf("one day: %+v, %v", done, err)
	}
	if c := s.check(); c.Waiting != 400 || c.Rows != 400 || len(c.Wrong) > 0 {
		t.Errorf("after one day: %+v", c)
	}
	told := 0
	done, err = s.run(t.Context(), reindex.Options{}, func(p reindex.Progress) {
		told++
		if p.Days < 2 || p.Rows > 400 {
			t.Errorf("told %+v", p)
		}
	})
	if err != nil || done.Rows != 400 || len(done.Left) != 0 || told == 0 {
		t.Errorf("all: %+v, %v", done, err)
	}
	s.whole()
}

func TestARunThatWasCutOffGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4, 30)
	for cut := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := s.run(ctx, reindex.Options{}, func(p reindex.Progress) {
			if p.Blocks > n {
				n = p.Blocks
				cancel()
			}
		})
		cancel()
		if err == nil {
			t.Fatalf("turn %d was not cut off: this test shows nothing", cut)
		}
	}
	if n := s.count("SELECT count(*) FROM event_block"); n != 3 {
		t.Errorf("%d blocks after three beginnings", n)
	}
	if _, err := s.run(t.Context(), reindex.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	s.whole()
	if n := s.count("SELECT count(*) FROM event_block"); n != 4 {
		t.Errorf("%d blocks", n)
	}
}

func TestBlocksAmongThoseWithoutStay(t *testing.T) {
	t.Parallel()
	s := newSite(t, 8, 20)
	if _, err := s.run(t.Context(), reindex.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	// Commits 1 to 8 have blocks. A build without blocks writes 9 to 12, a new one takes over.
	for p := range 2 {
		for commit := 9; commit <= 12; commit++ {
			s.store(p, commit, 20)
		}
		s.exec("INSERT INTO block_gap (log, partition, through_commit) VALUES (1, $1, 12)", p)
	}
	done, err := s.run(t.Context(), reindex.Options{}, nil)
	if err != nil || done.Rows != 2*4*20 {
		t.Errorf("%+v, %v", done, err)
	}
	s.whole()
}

func TestTwoRunsAtOnceMakeEachBlockOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, 6, 30)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := s.run(t.Context(), reindex.Options{}, nil); err != nil && !strings.Contains(err.Error(), "another run") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if _, err := s.run(t.Context(), reindex.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	s.whole()
}

func TestWhatIsWrongIsFoundAndMended(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, says string }{
		"a block is gone":            {"DELETE FROM event_block WHERE partition = 1", "are in no block"},
		"a block lacks a row":        {"UPDATE event_block SET rows = rows - 1, places = substr(places, 1, 9 * (rows - 1))", "and there are"},
		"bytes of the keys changed":  {`UPDATE event_block SET keys = set_byte(keys, 100, get_byte(keys, 100) # 255)`, ""},
		"bytes of a place changed":   {`UPDATE event_block SET places = set_byte(places, 4, get_byte(places, 4) # 1)`, "is no event"},
		"keys of other rows":         {`UPDATE event_block a SET keys = b.keys, buckets = b.buckets, entries = b.entries, lists = b.lists FROM event_block b WHERE a.partition = 0 AND b.partition = 1 AND a.day = b.day`, "is not found"},
		"the keys are those of none": {`UPDATE event_block SET keys = '', entries = 0`, "is not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, 5, 20)
			if _, err := s.run(t.Context(), reindex.Options{}, nil); err != nil {
				t.Fatal(err)
			}
			s.whole()
			s.exec(c.sql)
			if found := s.check(); len(found.Wrong) == 0 || !strings.Contains(strings.Join(found.Wrong, "\n"), c.says) {
				t.Errorf("found %+v", found)
			}
			if _, err := s.run(t.Context(), reindex.Options{Rebuild: true}, nil); err != nil {
				t.Fatal(err)
			}
			s.whole()
		})
	}
}

func TestRebuildingIsSafeBesideMerging(t *testing.T) {
	t.Parallel()
	s := newSite(t, 30, 10)
	if _, err := s.run(t.Context(), reindex.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	// One block a commit, and older than a minute, as they wait to be merged.
	s.exec("DELETE FROM event_block")
	for p := range 2 {
		for commit := 1; commit <= 30; commit++ {
			s.exec("INSERT INTO block_gap (log, partition, through_commit) VALUES (1, $1, $2)", p, commit)
			if _, err := s.run(t.Context(), reindex.Options{}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.exec("UPDATE event_block SET made_at = made_at - interval '1 hour'")
	if n := s.count("SELECT count(*) FROM event_block"); n != 120 {
		t.Fatalf("%d blocks: this test shows nothing", n)
	}
	m := maintain.New(s.app, 91*24*time.Hour, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := s.run(t.Context(), reindex.Options{Rebuild: true}, nil); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		for range 5 {
			if err := m.Merge(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	s.whole()
}
