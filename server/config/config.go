// Package config reads Oriel's configuration from the environment: one struct per area, defaults,
// validation that reports every mistake at once, a _FILE twin for each secret, and a redacted dump.
// It knows none of the parts it configures.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
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
	// ReadURL is the role that can only read, of the same server; empty: URL's role reads too.
	ReadURL string `env:"ORIEL_DATABASE_READ_URL" secret:"url"`
	// MigrateURL is the owner of the schema, for `oriel migrate` alone; empty: URL.
	MigrateURL string `env:"ORIEL_DATABASE_MIGRATE_URL" secret:"url"`
	MaxConns   int32  `env:"ORIEL_DATABASE_MAX_CONNS" envDefault:"16"`
}

// Kafka is the broker.
type Kafka struct {
	Brokers    []string `env:"ORIEL_KAFKA_BROKERS"`
	Topic      string   `env:"ORIEL_KAFKA_TOPIC" envDefault:"events.cloudevents.v1"`
	Group      string   `env:"ORIEL_KAFKA_GROUP" envDefault:"oriel-store"`
	Partitions int      `env:"ORIEL_KAFKA_PARTITIONS" envDefault:"6"`
	TLS        bool     `env:"ORIEL_KAFKA_TLS"`
	TLSCAFile  string   `env:"ORIEL_KAFKA_TLS_CA_FILE"`
	SASL       string   `env:"ORIEL_KAFKA_SASL"`
	Username   string   `env:"ORIEL_KAFKA_USERNAME"`
	Password   string   `env:"ORIEL_KAFKA_PASSWORD" secret:"yes"`
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

// Days is a duration that may be written in days, such as 91d.
type Days time.Duration

// UnmarshalText reads a Go duration or a whole number of days.
func (d *Days) UnmarshalText(text []byte) error {
	s := string(text)
	if n, ok := strings.CutSuffix(s, "d"); ok {
		var days int
		if _, err := fmt.Sscanf(n, "%d", &days); err != nil || fmt.Sprint(days) != n || days > 36500 {
			return fmt.Errorf("%q is no number of days, such as 91d", s)
		}
		*d = Days(time.Duration(days) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(s)
	*d = Days(v)
	return err
}

func (d Days) String() string {
	if v := time.Duration(d); v%(24*time.Hour) != 0 {
		return v.String()
	}
	return fmt.Sprintf("%dd", time.Duration(d)/(24*time.Hour))
}

// Read reads and checks the environment. file reads a secret's _FILE twin (os.ReadFile).
func Read(environ []string, file func(string) ([]byte, error)) (Config, error) {
	var cfg Config
	vars := env.ToMap(environ)
	if err := readSecretFiles(vars, file); err != nil {
		return cfg, err
	}
	if err := env.ParseWithOptions(&cfg, env.Options{Environment: vars}); err != nil {
		return cfg, named(err)
	}
	return cfg, nil
}

// unreadable is the value of one variable that could not be read.
type unreadable struct {
	name string
	err  error
}

func (u *unreadable) Error() string { return fmt.Sprintf("%s: %v", u.name, u.err) }
func (u *unreadable) Unwrap() error { return u.err }

// named says which variables could not be read, where the library says which fields, and what each
// accepts.
func named(err error) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return err
	}
	errs := make([]error, len(all.Errors))
	for i, e := range all.Errors {
		errs[i] = e
		var parse env.ParseError
		if !errors.As(e, &parse) {
			continue
		}
		for _, f := range fields(&Config{}) {
			if f.field != parse.Name {
				continue
			}
			accepted := map[string]string{
				"time.Duration": "a duration such as 10s", "config.Days": "days such as 91d",
				"bool": "true or false", "float64": "a number such as 0.5", "int": "a whole number", "int32": "a whole number", "int64": "a whole number",
				"netip.Prefix": "networks such as 10.0.0.0/8,192.0.2.7/32", "[]netip.Prefix": "networks such as 10.0.0.0/8,192.0.2.7/32",
			}[parse.Type.String()]
			errs[i] = &unreadable{f.name, fmt.Errorf("%w; accepted is %s", parse.Err, accepted)}
		}
	}
	return errors.Join(errs...)
}

// AllMistakes joins what Read could not read with what Validate finds in the rest.
func (c Config) AllMistakes(read error) error {
	errs := []error{read}
	for line := range strings.Lines(fmt.Sprintln(c.Validate())) {
		name, _, _ := strings.Cut(line, ":")
		if !strings.Contains(read.Error(), name+":") && strings.HasPrefix(name, "ORIEL_") {
			errs = append(errs, errors.New(strings.TrimSuffix(line, "\n")))
		}
	}
	return errors.Join(errs...)
}

func readSecretFiles(vars map[string]string, file func(string) ([]byte, error)) error {
	var errs []error
	for _, f := range fields(&Config{}) {
		path, ok := vars[f.name+"_FILE"]
		if f.secret == "" || !ok {
			continue
		}
		if _, both := vars[f.name]; both {
			errs = append(errs, fmt.Errorf("%s and %s_FILE are both set: keep one", f.name, f.name))
			continue
		}
		text, err := file(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s_FILE: %w", f.name, err))
			continue
		}
		vars[f.name] = strings.TrimRight(string(text), "\r\n")
	}
	return errors.Join(errs...)
}

// Has tells whether the process has a role.
func (h HTTP) Has(role string) bool { return slices.Contains(h.Roles, role) }
