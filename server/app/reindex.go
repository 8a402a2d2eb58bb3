package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/audit"
	"oriel/server/config"
	"oriel/server/reindex"
)

// tellEvery is how often a long command says how far it is.
const tellEvery = 5 * time.Second

// Days are UTC days of events, both ends included; a zero time is an open end.
type Days = reindex.Window

// Reindex is what `oriel reindex` was asked for.
type Reindex struct {
	Days    Days
	Rebuild bool
	Reason  string
}

// windowText is days as the record has them: "" is an open end.
func windowText(w Days) map[string]any {
	text := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.DateOnly)
	}
	return map[string]any{"from": text(w.From), "until": text(w.Until)}
}

// ReindexBlocks runs `oriel reindex`. What it does is on the record; where it is cut off, it goes on where it
// was when it is run again.
func ReindexBlocks(ctx context.Context, cfg config.Config, out io.Writer, r Reindex) error {
	if strings.TrimSpace(r.Reason) == "" {
		return errors.New("--reason: required")
	}
	pool, err := openKnown(ctx, cfg, "oriel-reindex")
	if err != nil {
		return err
	}
	defer pool.Close()
	x, err := reindex.New(ctx, pool)
	if err != nil {
		return err
	}
	before := windowText(r.Days)
	before["rebuild"] = r.Rebuild
	op, err := audit.New(pool, prometheus.NewRegistry()).Begin(ctx, audit.Entry{
		Action: audit.ActionReindex, Actor: commandLine(), Target: "blocks", Reason: r.Reason, Before: before,
	})
	if err != nil {
		return err
	}
	done, err := x.Run(ctx, reindex.Options{Window: r.Days, Rebuild: r.Rebuild}, teller(out))
	if err != nil {
		return errors.Join(err, op.End(ctx, err))
	}
	if err := op.Done(ctx, nil, "", before, map[string]any{"events": done.Rows, "blocks": done.Blocks}); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "reindexed %d events in %d blocks\n", done.Rows, done.Blocks); err != nil {
		return err
	}
	for _, left := range done.Left {
		if _, err := fmt.Fprintf(out, "%s: other days have events without blocks still\n", left); err != nil {
			return err
		}
	}
	return nil
}

// teller says how far a run is, now and then.
func teller(out io.Writer) func(reindex.Progress) {
	next := time.Now().Add(tellEvery)
	return func(p reindex.Progress) {
		if time.Now().Before(next) {
			return
		}
		next = time.Now().Add(tellEvery)
		// What nobody reads any more is no reason to stop.
		_, _ = fmt.Fprintf(out, "day %d of %d (%s, log %d, partition %d): %d events, %d blocks\n",
			min(p.DaysDone+1, p.Days), p.Days, p.Day.Format(time.DateOnly), p.Log, p.Partition, p.Rows, p.Blocks)
	}
}

// errWrong is the end of a check that found something.
var errWrong = errors.New("blocks and events differ; `oriel reindex --rebuild --from DAY --until DAY` makes the blocks of days again")

// CheckBlocks runs `oriel check blocks`: an error where blocks and events differ.
func CheckBlocks(ctx context.Context, cfg config.Config, out io.Writer, w Days, samples int) error {
	pool, err := openKnown(ctx, cfg, "oriel-check")
	if err != nil {
		return err
	}
	defer pool.Close()
	x, err := reindex.New(ctx, pool)
	if err != nil {
		return err
	}
	c, err := x.Check(ctx, w, samples, teller(out))
	if err != nil {
		return err
	}
	for _, wrong := range c.Wrong {
		if _, err := fmt.Fprintln(out, wrong); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "%d events in %d blocks of %d bytes; looked up %d identifiers of %d events\n",
		c.Rows, c.Blocks, c.Bytes, c.Keys, c.Samples); err != nil {
		return err
	}
	if c.Waiting > 0 {
		if _, err := fmt.Fprintf(out, "%d events have no blocks yet: oriel reindex builds them\n", c.Waiting); err != nil {
			return err
		}
	}
	if len(c.Wrong) > 0 {
		return errWrong
	}
	return nil
}
