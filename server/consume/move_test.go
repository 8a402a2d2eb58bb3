package consume

import (
	"context"
	"errors"
	"strings"
	"testing"

	"oriel/server/dbtest"

	"github.com/jackc/pgx/v5"
)

func (r *rig) move(partition int32, to int64, from *int64) (Moved, error) {
	return MovePartition(r.t.Context(), r.pool, r.opts(), Move{
		Consumer: "store", Topic: r.broker.Topic, Partition: partition, To: to, From: from, Reason: "for a test", Actor: "tester",
	}, nil)
}

func TestAGapIsLeftBehindByARecordedMoveAndTheLedgerAddsUp(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 2, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		r.produce(series(0, 0, 10)...)
		r.produce(series(1, 0, 10)...)
		r.halt(r.startAndSettle())
		r.produce(series(0, 10, 20)...)
		if err := r.deleteRecords(0, 16); err != nil {
			t.Fatal(err)
		}
		m := r.start(nil)
		r.await("the partition has a gap", func() bool { return m.Status().State == StateGap })
		_, err := r.move(0, 12, nil)
		if err == nil || !strings.Contains(err.Error(), "outside of the log") || !strings.Contains(err.Error(), "offsets 16 to 30") {
			t.Errorf("moved into the gap: %v", err)
		}
		moved, err := r.move(0, 16, nil)
		if err != nil || moved.From != 10 || moved.Skipped != 6 || moved.WasState != StateGap {
			t.Fatalf("moved %+v: %v", moved, err)
		}
		r.settle()
		r.await("the consumer is ready", func() bool { return m.Status().Ready() })
		r.expect(tally{stored: 34})
		if n := r.count(`SELECT count(*) FROM ledger WHERE partition = 0 AND from_offset = 10 AND to_offset = 16 AND skipped = 6
			AND stored + duplicate + dead + expired = 0`); n != 1 {
			t.Errorf("what was skipped is not in the ledger\n%s", r.picture())
		}
		if n := r.count("SELECT sum(to_offset - from_offset) FROM ledger WHERE partition = 0"); n != 30 {
			t.Errorf("the ledger accounts for %d offsets of 30", n)
		}
		if n := r.count(`SELECT count(*) FROM consumer_decision WHERE action = 'move' AND log = 1 AND partition = 0 AND actor = 'tester'
			AND reason = 'for a test' AND detail LIKE '10 -> 16, 6 skipped; was gap: the log starts at offset 16%'`); n != 1 {
			t.Error("the decision is not recorded")
		}
	})
}

func TestACheckpointBeyondTheLogIsMovedBack(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		r := newRig(t, b)
		r.produce(series(0, 0, 10)...)
		r.halt(r.startAndSettle())
		r.exec("UPDATE checkpoint SET next_offset = 500, high_offset = 500")
		m := r.start(nil)
		r.await("the partition is fatal", func() bool { return m.Status().State == StateFatal })
		if moved, err := r.move(0, 10, nil); err != nil || moved.Skipped != 0 {
			t.Fatalf("moved %+v: %v", moved, err)
		}
		r.produce(series(0, 10, 10)...)
		r.settle()
		r.expect(tally{stored: 20})
		if n := r.count("SELECT high_offset FROM checkpoint"); n != 20 {
			t.Errorf("the highest offset is %d", n)
		}
	})
}

// A worker in the middle of its batches is fenced off by a move, whichever way it goes.
func TestAMoveUnderLoadIsFollowed(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	m := r.start(func(c *Config) { c.BatchRecords = 20 })
	for round := range 5 {
		r.produce(series(0, round*200, 200)...)
		r.await("some are stored", func() bool { return r.count("SELECT coalesce(max(next_offset), 0) FROM checkpoint") > round*200 })
		if _, err := r.move(0, int64(round*100), nil); err != nil {
			t.Fatal(err)
		}
	}
	r.settle()
	if got := r.outcomes(); got.stored != 1000 || got.duplicate == 0 || got.dead != 0 {
		t.Errorf("outcomes %+v\n%s", got, r.picture())
	}
	r.await("the consumer is ready", func() bool { return m.Status().Ready() })
	// An idle worker never meets the fence: a skip ahead of it must reach it all the same.
	r.halt(m)
	r.produce(series(0, 1000, 50)...)
	from := int64(1000)
	if moved, err := r.move(0, 1040, &from); err != nil || moved.Skipped != 40 {
		t.Fatalf("moved %+v: %v", moved, err)
	}
	r.start(nil)
	r.settle()
	if n := r.count("SELECT count(*) FROM event"); n != 1010 {
		t.Errorf("%d rows", n)
	}
}

func TestAMoveThatCannotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 1))
	elsewhere := int64(3)
	try := func(name, want string, partition int32, to int64, from *int64) {
		t.Helper()
		if _, err := r.move(partition, to, from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", name, err, want)
		}
	}
	try("a consumer that never ran", "no checkpoints", 0, 0, nil)
	r.produce(series(0, 0, 10)...)
	r.halt(r.startAndSettle())
	r.produce(series(0, 10, 10)...)
	try("a partition that is not there", "partitions 0 to 0", 1, 5, nil)
	try("a partition below zero", "partitions 0 to 0", -1, 5, nil)
	try("an offset below zero", "offsets 0 to 20", 0, -1, nil)
	try("an offset beyond the end", "offsets 0 to 20", 0, 21, nil)
	try("where it is already", "nothing to move", 0, 10, nil)
	try("forward, of a partition that runs", "--from", 0, 15, nil)
	try("from where it is not", "is at 10 (running)", 0, 15, &elsewhere)
	if _, err := MovePartition(t.Context(), r.pool, r.opts(), Move{Consumer: "store", Topic: r.broker.Topic, To: 5, Actor: "tester"}, nil); err == nil || !strings.Contains(err.Error(), "reason") {
		t.Errorf("moved without a reason: %v", err)
	}
	if _, err := MovePartition(t.Context(), r.pool, r.opts(), Move{Consumer: "store", Topic: r.broker.Topic, To: 5, Reason: "x", Actor: "tester"},
		func(context.Context, pgx.Tx, Moved) error { return errors.New("the record failed") }); err == nil {
		t.Error("moved without the record")
	}
	if n := r.count("SELECT count(*) FROM consumer_decision") + r.count("SELECT count(*) FROM ledger WHERE skipped > 0"); n != 0 {
		t.Errorf("refused moves left %d rows", n)
	}
	if n := r.count("SELECT next_offset FROM checkpoint"); n != 10 {
		t.Errorf("the checkpoint is at %d", n)
	}
	// Of a topic that was made anew, adoption comes first.
	ctx := t.Context()
	if _, err := r.admin.DeleteTopic(ctx, r.broker.Topic); err != nil {
		t.Fatal(err)
	}
	if resp, err := r.admin.CreateTopic(ctx, 1, 1, nil, r.broker.Topic); err != nil || resp.Err != nil {
		t.Fatal(err, resp.Err)
	}
	try("a topic that was recreated", "adopt-topic", 0, 0, nil)
}
