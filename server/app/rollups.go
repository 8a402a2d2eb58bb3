package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/audit"
	"oriel/server/config"
	"oriel/server/maintain"
	"oriel/server/reindex"
)

// errRollupsDiffer is the end of a check that found something.
var errRollupsDiffer = errors.New("rollups and events differ; `oriel reindex --rollups --from DAY --until DAY` makes them right, beside a product that runs")

// ReindexRollups runs `oriel reindex --rollups`. What it does is on the record; it can be run again at any time.
func ReindexRollups(ctx context.Context, cfg config.Config, out io.Writer, r Reindex, log *slog.Logger) error {
	if strings.TrimSpace(r.Reason) == "" {
		return errors.New("--reason: required")
	}
	if r.Rebuild {
		return errors.New("--rebuild is of blocks: rollups are made right wherever they differ")
	}
	pool, err := openKnown(ctx, cfg, "oriel-reindex")
	if err != nil {
		return err
	}
	defer pool.Close()
	reg := prometheus.NewRegistry()
	before := windowText(r.Days)
	op, err := audit.New(pool, reg).Begin(ctx, audit.Entry{
		Action: audit.ActionReindexRollups, Actor: commandLine(), Target: "rollups", Reason: r.Reason, Before: before,
	})
	if err != nil {
		return err
	}
	done, err := reindex.NewRollups(pool).Rebuild(ctx, r.Days, rollupTeller(out))
	if err == nil {
		// What was never folded, as after a load by other means, is in no hour yet.
		err = maintain.New(pool, time.Duration(cfg.Store.Retention), log, reg).Fold(ctx)
	}
	if err != nil {
		return errors.Join(err, op.End(ctx, err))
	}
	if err := op.Done(ctx, nil, "", before, map[string]any{"corrected": done.Different}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "corrected %d rows of the rollups\n", done.Different)
	return err
}

// CheckRollups runs `oriel check rollups`: an error where rollups and events differ.
func CheckRollups(ctx context.Context, cfg config.Config, out io.Writer, w Days) error {
	pool, err := openKnown(ctx, cfg, "oriel-check")
	if err != nil {
		return err
	}
	defer pool.Close()
	c, err := reindex.NewRollups(pool).Check(ctx, w, rollupTeller(out))
	if err != nil {
		return err
	}
	for _, d := range c.Differences {
		if _, err := fmt.Fprintln(out, d); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(out, "compared %d rows of the rollups with the events: %d differ\n", c.Rows, c.Different); err != nil {
		return err
	}
	if c.Different > 0 {
		return errRollupsDiffer
	}
	return nil
}

// rollupTeller says how far a run is, now and then.
func rollupTeller(out io.Writer) func(reindex.RollupProgress) {
	next := time.Now().Add(tellEvery)
	return func(p reindex.RollupProgress) {
		if time.Now().Before(next) {
			return
		}
		next = time.Now().Add(tellEvery)
		// What nobody reads any more is no reason to stop.
		_, _ = fmt.Fprintf(out, "day %d of %d (%s): %d rows differ\n", p.DaysDone+1, p.Days, p.Hour.Format(time.RFC3339), p.Different)
	}
}
