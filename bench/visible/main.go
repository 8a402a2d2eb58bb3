// Command visible measures the built program as a producer and a reader meet it: how long an event
// takes from its POST to GET /v1/events/{event} at a steady rate, and the server's memory under a
// higher one, and how soon the program is up and how large it is. It starts `oriel demo` in a folder of
// its own, without sample traffic.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"oriel/bench/events"
	"oriel/bench/goal"
	"oriel/server/cloudevents"
)

type demo struct {
	cmd                *exec.Cmd
	url, write, reader string
	started            time.Duration
}

// The goals. MB is 10^6 bytes.
const (
	goalMedian = 400 // ms from POST to visible, at the rate of -rate
	goalMemory = 200 // MB at most while -high events a second come in
	goalStart  = 60  // s from start to the first page
	goalBinary = 60  // MB
	mega       = 1e6
	// held is the share of a rate that must have come through for figures at that rate.
	held = 0.95
)

func main() {
	program := flag.String("program", "bin/oriel", "the built program")
	rate := flag.Int("rate", 1000, "events a second for the latency")
	high := flag.Int("high", 2000, "events a second for the memory")
	seconds := flag.Int("seconds", 20, "how long each part runs")
	enforce := flag.Bool("enforce", false, "fail where a goal is missed")
	flag.Parse()
	goals := goal.NewSheet(os.Stdout)
	err := run(*program, *rate, *high, time.Duration(*seconds)*time.Second, goals)
	if err = errors.Join(err, goals.Err(*enforce)); err != nil {
		fmt.Fprintln(os.Stderr, "visible:", err)
		os.Exit(1)
	}
}

func run(program string, rate, high int, each time.Duration, goals *goal.Sheet) (err error) {
	dir, err := os.MkdirTemp("", "oriel-visible-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	d, err := start(program, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	file, err := os.Stat(program)
	if err != nil {
		return err
	}
	goals.Below("size of the program", float64(file.Size())/mega, goalBinary, " MB")
	goals.Below("from start to the first page, data folder new", d.started.Seconds(), goalStart, " s")

	took, real, err := d.load(rate, each, true)
	if err != nil {
		return err
	}
	slices.Sort(took)
	ms := func(of time.Duration) float64 { return float64(of.Microseconds()) / 1000 }
	fmt.Printf("POST to visible at %.0f events/s (%d samples): median %.0f ms, p95 %.0f ms, max %.0f ms\n",
		real, len(took), ms(took[len(took)/2]), ms(took[len(took)*95/100]), ms(took[len(took)-1]))
	what := fmt.Sprintf("median from POST to visible at %d events/s", rate)
	if real < held*float64(rate) {
		goals.Unmeasured(what, fmt.Sprintf("only %.0f a second came through", real))
	} else {
		goals.Below(what, ms(took[len(took)/2]), goalMedian, " ms")
	}

	_, real, err = d.load(high, each, false)
	if err != nil {
		return err
	}
	peak, err := d.memory()
	if err != nil {
		return err
	}
	fmt.Printf("memory at %.0f events/s, embedded broker included, PostgreSQL not: peak %.0f MB\n", real, float64(peak)/mega)
	what = fmt.Sprintf("peak memory at %d events/s", high)
	if real < held*float64(high) {
		goals.Unmeasured(what, fmt.Sprintf("only %.0f a second came through", real))
	} else {
		goals.Below(what, float64(peak)/mega, goalMemory, " MB")
	}
	return nil
}

func start(program, dir string) (*demo, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	began := time.Now()
	cmd := exec.Command(program, "demo")
	cmd.Env = append(os.Environ(), "ORIEL_ADDR="+addr, "ORIEL_DATA_DIR="+dir, "ORIEL_DEMO_TRAFFIC=off", "ORIEL_LOG_LEVEL=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := &demo{cmd: cmd, url: "http://" + addr}
	for time.Since(began) < time.Minute {
		if d.read(dir) && d.page() {
			d.started = time.Since(began)
			return d, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the demo did not come up within a minute"), d.stop())
}

// read takes the tokens from demo.json, which is there once the program is up.
func (d *demo) read(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "demo.json"))
	var file struct{ ProducerToken, ReaderToken string }
	if err != nil || json.Unmarshal(text, &file) != nil {
		return false
	}
	d.write, d.reader = file.ProducerToken, file.ReaderToken
	return true
}

// page tells whether readiness says yes and a search answers.
func (d *demo) page() bool {
	for _, path := range []string{"/health/ready", "/v1/events"} {
		req, err := http.NewRequest(http.MethodGet, d.url+path, nil)
		if err != nil {
			return false
		}
		req.Header.Set("Authorization", "Bearer "+d.reader)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}

func (d *demo) stop() error {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	return d.cmd.Wait()
}

// memory is the peak resident size of the server process.
func (d *demo) memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kb int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kb); err == nil {
			return kb << 10, nil
		}
	}
	return 0, errors.New("no VmHWM")
}

// load sends events at a steady rate and, where asked, measures every hundredth until it is visible. It
// also returns the rate at which events were acknowledged.
func (d *demo) load(rate int, each time.Duration, measure bool) ([]time.Duration, float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), each)
	defer cancel()
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
	work := make(chan events.Event, rate)
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	var sent int
	began, last := time.Now(), time.Now()
	var wait sync.WaitGroup
	for range 64 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for e := range work {
				began := time.Now()
				err := d.post(client, e)
				mu.Lock()
				sent++
				last = time.Now()
				n := sent
				if err != nil {
					failed = err
				}
				mu.Unlock()
				if measure && err == nil && n%100 == 0 {
					wait.Add(1)
					go func() {
						defer wait.Done()
						if err := d.waitVisible(client, e); err != nil {
							mu.Lock()
							failed = err
							mu.Unlock()
							return
						}
						mu.Lock()
						took = append(took, time.Since(began))
						mu.Unlock()
					}()
				}
			}
		}()
	}
	generator := events.New(rand.New(rand.NewPCG(uint64(rate), 1)), time.Now(), 5)
	const ticks = 100
	tick := time.NewTicker(time.Second / ticks)
	defer tick.Stop()
	for ctx.Err() == nil {
		<-tick.C
		for range rate / ticks {
			e := generator.Next()
			e.Time = time.Now().UTC()
			work <- e
		}
	}
	close(work)
	wait.Wait()
	if failed == nil && measure && len(took) == 0 {
		failed = errors.New("too short: no event was followed until it was visible")
	}
	return took, float64(sent) / last.Sub(began).Seconds(), failed
}

func (d *demo) post(client *http.Client, e events.Event) error {
	req, err := http.NewRequest(http.MethodPost, d.url+"/v1/events", bytes.NewReader(e.Data))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + d.write, "Content-Type": "application/json", "ce-specversion": "1.0",
		"ce-id": e.ID, "ce-source": e.Source, "ce-type": e.Type, "ce-subject": e.Subject, "ce-time": e.Time.Format(time.RFC3339Nano),
	} {
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", resp.StatusCode, body)
	}
	return err
}

func (d *demo) waitVisible(client *http.Client, e events.Event) error {
	target := d.url + "/v1/events/" + cloudevents.EscapeName(e.Source, e.ID) + "?time=" + e.Time.Truncate(time.Microsecond).Format(time.RFC3339Nano)
	for range 2000 {
		req, err := http.NewRequest(http.MethodGet, target, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+d.reader)
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%s %s did not become visible", e.Source, e.ID)
}
