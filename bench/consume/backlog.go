package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/bench/goal"
)

// The goals of a backlog: resident memory in megabytes, and how many times that of the first half the
// second half may take.
const (
	goalMemory = 250
	goalFlat   = 1.25
)

// backlogged has a process of its own catch up, as ours holds the broker too, and watches its memory.
func backlogged(ctx context.Context, o options, s *stage, out io.Writer, goals *goal.Sheet) (err error) {
	d, release, err := s.database(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(ctx)) }()
	topic, _, err := s.publish(ctx, o, short(o, time.Now().UTC(), 5, o.backlog))
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.CommandContext(ctx, self, "-child", topic, "-url", d.url, "-brokers", strings.Join(s.brokers, ","),
		"-backlog", strconv.Itoa(o.backlog), fmt.Sprintf("-log=%t", o.log))
	child.Stderr = os.Stderr
	began := time.Now()
	if err := child.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- child.Wait() }()
	var half [2]float64 // the highest of each half
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("the process that catches up: %w", err)
			}
			running = false
		case <-time.After(100 * time.Millisecond):
			var stored int
			if err := d.pool.QueryRow(ctx, accounted, topic).Scan(&stored); err != nil {
				return err
			}
			i := min(2*stored/o.backlog, 1)
			half[i] = max(half[i], resident(child.Process.Pid))
		}
	}
	took := time.Since(began)
	fmt.Fprintf(out, "a backlog of %d events, %.0f records/s: %.0f MB resident in its first half, %.0f MB in its second\n",
		o.backlog, float64(o.backlog)/took.Seconds(), half[0], half[1])
	if half[0] == 0 || half[1] == 0 {
		goals.Unmeasured("backlog: memory", "the process ended too soon, or this system has no /proc")
		return expectCount(ctx, d.pool, o.backlog, "rows", "SELECT count(*) FROM event WHERE log = "+logOf, topic)
	}
	goals.Below("backlog: resident memory", max(half[0], half[1]), goalMemory, " MB")
	goals.Below("backlog: memory of the second half ÷ the first", half[1]/half[0], goalFlat, "")
	return expectCount(ctx, d.pool, o.backlog, "rows", "SELECT count(*) FROM event WHERE log = "+logOf, topic)
}

// resident is the memory of a process in megabytes; 0 where it is not to be seen.
func resident(pid int) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if kb, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kb)[0])
			return float64(n) / 1024
		}
	}
	return 0
}

// runChild is the process that catches up.
func runChild(ctx context.Context, o options, log *slog.Logger) error {
	pool, err := pgxpool.New(ctx, o.url)
	if err != nil {
		return err
	}
	defer pool.Close()
	return consumeAll(ctx, 0, strings.Split(o.brokers, ","), log, o.child, o.backlog, pool)
}
