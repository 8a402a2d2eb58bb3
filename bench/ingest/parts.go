package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"oriel/server/auth"
	"oriel/server/fault"
	"oriel/server/httpapi"
	"oriel/server/ingest"
	"oriel/server/kafka"
	"oriel/server/telemetry"

	"github.com/goccy/go-json"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.opentelemetry.io/otel/trace/noop"
)

const token = "orl_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// part is a process of this program that plays a role and prints its address once it serves.
type part struct {
	cmd     *exec.Cmd
	in      io.Closer
	address string
}

func startPart(ctx context.Context, o options, role string) (*part, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{
		"-role", role, "-brokers", o.brokers, "-topic", o.topic, "-dir", o.dir,
		"-partitions", fmt.Sprint(o.partitions), "-linger", o.linger.String(),
	}
	if role == "product" {
		args = append(args, "-profile", o.profile)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	in, err := cmd.StdinPipe() // the part ends when it closes, also where this process was killed
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the %s did not start: %w", role, err), cmd.Wait())
	}
	return &part{cmd, in, strings.TrimSpace(address)}, nil
}

func (p *part) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// cpu is the processor time that the part has used, as Linux counts it.
func (p *part) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read processor time: %w", err)
	}
	// The fields after the command's name, which is in parentheses: utime and stime are the 14th and
	// 15th of all, in ticks of 10 ms.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	ticks := 0
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, fmt.Errorf("read processor time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// play is a part's main: it serves until its standard input closes.
func play(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	switch o.role {
	case "broker":
		return playBroker(ctx, o)
	case "bare":
		return playBare(ctx, o)
	case "product":
		return playProduct(ctx, o)
	}
	return fmt.Errorf("no role %q", o.role)
}

func playBroker(ctx context.Context, o options) error {
	b, err := kafka.StartEmbedded(o.dir, 0, map[string]int{o.topic: o.partitions}, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(b.Brokers(), ","))
	<-ctx.Done()
	return b.Close()
}

func clientOptions(ctx context.Context, o options) ([]kgo.Opt, error) {
	cfg := kafka.Config{Brokers: strings.Split(o.brokers, ","), Topic: o.topic, Partitions: o.partitions}
	log := slog.New(slog.DiscardHandler)
	if err := kafka.EnsureTopics(ctx, cfg, log); err != nil {
		return nil, err
	}
	return kafka.Options(cfg, log)
}

// playBare is the limit: parse, produce with acks=all, answer.
func playBare(ctx context.Context, o options) error {
	opts, err := clientOptions(ctx, o)
	if err != nil {
		return err
	}
	client, err := kgo.NewClient(append(opts, kgo.ProducerLinger(o.linger))...)
	if err != nil {
		return err
	}
	defer client.Close()
	type event struct {
		ID      string          `json:"id"`
		Source  string          `json:"source"`
		Type    string          `json:"type"`
		Subject string          `json:"subject"`
		Time    string          `json:"time"`
		Data    json.RawMessage `json:"data"`
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, BodyLimit: 2 << 20})
	app.Post("/v1/events", func(c *fiber.Ctx) error {
		body := append([]byte(nil), c.Body()...)
		var records []*kgo.Record
		add := func(e *event, value []byte) {
			records = append(records, &kgo.Record{Topic: o.topic, Key: []byte(e.Source + "#" + e.Subject), Value: value})
		}
		if body[0] == '[' {
			var events []event
			if err := json.Unmarshal(body, &events); err != nil {
				return err
			}
			for i := range events {
				add(&events[i], events[i].Data)
			}
		} else {
			var e event
			if err := json.Unmarshal(body, &e); err != nil {
				return err
			}
			if e.ID == "" { // binary mode
				e.Source, e.Subject = c.Get("ce-source"), c.Get("ce-subject")
			}
			add(&e, body)
		}
		if err := client.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
			return err
		}
		return c.JSON(fiber.Map{"partition": records[0].Partition, "offset": records[0].Offset})
	})
	return serve(ctx, app.Listener, func() error { return app.ShutdownWithTimeout(5 * time.Second) })
}

// playProduct is the product's ingest: its HTTP edge and publisher as the server wires them, with a
// token that is known without a database.
func playProduct(ctx context.Context, o options) error {
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	opts, err := clientOptions(ctx, o)
	if err != nil {
		return err
	}
	log, reg := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	publisher, err := ingest.New(ingest.Config{Topic: o.topic, Retention: 91 * 24 * time.Hour, Linger: o.linger}, opts, log, reg)
	if err != nil {
		return err
	}
	server, err := httpapi.New(httpapi.Deps{
		Publisher: publisher, Tokens: knownToken{}, Health: healthy{}, Tracer: noop.NewTracerProvider().Tracer(""),
		Log: log, Registry: reg,
	})
	if err != nil {
		return err
	}
	bound := func(stop func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return stop(ctx)
	}
	err = serve(ctx, server.Listen, func() error { return bound(server.Shutdown) })
	return errors.Join(err, bound(publisher.Close))
}

func serve(ctx context.Context, listen func(net.Listener) error, shutdown func() error) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	served := make(chan error, 1)
	go func() { served <- listen(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		return shutdown()
	}
}

// knownToken verifies as a cached token is verified: by its hash.
type knownToken struct{}

func (knownToken) Verify(_ context.Context, bearer string) (*auth.Principal, error) {
	if sha256.Sum256([]byte(bearer)) != sha256.Sum256([]byte(token)) {
		return nil, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid, "The token is not known.")
	}
	return &auth.Principal{Name: "bench", Scopes: []string{auth.ScopeEventsWrite}}, nil
}

type healthy struct{}

func (healthy) Readiness() telemetry.Readiness { return telemetry.Readiness{Ready: true} }
