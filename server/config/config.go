// Package config reads Oriel's configuration from the environment: one struct per area, defaults,
// validation that reports every mistake at once, a _FILE twin for each secret, and a redacted dump.
// It knows none of the parts it configures; what facet fields are is for package facets to say.
package config

import (
	"net/netip"
	"slices"
	"time"
)

// Roles a process may have; a replica with fewer scales that part alone.
const (
	RoleWeb      = "web"
	RoleIngest   = "ingest"
	RoleConsume  = "consume"
	RoleRelay    = "relay"
	RoleMaintain = "maintain"
)

// AllRoles is the default of ORIEL_ROLES.
func AllRoles() []string {
	return []string{RoleWeb, RoleIngest, RoleConsume, RoleRelay, RoleMaintain}
}

// Config is everything that `oriel serve` reads.
type Config struct {
	HTTP     HTTP
	Database Database
	Kafka    Kafka
	Store    Store
	Outbox   Outbox
	Log      Log
	SignIn   SignIn
	Limits   Limits
	DataDir  string `env:"ORIEL_DATA_DIR" envDefault:".oriel"` // DefaultDataDir
	Demo     Demo
}

// DefaultDataDir is the demo's data folder, in the working folder.
const DefaultDataDir = ".oriel"

// HTTP is the listener and how the world sees it.
type HTTP struct {
	Addr      string `env:"ORIEL_ADDR" envDefault:"127.0.0.1:8080"`
	PublicURL string `env:"ORIEL_PUBLIC_URL"`
	// Name tells this installation from others, in the bar of the browser app and at sign-in.
	Name string `env:"ORIEL_NAME"`
	// TrustedProxies are the networks whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix `env:"ORIEL_TRUSTED_PROXIES"`
	Roles          []string       `env:"ORIEL_ROLES" envDefault:"web,ingest,consume,relay,maintain"`
	// Deadline bounds a publish; past it the answer is 503 with an unknown outcome.
	Deadline time.Duration `env:"ORIEL_PUBLISH_DEADLINE" envDefault:"10s"`
	// StopTimeout bounds the whole graceful stop.
	StopTimeout time.Duration `env:"ORIEL_STOP_TIMEOUT" envDefault:"30s"`
}

// Database is PostgreSQL.
type Database struct {
	URL string `env:"ORIEL_DATABASE_URL" secret:"url"`
	// ReadURL is the role that can only read, of the same server or a hot standby of it; empty: URL's role reads too.
	ReadURL string `env:"ORIEL_DATABASE_READ_URL" secret:"url"`
	// MigrateURL is the owner of the schema, for `oriel migrate` alone; empty: URL.
	MigrateURL string `env:"ORIEL_DATABASE_MIGRATE_URL" secret:"url"`
	MaxConns   int32  `env:"ORIEL_DATABASE_MAX_CONNS" envDefault:"16"`
}

// Kafka is the broker.
type Kafka struct {
	Brokers []string `env:"ORIEL_KAFKA_BROKERS"`
	Topic   string   `env:"ORIEL_KAFKA_TOPIC" envDefault:"events.cloudevents.v1"`
	// Group is of the store's consumers; empty becomes one of the topic's own, so that two installations on
	// one broker do not take each other's partitions.
	Group      string `env:"ORIEL_KAFKA_GROUP"`
	Partitions int    `env:"ORIEL_KAFKA_PARTITIONS" envDefault:"6"`
	TLS        bool   `env:"ORIEL_KAFKA_TLS"`
	TLSCAFile  string `env:"ORIEL_KAFKA_TLS_CA_FILE"`
	SASL       string `env:"ORIEL_KAFKA_SASL"`
	Username   string `env:"ORIEL_KAFKA_USERNAME"`
	Password   string `env:"ORIEL_KAFKA_PASSWORD" secret:"yes"`
	// SessionTimeout is how long a replica may be silent before its partitions go to another. Short is
	// safe: a replica that comes back late is fenced by the checkpoint.
	SessionTimeout time.Duration `env:"ORIEL_KAFKA_SESSION_TIMEOUT" envDefault:"15s"`
}

// Store is what is kept and for how long.
type Store struct {
	Retention Days `env:"ORIEL_RETENTION" envDefault:"91d"`
	// A partition stops where more than BreakerRatio of the last 1,000 records, and at least BreakerLetters
	// within a minute, became dead letters. A ratio of 1 is never.
	BreakerRatio   float64 `env:"ORIEL_BREAKER_RATIO" envDefault:"0.5"`
	BreakerLetters int     `env:"ORIEL_BREAKER_LETTERS" envDefault:"500"`
	// Facets are fields beside or in the place of the built-in ones: name=data.path or name=ext.name, comma
	// separated; name= takes a built-in one away. Of those in FacetsCounted counts are kept ahead, as they are of
	// person, room and tag.
	Facets        string   `env:"ORIEL_FACETS"`
	FacetsCounted []string `env:"ORIEL_FACETS_COUNTED"`
	SeverityPath  string   `env:"ORIEL_SEVERITY_PATH" envDefault:"data.severity"`
}

