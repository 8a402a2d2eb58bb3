package config

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, environ ...string) Config {
	t.Helper()
	cfg, err := Read(environ, func(string) ([]byte, error) { return nil, errors.New("no file") })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestDefaultsNeedOnlyTheThreeAddresses(t *testing.T) {
	t.Parallel()
	cfg := read(t, "ORIEL_PUBLIC_URL=https://oriel.example.com", "ORIEL_DATABASE_URL=postgres://u:p@db/oriel", "ORIEL_KAFKA_BROKERS=a:9092,b:9092")
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if time.Duration(cfg.Store.Retention) != 91*24*time.Hour || cfg.Kafka.Partitions != 6 || len(cfg.HTTP.Roles) != 5 || cfg.Kafka.Brokers[1] != "b:9092" {
		t.Fatalf("got %+v", cfg)
	}
}

func TestEveryMistakeIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	cfg := read(t, "ORIEL_ADDR=nowhere", "ORIEL_ROLES=web,cook", "ORIEL_RETENTION=1d", "ORIEL_KAFKA_SASL=GSSAPI", "ORIEL_LOG_LEVEL=loud", "ORIEL_PUBLIC_URL=oriel",
		"ORIEL_KAFKA_TOPIC=bad topic!", "ORIEL_KAFKA_TLS_CA_FILE=/nope", "ORIEL_FACETS=line=data..x,from=ext.a", "ORIEL_FACETS_COUNTED=lines", "ORIEL_SEVERITY_PATH=level")
	err := cfg.Validate()
	for _, want := range []string{
		"ORIEL_ADDR", "cook", "2d", "GSSAPI", "ORIEL_DATABASE_URL", "ORIEL_KAFKA_BROKERS", "loud", "ORIEL_PUBLIC_URL", "bad topic!", "/nope",
		`"data..x"`, `"from"`, `"lines"`, "ORIEL_SEVERITY_PATH",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in %v", want, err)
		}
	}
}

func TestASecretComesFromItsFile(t *testing.T) {
	t.Parallel()
	file := func(path string) ([]byte, error) {
		if path != "/run/secret" {
			return nil, errors.New("no such file")
		}
		return []byte("s3cret\n"), nil
	}
	cfg, err := Read([]string{"ORIEL_KAFKA_PASSWORD_FILE=/run/secret"}, file)
	if err != nil || cfg.Kafka.Password != "s3cret" {
		t.Fatalf("got %q, %v", cfg.Kafka.Password, err)
	}
	if _, err := Read([]string{"ORIEL_KAFKA_PASSWORD_FILE=/run/secret", "ORIEL_KAFKA_PASSWORD=x"}, file); err == nil {
		t.Fatal("both a secret and its file were accepted")
	}
	if _, err := Read([]string{"ORIEL_DATABASE_URL_FILE=/run/none"}, file); err == nil || !strings.Contains(err.Error(), "ORIEL_DATABASE_URL_FILE") {
		t.Fatalf("a missing file gave %v", err)
	}
}

func TestTheDumpShowsNoSecret(t *testing.T) {
	t.Parallel()
	cfg := read(t, "ORIEL_DATABASE_URL=postgres://u:hunter2@db/oriel?password=hunter2", "ORIEL_KAFKA_PASSWORD=hunter2", "ORIEL_KAFKA_BROKERS=a:1,b:2")
	var out strings.Builder
	if err := cfg.Dump(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("a secret shows:\n%s", out.String())
	}
	for _, want := range []string{"ORIEL_RETENTION=91d\n", "ORIEL_KAFKA_BROKERS=a:1,b:2\n", "ORIEL_KAFKA_PASSWORD=(redacted)\n", "@db/oriel"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestAnAddressOfAnotherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{"mysql://x": false, "db:5432": false, "host=db dbname=oriel": true, "postgresql://db/oriel": true} {
		err := read(t, "ORIEL_DATABASE_URL="+url, "ORIEL_KAFKA_BROKERS=a:1", "ORIEL_PUBLIC_URL=https://x").Validate()
		if (err == nil) != ok {
			t.Errorf("%s gave %v", url, err)
		}
	}
}

func TestDaysReadWholeDaysAndDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"91d": 91 * 24 * time.Hour, "48h": 48 * time.Hour, "2d": 48 * time.Hour, "36500d": 36500 * 24 * time.Hour} {
		var d Days
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("%s gave %v, %v", text, time.Duration(d), err)
		}
	}
	for _, text := range []string{"d", "1.5d", "-xd", "-1d", "soon", "", "36501d", "99999999999999999999d", "876001h", "9999999999h"} {
		var d Days
		if err := d.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), acceptedDays) || strings.Contains(err.Error(), "time:") {
			t.Errorf("%q gave %v, %v", text, d, err)
		}
	}
}

