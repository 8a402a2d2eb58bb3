package kafka_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"oriel/server/dbtest"
	"oriel/server/kafka"
)

const topic = "events"

// hostEnv makes the test binary a process that hosts a broker in the folder it names.
const hostEnv = "ORIEL_TEST_HOST_BROKER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(hostEnv); dir != "" {
		host(dir)
	}
	goleak.VerifyTestMain(m, dbtest.IgnoreServers()...)
}

func host(dir string) {
	e, err := kafka.StartEmbedded(dir, 0, map[string]int{topic: 3}, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(e.Brokers()[0])
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends or kills us
	os.Exit(0)
}

// startHost starts a broker in a process of its own, to be killed.
func startHost(t *testing.T, dir string) (addr string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), hostEnv+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill = func() {
		if !killed {
			killed = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_ = in.Close()
		}
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the broker's process said no address: %v", err)
	}
	return strings.TrimSpace(line), kill
}

func newClient(t *testing.T, addr string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	shared, err := kafka.Options(kafka.Config{Brokers: []string{addr}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	cl, err := kgo.NewClient(append(shared, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func bounded(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestEveryAcknowledgedRecordSurvivesKillsOfTheBroker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr, kill := startHost(t, dir)
	// One client through all kills: it must find the broker again by itself, on the same port.
	cl := newClient(t, addr, kgo.ProducerLinger(0))
	ctx := bounded(t, 90*time.Second)

	const producers, kills = 8, 3
	acked := make(chan string, 1<<16)
	var count, next atomic.Int64
	producing, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	for range producers {
		go func() {
			defer func() { done <- struct{}{} }()
			for producing.Err() == nil {
				v := strconv.FormatInt(next.Add(1), 10)
				// The client's own patience, not a context: an abandoned record may yet land.
				err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: []byte(v), Value: []byte(v)}).FirstErr()
				if err == nil {
					count.Add(1)
					acked <- v
				}
			}
		}()
	}
	for i := range kills {
		waitFor(t, ctx, "records between kills", func() bool { return count.Load() >= int64(i+1)*200 })
		kill()
		var again string
		if again, kill = startHost(t, dir); again != addr {
			t.Fatalf("the broker came back on %s and not on its port %s", again, addr)
		}
	}
	waitFor(t, ctx, "records after the last kill", func() bool { return count.Load() >= (kills+1)*200 })
	stop()
	for range producers {
		<-done
	}
	close(acked)

	seen := readAll(t, ctx, addr)
	missing, twice := 0, 0
	for v := range acked {
		switch seen[v] {
		case 0:
			missing++
		case 1:
		default:
			twice++
		}
	}
	// Only what was under way when the broker was killed, one record of each producer.
	if twice > producers*kills {
		t.Errorf("%d records are there more than once, more than %d kills explain", twice, kills)
	}
	if missing > 0 {
		t.Fatalf("%d of %d acknowledged records are gone after %d kills", missing, count.Load(), kills)
	}
}

// readAll counts the values of every record up to the present end.
func readAll(t *testing.T, ctx context.Context, addr string) map[string]int {
	t.Helper()
	cl := newClient(t, addr, kgo.ConsumeTopics(topic), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()))
	ends, err := kadm.NewClient(cl).ListEndOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	starts, err := kadm.NewClient(cl).ListStartOffsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	left := int64(0)
	ends.Each(func(o kadm.ListedOffset) {
		s, _ := starts.Lookup(topic, o.Partition)
		left += o.Offset - s.Offset
	})
	seen := map[string]int{}
	for left > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			seen[string(r.Value)]++
			left--
		})
	}
	return seen
}

func waitFor(t *testing.T, ctx context.Context, what string, ok func() bool) {
	t.Helper()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s: %v", what, context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestGroupsOffsetsAndTopicIDsSurviveARestart(t *testing.T) {
	t.Parallel()
	t.Run("an orderly one", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		e := start(t, dir, 0)
		id := commitThree(t, e.Brokers()[0])
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		expectThree(t, start(t, dir, 0).Brokers()[0], id)
	})
	t.Run("a kill", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		addr, kill := startHost(t, dir)
		id := commitThree(t, addr)
		kill()
		addr, _ = startHost(t, dir)
		expectThree(t, addr, id)
	})
}

