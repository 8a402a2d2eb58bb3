package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"oriel/server/cloudevents"
)

// program is a running `oriel demo`.
type program struct {
	cmd                 *exec.Cmd
	file                string // its demo.json
	url, writer, reader string
}

const startLimit = 2 * time.Minute

func start(ctx context.Context, o options, dir string) (*program, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	cmd := exec.Command(o.program, "demo")
	cmd.Env = append(os.Environ(), "ORIEL_ADDR="+addr, "ORIEL_DATA_DIR="+dir, "ORIEL_DEMO_TRAFFIC=off", "ORIEL_LOG_LEVEL=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &program{cmd: cmd, file: filepath.Join(dir, "demo.json"), url: "http://" + addr}
	for began := time.Now(); time.Since(began) < startLimit && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if status, err := p.get(ctx, "/health/ready"); err == nil && status == http.StatusOK {
			return p, errors.Join(p.tokens())
		}
	}
	return nil, errors.Join(fmt.Errorf("the demo did not come up within %s", startLimit), ctx.Err(), p.stop())
}

func (p *program) tokens() error {
	text, err := os.ReadFile(p.file)
	if err != nil {
		return err
	}
	var file struct{ ProducerToken, ReaderToken string }
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	p.writer, p.reader = file.ProducerToken, file.ReaderToken
	return nil
}

func (p *program) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.cmd.Wait()
}

func (p *program) get(ctx context.Context, path string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+p.reader)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Body.Close()
}

// The event with the largest data that the server takes.
const (
	largeType   = "bench.large"
	largeSource = "/bench/explorer"
	largeBytes  = 1 << 20
)

// sendLarge publishes it among the youngest of the past and waits until it can be read.
func (p *program) sendLarge(ctx context.Context, until time.Time) error {
	at := until.Add(-time.Minute)
	id := strconv.FormatInt(at.UnixMicro(), 10)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/v1/events", bytes.NewReader(large()))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + p.writer, "Content-Type": "application/json", "ce-specversion": "1.0",
		"ce-id": id, "ce-source": largeSource, "ce-type": largeType, "ce-time": at.Format(time.RFC3339Nano),
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("publish the large event: %d %s", resp.StatusCode, body)
	}
	if err != nil {
		return err
	}
	path := "/v1/events/" + cloudevents.EscapeName(largeSource, id) + "?time=" + at.Format(time.RFC3339Nano)
	for began := time.Now(); time.Since(began) < startLimit && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if status, err := p.get(ctx, path); err == nil && status == http.StatusOK {
			return nil
		}
	}
	return errors.Join(errors.New("the large event did not become visible"), ctx.Err())
}

// large is a report as machines send it, objects within lists, of exactly largeBytes.
func large() []byte {
	var b bytes.Buffer
	b.WriteString(`{"report":"nightly","rooms":[`)
	for n := 0; ; n++ {
		room := fmt.Sprintf(`{"room":"room-%d","ok":%t,"reading":{"value":%d.%02d,"unit":"celsius","at":"2026-01-01T%02d:%02d:00Z"},"tags":["north","pilot"],"note":null}`,
			n, n%7 != 0, 15+n%10, n%100, n/60%24, n%60)
		if b.Len()+len(room)+len(`],"rest":""},`) > largeBytes {
			break
		}
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString(room)
	}
	b.WriteString(`],"rest":"`)
	b.WriteString(strings.Repeat("x", largeBytes-b.Len()-len(`"}`)))
	b.WriteString(`"}`)
	return b.Bytes()
}
