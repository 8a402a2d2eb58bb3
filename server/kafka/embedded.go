package kafka

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"
	"golang.org/x/sys/unix"

	"oriel/server/embedded/dirlock"
)

// Embedded is a kfake cluster of one broker with its data on disk. It is honest for demo, development
// and tests: an acknowledged record is on disk, groups and offsets persist, and a kill loses nothing.
// A kill makes it forget what idempotent producers had in flight, so a record whose acknowledgement the
// kill cut off can be there twice. It is one process, keeps an index of every batch in memory and reads
// its whole log at the start, so the log must be kept short with TrimTo.
type Embedded struct {
	cluster *kfake.Cluster
	dir     string
	brokers []string
	lock    *dirlock.Lock
	close   sync.Once
	err     error
}

// StartEmbedded starts the broker on loopback with its log in dir (flock'd), SyncWrites on. Port 0 takes
// the one that the folder remembers, or any free one, and remembers it, so that clients find the broker
// again after a restart. The topics of partitions are created where they do not exist, without any
// retention: see TrimTo.
func StartEmbedded(dir string, port int, partitions map[string]int, log *slog.Logger) (_ *Embedded, err error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the broker's folder: %w", err)
	}
	e := &Embedded{dir: dir}
	// Two brokers would interleave their batches in one file.
	if e.lock, err = dirlock.Take(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	if err := e.listen(port, log); err != nil {
		return nil, err
	}
	e.brokers = e.cluster.ListenAddrs()
	for topic, n := range partitions {
		if e.cluster.TopicInfo(topic) != nil {
			continue
		}
		if err := e.cluster.CreateTopic(topic, int32(n), map[string]string{
			"max.message.bytes": strconv.Itoa(maxLetterBytes),
		}); err != nil {
			return nil, fmt.Errorf("create the topic %s: %w", topic, err)
		}
	}
	return e, nil
}

// listen starts the cluster on the wished port, the remembered one, or a free one.
func (e *Embedded) listen(port int, log *slog.Logger) (err error) {
	record := filepath.Join(e.dir, "port")
	remembered := 0
	if raw, err := os.ReadFile(record); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil {
			remembered = n
		}
	}
	wish := port
	if wish == 0 {
		wish = remembered
	}
	e.cluster, err = startCluster(e.dir, wish, log)
	if port == 0 && wish != 0 && errors.Is(err, unix.EADDRINUSE) {
		log.Warn("the broker's port of the last run is taken, choosing another", "port", wish)
		e.cluster, err = startCluster(e.dir, 0, log)
	}
	if err != nil {
		return fmt.Errorf("start the embedded broker in %s: %w", e.dir, err)
	}
	_, got, err := net.SplitHostPort(e.cluster.ListenAddrs()[0])
	if err != nil {
		return fmt.Errorf("read the embedded broker's address: %w", err)
	}
	if got == strconv.Itoa(remembered) {
		return nil
	}
	if err := os.WriteFile(record, []byte(got+"\n"), 0o600); err != nil {
		return fmt.Errorf("remember the broker's port: %w", err)
	}
	return nil
}

func startCluster(dir string, port int, log *slog.Logger) (*kfake.Cluster, error) {
	return kfake.NewCluster(
		kfake.Ports(port),
		kfake.DataDir(filepath.Join(dir, "log")),
		// Acknowledged means on disk, as for the real one with several replicas.
		kfake.SyncWrites(),
		kfake.ClusterID("oriel-embedded"),
		kfake.WithLogger(brokerLog{log}),
		kfake.BrokerConfigs(map[string]string{
			// Deleted records free their space by whole segments.
			"log.segment.bytes": strconv.Itoa(16 << 20),
			// A group that just starts has nobody to wait for.
			"group.initial.rebalance.delay.ms": "0",
		}),
	)
}

// Brokers are the addresses to dial.
func (e *Embedded) Brokers() []string { return e.brokers }

// LogBytes is what the log takes on disk.
func (e *Embedded) LogBytes() (int64, error) {
	var sum int64
	err := filepath.WalkDir(filepath.Join(e.dir, "log"), func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // trimmed away just now
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// TrimTo deletes the records of a topic below the given offsets, which nobody may need any more. The
// newest record of a partition always stays: the broker learns the next offset from what is on disk,
// and after a kill an empty partition would begin again at 0. For the same reason the log start that
// it reports after a kill can lie below an earlier trim.
func (e *Embedded) TrimTo(ctx context.Context, topic string, below map[int32]int64) error {
	for partition, offset := range below {
		if err := ctx.Err(); err != nil {
			return err
		}
		info := e.cluster.PartitionInfo(topic, partition)
		if info == nil {
			return fmt.Errorf("trim the log: %w: %s partition %d", ErrNoTopic, topic, partition)
		}
		to := min(offset, info.HighWatermark-1)
		if to <= info.LogStartOffset {
			continue
		}
		if err := e.cluster.DeleteRecords(topic, partition, to); err != nil {
			return fmt.Errorf("trim %s partition %d to %d: %w", topic, partition, to, err)
		}
	}
	return nil
}

// Close stops the broker and releases the folder. Safe twice.
func (e *Embedded) Close() error {
	e.close.Do(func() {
		if e.cluster != nil {
			e.cluster.Close()
		}
		e.err = e.lock.Release()
	})
	return e.err
}

// brokerLog passes the cluster's log on: requests are debug, what it could not write is a warning.
type brokerLog struct{ log *slog.Logger }

func (l brokerLog) Logf(level kfake.LogLevel, format string, args ...any) {
	to := slog.LevelDebug
	switch level {
	case kfake.LogLevelError:
		to = slog.LevelError
	case kfake.LogLevelWarn:
		to = slog.LevelWarn
	default:
	}
	if ctx := context.Background(); l.log.Enabled(ctx, to) {
		l.log.Log(ctx, to, "kfake", "says", fmt.Sprintf(format, args...))
	}
}
