// Package kafkatest runs a real Apache Kafka for tests and benchmarks: one broker, or three that form a
// cluster. It promises that no broker outlives the process that started it. It must not know Oriel.
package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"oriel/server/embedded/dirlock"
)

// Cluster is a running cluster. Its methods may be called from several goroutines, but Kill and
// Restart not for the same broker at once.
type Cluster struct {
	brokers []*broker
	dir     string
	lock    *dirlock.Lock
	stop    sync.Once
	stopErr error
}

// Start starts a cluster of n brokers and waits until it answers. The jars are fetched with Maven the
// first time; Java 17 or newer runs them. The brokers' data does not outlive them. One broker is set up
// to be measured, several to be killed.
func Start(ctx context.Context, n int) (*Cluster, error) {
	if n < 1 {
		return nil, fmt.Errorf("a cluster of %d brokers", n)
	}
	libs, err := Fetch(ctx)
	if err != nil {
		return nil, err
	}
	// A port that was free can be taken before the broker binds it.
	for try := 1; ; try++ {
		c, err := start(ctx, libs, n)
		if err == nil || try == 3 || !errors.Is(err, errPortTaken) {
			return c, err
		}
	}
}

func start(ctx context.Context, libs string, n int) (_ *Cluster, err error) {
	dir, lock, err := scratchDir()
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, lock: lock}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
		}
	}()
	if c.brokers, err = layOut(dir, libs, n); err != nil {
		return nil, err
	}
	if err := c.each(func(b *broker) error { return b.format(ctx) }); err != nil {
		return nil, err
	}
	if err := c.each(func(b *broker) error { return b.start() }); err != nil {
		return nil, err
	}
	return c, c.Ready(ctx)
}

// Brokers are the addresses of all brokers.
func (c *Cluster) Brokers() []string {
	addrs := make([]string, len(c.brokers))
	for i, b := range c.brokers {
		addrs[i] = b.addr()
	}
	return addrs
}

// Ready waits until every running broker is in the cluster's own metadata, which clients go by.
func (c *Cluster) Ready(ctx context.Context) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Brokers()...), kgo.MetadataMinAge(50*time.Millisecond),
		kgo.RetryTimeout(time.Second), kgo.AlwaysRetryEOF())
	if err != nil {
		return err
	}
	defer cl.Close()
	for {
		running := 0
		for _, b := range c.brokers {
			switch died, err := b.state(); {
			case died:
				return err
			case err == nil:
				running++
			}
		}
		asked, cancel := context.WithTimeout(ctx, 2*time.Second)
		// Not by kadm, which answers from what the client has seen before.
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = []kmsg.MetadataRequestTopic{}
		meta, err := req.RequestWith(asked, cl)
		cancel()
		if err == nil && len(meta.Brokers) == running && meta.ControllerID >= 0 {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("%d of %d brokers are known", len(meta.Brokers), running)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("apache kafka is not ready: %w (last answer: %w)", context.Cause(ctx), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Kill ends broker i (from 0) as a crash would, and waits for its end.
func (c *Cluster) Kill(i int) { c.brokers[i].kill() }

// Restart starts broker i again on its data and its port, and waits until the cluster has it back.
func (c *Cluster) Restart(ctx context.Context, i int) error {
	if err := c.brokers[i].start(); err != nil {
		return err
	}
	return c.Ready(ctx)
}

// Stop stops every broker and drops the data. Safe twice.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop.Do(func() {
		c.stopErr = errors.Join(
			c.each(func(b *broker) error { return b.stop(ctx) }),
			emptyDir(c.dir),
			c.lock.Release(),
		)
	})
	return c.stopErr
}

func (c *Cluster) each(f func(*broker) error) error {
	var g errgroup.Group
	for _, b := range c.brokers {
		g.Go(func() error { return f(b) })
	}
	return g.Wait()
}

// scratchDir takes the first free of a row of folders, and empties it: what a killed process left is
// cleared by the next, so nothing piles up.
func scratchDir() (string, *dirlock.Lock, error) {
	root := filepath.Join(os.TempDir(), "oriel-kafka-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", nil, err
	}
	for slot := range 64 {
		dir := filepath.Join(root, strconv.Itoa(slot))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", nil, err
		}
		lock, err := dirlock.Take(dir)
		if errors.Is(err, unix.EWOULDBLOCK) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if err := emptyDir(dir); err != nil {
			return "", nil, errors.Join(err, lock.Release())
		}
		return dir, lock, nil
	}
	return "", nil, fmt.Errorf("all folders for brokers in %s are in use", root)
}

// emptyDir removes everything but the lock.
func emptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != dirlock.Name {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
