package maintain

import (
	"context"
	"fmt"
	"testing"
	"time"

	"oriel/server/dbtest"
)

func TestTheBrokersLogIsTrimmedToWhatIsNeeded(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
	store(t, pool, 0, 7, time.Now(), 1)
	store(t, pool, 1, 9, time.Now(), 1)
	exec(t, pool, "INSERT INTO checkpoint (consumer, log, partition, next_offset) VALUES ('orders', 1, 1, 33)")
	got := make(chan map[int32]int64, 1)
	m.TrimLog = func(_ context.Context, lowest map[int32]int64) error {
		select {
		case got <- lowest:
		default:
		}
		return nil
	}
	start(t, m)
	select {
	case lowest := <-got:
		if fmt.Sprint(lowest) != "map[0:7000 1:33]" {
			t.Errorf("lowest %v", lowest)
		}
	case <-time.After(patience):
		t.Fatal("never called")
	}
}

func TestTheOffsetsOfALogThatWasLeftNeverCutTheNewOne(t *testing.T) {
	t.Parallel()
	old, fresh := [16]byte{15: 1}, [16]byte{15: 2}
	for name, c := range map[string]struct {
		sql  string
		now  *[16]byte // the log that the broker has
		want string    // "" is not called
	}{
		"one log, asked":                         {"", &old, "map[0:7000]"},
		"recreated, and nobody has noticed":      {"", &fresh, ""},
		"recreated and recorded, not asked":      {`INSERT INTO log (topic, topic_id) VALUES ('t', '00000000-0000-0000-0000-000000000002')`, nil, ""},
		"the old one is back behind the adopted": {adopted, &old, ""},
		"adopted":                                {adopted, &fresh, "map[0:40]"},
		"adopted, not asked":                     {adopted, nil, "map[0:40]"},
		"another topic is newer":                 {another, &old, "map[0:7000]"},
		"another topic, not asked":               {another, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.New(t)
			m := newMaintainer(t, pool)
			store(t, pool, 0, 7, time.Now(), 1)
			exec(t, pool, c.sql)
			got := ""
			m.TrimLog = func(_ context.Context, lowest map[int32]int64) error {
				got = fmt.Sprint(lowest)
				return nil
			}
			if c.now != nil {
				m.Log = func(context.Context) (string, [16]byte, error) { return "t", *c.now, nil }
			}
			if err := m.trimLog(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("trimmed to %q, want %q", got, c.want)
			}
		})
	}
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
	store(t, pool, 0, 7, time.Now(), 1)
	m.TrimLog = func(context.Context, map[int32]int64) error { t.Error("trimmed without knowing the log"); return nil }
	m.Log = func(context.Context) (string, [16]byte, error) { return "", old, context.DeadlineExceeded }
	if err := m.trimLog(t.Context()); err == nil {
		t.Error("no error")
	}
}

// A second log that is consumed, of the same topic and of another.
const (
	adopted = `WITH l AS (INSERT INTO log (topic, topic_id) VALUES ('t', '00000000-0000-0000-0000-000000000002') RETURNING id)
		INSERT INTO checkpoint (consumer, log, partition, next_offset) SELECT 'store', id, 0, 40 FROM l`
	another = `WITH l AS (INSERT INTO log (topic, topic_id) VALUES ('u', '00000000-0000-0000-0000-000000000002') RETURNING id)
		INSERT INTO checkpoint (consumer, log, partition, next_offset) SELECT 'store', id, 0, 40 FROM l`
)
