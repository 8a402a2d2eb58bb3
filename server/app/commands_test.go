package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

func TestWhatCannotRunSaysWhyAndTheWayOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env, args []string
		want      []string
	}{
		"serve without configuration names every missing address": {
			args: []string{"serve"}, want: []string{"ORIEL_PUBLIC_URL", "ORIEL_DATABASE_URL", "ORIEL_KAFKA_BROKERS"},
		},
		"the demo refuses a listener that others could reach": {
			env: []string{"ORIEL_ADDR=0.0.0.0:0"}, args: []string{"demo"}, want: []string{"loopback", "127.0.0.1:8080"},
		},
		"a setting that is no number": {
			env: []string{"ORIEL_KAFKA_PARTITIONS=six"}, args: []string{"config"}, want: []string{"ORIEL_KAFKA_PARTITIONS", "six"},
		},
		"a log level that does not exist": {
			env: []string{"ORIEL_LOG_LEVEL=loud"}, args: []string{"version"}, want: []string{"loud", "debug, info, warn"},
		},
		"migrate without a database":    {args: []string{"migrate"}, want: []string{"ORIEL_DATABASE_URL"}},
		"a command that does not exist": {args: []string{"sing"}, want: []string{"sing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := apptest.Fails(t, c.env, c.args...)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in:\n%s", want, out)
				}
			}
		})
	}
}

func TestServeRefusesADatabaseItDoesNotKnow(t *testing.T) {
	t.Parallel()
	b := dbtest.NewKfake(t, 1)
	env := []string{
		"ORIEL_PUBLIC_URL=http://127.0.0.1:1", "ORIEL_ADDR=127.0.0.1:0", "ORIEL_DATABASE_URL=" + dbtest.NewEmptyURL(t),
		"ORIEL_KAFKA_BROKERS=" + strings.Join(b.Brokers, ","), "ORIEL_KAFKA_TOPIC=" + b.Topic,
	}
	if out := apptest.Fails(t, env, "serve"); !strings.Contains(out, "oriel migrate") {
		t.Errorf("the way out is missing in:\n%s", out)
	}
}

func TestServeRefusesATopicThatWouldRefuseEvents(t *testing.T) {
	t.Parallel()
	dbtest.EachBroker(t, 1, func(t *testing.T, b dbtest.Broker) {
		in := apptest.Install(t, b)
		client, err := kgo.NewClient(kgo.SeedBrokers(b.Brokers...))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		small := "1000000"
		made := b.Topic + ".small"
		if _, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, map[string]*string{"max.message.bytes": &small}, made); err != nil {
			t.Fatal(err)
		}
		env := append(slices.Clone(in.Env), "ORIEL_PUBLIC_URL=http://127.0.0.1:1", "ORIEL_ADDR=127.0.0.1:0", "ORIEL_KAFKA_TOPIC="+made)
		if out := apptest.Fails(t, env, "serve"); !strings.Contains(out, "max.message.bytes=1000000") {
			t.Errorf("the setting is not named in:\n%s", out)
		}
	})
}

func TestASecretFromAFileIsNeverPrinted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("postgres://u:hunter2@db/oriel\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := apptest.Run(t, []string{
		"ORIEL_DATABASE_URL_FILE=" + file, "ORIEL_KAFKA_BROKERS=k:9092", "ORIEL_PUBLIC_URL=https://oriel.example.com",
	}, "config")
	if strings.Contains(out, "hunter2") || !strings.Contains(out, "@db/oriel") {
		t.Errorf("printed:\n%s", out)
	}
}
