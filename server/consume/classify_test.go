package consume

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestEveryRowOfTheTableOfErrorsIsWhatPostgreSQLAnswers(t *testing.T) {
	t.Parallel()
	type answer struct {
		state string
		class class
		cause func(*server) func() error
	}
	sql := func(statements ...string) func(*server) func() error {
		return func(s *server) func() error { return s.fails(statements...) }
	}
	cases := map[string]answer{
		"a number that is too large":           {"22003", recordCaused, sql(insert("severity", "99999999"))},
		"a character that is not of UTF-8":     {"22021", recordCaused, sql(insert("subject", `convert_from('\xff', 'UTF8')`))},
		"a text that is too long":              {"22001", recordCaused, sql("ALTER TABLE event ADD COLUMN short varchar(2)", insert("short", "'long'"))},
		"a required value that is missing":     {"23502", recordCaused, sql("ALTER TABLE event ADD COLUMN needed int NOT NULL", insert("subject", "'s'"))},
		"a value that refers to nothing":       {"23503", recordCaused, sql("ALTER TABLE event ADD COLUMN owner smallint REFERENCES log (id)", insert("owner", "77"))},
		"a value that another row has":         {"23505", recordCaused, sql("CREATE UNIQUE INDEX one ON event (occurred_at, subject)", "BEGIN", insert("subject", "'s'"), insert("subject", "'s'"))},
		"a value out of its check":             {"23514", recordCaused, sql("ALTER TABLE event ADD CONSTRAINT sane CHECK (subject <> 's')", insert("subject", "'s'"))},
		"a value out of its domain":            {"23514", recordCaused, sql("CREATE DOMAIN sane AS text CHECK (VALUE <> 's')", "ALTER TABLE event ADD COLUMN d sane", insert("d", "'s'"))},
		"ranges that overlap":                  {"23P01", recordCaused, sql("CREATE TABLE r (x int4range, EXCLUDE USING gist (x WITH &&))", "INSERT INTO r VALUES ('[1,5]')", "INSERT INTO r VALUES ('[3,9]')")},
		"a row that others refer to":           {"23001", recordCaused, sql("CREATE TABLE a (x int PRIMARY KEY)", "CREATE TABLE b (x int REFERENCES a ON DELETE RESTRICT)", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (1)", "DELETE FROM a")},
		"a trigger's check without a name":     {"23514", recordCaused, sql(raise("23514", ""), insert("subject", "'s'"))},
		"a row of a day without a partition":   {"23514", environment, sql(strings.Replace(insert("subject", "'s'"), "now()", "'2001-01-01'", 1))},
		"a row in another one's partition":     {"23514", environment, sql("SELECT ensure_day('event', '2001-01-01')", strings.Replace(insert("subject", "'s'"), "event", "event_20010101", 1))},
		"a row that one statement meets twice": {"21000", recordCaused, sql("CREATE TABLE a (x int PRIMARY KEY)", "INSERT INTO a VALUES (1), (1) ON CONFLICT (x) DO UPDATE SET x = 1")},
		"a validation trigger":                 {"P0001", recordCaused, sql(raise("P0001", ""), insert("subject", "'s'"))},
		"a trigger that finds no row":          {"P0002", environment, sql("DO 'DECLARE x int; BEGIN SELECT id INTO STRICT x FROM log; END'")},
		"a row that is too large for an index": {"54000", recordCaused, sql(insert("subject", "(SELECT string_agg(gen_random_uuid()::text, '') FROM generate_series(1, 500))"))},

		"a message that breaks the protocol": {"08P01", environment, func(s *server) func() error {
			conn := s.session().PgConn()
			return func() error {
				if _, err := conn.Prepare(s.t.Context(), "two", "SELECT $1::int + $2::int", nil); err != nil {
					s.t.Fatal(err)
				}
				return conn.ExecPrepared(s.t.Context(), "two", [][]byte{[]byte("1")}, nil, nil).Read().Err
			}
		}},
		"a server that only reads":             {"25006", environment, sql("SET default_transaction_read_only = on", insert("subject", "'s'"))},
		"a transaction that had failed":        {"25P02", environment, func(s *server) func() error { return s.afterFailure() }},
		"a transaction that was idle":          {"25P03", environment, func(s *server) func() error { return s.afterIdling() }},
		"a command that needs no transaction":  {"25001", environment, sql("BEGIN", "VACUUM log")},
		"two writers of a row in snapshots":    {"40001", environment, func(s *server) func() error { return s.serialization() }},
		"two writers that wait for each other": {"40P01", environment, func(s *server) func() error { return s.deadlock() }},
		"a role without connections left":      {"53300", environment, func(s *server) func() error { return s.connectionLimit() }},
		"an object that is not ready":          {"55000", environment, sql("CREATE SEQUENCE q", "SELECT currval('q')")},
		"a lock that is not to be had in time": {"55P03", environment, func(s *server) func() error { return s.lockTimeout() }},
		"an object in use":                     {"55006", environment, func(s *server) func() error { return s.databaseInUse() }},
		"a statement that takes too long":      {"57014", environment, sql("SET statement_timeout = '20ms'", "SELECT pg_sleep(60)")},
		"a statement that is cancelled":        {"57014", environment, func(s *server) func() error { return s.ended("pg_cancel_backend") }},
		"a session that is terminated":         {"57P01", environment, func(s *server) func() error { return s.ended("pg_terminate_backend") }},
		"a file that is missing":               {"58P01", environment, sql("COPY log FROM '/nowhere/at/all'")},
		"a fault of the server's own":          {"XX000", environment, sql("SELECT amvalidate(0)")},
		"a table that changed its shape":       {"0A000", skew, func(s *server) func() error { return s.cachedPlan() }},
		"a feature that is missing":            {"0A000", skew, sql("SELECT count(*) FROM log FOR UPDATE")},
		"a role that may not log in":           {"28000", skew, func(s *server) func() error { return s.noLogin() }},
		"a database that is gone":              {"3D000", skew, func(s *server) func() error { return s.refusedLogin(func(u *url.URL) { u.Path = "/no_such_database" }) }},
		"a schema that is missing":             {"3F000", skew, sql("CREATE TABLE nowhere.t ()")},
		"a permission that is missing": {"42501", skew, func(s *server) func() error {
			conn := s.connect(dbtest.AppURL(s.t, s.url))
			return func() error { return s.run(conn, "DROP TABLE event") }
		}},
		"a table that is missing":               {"42P01", skew, sql("ALTER TABLE event RENAME TO event_away", insert("subject", "'s'"))},
		"a column that is missing":              {"42703", skew, sql("ALTER TABLE event DROP COLUMN subject", insert("subject", "'s'"))},
		"a function that is missing":            {"42883", skew, sql("SELECT no_such_function()")},
		"an error that is in none of the rows":  {"39004", environment, sql(raise("39004", ""), insert("subject", "'s'"))},
		"an error that nobody has heard of":     {"Q1234", environment, sql(raise("Q1234", ""), insert("subject", "'s'"))},
		"a storm of serialization failures":     {"40001", environment, sql(raise("40001", ""), insert("subject", "'s'"))},
		"a server that starts, says a trigger":  {"57P03", environment, sql(raise("57P03", ""), insert("subject", "'s'"))},
		"a disk that is full, says a trigger":   {"53100", environment, sql(raise("53100", ""), insert("subject", "'s'"))},
		"memory that is used up":                {"53200", environment, sql(raise("53200", ""), insert("subject", "'s'"))},
		"a check of which a trigger says where": {"23514", recordCaused, sql(raise("23514", ", CONSTRAINT = 'sane'"), insert("subject", "'s'"))},
	}
	rules := sqlRules()
	met := make(chan int, len(cases))
	t.Run("answers", func(t *testing.T) {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				err := c.cause(&server{t, dbtest.NewURL(t)})()
				var pg *pgconn.PgError
				if !errors.As(err, &pg) || pg.Code != c.state {
					t.Fatalf("PostgreSQL answered %v, want %s", err, c.state)
				}
				f := diagnose(fmt.Errorf("insert the rows: %w", err))
				if f.class != c.class || f.why == "" {
					t.Errorf("%v is %s (%s), want %s", err, f.class, f.why, c.class)
				}
				for i, r := range rules {
					if r.fits(pg) {
						met <- i
						break
					}
				}
			})
		}
	})
	close(met)
	if t.Failed() {
		return
	}
	seen := map[int]bool{}
	for i := range met {
		seen[i] = true
	}
	for i, r := range rules {
		if !seen[i] {
			t.Errorf("no real error fits the row of %s (%s)", r.state, r.why)
		}
	}
}

