package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/audit"
	"oriel/server/config"
	"oriel/server/fault"
	"oriel/server/outbox"
)

// ListOutbox runs `oriel outbox list`: one line a dead message, with a head.
func ListOutbox(ctx context.Context, cfg config.Config, out io.Writer, topic string, most int) error {
	if most < 1 || most > maxListed {
		return fmt.Errorf("--limit %d: outside 1 to %d", most, maxListed)
	}
	pool, err := openKnown(ctx, cfg, "oriel-outbox")
	if err != nil {
		return err
	}
	defer pool.Close()
	dead, err := outbox.ListDead(ctx, pool, topic, most+1)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tTOPIC\tKEY\tSEQ\tBYTES\tATTEMPTS\tDIED\tWAITING\tREASON\tDETAIL")
	for _, d := range dead[:min(len(dead), most)] {
		_, _ = fmt.Fprintf(table, "%d\t%s\t%q\t%d\t%d\t%d\t%s\t%d\t%s\t%q\n", d.ID, d.Topic, d.OrderKey, d.Seq, d.Size,
			d.Attempts, d.DiedAt.UTC().Format(time.RFC3339), d.Waiting, d.Reason, d.Detail)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(dead) > most {
		_, err = fmt.Fprintf(out, "more than %d: see --limit and --topic\n", most)
	}
	return err
}

// maxListed is how many messages are listed at most, and maxRecorded how many of them an entry of the record names.
const (
	maxListed   = 10000
	maxRecorded = 100
)

// DeadMessages are what `oriel outbox retry` and `discard` were asked for: those of some ids, or all of one topic.
type DeadMessages struct {
	IDs    []int64
	Topic  string
	Reason string
}

// RetryOutbox runs `oriel outbox retry`.
func RetryOutbox(ctx context.Context, cfg config.Config, out io.Writer, m DeadMessages) error {
	return decideOutbox(ctx, cfg, out, m, audit.ActionRetryMessages, outbox.RetryDead, "messages tried again")
}

// DiscardOutbox runs `oriel outbox discard`.
func DiscardOutbox(ctx context.Context, cfg config.Config, out io.Writer, m DeadMessages) error {
	return decideOutbox(ctx, cfg, out, m, audit.ActionDiscardMessages, outbox.DiscardDead, "messages discarded")
}

// decideOutbox is on the record before anything happens, and its outcome commits with its effect.
func decideOutbox(ctx context.Context, cfg config.Config, out io.Writer, m DeadMessages, action string,
	do func(context.Context, *pgxpool.Pool, outbox.Choice, func(context.Context, pgx.Tx, []outbox.Decided) error) ([]outbox.Decided, error), did string,
) error {
	if n := utf8.RuneCountInString(m.Reason); strings.TrimSpace(m.Reason) == "" || n > maxReason {
		return fmt.Errorf("--reason: 1 to %d characters, not blank alone, for the record", maxReason)
	}
	c, entry := outbox.Choice{IDs: m.IDs, Topic: m.Topic}, audit.Entry{Action: action, Reason: m.Reason}
	pool, err := openKnown(ctx, cfg, "oriel-outbox")
	if err != nil {
		return err
	}
	defer pool.Close()
	entry.Actor, entry.Target = commandLine(), "outbox"
	entry.Before = map[string]any{"ids": c.IDs[:min(len(c.IDs), maxRecorded)], "topic": c.Topic}
	op, err := audit.New(pool, prometheus.NewRegistry()).Begin(ctx, entry)
	if err != nil {
		return err
	}
	done, err := do(ctx, pool, c, func(ctx context.Context, tx pgx.Tx, done []outbox.Decided) error {
		var messages []map[string]any
		for _, d := range done[:min(len(done), maxRecorded)] {
			messages = append(messages, map[string]any{"id": d.ID, "topic": d.Topic, "key": d.OrderKey, "seq": d.Seq, "reason": d.Reason})
		}
		return op.Done(ctx, tx, "", map[string]any{"messages": messages}, map[string]any{"count": len(done)})
	})
	if wrong := (*outbox.ChoiceError)(nil); errors.As(err, &wrong) {
		err = fault.New(fault.Aborted, fault.ReasonInvalidParameter, wrong.Error())
	}
	if err != nil {
		return errors.Join(err, op.End(ctx, err))
	}
	_, err = fmt.Fprintf(out, "%s: %d\n", did, len(done))
	return err
}