func TestAValueThatCannotBeReadNamesItsVariable(t *testing.T) {
	t.Parallel()
	_, err := Read([]string{"ORIEL_KAFKA_PARTITIONS=six", "ORIEL_RETENTION=soon", "ORIEL_KAFKA_TLS=perhaps"}, nil)
	for _, want := range []string{"ORIEL_KAFKA_PARTITIONS", "six", "ORIEL_RETENTION", "ORIEL_KAFKA_TLS"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in %v", want, err)
		}
	}
}

func TestFieldNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, f := range fields(&Config{}) {
		if other, ok := seen[f.field]; ok {
			t.Errorf("%s and %s share the field name %s", other, f.name, f.field)
		}
		seen[f.field] = f.name
	}
}

func TestWhatCannotBeReadHidesNoOtherMistake(t *testing.T) {
	t.Parallel()
	cfg, err := Read([]string{"ORIEL_STOP_TIMEOUT=5", "ORIEL_KAFKA_BROKERS=a", "ORIEL_PUBLIC_URL=https://u:hunter2@x"}, nil)
	if err == nil {
		t.Fatal("a number was read as a duration")
	}
	text := cfg.AllMistakes(err).Error()
	for _, want := range []string{"ORIEL_STOP_TIMEOUT", "such as 10s", "ORIEL_KAFKA_BROKERS", "ORIEL_PUBLIC_URL", "ORIEL_DATABASE_URL"} {
		if strings.Count(text, want) == 0 {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if strings.Count(text, "ORIEL_STOP_TIMEOUT") != 1 || strings.Contains(text, "hunter2") {
		t.Errorf("said twice, or a secret shows:\n%s", text)
	}
}

func TestTheRelaysLimitsHaveBoundsAndSayThem(t *testing.T) {
	t.Parallel()
	good := []string{"ORIEL_PUBLIC_URL=https://oriel.example.com", "ORIEL_DATABASE_URL=postgres://u:p@db/oriel", "ORIEL_KAFKA_BROKERS=a:9092"}
	for set, want := range map[string]string{
		"ORIEL_OUTBOX_LEASE=5s":               "",
		"ORIEL_OUTBOX_LEASE=1m":               "",
		"ORIEL_OUTBOX_LEASE=4s":               "ORIEL_OUTBOX_LEASE: 4s is outside 5s to 1m",
		"ORIEL_OUTBOX_LEASE=61s":              "ORIEL_OUTBOX_LEASE: 1m1s is outside 5s to 1m",
		"ORIEL_OUTBOX_MESSAGE_BYTES=1048576":  "",
		"ORIEL_OUTBOX_MESSAGE_BYTES=1048575":  "ORIEL_OUTBOX_MESSAGE_BYTES: 1048575 is outside 1048576 to 67108864",
		"ORIEL_OUTBOX_MESSAGE_BYTES=67108865": "ORIEL_OUTBOX_MESSAGE_BYTES: 67108865 is outside 1048576 to 67108864",
	} {
		got := ""
		if err := read(t, append([]string{set}, good...)...).Validate(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", set, got, want)
		}
	}
}