func TestAFailureThatPostgreSQLDidNotAnswerIsTheEnvironments(t *testing.T) {
	t.Parallel()
	s := &server{t, dbtest.NewURL(t)}
	closed, slow, cancelled := s.session(), s.session(), s.session()
	proxy := dbtest.NewProxy(t, s.url)
	cut := s.connect(proxy.URL())
	if err := closed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	asleep := func(conn *pgx.Conn, ctx context.Context, end func()) error {
		done := make(chan error, 1)
		go func() { _, err := conn.Exec(ctx, "SELECT pg_sleep(60)"); done <- err }()
		watch := s.session()
		for sleeps := false; !sleeps; {
			if err := watch.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database())`).Scan(&sleeps); err != nil {
				t.Fatal(err)
			}
		}
		end()
		return <-done
	}
	rows := conditions()
	met := map[int]bool{}
	for _, c := range []struct {
		name, why string
		err       func() error
	}{
		{"a connection that was closed", "the connection was lost", func() error { return s.run(closed, "SELECT 1") }},
		{"a line that was cut", "the connection was lost", func() error { return asleep(cut, t.Context(), proxy.Close) }},
		{"a deadline of our own", "no answer came in time", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := slow.Exec(ctx, "SELECT pg_sleep(60)")
			return err
		}},
		{"a stop of our own", "we gave it up ourselves", func() error {
			ctx, cancel := context.WithCancel(t.Context())
			return asleep(cancelled, ctx, cancel)
		}},
		{"a server that is not there", "there is no connection to the server", func() error {
			_, err := pgx.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/none")
			return err
		}},
		{"a COMMIT of a transaction that had failed", "COMMIT was answered with ROLLBACK", func() error {
			tx, err := s.session().Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = tx.Exec(t.Context(), "SELECT 1/0") // fails
			return tx.Commit(t.Context())
		}},
		{"a panic", "our own code failed; after some patience its record is buried", func() error {
			return guard(func() error { panic("at the disco") })
		}},
		{"a row that vanished", "the row of the same identity was dropped meanwhile", func() error { return errConflictVanished }},
	} {
		err := fmt.Errorf("insert the rows: %w", c.err())
		if f := diagnose(err); f.class != environment || f.why != c.why {
			t.Errorf("%s: %v is %s (%s), want the environment's (%s)", c.name, err, f.class, f.why, c.why)
		}
		for i, row := range rows {
			if row.is(err) {
				met[i] = true
				break
			}
		}
	}
	for i, row := range rows {
		if !met[i] {
			t.Errorf("no real error fits %q", row.why)
		}
	}
}

// COMMIT itself fails by whatever waits for it. Where its answer rules the commit out, the row must not be
// there; everything else is for the checkpoint to say.
func TestWhatCommitAnswersIsARollbackOrUnknown(t *testing.T) {
	t.Parallel()
	s := &server{t, dbtest.NewURL(t)}
	admin := s.session()
	if err := s.run(admin, `CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
		RAISE EXCEPTION 'too late' USING ERRCODE = NEW.id, CONSTRAINT = 'late'; END $f$`,
		"CREATE CONSTRAINT TRIGGER late AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()"); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]class{
		"22P02": recordCaused, "23503": recordCaused, "23514": recordCaused, "21000": recordCaused, "P0001": recordCaused, "54000": recordCaused,
		"40001": environment, "40P01": environment, "25006": environment, "42501": skew, "0A000": skew,
		"57P01": unknownOutcome, "53100": unknownOutcome, "XX000": unknownOutcome, "58030": unknownOutcome, "08006": unknownOutcome, "Q1234": unknownOutcome,
	} {
		conn := s.session()
		err := s.run(conn, "BEGIN", strings.Replace(insert("subject", "'s'"), "gen_random_uuid()", "'"+state+"'", 1), "COMMIT")
		if sqlstate(err) != state {
			t.Fatalf("COMMIT answered %v, want %s", err, state)
		}
		if got := classifyCommit(err); got != want {
			t.Errorf("COMMIT with %s is %s, want %s", state, got, want)
		}
		if c := classOf(&commitError{class: classifyCommit(err), err: err}); c == unknownOutcome {
			t.Errorf("%s stays unknown once the checkpoint was read", state)
		}
		var n int
		if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM event WHERE id = $1", state).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d rows after a rollback: %v", state, n, err)
		}
	}
	for _, state := range rolledBack() {
		if classifyCommit(&pgconn.PgError{Code: state + "000"}) == unknownOutcome {
			t.Errorf("class %s is unknown at COMMIT", state)
		}
	}
}