// commitThree produces five records to one partition and commits offset 3 for a group.
func commitThree(t *testing.T, addr string) [16]byte {
	t.Helper()
	ctx := bounded(t, 20*time.Second)
	cl := newClient(t, addr, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for i := range 5 {
		if err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: 1, Value: []byte{byte(i)}}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 1, 3, -1)
	if err := kadm.NewClient(cl).CommitAllOffsets(ctx, "group", offsets); err != nil {
		t.Fatal(err)
	}
	id, err := kafka.TopicID(ctx, cl, topic)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func expectThree(t *testing.T, addr string, id [16]byte) {
	t.Helper()
	ctx := bounded(t, 20*time.Second)
	cl := newClient(t, addr, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	fetched, err := kadm.NewClient(cl).FetchOffsets(ctx, "group")
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := fetched.Lookup(topic, 1); !ok || o.At != 3 {
		t.Errorf("the group's offset is %v and not the committed 3", o.At)
	}
	again, err := kafka.TopicID(ctx, cl, topic)
	if err != nil {
		t.Fatal(err)
	}
	if again != id || id == [16]byte{} {
		t.Errorf("the topic has the id %x and had %x", again, id)
	}
	rec := &kgo.Record{Topic: topic, Partition: 1, Value: []byte("next")}
	if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if rec.Offset != 5 {
		t.Errorf("the next record got offset %d and not 5", rec.Offset)
	}
}

func start(t *testing.T, dir string, port int) *kafka.Embedded {
	t.Helper()
	e, err := kafka.StartEmbedded(dir, port, map[string]int{topic: 3}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestTwoBrokersOnOneFolderAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, dir, 0)
	_, err := kafka.StartEmbedded(dir, 0, nil, nil)
	if !errors.Is(err, unix.EWOULDBLOCK) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("a second broker on the folder answers %v", err)
	}
}

func TestThePortIsRememberedAndATakenOneReplacedUnlessAskedFor(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	e := start(t, dir, 0)
	addr := e.Brokers()[0]
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e = start(t, dir, 0); e.Brokers()[0] != addr {
		t.Fatalf("the port changed from %s to %s", addr, e.Brokers()[0])
	}
	port, _ := strconv.Atoi(addr[strings.LastIndex(addr, ":")+1:])
	if _, err := kafka.StartEmbedded(other, port, nil, nil); !errors.Is(err, unix.EADDRINUSE) {
		t.Fatalf("a taken port that was asked for answers %v", err)
	}
	if err := os.WriteFile(other+"/port", []byte(strconv.Itoa(port)), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := start(t, other, 0); o.Brokers()[0] == addr {
		t.Fatal("two brokers on one port")
	}
}

func TestTrimmingFreesSpaceAndNeverMovesTheNextOffsetBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx := bounded(t, 60*time.Second)
	e := start(t, dir, 0)
	addr := e.Brokers()[0]
	cl := newClient(t, addr, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
	value := make([]byte, 512<<10)
	const n = 96 // 48 MiB: three segments
	for range n {
		if err := cl.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: 0, Value: value}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	before, err := e.LogBytes()
	if err != nil {
		t.Fatal(err)
	}
	if before < n*int64(len(value)) {
		t.Fatalf("the log takes %d bytes with %d of records in it", before, n*len(value))
	}
	// Beyond the end on purpose: a checkpoint stands at the end when all is read.
	if err := e.TrimTo(ctx, topic, map[int32]int64{0: n}); err != nil {
		t.Fatal(err)
	}
	after, err := e.LogBytes()
	if err != nil {
		t.Fatal(err)
	}
	if limit := int64(17 << 20); after > limit {
		t.Fatalf("after trimming everything read the log still takes %d bytes, above one segment", after)
	}
	if err := e.TrimTo(ctx, topic, map[int32]int64{0: 3}); err != nil {
		t.Fatalf("trimming below an earlier trim must change nothing: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	// The state file of the orderly stop is what a kill would not have left.
	if err := os.Remove(dir + "/log/partitions/" + topic + "-0/snapshot.json"); err != nil {
		matches, _ := os.ReadDir(dir + "/log")
		t.Fatalf("find the partition's snapshot: %v (%v)", err, matches)
	}
	start(t, dir, 0)
	rec := &kgo.Record{Topic: topic, Partition: 0, Value: []byte("next")}
	if err := cl.ProduceSync(ctx, rec).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if rec.Offset != n {
		t.Fatalf("the next record got offset %d and not %d", rec.Offset, n)
	}
}
