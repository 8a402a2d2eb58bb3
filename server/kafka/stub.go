// Package kafka holds what Oriel knows about the broker: client options, topics, and the embedded
// broker for demo and tests. It must not know what a record means.
package kafka

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
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
func Options(cfg Config, log *slog.Logger) ([]kgo.Opt, error) { panic("unbuilt") }

// EnsureTopics creates the topic (replication min(3, brokers), min ISR 2 where 3, max.message.bytes
// 2 MiB) where it does not exist.
func EnsureTopics(ctx context.Context, cfg Config, log *slog.Logger) error { panic("unbuilt") }

// Embedded is a kfake cluster with its data on disk.
type Embedded struct{}

// StartEmbedded starts the broker on loopback with its log in dir (flock'd), SyncWrites on.
func StartEmbedded(dir string, port int, partitions map[string]int, log *slog.Logger) (*Embedded, error) {
	panic("unbuilt")
}

// Brokers are the addresses to dial.
func (e *Embedded) Brokers() []string { panic("unbuilt") }

// Close stops the broker and releases the folder.
func (e *Embedded) Close() error { panic("unbuilt") }
