// Package kafka holds what Oriel knows about the broker: client options, topics, and the embedded
// broker for demo and tests. It promises that every client of ours finds moved leaders and restarted
// brokers again by itself. It must not know what a record means.
package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Config says how to reach the brokers.
type Config struct {
	Brokers                  []string
	Topic, Group             string
	Partitions               int
	TLS                      bool
	TLSCAFile                string
	SASL, Username, Password string // SASL: "", PLAIN, SCRAM-SHA-256, SCRAM-SHA-512
}

// Options are the client options every client of ours shares: seeds, TLS, SASL, MetadataMinAge 250 ms.
func Options(cfg Config, log *slog.Logger) ([]kgo.Opt, error) {
	if len(cfg.Brokers) == 0 {
		return nil, errors.New("no kafka brokers are configured")
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.ClientID("oriel"),
		kgo.SoftwareNameAndVersion("oriel", "1"),
		kgo.WithLogger(clientLog{log}),
		// The default of five seconds turns every moved leader and every lost answer into a pause
		// longer than a request may take.
		kgo.MetadataMinAge(250 * time.Millisecond),
		// How soon partitions added to the topic are found.
		kgo.MetadataMaxAge(time.Minute),
		kgo.DialTimeout(5 * time.Second),
		kgo.RequestTimeoutOverhead(5 * time.Second),
		kgo.RetryBackoffFn(backoff),
		// A broker that closes its first connection is restarting, not speaking another protocol: Ping
		// is what tells a wrong configuration.
		kgo.AlwaysRetryEOF(),
	}
	if cfg.TLS {
		conf, err := tlsConfig(cfg.TLSCAFile)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(conf))
	} else if cfg.TLSCAFile != "" {
		return nil, errors.New("a kafka TLS CA file is configured and TLS is off")
	}
	mechanism, err := saslMechanism(cfg)
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		opts = append(opts, kgo.SASL(mechanism))
	}
	return opts, nil
}

// backoff is full jitter with a cap of a second: replicas that lost one broker together do not return
// together.
func backoff(try int) time.Duration {
	ceiling := min(time.Second, 50*time.Millisecond<<min(try, 10))
	return time.Duration(rand.Int64N(int64(ceiling)) + 1)
}

func tlsConfig(caFile string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return conf, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read the kafka TLS CA file: %w", err)
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("the kafka TLS CA file %s holds no PEM certificate", caFile)
	}
	return conf, nil
}

func saslMechanism(cfg Config) (sasl.Mechanism, error) {
	if cfg.SASL == "" {
		if cfg.Username != "" || cfg.Password != "" {
			return nil, errors.New("a kafka user or password is configured and no SASL mechanism")
		}
		return nil, nil
	}
	if cfg.Username == "" || cfg.Password == "" {
		return nil, fmt.Errorf("kafka SASL %s needs a user and a password", cfg.SASL)
	}
	switch cfg.SASL {
	case "PLAIN":
		return plain.Auth{User: cfg.Username, Pass: cfg.Password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: cfg.Username, Pass: cfg.Password}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: cfg.Username, Pass: cfg.Password}.AsSha512Mechanism(), nil
	}
	return nil, fmt.Errorf("unknown kafka SASL mechanism %q: PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 are accepted", cfg.SASL)
}

// clientLog passes the client's log on, one level down: what it calls news is routine for us.
type clientLog struct{ log *slog.Logger }

func (l clientLog) Level() kgo.LogLevel {
	switch {
	case l.log == nil:
		return kgo.LogLevelNone
	case l.log.Enabled(context.Background(), slog.LevelDebug):
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelWarn
}

func (l clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	to := slog.LevelDebug
	switch level {
	case kgo.LogLevelError:
		to = slog.LevelError
	case kgo.LogLevelWarn:
		to = slog.LevelWarn
	default:
	}
	l.log.Log(context.Background(), to, "kafka client", append([]any{"says", msg}, keyvals...)...)
}
