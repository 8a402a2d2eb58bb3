package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWhatCannotBeReadIsToldWithTrueMistakesAlone(t *testing.T) {
	t.Parallel()
	sound := []string{"ORIEL_PUBLIC_URL=https://x", "ORIEL_DATABASE_URL=postgres://db/oriel", "ORIEL_KAFKA_BROKERS=a:1"}
	for name, c := range map[string]struct{ environ, want []string }{
		"a secret's file is not there":         {append(sound, "ORIEL_SECRET_KEY_FILE=/none"), []string{"ORIEL_SECRET_KEY_FILE: no such file"}},
		"a required secret's file is not":      {append(sound[:1:1], "ORIEL_DATABASE_URL_FILE=/none", sound[2]), []string{"ORIEL_DATABASE_URL_FILE: no such file"}},
		"a secret and its file":                {append(sound, "ORIEL_DATABASE_URL_FILE=/none"), []string{"ORIEL_DATABASE_URL and ORIEL_DATABASE_URL_FILE are both set: keep one"}},
		"the key that an issuer needs":         {append(sound, "ORIEL_OIDC_ISSUER=https://l", "ORIEL_OIDC_CLIENT_ID=o", "ORIEL_SECRET_KEY_FILE=/none"), []string{"ORIEL_SECRET_KEY_FILE: no such file"}},
		"what another setting is held against": {append(sound, "ORIEL_SESSION_LONGEST=long"), []string{`ORIEL_SESSION_LONGEST: "long" cannot be read; accepted is a duration such as 10s`}},
		"what another setting needs":           {append(sound, "ORIEL_KAFKA_TLS=perhaps", "ORIEL_KAFKA_TLS_CA_FILE=config.go"), []string{`ORIEL_KAFKA_TLS: "perhaps" cannot be read; accepted is true or false`}},
		"half a number":                        {append(sound, "ORIEL_KAFKA_PARTITIONS=1.5"), []string{`ORIEL_KAFKA_PARTITIONS: "1.5" cannot be read; accepted is a whole number`}},
		"a large one":                          {append(sound, "ORIEL_DATABASE_MAX_CONNS=4294967296"), []string{`ORIEL_DATABASE_MAX_CONNS: "4294967296" is too large; accepted is a whole number`}},
		"no network":                           {append(sound, "ORIEL_TRUSTED_PROXIES=10.0.0.0/8,10.0.0.1"), []string{`ORIEL_TRUSTED_PROXIES: "10.0.0.0/8,10.0.0.1" cannot be read; accepted is networks such as 10.0.0.0/8,192.0.2.7/32`}},
		"no time":                              {append(sound, "ORIEL_RETENTION=99999d"), []string{`ORIEL_RETENTION: "99999d" cannot be read; accepted is ` + acceptedDays}},
		"with others": {append(sound, "ORIEL_SECRET_KEY_FILE=/none", "ORIEL_KAFKA_TOPIC=a b", "ORIEL_STOP_TIMEOUT=5"), []string{
			"ORIEL_SECRET_KEY_FILE: no such file", `ORIEL_STOP_TIMEOUT: "5" cannot be read; accepted is a duration such as 10s`,
			`ORIEL_KAFKA_TOPIC: "a b" is no topic name: 1 to 245 of A-Z a-z 0-9 . _ -`,
		}},
	} {
		cfg, err := Read(c.environ, func(string) ([]byte, error) { return nil, errors.New("no such file") })
		if err == nil {
			t.Errorf("%s: was read", name)
			continue
		}
		if got := strings.Split(cfg.AllMistakes(err).Error(), "\n"); !slices.Equal(got, c.want) {
			t.Errorf("%s gave\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestEmptyIsUnset(t *testing.T) {
	t.Parallel()
	file := func(string) ([]byte, error) { return []byte("s3cret"), nil }
	for _, environ := range [][]string{
		{"ORIEL_KAFKA_PASSWORD=", "ORIEL_KAFKA_PASSWORD_FILE=/run/secret"},
		{"ORIEL_KAFKA_PASSWORD=s3cret", "ORIEL_KAFKA_PASSWORD_FILE="},
	} {
		if cfg, err := Read(environ, file); err != nil || cfg.Kafka.Password != "s3cret" {
			t.Errorf("%q gave %q, %v", environ, cfg.Kafka.Password, err)
		}
	}
}

func TestTheGroupFollowsTheTopicWhereNoneIsNamed(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"ORIEL_KAFKA_TOPIC=": "oriel-store.events.cloudevents.v1", "ORIEL_KAFKA_TOPIC=b": "oriel-store.b", "ORIEL_KAFKA_GROUP=mine": "mine",
	} {
		if cfg := read(t, set); cfg.Kafka.Group != want {
			t.Errorf("%s has the group %q", set, cfg.Kafka.Group)
		}
	}
}

func TestOnlyRolesThatUseTheBrokerNeedOne(t *testing.T) {
	t.Parallel()
	for roles, needed := range map[string]bool{
		"web": false, "web,maintain": false, "maintain": false, "ingest": true, "web,consume": true, "relay": true,
	} {
		err := read(t, "ORIEL_PUBLIC_URL=https://x", "ORIEL_DATABASE_URL=postgres://db/oriel", "ORIEL_ROLES="+roles).Validate()
		if (err != nil) != needed || needed && !strings.HasPrefix(err.Error(), "ORIEL_KAFKA_BROKERS: required") {
			t.Errorf("%s without brokers: %v", roles, err)
		}
	}
}

func TestVariablesThatNothingReadsAreNamed(t *testing.T) {
	t.Parallel()
	got := Unknown([]string{
		"ORIEL_OIDC_ISUER=hunter2", "ORIEL_KAFKA_BROKER=a:1", "ORIEL_PUBLIC_URL_FILE=/x", "ORIEL_SECRETKEY_FILE=/x", "oriel_addr=x", // unknown, but the last
		"ORIEL_ADDR=x", "ORIEL_SECRET_KEY_FILE=/x", "ORIEL_DATABASE_READ_URL=", // known
		"ORIEL_TEST_KAFKA=1", "ORIEL_E2E_DEMO=x", "ORIEL_CHROMIUM=x", "ORIEL_CACHE_DIR=x", "ORIEL_POSTGRES_NATIVE=x", "PATH=/bin", // others'
	})
	want := []string{
		"ORIEL_KAFKA_BROKER is set, and nothing reads it: is ORIEL_KAFKA_BROKERS meant?",
		"ORIEL_OIDC_ISUER is set, and nothing reads it: is ORIEL_OIDC_ISSUER meant?",
		"ORIEL_PUBLIC_URL_FILE is set, and nothing reads it: is ORIEL_PUBLIC_URL meant?",
		"ORIEL_SECRETKEY_FILE is set, and nothing reads it: is ORIEL_SECRET_KEY_FILE meant?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
