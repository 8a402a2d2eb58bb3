package maintain

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/block"
	"oriel/server/dbtest"
	"oriel/server/schema"
)

// held is where a key must be found: instants and offsets of one partition.
type held map[uint64][]string

func place(day time.Time, partition int, micros, offset int64) string {
	return fmt.Sprintf("%s %d %d", day.Add(time.Duration(micros)*time.Microsecond).Format(time.RFC3339Nano), partition, offset)
}

// indexed stores blocks as batches would have, and answers where each of some keys is.
func indexed(t *testing.T, pool *pgxpool.Pool, rng *rand.Rand, days []time.Time, partitions, commits, rows int) held {
	t.Helper()
	where := held{}
	offset := int64(0)
	for commit := range commits {
		for p := range partitions {
			for _, day := range days {
				batch := make([]block.Row, 1+rng.IntN(rows))
				for i := range batch {
					offset++
					r := &batch[i]
					r.Micros, r.Offset = rng.Int64N(24*3600*1e6), offset
					for range 10 {
						r.Keys = append(r.Keys, rng.Uint64())
					}
					// One of twenty recurs, and is what we ask for.
					k := uint64(rng.IntN(20)) * 0x9e3779b97f4a7c15
					r.Keys = append(r.Keys, k)
					where[k] = append(where[k], place(day, p, r.Micros, r.Offset))
				}
				b, err := block.Build(batch)
				if err != nil {
					t.Fatal(err)
				}
				exec(t, pool, `INSERT INTO event_block (day, log, partition, version, from_commit, through_commit, rows, entries, buckets,
					base_offset, last_offset, keys, lists, places, made_at)
					VALUES ($1, 1, $2, 1, $3, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() - interval '2 minutes')`,
					day, p, commit+1, b.Rows, b.Entries, b.Buckets, b.BaseOffset, offset, b.Keys, b.Lists, b.Places)
			}
		}
	}
	for k := range where {
		slices.Sort(where[k])
	}
	return where
}

// probe looks a key up as a search does: in one snapshot, by parts of the columns.
func probe(ctx context.Context, pool *pgxpool.Pool, key uint64) (found []string, err error) {
	err = pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		found = nil
		rows, err := tx.Query(ctx, `SELECT day, partition, from_commit, rows, base_offset, substr(keys, 1 + 512 * (($1::bigint * buckets) >> 28)::int, 1024)
			FROM event_block`, int64(block.Key(key)))
		if err != nil {
			return err
		}
		type hit struct {
			day        time.Time
			partition  int
			commit     int64
			rows       int
			baseOffset int64
			pages      []byte
		}
		hits, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h hit, err error) {
			return h, row.Scan(&h.day, &h.partition, &h.commit, &h.rows, &h.baseOffset, &h.pages)
		})
		if err != nil {
			return err
		}
		for _, h := range hits {
			m, err := block.Match(h.pages, block.Key(key))
			if err != nil {
				return err
			}
			if !m.Held {
				continue
			}
			ordinals := []uint16{m.Ordinal}
			part := func(sql string, args ...any) (b []byte, err error) {
				err = tx.QueryRow(ctx, "SELECT "+sql+" FROM event_block WHERE day = $1 AND partition = $2 AND from_commit = $3",
					append([]any{h.day, h.partition, h.commit}, args...)...).Scan(&b)
				return b, err
			}
			if (m.List != block.List{}) {
				list, err := part("substr(lists, 1 + $4::int, $5)", m.List.Offset, m.List.Length)
				if err != nil {
					return err
				}
				if ordinals, err = block.Ordinals(nil, list, h.rows); err != nil {
					return err
				}
			}
			for _, o := range ordinals {
				at, err := part("substr(places, 1 + 9 * $4::int, 9)", o)
				if err != nil {
					return err
				}
				micros, above, err := block.Place(at)
				if err != nil {
					return err
				}
				found = append(found, place(h.day.UTC(), h.partition, micros, h.baseOffset+above))
			}
		}
		return nil
	})
	slices.Sort(found)
	return found, err
}

func requireFound(ctx context.Context, t *testing.T, pool *pgxpool.Pool, where held) {
	t.Helper()
	for k, want := range where {
		got, err := probe(ctx, pool, k)
		if err != nil {
			t.Error(err)
			return
		}
		if !slices.Equal(got, want) {
			t.Errorf("key %x is found at %d places, want %d", k, len(got), len(want))
			return
		}
	}
}

func merging(t *testing.T, pool *pgxpool.Pool) []time.Time {
	t.Helper()
	today := time.Now().UTC().Truncate(24 * time.Hour)
	days := []time.Time{today.AddDate(0, 0, -1), today}
	if err := schema.EnsureDays(t.Context(), pool, days[0], days[1]); err != nil {
		t.Fatal(err)
	}
	return days
}

