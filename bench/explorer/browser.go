package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// errand is what browse.ts is asked for.
type errand struct {
	Demo   string `json:"demo"`
	Month  string `json:"month"` // the page with all events
	Large  string `json:"large"` // the page with the large event
	Rounds int    `json:"rounds"`
	Rows   int    `json:"rows"`
	Trace  string `json:"trace"`
}

// seen is its answer: milliseconds, round by round.
type seen struct {
	Bare      series   `json:"bare"` // a page without scripts
	FirstRows series   `json:"firstRows"`
	Scripts   []string `json:"scripts"` // the files that came before the first rows
	Rows      int      `json:"rows"`
	Typing    took     `json:"typing"`    // the longest task of each round
	Scrolling took     `json:"scrolling"` // likewise
	Open      took     `json:"open"`
	Pick      took     `json:"pick"`
}

// took is what something took: on the clock, and of the processor's time in the page's thread, which others' work
// on the machine does not lengthen.
type took struct {
	Wall series `json:"wall"`
	CPU  series `json:"cpu"`
}

// browse runs the browser. Its messages go where ours go.
func (p *program) browse(ctx context.Context, o options, past past) (*seen, error) {
	window := url.Values{"from": {past.from().Format(time.RFC3339)}, "until": {past.Until.Add(time.Second).Format(time.RFC3339)}}
	ask := errand{Demo: p.file, Month: "/explore?" + window.Encode(), Rounds: o.rounds, Rows: o.rows, Trace: o.trace}
	window.Set("type", largeType)
	ask.Large = "/explore?" + window.Encode()
	text, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "sh", "frontend/scripts/node.sh", "bench/explorer/browse.ts", string(text))
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the browser: %w", err)
	}
	line := bytes.TrimSpace(answer)
	var s seen
	if err := json.Unmarshal(line[bytes.LastIndexByte(line, '\n')+1:], &s); err != nil {
		return nil, fmt.Errorf("the browser's answer: %w", err)
	}
	return &s, nil
}

// scripts is how many KiB of scripts came before the first rows, and how many there are.
func scripts(assets string, first []string) (before, all float64, err error) {
	for _, name := range first {
		size, err := sent(filepath.Join(assets, name))
		if err != nil {
			return 0, 0, err
		}
		before += size
	}
	entries, err := os.ReadDir(assets)
	if err != nil {
		return 0, 0, err
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".js") {
			continue
		}
		size, err := sent(filepath.Join(assets, entry.Name()))
		if err != nil {
			return 0, 0, err
		}
		all += size
	}
	if before == 0 {
		return 0, 0, errors.New("no script came before the first rows")
	}
	return before, all, nil
}

// sent is a script's size compressed with gzip; one too small to be worth it has no compressed twin.
func sent(path string) (float64, error) {
	info, err := os.Stat(path + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(path)
	}
	if err != nil {
		return 0, err
	}
	return float64(info.Size()) / 1024, nil
}
