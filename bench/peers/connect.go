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
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The sink's settings: two tasks, batches of 2,000.
const (
	connectTasks = 2
	connectBatch = 2000
)

// worker is a Kafka Connect worker in standalone mode. It lives through all turns, so that its JVM has
// compiled what it runs; each turn is a connector of its own.
type worker struct {
	process *process
	rest    string
	turns   int
}

func startWorker(ctx context.Context, s *stage, home string) (_ *worker, err error) {
	dir := filepath.Join(s.dir, "connect")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	settings := []string{
		"bootstrap.servers=" + strings.Join(s.brokers, ","),
		"listeners=http://" + addr,
		"plugin.path=" + filepath.Join(home, "plugins"),
		"offset.storage.file.filename=" + filepath.Join(dir, "offsets"),
		"key.converter=org.apache.kafka.connect.converters.ByteArrayConverter",
		"value.converter=org.apache.kafka.connect.json.JsonConverter",
		"consumer.auto.offset.reset=earliest",
		// The sink's batches are no larger than what a poll returns.
		fmt.Sprintf("consumer.max.poll.records=%d", connectBatch),
		// By default a partition gives a megabyte at once, a hundred webhooks.
		"consumer.max.partition.fetch.bytes=33554432",
	}
	logging := "status=error\nappender.console.type=Console\nappender.console.name=STDOUT\n" +
		"appender.console.layout.type=PatternLayout\nappender.console.layout.pattern=%d %p %m (%c)%n%ex\n" +
		"rootLogger.level=warn\nrootLogger.appenderRef.stdout.ref=STDOUT\n"
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "worker.properties"), []byte(strings.Join(settings, "\n")+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "log4j2.properties"), []byte(logging), 0o600),
	); err != nil {
		return nil, err
	}
	// The memory and the collector that its own start script gives it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "java", "-Xms256M", "-Xmx2G", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
		"-Djava.awt.headless=true", "-Dlog4j2.configurationFile="+filepath.Join(dir, "log4j2.properties"),
		"-cp", filepath.Join(home, "libs", "*"), "org.apache.kafka.connect.cli.ConnectStandalone", filepath.Join(dir, "worker.properties"))
	cmd.Dir = dir
	p, err := startProcess(cmd, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	w := &worker{process: p, rest: "http://" + addr}
	for limit := time.Now().Add(2 * time.Minute); ; {
		err := w.ask(ctx, http.MethodGet, "/connectors", nil, nil)
		if err == nil {
			return w, nil
		}
		if dead := p.ended(); dead != nil || time.Now().After(limit) {
			p.stop()
			return nil, fmt.Errorf("start Kafka Connect: %w", errors.Join(err, dead))
		}
		if err := pause(ctx, 4*tick); err != nil {
			p.stop()
			return nil, err
		}
	}
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (w *worker) ask(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, w.rest+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, said)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(said, answer)
}

// jdbcURL is a server's address for Java, which needs a factory for sockets of the file system.
func jdbcURL(server *pgx.ConnConfig) string {
	// Untyped, a string fits a column of any type.
	options := "reWriteBatchedInserts=true&stringtype=unspecified&sslmode=disable"
	if !strings.HasPrefix(server.Host, "/") {
		return fmt.Sprintf("jdbc:postgresql://%s/%s?%s", net.JoinHostPort(server.Host, fmt.Sprint(server.Port)), server.Database, options)
	}
	return fmt.Sprintf("jdbc:postgresql://localhost/%s?%s&socketFactory=org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg&socketFactoryArg=%s/.s.PGSQL.%d",
		server.Database, options, server.Host, server.Port)
}

// sink is a contender: Debezium's JDBC sink in the worker. key are the columns of the table's primary key.
type sink struct {
	worker *worker
	ddl    string
	key    string
	rows   bool // read the topic of rows
	name   string
}

func (k *sink) table() string { return k.ddl }

func (k *sink) form(bool) form {
	if k.rows {
		return asRows
	}
	return asEvents
}

func (k *sink) start(ctx context.Context, _ *stage, topic string, d *database) error {
	k.worker.turns++
	k.name = fmt.Sprintf("bench-%d", k.worker.turns)
	server := d.pool.Config().ConnConfig
	config := map[string]string{
		"connector.class":        "io.debezium.connector.jdbc.JdbcSinkConnector",
		"tasks.max":              fmt.Sprint(connectTasks),
		"topics":                 topic,
		"connection.url":         jdbcURL(server),
		"connection.username":    server.User,
		"connection.password":    server.Password,
		"insert.mode":            "upsert",
		"primary.key.mode":       "record_value",
		"primary.key.fields":     k.key,
		"schema.evolution":       "none",
		"collection.name.format": "event",
		"batch.size":             fmt.Sprint(connectBatch),
	}
	if k.rows {
		config["value.converter"] = "org.apache.kafka.connect.json.JsonConverter"
		config["value.converter.schemas.enable"] = "true"
		config["value.converter.schema.content"] = rowSchema(k.ddl == searchable)
	} else {
		// The value is the data, and the headers are the attributes.
		config["value.converter"] = "org.apache.kafka.connect.storage.StringConverter"
		config["header.converter"] = "org.apache.kafka.connect.storage.StringConverter"
		config["transforms"] = "data,attributes"
		config["transforms.data.type"] = "org.apache.kafka.connect.transforms.HoistField$Value"
		config["transforms.data.field"] = "data"
		config["transforms.attributes.type"] = "io.debezium.transforms.HeaderToValue"
		config["transforms.attributes.headers"] = "ce_time,ce_source,ce_id,ce_type,ce_subject,content-type"
		config["transforms.attributes.fields"] = "occurred_at,source,id,type,subject,datacontenttype"
		config["transforms.attributes.operation"] = "copy"
	}
	return k.worker.ask(ctx, http.MethodPut, "/connectors/"+k.name+"/config", config, nil)
}

func (k *sink) spent() time.Duration { return spent(k.worker.process.Pid()) }

// ended asks for the tasks, as one that fails leaves the worker running.
func (k *sink) ended(ctx context.Context) error {
	if err := k.worker.process.ended(); err != nil {
		return err
	}
	var status struct {
		Tasks []struct{ State, Trace string }
	}
	if err := k.worker.ask(ctx, http.MethodGet, "/connectors/"+k.name+"/status", nil, &status); err != nil {
		return nil //nolint:nilerr // it is not there yet
	}
	for _, t := range status.Tasks {
		if t.State == "FAILED" {
			return fmt.Errorf("the task failed: %s", t.Trace)
		}
	}
	return nil
}

func (k *sink) stop(ctx context.Context) error {
	return k.worker.ask(ctx, http.MethodDelete, "/connectors/"+k.name, nil, nil)
}
