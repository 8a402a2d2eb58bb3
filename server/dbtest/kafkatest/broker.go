package kafkatest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"oriel/server/embedded/child"
)

var (
	errPortTaken = errors.New("a port was taken by another process")
	errNotUp     = errors.New("the broker is not running")
)

// broker is one broker and controller in one process.
type broker struct {
	id               int
	dir, libs        string
	clusterID        string
	port, controller int
	quick            bool // the JVM compiles less, starts sooner and peaks lower

	mu     sync.Mutex
	proc   *child.Process
	killed bool // by us: its end is no failure
}

// layOut gives every broker its ports and its settings.
func layOut(dir, libs string, n int) ([]*broker, error) {
	ports, err := freePorts(2 * n)
	if err != nil {
		return nil, err
	}
	clusterID := newClusterID()
	brokers := make([]*broker, n)
	voters := make([]string, n)
	for i := range brokers {
		b := &broker{id: i + 1, dir: filepath.Join(dir, strconv.Itoa(i+1)), libs: libs, clusterID: clusterID, port: ports[2*i], controller: ports[2*i+1], quick: n > 1}
		brokers[i] = b
		voters[i] = fmt.Sprintf("%d@127.0.0.1:%d", b.id, b.controller)
	}
	for _, b := range brokers {
		if err := b.configure(strings.Join(voters, ","), n); err != nil {
			return nil, err
		}
	}
	return brokers, nil
}

func (b *broker) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)) }

func (b *broker) configure(voters string, n int) error {
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return err
	}
	replication := min(3, n)
	isr := max(1, replication-1)
	settings := []string{
		"process.roles=broker,controller",
		"node.id=" + strconv.Itoa(b.id),
		"controller.quorum.voters=" + voters,
		fmt.Sprintf("listeners=CLIENT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", b.port, b.controller),
		fmt.Sprintf("advertised.listeners=CLIENT://127.0.0.1:%d", b.port),
		"listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name=CLIENT",
		"controller.listener.names=CONTROLLER",
		"log.dirs=" + filepath.Join(b.dir, "data"),
		// A test that names a topic wrongly must see it.
		"auto.create.topics.enable=false",
		"group.initial.rebalance.delay.ms=0",
		// Tests of lost members do not wait for a production's patience.
		"group.min.session.timeout.ms=1000",
		// Three JVMs on a busy machine miss the deadlines that three machines keep, and would elect
		// for ever.
		"controller.quorum.election.timeout.ms=2000",
		"controller.quorum.fetch.timeout.ms=4000",
		"broker.heartbeat.interval.ms=1000",
		"num.network.threads=2",
		"num.io.threads=4",
		// Fifty partitions of each take seconds to open.
		"offsets.topic.num.partitions=4",
		"transaction.state.log.num.partitions=4",
		"share.coordinator.state.topic.num.partitions=4",
	}
	for _, topic := range []string{"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"} {
		settings = append(settings, fmt.Sprintf("%s.replication.factor=%d", topic, replication))
	}
	for _, topic := range []string{"transaction.state.log", "share.coordinator.state.topic"} {
		settings = append(settings, fmt.Sprintf("%s.min.isr=%d", topic, isr))
	}
	logging := "status=error\nappender.console.type=Console\nappender.console.name=STDOUT\n" +
		"appender.console.layout.type=PatternLayout\nappender.console.layout.pattern=%d %p %m (%c)%n\n" +
		"rootLogger.level=warn\nrootLogger.appenderRef.stdout.ref=STDOUT\n"
	return errors.Join(
		os.WriteFile(b.path("server.properties"), []byte(strings.Join(settings, "\n")+"\n"), 0o600),
		os.WriteFile(b.path("log4j2.properties"), []byte(logging), 0o600),
	)
}

func (b *broker) path(name string) string { return filepath.Join(b.dir, name) }

func (b *broker) java(args ...string) *exec.Cmd {
	options := []string{
		"-Xmx512m", "-XX:+UseSerialGC", "-Djava.awt.headless=true",
		"-Dlog4j2.configurationFile=" + b.path("log4j2.properties"),
		"-cp", filepath.Join(b.libs, "*"),
	}
	if b.quick {
		options = append(options, "-XX:TieredStopAtLevel=1")
	}
	cmd := exec.Command("java", append(options, args...)...)
	cmd.Dir = b.dir
	return cmd
}

func (b *broker) format(ctx context.Context) error {
	cmd := b.java("kafka.tools.StorageTool", "format", "-t", b.clusterID, "-c", b.path("server.properties"))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	p, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return fmt.Errorf("run java, which apache kafka needs: %w", err)
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Kill()
		return context.Cause(ctx)
	}
	if p.Err() != nil {
		return fmt.Errorf("format the storage of broker %d: %w: %s", b.id, p.Err(), out.String())
	}
	return nil
}

func (b *broker) start() error {
	log, err := os.OpenFile(b.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own
	cmd := b.java("kafka.Kafka", b.path("server.properties"))
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return fmt.Errorf("start broker %d: %w", b.id, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.proc, b.killed = p, false
	return nil
}

// state tells a broker that died by itself, which is an error of its own, from one that was killed.
func (b *broker) state() (died bool, err error) {
	b.mu.Lock()
	proc, killed := b.proc, b.killed
	b.mu.Unlock()
	if proc == nil || killed {
		return false, errNotUp
	}
	select {
	case <-proc.Done():
	default:
		return false, nil
	}
	said, err := os.ReadFile(b.path("server.log"))
	if err != nil {
		return true, err
	}
	cause := fmt.Errorf("broker %d ended: %w: %s", b.id, errors.Join(proc.Err(), errNotUp), tail(said))
	if strings.Contains(string(said), "Address already in use") {
		cause = fmt.Errorf("%w: %w", errPortTaken, cause)
	}
	return true, cause
}

func tail(text []byte) []byte {
	const keep = 2000
	return text[max(0, len(text)-keep):]
}

// end signals the broker's end and returns its process, nil where it never ran. An orderly stop moves
// leaders about for seconds; a kill is what tests want, and the data is dropped.
func (b *broker) end() *child.Process {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.killed = true
	if b.proc != nil {
		b.proc.Signal(syscall.SIGKILL)
	}
	return b.proc
}

func (b *broker) kill() {
	if p := b.end(); p != nil {
		<-p.Done()
	}
}

func (b *broker) stop(ctx context.Context) error {
	p := b.end()
	if p == nil {
		return nil
	}
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("broker %d does not end: %w", b.id, context.Cause(ctx))
	}
}

// newClusterID is what StorageTool's random-uuid gives, without a second for a JVM.
func newClusterID() string {
	for {
		var id [16]byte
		if _, err := rand.Read(id[:]); err != nil {
			panic("no randomness: " + err.Error()) // crypto/rand never returns one
		}
		// A leading dash would be taken for an option.
		if text := base64.RawURLEncoding.EncodeToString(id[:]); text[0] != '-' {
			return text
		}
	}
}

// freePorts holds all of them open at once, so that they differ.
func freePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	for range n {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
