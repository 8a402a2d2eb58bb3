// Package dbtest gives every test its own migrated PostgreSQL database, and brokers of both kinds.
// Only tests import it.
package dbtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// New clones a fresh database from the migrated template; the server is shared by the test binary and
// found through ORIEL_TEST_DATABASE_URL or started from the embedded binaries.
func New(t testing.TB) *pgxpool.Pool { panic("unbuilt") }

// NewURL is New for tests that start a process or a proxy.
func NewURL(t testing.TB) string { panic("unbuilt") }

// Broker is a running broker of either kind with one topic for this test.
type Broker struct {
	Kind    string // "kfake" or "apache"
	Brokers []string
	Topic   string
}

// EachBroker runs f as a parallel subtest per kind of broker: kfake always, Apache Kafka where its lane
// runs (ORIEL_TEST_KAFKA=1 or a list of brokers). A lane asked for that cannot start fails the test.
func EachBroker(t *testing.T, partitions int, f func(t *testing.T, b Broker)) { panic("unbuilt") }