func TestProbesAnswerTheSameBeforeDuringAndAfterMerging(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	days := merging(t, pool)
	where := indexed(t, pool, rand.New(rand.NewPCG(1, 1)), days, 2, 40, 100)
	requireFound(t.Context(), t, pool, where)
	before := count(t, pool, "SELECT sum(rows) FROM event_block")

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			requireFound(t.Context(), t, pool, where)
		}
	})
	// Two leaders at once, as where one has lost its lock and does not know.
	var leaders sync.WaitGroup
	for range 2 {
		m := newMaintainer(t, pool)
		leaders.Go(func() {
			if err := m.Merge(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	leaders.Wait()
	stop()
	all.Wait()
	requireFound(t.Context(), t, pool, where)
	if n := count(t, pool, "SELECT count(*) FROM event_block"); n != 4 {
		t.Errorf("%d blocks of 160 are left", n)
	}
	if n := count(t, pool, "SELECT sum(rows) FROM event_block"); n != before {
		t.Errorf("%d rows of %d are left", n, before)
	}
	if n := count(t, pool, "SELECT count(*) FROM event_block WHERE from_commit <> 1 OR through_commit <> 40"); n != 0 {
		t.Error("the commits of blocks are wrong")
	}
}

func TestAMergeThatIsCutOffChangesNothing(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"before the old blocks are gone": "CREATE TRIGGER cut BEFORE DELETE ON event_block FOR EACH ROW EXECUTE FUNCTION cut()",
		"before the new block is in":     "CREATE TRIGGER cut BEFORE INSERT ON event_block FOR EACH ROW EXECUTE FUNCTION cut()",
		"at the commit": `CREATE CONSTRAINT TRIGGER cut AFTER INSERT ON event_block DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION cut()`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.New(t)
			where := indexed(t, pool, rand.New(rand.NewPCG(2, 2)), merging(t, pool), 1, 10, 50)
			// The session ends as it would at a crash, and not only the statement.
			exec(t, pool, `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
				PERFORM pg_terminate_backend(pg_backend_pid()); RETURN coalesce(NEW, OLD); END $$`)
			exec(t, pool, sql)
			m := newMaintainer(t, pool)
			if err := m.Merge(t.Context()); err == nil {
				t.Fatal("nothing was cut off: this test shows nothing")
			}
			if n := count(t, pool, "SELECT count(*) FROM event_block"); n != 20 {
				t.Errorf("%d blocks of 20", n)
			}
			requireFound(t.Context(), t, pool, where)
			exec(t, pool, "DROP TRIGGER cut ON event_block")
			if err := m.Merge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := count(t, pool, "SELECT count(*) FROM event_block"); n != 2 {
				t.Errorf("%d blocks", n)
			}
			requireFound(t.Context(), t, pool, where)
		})
	}
}

func TestBlocksOfCommitsThatAreToBeReindexedAreLeftAlone(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	where := indexed(t, pool, rand.New(rand.NewPCG(3, 3)), merging(t, pool)[1:], 1, 10, 50)
	exec(t, pool, "INSERT INTO block_gap (log, partition, through_commit) VALUES (1, 0, 4)")
	if err := newMaintainer(t, pool).Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, "SELECT count(*) FROM event_block WHERE from_commit <= 4 AND from_commit = through_commit"); n != 4 {
		t.Errorf("%d blocks of the gap are as they were, of 4", n)
	}
	if n := count(t, pool, "SELECT count(*) FROM event_block"); n != 5 {
		t.Errorf("%d blocks", n)
	}
	requireFound(t.Context(), t, pool, where)
}

func TestABlockThatCannotBeReadKeepsTheOthersFromNothing(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	days := merging(t, pool)
	indexed(t, pool, rand.New(rand.NewPCG(4, 4)), days, 1, 10, 50)
	exec(t, pool, `UPDATE event_block SET places = '\x00' WHERE day = $1 AND from_commit = 3`, days[1])
	m := newMaintainer(t, pool)
	if err := m.Merge(t.Context()); err == nil {
		t.Error("nobody is told")
	}
	if n := count(t, pool, "SELECT count(*) FROM event_block WHERE day = $1", days[0]); n != 1 {
		t.Errorf("%d blocks of the other day", n)
	}
	if n := count(t, pool, "SELECT count(*) FROM event_block WHERE day = $1", days[1]); n != 10 {
		t.Errorf("%d blocks of the day", n)
	}
}

func TestAGapEndsWithTheDaysOfItsRows(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
	now := time.Now().UTC()
	store(t, pool, 0, 1, now.AddDate(0, 0, -100), 3)
	store(t, pool, 1, 1, now.AddDate(0, 0, -10), 3)
	exec(t, pool, "INSERT INTO block_gap (log, partition, through_commit) VALUES (1, 0, 1), (1, 1, 1)")
	if err := m.dropDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, "SELECT sum(partition + 10) FROM block_gap"); n != 11 {
		t.Errorf("gaps are left of partitions that sum to %d, want 1 alone", n-10)
	}
}
