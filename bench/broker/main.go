// Command broker runs Apache Kafka for benchmarks and by hand: it prints the bootstrap addresses and
// runs until interrupted, or runs the command it is given with the addresses in ORIEL_KAFKA_BROKERS and
// ORIEL_TEST_KAFKA and stops with it.
//
//	go run ./bench/broker -brokers 3
//	go run ./bench/broker -- go test ./server/consume
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"oriel/server/dbtest/kafkatest"
)

func main() {
	brokers := flag.Int("brokers", 1, "how many brokers form the cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *brokers, flag.Args(), os.Stdout)
	stop()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, brokers int, command []string, out io.Writer) (err error) {
	began := time.Now()
	c, err := kafkatest.Start(ctx, brokers)
	if err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, c.Stop(bounded))
	}()
	addrs := strings.Join(c.Brokers(), ",")
	if len(command) == 0 {
		fmt.Fprintln(os.Stderr, "apache kafka", kafkatest.Version, "is up after", time.Since(began).Round(time.Millisecond))
		fmt.Fprintln(out, addrs)
		<-ctx.Done()
		return nil
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "ORIEL_KAFKA_BROKERS="+addrs, "ORIEL_TEST_KAFKA="+addrs)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, out, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd.Run()
}
