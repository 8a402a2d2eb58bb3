package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// workload is what the load generator sends.
type workload struct {
	name        string
	connections int
	events      int // of one request; more than one is a batch
	binary      bool
	goal        bool
}

func workloads() []workload {
	return []workload{
		{name: "single, 64 connections", connections: 64, events: 1, goal: true},
		{name: "single, 256 connections", connections: 256, events: 1},
		{name: "arrays of 100, 16 connections", connections: 16, events: 100},
		{name: "single binary, 64 connections", connections: 64, events: 1, binary: true},
		{name: "single, 1 connection", connections: 1, events: 1},
	}
}

// result is one turn.
type result struct {
	rate     float64 // events a second
	p50, p99 time.Duration
	cpu      time.Duration // of the server's process, an event
}

// cost is what an event costs the server; unlike rates it hardly depends on what else the machine does.
func (r result) cost() string { return fmt.Sprintf("%.1f µs", float64(r.cpu.Nanoseconds())/1000) }

func (r result) latency() string {
	return fmt.Sprintf("%.1f ms, %.1f ms", float64(r.p50.Microseconds())/1000, float64(r.p99.Microseconds())/1000)
}

// serial numbers every event of the run, so that no two have one identity.
var serial atomic.Int64

// run drives the server for a turn over keep-alive connections, one request at a time on each.
func run(ctx context.Context, server *part, w workload, turn time.Duration) (result, error) {
	before, err := server.cpu()
	if err != nil {
		return result{}, err
	}
	g, ctx := errgroup.WithContext(ctx)
	end := time.Now().Add(turn)
	took := make([][]time.Duration, w.connections)
	start := time.Now()
	for i := range w.connections {
		g.Go(func() error {
			var err error
			took[i], err = drive(ctx, server.address, w, end)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return result{}, fmt.Errorf("%s against %s: %w", w.name, server.address, err)
	}
	elapsed := time.Since(start)
	all := slices.Concat(took...)
	slices.Sort(all)
	if len(all) == 0 {
		return result{}, fmt.Errorf("%s: no request was answered", w.name)
	}
	after, err := server.cpu()
	if err != nil {
		return result{}, err
	}
	return result{
		cpu:  (after - before) / time.Duration(len(all)*w.events),
		rate: float64(len(all)*w.events) / elapsed.Seconds(),
		p50:  all[len(all)/2], p99: all[len(all)*99/100],
	}, nil
}

func drive(ctx context.Context, address string, w workload, end time.Time) ([]time.Duration, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(end.Add(15 * time.Second))
	in := bufio.NewReader(conn)
	req := newRequest(address, w)
	var took []time.Duration
	for time.Now().Before(end) && ctx.Err() == nil {
		start := time.Now()
		if _, err := conn.Write(req.next()); err != nil {
			return nil, err
		}
		if err := readAnswer(in); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
	}
	return took, nil
}

// readAnswer reads one response with a Content-Length and requires a 200.
func readAnswer(in *bufio.Reader) error {
	status, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	ok := bytes.HasPrefix(status, []byte("HTTP/1.1 200"))
	first := string(status)
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, found := bytes.Cut(line, []byte(":")); found && strings.EqualFold(string(name), "content-length") {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if ok {
		_, err = in.Discard(length)
		return err
	}
	body := make([]byte, length)
	_, err = io.ReadFull(in, body)
	return fmt.Errorf("answered %s %s (%w)", strings.TrimSpace(first), body, err)
}

// request is a request of one connection, whose events get new ids each time.
type request struct {
	bytes []byte
	ids   []int // where each id's sixteen digits are
}

const placeholder = "0000000000000000"

func newRequest(address string, w workload) *request {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	data := sampleData()
	var head, body string
	switch {
	case w.binary:
		head = "content-type: application/json\r\nce-specversion: 1.0\r\nce-type: home.sensor.reading.v1\r\n" +
			"ce-source: /homes/lindenweg-7\r\nce-subject: sensor-kitchen-" + placeholder + "\r\nce-id: " + placeholder + "\r\nce-time: " + now + "\r\n"
		body = data
	default:
		one := `{"specversion":"1.0","type":"home.sensor.reading.v1","source":"/homes/lindenweg-7","subject":"sensor-kitchen-` + placeholder +
			`","id":"` + placeholder + `","time":"` + now + `","datacontenttype":"application/json","data":` + data + `}`
		head, body = "content-type: application/cloudevents+json\r\n", one
		if w.events > 1 {
			head = "content-type: application/cloudevents-batch+json\r\n"
			body = "[" + strings.Repeat(one+",", w.events-1) + one + "]"
		}
	}
	text := "POST /v1/events HTTP/1.1\r\nhost: " + address + "\r\nauthorization: Bearer " + token + "\r\n" + head +
		"content-length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	r := &request{bytes: []byte(text)}
	for at := 0; ; at += len(placeholder) {
		i := strings.Index(text[at:], placeholder)
		if i < 0 {
			return r
		}
		at += i
		r.ids = append(r.ids, at)
	}
}

func (r *request) next() []byte {
	var digits [20]byte
	for _, at := range r.ids {
		n := strconv.AppendInt(digits[:0], 1e15+serial.Add(1), 10)
		copy(r.bytes[at:], n[:len(placeholder)])
	}
	return r.bytes
}

// sampleData makes an event of about 650 bytes.
func sampleData() string {
	return `{"deviceId":"sensor-kitchen-temperature","roomId":"kitchen","personId":"anna","severity":"info","tags":["sensor","temperature","floor-1"],` +
		`"reading":{"quantity":"temperature","value":21.48,"unit":"°C","accuracy":0.05,"samples":[21.41,21.44,21.5,21.52,21.48]},` +
		`"firmware":{"version":"4.12.1","channel":"stable"},"network":{"ssid":"lindenweg","rssi":-61,"roaming":false},` +
		`"message":"Periodic reading, nothing unusual."}`
}
