package consume

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"oriel/server/dbtest"

	"github.com/jackc/pgx/v5"
)

// server is a database that a test provokes.
type server struct {
	t   *testing.T
	url string
}

// session is a connection of the test's own, as the superuser.
func (s *server) session() *pgx.Conn { return s.connect(s.url) }

func (s *server) connect(url string) *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), url)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) }) // many are broken by then
	return conn
}

// run executes statements, of which the last one must fail, and answers its error.
func (s *server) run(conn *pgx.Conn, statements ...string) error {
	s.t.Helper()
	for i, sql := range statements {
		_, err := conn.Exec(s.t.Context(), sql)
		if i == len(statements)-1 {
			return err
		}
		if err != nil {
			s.t.Fatalf("%s: %v", sql, err)
		}
	}
	return nil
}

func (s *server) fails(statements ...string) func() error {
	return func() error { return s.run(s.session(), statements...) }
}

// insert is a row of the event table with a column's value, of a day that has a partition.
func insert(column, value string) string {
	return fmt.Sprintf(`INSERT INTO event (occurred_at, log, partition, "offset", commit, kafka_time, digest, source, id, type, time_text, %s)
		VALUES (now(), 1, 0, 1, 1, now(), 1, 's', gen_random_uuid(), 't', 'x', %s)`, column, value)
}

// raise makes a trigger on event that raises for every row.
func raise(code, extra string) string {
	return `CREATE FUNCTION raise() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
		RAISE EXCEPTION 'not this one' USING ERRCODE = '` + code + `'` + extra + `; END $f$;
		CREATE TRIGGER raise BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION raise()`
}

func (s *server) afterFailure() func() error {
	conn := s.session()
	return func() error {
		if err := s.run(conn, "BEGIN", "SELECT 1/0"); err == nil {
			s.t.Fatal("divided by zero")
		}
		return s.run(conn, "SELECT 1")
	}
}

func (s *server) afterIdling() func() error {
	conn := s.session()
	return func() error {
		if err := s.run(conn, "SET idle_in_transaction_session_timeout = '20ms'", "BEGIN"); err != nil {
			s.t.Fatal(err)
		}
		_, err := conn.WaitForNotification(s.t.Context()) // reads what the server says before it hangs up
		return err
	}
}

func (s *server) serialization() func() error {
	one, two := s.session(), s.session()
	return func() error {
		if err := errors.Join(
			s.run(one, "CREATE TABLE a (x int)", "INSERT INTO a VALUES (1)", "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT FROM a"),
			s.run(two, "UPDATE a SET x = 2"),
		); err != nil {
			s.t.Fatal(err)
		}
		return s.run(one, "UPDATE a SET x = 3")
	}
}

func (s *server) deadlock() func() error {
	one, two := s.session(), s.session()
	return func() error {
		if err := errors.Join(
			s.run(one, "CREATE TABLE a (x int)", "INSERT INTO a VALUES (1), (2)", "SET deadlock_timeout = '10ms'", "BEGIN", "UPDATE a SET x = x WHERE x = 1"),
			s.run(two, "SET deadlock_timeout = '1h'", "BEGIN", "UPDATE a SET x = x WHERE x = 2"),
		); err != nil {
			s.t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { _, err := two.Exec(s.t.Context(), "UPDATE a SET x = x WHERE x = 1"); done <- err }()
		err := s.run(one, "UPDATE a SET x = x WHERE x = 2")
		if other := <-done; other != nil {
			s.t.Errorf("the other one failed too: %v", other)
		}
		return err
	}
}

func (s *server) connectionLimit() func() error {
	admin := s.session()
	role, roleURL := dbtest.NewRole(s.t, s.url)
	return func() error {
		if err := s.run(admin, "ALTER ROLE "+role+" CONNECTION LIMIT 0"); err != nil {
			s.t.Fatal(err)
		}
		_, err := pgx.Connect(s.t.Context(), roleURL)
		return err
	}
}

func (s *server) noLogin() func() error {
	role, roleURL := dbtest.NewRole(s.t, s.url)
	return func() error {
		if err := s.run(s.session(), "ALTER ROLE "+role+" NOLOGIN", "SELECT 1"); err != nil {
			s.t.Fatal(err)
		}
		_, err := pgx.Connect(s.t.Context(), roleURL)
		return err
	}
}

func (s *server) lockTimeout() func() error {
	one, two := s.session(), s.session()
	return func() error {
		if err := s.run(one, "BEGIN", "LOCK TABLE event IN ACCESS EXCLUSIVE MODE"); err != nil {
			s.t.Fatal(err)
		}
		return s.run(two, "SET lock_timeout = '20ms'", insert("subject", "'s'"))
	}
}

func (s *server) databaseInUse() func() error {
	conn := s.session()
	return func() error { return s.run(conn, "DROP DATABASE "+conn.Config().Database) }
}

// ended ends a statement of a session from another one.
func (s *server) ended(function string) func() error {
	one, two := s.session(), s.session()
	return func() error {
		done := make(chan error, 1)
		go func() { _, err := one.Exec(s.t.Context(), "SELECT pg_sleep(60)"); done <- err }()
		for did := false; !did; {
			err := two.QueryRow(s.t.Context(), `SELECT coalesce((SELECT `+function+`(pid) FROM pg_stat_activity
				WHERE pid = $1 AND wait_event = 'PgSleep'), false)`, one.PgConn().PID()).Scan(&did)
			if err != nil {
				s.t.Fatal(err)
			}
		}
		return <-done
	}
}

func (s *server) cachedPlan() func() error {
	conn := s.session()
	return func() error {
		if err := s.run(conn, "PREPARE p AS SELECT * FROM log", "EXECUTE p", "ALTER TABLE log ADD COLUMN more int"); err != nil {
			s.t.Fatal(err)
		}
		return s.run(conn, "EXECUTE p")
	}
}

func (s *server) refusedLogin(change func(*url.URL)) func() error {
	u, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	change(u)
	return func() error { _, err := pgx.Connect(s.t.Context(), u.String()); return err }
}
