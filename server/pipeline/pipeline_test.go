package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"oriel/server/dbtest"
	"oriel/server/fault"
	"oriel/server/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, dbtest.IgnoreServers()...) }

func at[T any](v T) *T { return &v }

func TestTheNamedConditionsHoldFromTheirThresholdsOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state State
		want  []string
	}{
		"nothing holds of a pipeline that runs": {State{Partitions: []Partition{{State: "running"}}, Lag: at(int64(LagLimit - 1)), DeadLettersRecent: DeadLetterLimit - 1}, nil},
		"a lag that is not known is no alert":   {State{}, nil},
		"a lag at the limit":                    {State{Lag: at(int64(LagLimit))}, []string{LagHigh}},
		"dead letters at the limit":             {State{DeadLettersRecent: DeadLetterLimit}, []string{DeadLettersRising}},
		"every partition that stands for itself": {
			State{Partitions: []Partition{{Partition: 1, State: "gap"}, {Partition: 2, State: "running"}, {Partition: 3, State: "fatal", Reason: "poison"}, {Partition: 4, State: "tripped"}}},
			[]string{PartitionGap, PartitionFatal, PartitionTripped},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, a := range ofState(&c.state) {
				got = append(got, a.Name)
				if a.Summary == "" || a.Detail == "" || rank(a.Severity) < 0 {
					t.Errorf("%+v does not say what it is", a)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAConditionKeepsItsBeginningUntilItEnds(t *testing.T) {
	t.Parallel()
	m := New(nil, Config{}, slog.New(slog.DiscardHandler))
	begin := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	since := func(whole, holds bool, now time.Time) time.Time {
		alerts := []Alert{{Name: LagHigh}}
		if !holds {
			alerts = nil
		}
		m.remember(alerts, whole, now)
		if !holds {
			return time.Time{}
		}
		return alerts[0].Since
	}
	since(true, true, begin)
	if got := since(true, true, begin.Add(time.Minute)); !got.Equal(begin) {
		t.Errorf("it began at %s, want %s", got, begin)
	}
	since(false, false, begin.Add(2*time.Minute))
	if got := since(true, true, begin.Add(3*time.Minute)); !got.Equal(begin) {
		t.Errorf("it ended as the database was not read: %s", got)
	}
	since(true, false, begin.Add(4*time.Minute))
	again := begin.Add(5 * time.Minute)
	if got := since(true, true, again); !got.Equal(again) {
		t.Errorf("it began anew at %s, want %s", got, again)
	}
}

func seed(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// The id of the newest log of the world, and what a broker says of that topic.
var newest = [16]byte{15: 2}

type ends = func(context.Context) ([16]byte, map[int32]int64, error)

func says(id [16]byte, of map[int32]int64) ends {
	return func(context.Context) ([16]byte, map[int32]int64, error) { return id, of, nil }
}

const world = `
SELECT ensure_day('ledger', d::date) FROM generate_series(now() - interval '1 day', now(), '1 day') d;
INSERT INTO log (topic, topic_id) VALUES ('events', gen_random_uuid()), ('events', '00000000-0000-0000-0000-000000000002');
INSERT INTO checkpoint (consumer, log, partition, next_offset, commits, state, state_reason)
VALUES ('store', 1, 0, 9000, 9, 'running', NULL), ('store', 2, 0, 100, 3, 'running', NULL), ('store', 2, 1, 50, 1, 'gap', 'gone');
INSERT INTO ledger (consumer, log, partition, commit, from_offset, to_offset, stored, duplicate, dead, skipped, expired, committed_at)
VALUES ('store', 2, 0, 1, 0, 10, 10, 0, 0, 0, 0, now() - interval '5 minutes'),
       ('store', 2, 0, 2, 10, 40, 30, 0, 0, 0, 0, now() - interval '10 seconds'),
       ('store', 2, 0, 3, 40, 100, 60, 0, 0, 0, 0, now()), ('store', 2, 1, 1, 0, 50, 30, 20, 0, 0, 0, now());
INSERT INTO dead_letter (consumer, log, partition, "offset", commit, reason, detail, headers, kafka_time, created_at)
SELECT 'store', 2, 0, n, 1, 'x', 'x', '{}', now(), now() - n * interval '1 hour' FROM generate_series(0, 30) n`

func TestTheStateIsOfTheNewestLog(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	seed(t, pool, world)
	m := New(pool, Config{
		Topic: "events", Consumer: "store",
		Ends: says(newest, map[int32]int64{0: 110, 1: 55, 2: 0}),
	}, slog.New(slog.DiscardHandler))
	s, err := m.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Partitions) != 2 || s.Partitions[0].Next != 100 || s.Partitions[1].State != "gap" || s.Partitions[1].Reason != "gone" {
		t.Errorf("partitions are %+v", s.Partitions)
	}
	if s.Lag == nil || *s.Lag != 15 || *s.Partitions[1].Lag() != 5 {
		t.Errorf("the lag is %v, want 15", s.Lag)
	}
	if s.StoredPerSecond != 2 {
		t.Errorf("%v events are stored in a second, want 120 in a minute", s.StoredPerSecond)
	}
	if s.DeadLettersDay != 24 || s.DeadLettersRecent != 1 || s.LastCommit.IsZero() {
		t.Errorf("%d and %d dead letters, last commit %s", s.DeadLettersDay, s.DeadLettersRecent, s.LastCommit)
	}
	if again, err := m.State(t.Context()); again != s || err != nil {
		t.Error("another reading at once")
	}
	if got := m.Alerts(t.Context()); len(got) != 1 || got[0].Name != PartitionGap || got[0].Since.IsZero() {
		t.Errorf("alerts are %+v", got)
	}
}

func TestWhatTheBrokerDoesNotSayIsAbsent(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	seed(t, pool, world)
	for name, ends := range map[string]ends{
		"without a way to the broker":       nil,
		"a broker that does not answer":     func(context.Context) (id [16]byte, of map[int32]int64, err error) { return id, nil, errors.New("away") },
		"a broker without a partition":      says(newest, map[int32]int64{0: 110}),
		"a partition that nobody has begun": says(newest, map[int32]int64{0: 110, 1: 55, 2: 7}),
	} {
		m := New(pool, Config{Topic: "events", Consumer: "store", Ends: ends}, slog.New(slog.DiscardHandler))
		if s, err := m.State(t.Context()); err != nil || s.Lag != nil || len(s.Partitions) != 2 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

func TestATopicThatWasRecreatedStandsStillAndHasNoLag(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	seed(t, pool, world)
	m := New(pool, Config{Topic: "events", Consumer: "store", Ends: says([16]byte{15: 3}, map[int32]int64{0: 70000, 1: 20})},
		slog.New(slog.DiscardHandler))
	began := time.Now()
	s, err := m.State(t.Context())
	if err != nil || s.Lag != nil {
		t.Fatalf("a lag between two topics: %+v, %v", s, err)
	}
	for _, p := range s.Partitions {
		if p.State != "fatal" || p.Lag() != nil || p.Reason != "The topic was recreated: its id is AAAAAAAAAAAAAAAAAAAAAw, and this offset is of AAAAAAAAAAAAAAAAAAAAAg." {
			t.Errorf("partition %d: %+v", p.Partition, p)
		}
	}
	alerts := m.Alerts(t.Context())
	if len(alerts) != 2 {
		t.Errorf("alerts are %+v", alerts)
	}
	for _, a := range alerts {
		if a.Name != PartitionFatal || a.Since.Before(began) {
			t.Errorf("the alert is %+v", a)
		}
	}
}

func TestADatabaseThatIsAwayLeavesWhatTheProcessKnows(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	began := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	m := New(pool, Config{Topic: "events", Consumer: "store", Readiness: func() telemetry.Readiness {
		return telemetry.Readiness{Checks: []telemetry.CheckState{
			{Name: "broker", OK: true}, {Name: "postgresql", Detail: "The database does not answer.", Since: began},
		}}
	}}, slog.New(slog.DiscardHandler))
	pool.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.State(gone); fault.Of(err).Kind != fault.Unavailable || m.err != nil {
		t.Errorf("who went away has %v, and leaves %v to others", err, m.err)
	}
	_, err := m.State(t.Context())
	if fault.Of(err).Kind != fault.Unavailable {
		t.Errorf("got %v", err)
	}
	if _, again := m.State(t.Context()); !errors.Is(again, err) {
		t.Errorf("another reading at once: %v", again)
	}
	got := m.Alerts(t.Context())
	if len(got) != 1 || got[0].Name != NotReady || got[0].Target != "postgresql" || !got[0].Since.Equal(began) {
		t.Errorf("alerts are %+v", got)
	}
}
