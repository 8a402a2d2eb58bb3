package outbox

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/server/dbtest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// childEnv makes the test binary a relay of its own process, to be killed or stopped: the database, the
// brokers and the instance's name.
const childEnv = "ORIEL_TEST_RELAY"

func runChild() {
	args := strings.Split(os.Getenv(childEnv), " ")
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, args[0])
	if err != nil {
		panic(err)
	}
	cfg := quick()
	cfg.Instance = args[2]
	level := slog.LevelError + 1
	if os.Getenv("ORIEL_TEST_LOG") != "" {
		level = slog.LevelInfo
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	registry := prometheus.NewRegistry()
	r := New(cfg, pool, clientOptions(strings.Split(args[1], ",")), log, registry)
	if err := r.Start(ctx); err != nil {
		panic(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
	_ = r.Stop(ctx)
	// What it could not write down, for the test that stopped it for a while.
	families, err := registry.Gather()
	if err != nil {
		panic(err)
	}
	for _, f := range families {
		if f.GetName() == "oriel_outbox_fenced_total" && f.GetMetric()[0].GetCounter().GetValue() > 0 {
			os.Exit(7)
		}
	}
	os.Exit(0)
}

// child is a relay in a process of its own.
type child struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.Closer
	name string
	done bool
}

// fork starts a child; it is killed with the test.
func (r *rig) fork(name string) *child {
	r.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{
		dbtest.AppURL(r.t, r.url), strings.Join(r.brokers, ","), name,
	}, " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	c := &child{t: r.t, cmd: cmd, in: in, name: name}
	r.t.Cleanup(c.kill)
	return c
}

func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Errorf("signal %s to %s: %v", s, c.name, err)
	}
}

// kill ends the process as a power cut would.
func (c *child) kill() {
	if c.done {
		return
	}
	c.done = true
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	_ = c.in.Close()
}

// end lets it stop by itself, and says whether it met a fence.
func (c *child) end() (fenced bool) {
	c.t.Helper()
	c.done = true
	_ = c.in.Close()
	timer := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	_ = c.cmd.Wait()
	switch code := c.cmd.ProcessState.ExitCode(); code {
	case 0:
		return false
	case 7:
		return true
	default:
		c.t.Errorf("%s ended with %d", c.name, code)
		return false
	}
}

// leases is how many shards a child of this name holds.
func (r *rig) leases(name string) int {
	r.t.Helper()
	return r.count("SELECT count(*) FROM outbox_shard WHERE owner LIKE $1 || '#%' AND lease_until > clock_timestamp()", name)
}
