package fault

import (
	"context"
	"fmt"
	"testing"
	"time"

	"oriel/server/apptest"
)

// gate holds transactions that store events, of the writers that a test names, for as long as the server lets
// a statement run: in the middle of a batch, or in its COMMIT.
type gate struct {
	t *testing.T
	r *rig
}

// inBatch is a gate behind the insert of a batch's rows; inCommit is one that only COMMIT comes to.
const (
	inBatch  = `CREATE TRIGGER fault_wait AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION fault_wait()`
	inCommit = `CREATE CONSTRAINT TRIGGER fault_wait AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fault_wait()`
)

func (r *rig) gate(where string) *gate {
	r.t.Helper()
	r.exec(`CREATE TABLE fault_hold (writer text PRIMARY KEY)`)
	// Each turn sees what others have committed meanwhile.
	r.exec(`CREATE FUNCTION fault_wait() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
		BEGIN
			WHILE EXISTS (SELECT FROM fault_hold WHERE writer = current_setting('fault.writer', true)) LOOP
				PERFORM pg_sleep(0.01);
			END LOOP;
			RETURN NULL;
		END $$`)
	r.exec(where)
	g := &gate{r.t, r}
	r.t.Cleanup(func() { // or a member that is held at a failure would stop late
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := r.pool.Exec(ctx, `DELETE FROM fault_hold`); err != nil {
			r.t.Errorf("open the gate: %v", err)
		}
	})
	return g
}

func (g *gate) hold(writers ...string) {
	g.t.Helper()
	g.r.exec(`INSERT INTO fault_hold SELECT unnest($1::text[])`, writers)
}

func (g *gate) letGo(writers ...string) {
	g.t.Helper()
	g.r.exec(`DELETE FROM fault_hold WHERE writer = ANY($1)`, writers)
}

// waitHeld waits until n transactions of a writer are at the gate, and says which they are.
func (g *gate) waitHeld(writer string, n int) (xids []string) {
	g.t.Helper()
	apptest.Eventually(g.t, time.Minute, func() bool {
		xids = scan[[]string](g.t, g.r.pool, `SELECT coalesce(array_agg(backend_xid::text), '{}') FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = $1 AND wait_event = 'PgSleep' AND backend_xid IS NOT NULL`, writer)
		return len(xids) == n
	}, func() string { return fmt.Sprintf("%d transactions of %s are held, want %d", len(xids), writer, n) })
	return xids
}

// waitBlocked waits until somebody other than the writer waits for a lock.
func (g *gate) waitBlocked(others ...string) {
	g.t.Helper()
	apptest.Eventually(g.t, time.Minute, func() bool {
		return scan[int](g.t, g.r.pool, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND application_name = ANY($1) AND wait_event_type = 'Lock'`, others) > 0
	}, func() string { return fmt.Sprintf("none of %v waits for a lock", others) })
}
