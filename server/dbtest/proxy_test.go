package dbtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/dbtest"
)

func TestTheProxyDecidesWhatBecomesOfACommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate    dbtest.Fate
		wantErr bool
		stored  int
		suffer  int
	}{
		"a delivered commit is stored and answered":              {dbtest.Deliver, false, 1, 0},
		"a commit whose reply is lost is stored and fails":       {dbtest.LoseReply, true, 1, 1},
		"a commit that is cut off is not stored and fails":       {dbtest.CutBefore, true, 0, 1},
		"a commit whose reply is held is stored and times out":   {dbtest.HoldReply, true, 1, 1},
		"a commit that is held back is not stored and times out": {dbtest.HoldBefore, true, 0, 1},
	} {
		for how, commit := range map[string]func(context.Context, pgx.Tx) error{
			"as a query": func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) },
			"as a prepared statement": func(ctx context.Context, tx pgx.Tx) error {
				// A batch sends its statements ahead, with one Sync for all.
				b := &pgx.Batch{}
				b.Queue("SELECT 1")
				b.Queue("COMMIT")
				return tx.Conn().SendBatch(ctx, b).Close()
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				url := dbtest.NewURL(t)
				direct := dbtest.Open(t, url)
				proxy := dbtest.NewProxy(t, url)
				conn, err := pgx.Connect(t.Context(), proxy.URL())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close(context.Background()) }()
				tx, err := conn.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), "INSERT INTO term (word, version, hash) VALUES ('door', 1, 1)"); err != nil {
					t.Fatal(err)
				}
				proxy.Next(c.fate)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err = commit(ctx, tx)
				if (err != nil) != c.wantErr {
					t.Errorf("the commit answers %v", err)
				}
				proxy.Cut() // whatever the server still waits for is over
				if n := settled(t, direct); n != c.stored {
					t.Errorf("%d rows are stored and not %d", n, c.stored)
				}
				if arrived, suffered := proxy.Commits(); arrived != 1 || suffered != c.suffer {
					t.Errorf("the proxy counted %d commits, %d of them not delivered", arrived, suffered)
				}
			})
		}
	}
}

// settled counts once no transaction is open any more.
func settled(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for open := 1; open > 0; {
		if err := pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state LIKE 'idle in transaction%'`).Scan(&open); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM term").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheProxyServesAPoolAndLargeCopies(t *testing.T) {
	t.Parallel()
	proxy := dbtest.NewProxy(t, dbtest.NewURL(t))
	pool := dbtest.Open(t, proxy.URL())
	rows := make([][]any, 20000)
	for i := range rows {
		rows[i] = []any{time.Unix(int64(i), 0).String(), int16(1), int64(i)}
	}
	n, err := pool.CopyFrom(t.Context(), pgx.Identifier{"term"}, []string{"word", "version", "hash"}, pgx.CopyFromRows(rows))
	if err != nil || n != int64(len(rows)) {
		t.Fatalf("copied %d of %d rows: %v", n, len(rows), err)
	}
	proxy.Cut()
	var count int
	err = pool.QueryRow(t.Context(), "SELECT count(*) FROM term").Scan(&count)
	for try := 0; err != nil && try < 10; try++ { // the pool learns that its connections are gone
		err = pool.QueryRow(t.Context(), "SELECT count(*) FROM term").Scan(&count)
	}
	if err != nil || count != len(rows) {
		t.Fatalf("after a cut the pool counts %d of %d rows: %v", count, len(rows), err)
	}
}

// A client may send ahead: what was answered before the COMMIT reaches it, and only the COMMIT's own
// answer is lost.
func TestALostReplyIsTheCommitsOwn(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	direct := dbtest.Open(t, url)
	proxy := dbtest.NewProxy(t, url)
	conn, err := pgx.Connect(t.Context(), proxy.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	proxy.Next(dbtest.LoseReply)
	ahead := conn.PgConn().StartPipeline(t.Context())
	for _, sql := range []string{"BEGIN", "INSERT INTO term (word, version, hash) VALUES ('door', 1, 1)", "COMMIT"} {
		ahead.SendQueryParams(sql, nil, nil, nil, nil)
		if err := ahead.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	answered := 0
	for {
		result, err := ahead.GetResults()
		if err != nil {
			break
		}
		if reader, ok := result.(*pgconn.ResultReader); ok {
			if _, err := reader.Close(); err != nil {
				break
			}
			answered++
		}
	}
	_ = ahead.Close()
	if answered != 2 {
		t.Errorf("%d statements were answered and not the 2 before the commit", answered)
	}
	if n := settled(t, direct); n != 1 {
		t.Errorf("%d rows are stored and not 1", n)
	}
}

// A line that went dead tells neither side anything: the client waits, and the server keeps its session until
// it gives up; the line to come is as good as ever.
func TestASilentLineTellsNobodyAnything(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	direct := dbtest.Open(t, url)
	proxy := dbtest.NewProxy(t, url)
	connect := func() *pgx.Conn {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), proxy.URL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = conn.Close(ctx)
		})
		return conn
	}
	ask := func(conn *pgx.Conn, sql string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := conn.Exec(ctx, sql)
		return err
	}
	sessions := func() (n int) {
		t.Helper()
		if err := direct.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND query = 'SELECT 1 AS first'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	conn := connect()
	if err := ask(conn, "SELECT 1 AS first"); err != nil {
		t.Fatal(err)
	}
	proxy.SilenceAt("AS second")
	if proxy.Silent() {
		t.Error("silent before its message")
	}
	if err := ask(conn, "SELECT 1 AS second"); !pgconn.Timeout(err) {
		t.Errorf("the client is told %v", err)
	}
	if !conn.IsClosed() || !proxy.Silent() || sessions() != 1 {
		t.Errorf("closed %v, silent %v, %d sessions on the server", conn.IsClosed(), proxy.Silent(), sessions())
	}
	if err := ask(connect(), "SELECT 1 AS second"); err != nil {
		t.Errorf("a new line: %v", err)
	}
	proxy.GiveUp()
	for deadline := time.Now().Add(20 * time.Second); sessions() != 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	if n := sessions(); n != 0 {
		t.Errorf("the server keeps %d sessions", n)
	}
	proxy.Silence()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := pgx.Connect(ctx, proxy.URL()); err == nil {
		t.Error("a deaf proxy lets a client in")
	}
	proxy.Speak()
	if err := ask(connect(), "SELECT 1"); err != nil {
		t.Errorf("after it speaks again: %v", err)
	}
}
