package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// bento is a contender: Bento from its Kafka input to its SQL output, a process for each turn.
type bento struct {
	program string
	process *process
	peak    float64
	turns   int
}

func (*bento) table() string { return searchable }

func (*bento) form(skewed bool) form {
	if skewed {
		return asSkewed
	}
	return asEvents
}

// The pipeline's settings, of those that were tried the fastest.
const (
	bentoBatch    = 1000
	bentoInFlight = 4
)

func (n *bento) start(ctx context.Context, s *stage, topic string, d *database) error {
	const mapping = `root = [ metadata("ce_time"), metadata("ce_source"), metadata("ce_id"), metadata("ce_type"), metadata("ce_subject"), ` +
		`metadata("content-type"), content().string() ]`
	n.turns++
	config, err := json.Marshal(map[string]any{ // JSON is YAML
		"http":   map[string]any{"enabled": false},
		"logger": map[string]any{"level": "WARN"},
		"input": map[string]any{"kafka_franz": map[string]any{
			"seed_brokers": s.brokers, "topics": []string{topic}, "consumer_group": fmt.Sprintf("bento-%d", n.turns),
			"start_from_oldest": true, "fetch_max_wait": "100ms", "fetch_max_partition_bytes": "32MiB",
			// Below a batch it stalls, at a batch it waits for each.
			"checkpoint_limit": 2 * bentoInFlight * bentoBatch,
			"batching":         map[string]any{"count": bentoBatch, "period": "100ms"},
		}},
		"output": map[string]any{"sql_insert": map[string]any{
			"driver": "postgres", "dsn": d.url + "&binary_parameters=yes", "table": "event",
			"columns": strings.Split(columns, ", "), "args_mapping": mapping, "suffix": "ON CONFLICT DO NOTHING",
			"max_in_flight": bentoInFlight, "conn_max_idle": bentoInFlight,
		}},
	})
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, "bento.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), n.program, "run", file)
	n.process, err = startProcess(cmd, filepath.Join(s.dir, "bento.log"))
	return err
}

func (n *bento) spent() time.Duration { return spent(n.process.Pid()) }

func (n *bento) ended(context.Context) error { return n.process.ended() }

func (n *bento) stop(context.Context) error {
	n.peak = max(n.peak, peak(n.process.Pid()))
	n.process.stop()
	return nil
}
