package config

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"oriel/server/facets"
)

// ValidateDemo reports everything that `oriel demo` cannot run with. It brings its own database, broker
// and address.
func (c Config) ValidateDemo() error {
	c.Database = Database{URL: "postgres://embedded", MaxConns: c.Database.MaxConns}
	if c.SignIn.Issuer == "" || c.HTTP.PublicURL == "" { // the listener's own
		c.HTTP.PublicURL = "http://127.0.0.1"
	}
	if c.SignIn.Issuer != "" && c.SignIn.SecretKey == "" { // made and kept in the data folder
		c.SignIn.SecretKey = base64.StdEncoding.EncodeToString(make([]byte, 32))
	}
	c.Kafka = Kafka{
		Brokers: []string{"embedded:0"}, Topic: c.Kafka.Topic, Group: c.Kafka.Group, Partitions: c.Kafka.Partitions,
		SessionTimeout: c.Kafka.SessionTimeout,
	}
	err := c.Validate()
	if u, bad := url.Parse(c.HTTP.PublicURL); bad == nil && !loopbackHost(u.Hostname()) {
		err = errors.Join(err, fmt.Errorf("ORIEL_PUBLIC_URL: the demo is for this machine alone, and %s leads to another", c.HTTP.PublicURL))
	}
	if c.Demo.Traffic != "on" && c.Demo.Traffic != "off" {
		err = errors.Join(err, fmt.Errorf("ORIEL_DEMO_TRAFFIC: %q is none of on, off", c.Demo.Traffic))
	}
	if c.Demo.LogBytes < 64<<20 {
		err = errors.Join(err, fmt.Errorf("ORIEL_DEMO_LOG_BYTES: %d is below 64 MiB", c.Demo.LogBytes))
	}
	return err
}

// Validate reports everything that `oriel serve` cannot run with.
func (c Config) Validate() error { return errors.Join(c.mistakes()...) }

func (c Config) mistakes() (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if _, _, err := net.SplitHostPort(c.HTTP.Addr); err != nil {
		bad("ORIEL_ADDR: %q is no host:port, such as 0.0.0.0:8080", c.HTTP.Addr)
	}
	c.HTTP.validate(bad)
	c.Database.validate(bad)
	if len(c.Kafka.Brokers) == 0 && c.HTTP.UsesKafka() {
		bad("ORIEL_KAFKA_BROKERS: required, such as broker-1:9092,broker-2:9092")
	}
	c.Kafka.validate(bad)
	c.SignIn.validate(c.HTTP, bad)
	c.Limits.validate(bad)
	if time.Duration(c.Store.Retention) < 48*time.Hour {
		bad("ORIEL_RETENTION: %s is below the least, 2d", c.Store.Retention)
	}
	if r := c.Store.BreakerRatio; r < 0.01 || r > 1 {
		bad("ORIEL_BREAKER_RATIO: %v is outside 0.01 to 1", r)
	}
	if c.Store.BreakerLetters < 1 {
		bad("ORIEL_BREAKER_LETTERS: %d is below 1", c.Store.BreakerLetters)
	}
	if _, err := c.Store.FacetFields(); err != nil {
		bad("%w", err)
	}
	if l := c.Outbox.Lease; l < 5*time.Second || l > time.Minute {
		bad("ORIEL_OUTBOX_LEASE: %s is outside 5s to 1m", l)
	}
	if n := c.Outbox.MessageBytes; n < 1<<20 || n > 64<<20 {
		bad("ORIEL_OUTBOX_MESSAGE_BYTES: %d is outside 1048576 to 67108864", n)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.Log.Level) {
		bad("ORIEL_LOG_LEVEL: %q is none of debug, info, warn, error", c.Log.Level)
	}
	return errs
}

// FacetFields are the facet fields, the built-in ones included, and where severity is.
func (s Store) FacetFields() (facets.Config, error) {
	return facets.Parse(s.Facets, s.FacetsCounted, s.SeverityPath)
}

func (d Database) validate(bad func(string, ...any)) {
	if d.URL == "" {
		bad("ORIEL_DATABASE_URL: required, such as postgres://oriel_write@db:5432/oriel")
	}
	for _, v := range [][2]string{{"ORIEL_DATABASE_URL", d.URL}, {"ORIEL_DATABASE_READ_URL", d.ReadURL}, {"ORIEL_DATABASE_MIGRATE_URL", d.MigrateURL}} {
		name, url := v[0], v[1]
		// Beside a URL, PostgreSQL's own form of words is accepted: host=db dbname=oriel.
		scheme, _, isURL := strings.Cut(url, "://")
		if url != "" && (isURL && scheme != "postgres" && scheme != "postgresql" || !isURL && !strings.Contains(url, "=")) {
			bad("%s: is no address of a PostgreSQL, such as postgres://oriel_write@db:5432/oriel", name)
		}
	}
	if d.MaxConns < 4 {
		bad("ORIEL_DATABASE_MAX_CONNS: %d is below 4", d.MaxConns)
	}
}

func (h HTTP) validate(bad func(string, ...any)) {
	h.validatePublicURL(bad)
	oneLine("ORIEL_NAME", h.Name, bad)
	if len(h.Roles) == 0 {
		bad("ORIEL_ROLES: at least one of %s", strings.Join(AllRoles(), ", "))
	}
	for _, r := range h.Roles {
		if !slices.Contains(AllRoles(), r) {
			bad("ORIEL_ROLES: %q is none of %s", r, strings.Join(AllRoles(), ", "))
		}
	}
	if h.Deadline < 100*time.Millisecond || h.Deadline > time.Minute {
		bad("ORIEL_PUBLISH_DEADLINE: %s is outside 100ms to 1m", h.Deadline)
	}
	if h.StopTimeout < time.Second {
		bad("ORIEL_STOP_TIMEOUT: %s is below 1s", h.StopTimeout)
	}
}

func (k Kafka) validate(bad func(string, ...any)) {
	for _, b := range k.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			bad("ORIEL_KAFKA_BROKERS: %q is no host:port, such as broker-1:9092", b)
		}
	}
	if !topicName(k.Topic) {
		bad("ORIEL_KAFKA_TOPIC: %q is no topic name: 1 to 245 of A-Z a-z 0-9 . _ -", k.Topic)
	}
	if k.TLSCAFile != "" {
		if _, err := os.Stat(k.TLSCAFile); err != nil {
			bad("ORIEL_KAFKA_TLS_CA_FILE: %v", err)
		}
		if !k.TLS {
			bad("ORIEL_KAFKA_TLS_CA_FILE: is set while ORIEL_KAFKA_TLS is off")
		}
	}
	if k.Partitions < 1 || k.Partitions > 10000 {
		bad("ORIEL_KAFKA_PARTITIONS: %d is outside 1 to 10000", k.Partitions)
	}
	switch k.SASL {
	case "", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
	default:
		bad("ORIEL_KAFKA_SASL: %q is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", k.SASL)
	}
	if k.SessionTimeout < 6*time.Second || k.SessionTimeout > 30*time.Minute {
		bad("ORIEL_KAFKA_SESSION_TIMEOUT: %s is outside 6s to 30m, a broker's own bounds", k.SessionTimeout)
	}
	if (k.SASL == "") != (k.Username == "") {
		bad("ORIEL_KAFKA_SASL and ORIEL_KAFKA_USERNAME: set both or none")
	}
}

// topicName tells whether Kafka takes the name, with room for the dead-letter topic's suffix.
func topicName(name string) bool {
	if name == "" || len(name) > 245 || strings.Trim(name, ".") == "" {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}