// Outbox is what the relay publishes.
type Outbox struct {
	// Lease is how long a relay that was killed keeps its shards from the others, and how long one that lives
	// may be without the database before it loses them.
	Lease time.Duration `env:"ORIEL_OUTBOX_LEASE" envDefault:"15s"`
	// MessageBytes is the largest record that is tried: no less than the topics take.
	MessageBytes int `env:"ORIEL_OUTBOX_MESSAGE_BYTES" envDefault:"4194304"`
}

// Log is the process's own log.
type Log struct {
	Level string `env:"ORIEL_LOG_LEVEL" envDefault:"info"`
}

// Demo changes `oriel demo`.
type Demo struct {
	Traffic  string `env:"ORIEL_DEMO_TRAFFIC" envDefault:"on"`
	LogBytes int64  `env:"ORIEL_DEMO_LOG_BYTES" envDefault:"536870912"`
}

// SignIn is the identity provider, sessions, and what roles are read from. Without an issuer nobody signs
// in and only API tokens are served.
type SignIn struct {
	SecretKey    string   `env:"ORIEL_SECRET_KEY" secret:"yes"` // 32 bytes in base64; older keys may follow after commas
	Issuer       string   `env:"ORIEL_OIDC_ISSUER"`
	ClientID     string   `env:"ORIEL_OIDC_CLIENT_ID"`
	ClientSecret string   `env:"ORIEL_OIDC_CLIENT_SECRET" secret:"yes"` // empty: a public client, with PKCE alone
	Scopes       []string `env:"ORIEL_OIDC_SCOPES" envDefault:"openid,profile,email"`
	// Audience is the aud of JWTs that machines call with; empty: no JWT is accepted.
	Audience    string   `env:"ORIEL_OIDC_AUDIENCE"`
	RoleClaim   string   `env:"ORIEL_OIDC_ROLE_CLAIM" envDefault:"roles"` // a path such as realm_access.roles
	Analysts    []string `env:"ORIEL_OIDC_ANALYST_VALUES" envDefault:"analyst"`
	Operators   []string `env:"ORIEL_OIDC_OPERATOR_VALUES" envDefault:"operator"`
	Admins      []string `env:"ORIEL_OIDC_ADMIN_VALUES" envDefault:"admin"`
	DefaultRole string   `env:"ORIEL_OIDC_DEFAULT_ROLE"` // of a person without any; empty: no access
	CAFile      string   `env:"ORIEL_OIDC_CA_FILE"`
	// Provider is what the sign-in button calls the identity provider; empty: the issuer's host.
	Provider string        `env:"ORIEL_OIDC_PROVIDER_NAME"`
	Contact  string        `env:"ORIEL_ACCESS_CONTACT"` // whom to ask for a role
	Idle     time.Duration `env:"ORIEL_SESSION_IDLE" envDefault:"8h"`
	Longest  time.Duration `env:"ORIEL_SESSION_LONGEST" envDefault:"24h"`
	// RoleCheck is how often, at most, the provider is asked for a signed-in person's roles.
	RoleCheck time.Duration `env:"ORIEL_SESSION_ROLE_CHECK" envDefault:"5m"`
}

// Limits bound how often one credential or address may ask, per replica; 0 is no limit.
type Limits struct {
	IngestCredential int `env:"ORIEL_LIMIT_INGEST_CREDENTIAL" envDefault:"5000"` // requests a second
	IngestAddress    int `env:"ORIEL_LIMIT_INGEST_ADDRESS" envDefault:"10000"`   // requests a second
	SignInAddress    int `env:"ORIEL_LIMIT_SIGN_IN_ADDRESS" envDefault:"60"`     // a minute
	RefusedAddress   int `env:"ORIEL_LIMIT_REFUSED_ADDRESS" envDefault:"600"`    // credentials refused a minute
}

// Has tells whether the process has a role.
func (h HTTP) Has(role string) bool { return slices.Contains(h.Roles, role) }

// UsesKafka tells whether any of the process's roles needs the broker: searches and maintenance do not.
func (h HTTP) UsesKafka() bool {
	return slices.ContainsFunc(h.Roles, func(role string) bool { return role != RoleWeb && role != RoleMaintain })
}
