package consume

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

func TestAnOutageOfTheDatabaseMakesNoDeadLetters(t *testing.T) {
	t.Parallel()
	r := newRig(t, dbtest.NewKfake(t, 2))
	role, roleURL := dbtest.NewRole(t, r.url)
	app, err := url.Parse(dbtest.AppURL(t, r.url))
	if err != nil {
		t.Fatal(err)
	}
	r.exec("GRANT " + app.User.Username() + " TO " + role)
	m := r.startOn(dbtest.Open(t, roleURL), nil)
	for p := range int32(2) {
		r.produce(series(p, 0, 50)...)
	}
	r.settle()
	r.exec("ALTER ROLE " + role + " CONNECTION LIMIT 0")
	r.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", role)
	for p := range int32(2) {
		r.produce(series(p, 50, 100)...)
	}
	r.await("it is tried again and again", func() bool { return m.value(t, "oriel_consumer_retries_total", "class=environment") >= 6 })
	s := m.Status()
	if s.Ready() || !s.Degraded || !strings.Contains(s.Detail, "failed to connect") {
		t.Errorf("status %+v", s)
	}
	r.exec("ALTER ROLE " + role + " CONNECTION LIMIT -1")
	r.settle()
	r.expect(tally{stored: 300})
	r.await("the consumer is ready", func() bool { return m.Status().Ready() })
	if n := r.count("SELECT count(*) FROM dead_letter"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	r.halt(m)
}

func TestADiskThatIsFullMakesNoDeadLetters(t *testing.T) {
	t.Parallel()
	disk := newDisk(t) // before the database: it goes after it
	r := newRig(t, dbtest.NewKfake(t, 1))
	space := disk.tablespace(r.url)
	r.exec(fmt.Sprintf("ALTER TABLE event_%s SET TABLESPACE %s", time.Now().UTC().Format("20060102"), space))
	m := r.start(nil)
	r.produce(series(0, 0, 10)...)
	r.settle()
	disk.fill()
	for i := range 40 {
		e := event(fmt.Sprintf("large %02d", i))
		e.Data = []byte(`"` + incompressible(200_000) + `"`)
		r.produce(record(e, 0))
	}
	r.await("the disk is full", func() bool {
		return strings.Contains(m.Status().Detail, "out of disk") && m.value(t, "oriel_consumer_retries_total", "class=environment") >= 2
	})
	if s := m.Status(); s.Ready() || !strings.Contains(s.Detail, "53100") {
		t.Errorf("status %+v", s)
	}
	disk.free()
	r.settle()
	r.expect(tally{stored: 50})
	r.await("the consumer is ready", func() bool { return m.Status().Ready() })
	r.halt(m)
}

// smallDisk is a file system in memory of a few megabytes, for a tablespace.
type smallDisk struct {
	t    *testing.T
	path string
	name string
}

const diskMegabytes = 16

// newDisk mounts one, which takes root.
func newDisk(t *testing.T) *smallDisk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT RUN: a file system of the test's own takes root")
	}
	path, err := os.MkdirTemp("", "oriel-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(path) }) // empty by then
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%dm", diskMegabytes)); err != nil {
		t.Skipf("NOT RUN: this system lets no test mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", path, err)
		}
	})
	d := &smallDisk{t: t, path: path, name: strings.ReplaceAll(strings.ToLower(filepath.Base(path)), "-", "_")}
	return d
}

// tablespace makes the disk one of the server's.
func (d *smallDisk) tablespace(database string) string {
	d.t.Helper()
	exec := func(sql string) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		conn, err := pgx.Connect(ctx, database)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }() // nothing is pending on it
		_, err = conn.Exec(ctx, sql)
		return err
	}
	// Whoever owns the server's data is who must own the folder.
	conn, err := pgx.Connect(d.t.Context(), database)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }() // nothing is pending on it
	var data string
	if err := conn.QueryRow(d.t.Context(), "SHOW data_directory").Scan(&data); err != nil {
		d.t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(data, &st); err != nil {
		d.t.Skipf("NOT RUN: the server is on another machine: %v", err)
	}
	for _, path := range []string{d.path, d.folder()} {
		if path == d.folder() {
			if err := os.Mkdir(path, 0o700); err != nil {
				d.t.Fatal(err)
			}
		}
		if err := os.Chown(path, int(st.Uid), int(st.Gid)); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := exec(fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", d.name, d.folder())); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { // the tables move away first, as the database goes later
		for _, sql := range []string{
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
			"ALTER TABLE ALL IN TABLESPACE " + d.name + " SET TABLESPACE pg_default", "DROP TABLESPACE " + d.name,
		} {
			if err := exec(sql); err != nil {
				d.t.Errorf("%s: %v", sql, err)
			}
		}
	})
	return d.name
}

func (d *smallDisk) folder() string { return filepath.Join(d.path, "space") }
func (d *smallDisk) filler() string { return filepath.Join(d.path, "filler") }

// fill leaves two megabytes.
func (d *smallDisk) fill() {
	d.t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(d.path, &st); err != nil {
		d.t.Fatal(err)
	}
	room := int64(st.Bavail) * st.Bsize
	if err := os.WriteFile(d.filler(), make([]byte, room-2<<20), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *smallDisk) free() {
	d.t.Helper()
	if err := os.Remove(d.filler()); err != nil {
		d.t.Fatal(err)
	}
}
