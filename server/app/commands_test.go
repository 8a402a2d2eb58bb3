package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
		"one among other mistakes": {
			env: []string{"ORIEL_LOG_LEVEL=loud", "ORIEL_KAFKA_TOPIC=a b"}, args: []string{"config"}, want: []string{"loud", "a b"},
		},
		"a variable that nothing reads": {
			env: []string{"ORIEL_OIDC_ISUER=hunter2"}, args: []string{"config"},
			want: []string{"oriel: warning: ORIEL_OIDC_ISUER is set, and nothing reads it: is ORIEL_OIDC_ISSUER meant?\n"},
		},
		"one, and a setting that cannot be read": {
			env: []string{"ORIEL_OIDC_ISUER=hunter2", "ORIEL_KAFKA_TLS=x"}, args: []string{"serve"},
			want: []string{"oriel: warning: ORIEL_OIDC_ISUER is set", "true or false"},
		},
		"one, in the log of what serves": {
			env: []string{"ORIEL_OIDC_ISUER=hunter2"}, args: []string{"serve"}, want: []string{`"level":"WARN","msg":"the environment may be wrong","detail":"ORIEL_OIDC_ISUER is set`},
		},
		"a token without a reason": {
			args: []string{"token", "create", "--scope", "events:read", "--name", "a", "--reason", ""}, want: []string{"--reason: 1 to 500"},
		},
		"the end of a token without a reason": {args: []string{"token", "revoke", "3", "--reason", " "}, want: []string{"--reason: 1 to 500"}},
		"a token for longer than there are days": {
			args: []string{"token", "create", "--scope", "events:read", "--name", "a", "--expires", "99999d"}, want: []string{"99999d", "91d, up to 36500d", "12h30m"},
		},
		"a token for a time that is none": {
			args: []string{"token", "create", "--scope", "events:read", "--name", "a", "--expires", "soon"}, want: []string{"soon", "91d, up to 36500d", "12h30m"},
		},
		"the id of something else":      {args: []string{"token", "revoke", "events/3"}, want: []string{"events/3", "3 or tokens/3"}},
		"migrate without a database":    {args: []string{"migrate"}, want: []string{"ORIEL_DATABASE_URL"}},
		"a command that does not exist": {args: []string{"sing"}, want: []string{"sing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := apptest.Fails(t, c.env, c.args...)
			if strings.Contains(out, "hunter2") {
				t.Errorf("the value of a variable shows:\n%s", out)
			}
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

func TestATokenOnTheCommandLineIsNamedAsListedOrAsInTheAPI(t *testing.T) {
	t.Parallel()
	env := []string{"ORIEL_DATABASE_URL=" + dbtest.AppURL(t, dbtest.NewURL(t))}
	for range 2 {
		apptest.Run(t, env, "token", "create", "--scope", "events:read", "--name", "a", "--expires", "90d")
	}
	until := time.Now().UTC().AddDate(0, 0, 90).Format(time.DateOnly)
	if out := apptest.Run(t, env, "token", "list"); strings.Count(out, until) != 2 {
		t.Errorf("two tokens until %s are not in:\n%s", until, out)
	}
	for arg, want := range map[string]string{"1": "token 1 is revoked", "tokens/2": "token 2 is revoked"} {
		if out := apptest.Run(t, env, "token", "revoke", arg); out != want {
			t.Errorf("%s: %s", arg, out)
		}
	}
}

// Searches need no broker, so the replica that answers them must not go when the broker does.
func TestAReplicaForSearchesNeedsNoBroker(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	addr := apptest.FreeAddr(t)
	env := []string{"ORIEL_DATABASE_URL=" + dbtest.AppURL(t, url), "ORIEL_DATABASE_READ_URL=" + dbtest.ReadURL(t, url)}
	token := apptest.Run(t, env, "token", "create", "--scope", "events:read", "--name", "a")
	replica := apptest.Start(t, append(env, "ORIEL_ROLES=web,maintain", "ORIEL_ADDR="+addr, "ORIEL_PUBLIC_URL=http://"+addr), "serve")
	replica.WaitReady("http://"+addr, time.Minute)
	if _, body := apptest.Readiness("http://" + addr); strings.Contains(body, "broker") || !strings.Contains(body, "postgresql") {
		t.Errorf("readiness is %s", body)
	}
	if status, body := apptest.Get(t, "http://"+addr+"/v1/events?from=-1h", token); status != http.StatusOK {
		t.Errorf("a search: %d %s", status, body)
	}
	if code := replica.Stop(time.Minute); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// A replica may search on a standby; it says how far that is behind, and does not depend on it.
func TestAReplicaSearchesOnAStandby(t *testing.T) {
	t.Parallel()
	primary, standby := dbtest.NewStandby(t)
	env := []string{"ORIEL_DATABASE_URL=" + dbtest.AppURL(t, primary), "ORIEL_ROLES=web"}
	token := apptest.Run(t, env, "token", "create", "--scope", "events:read", "--name", "a")
	start := func(readURL string) (*apptest.Child, string) {
		addr := apptest.FreeAddr(t)
		p := apptest.Start(t, append(env, "ORIEL_DATABASE_READ_URL="+readURL, "ORIEL_ADDR="+addr, "ORIEL_PUBLIC_URL=http://"+addr), "serve")
		p.WaitReady("http://"+addr, time.Minute)
		return p, "http://" + addr
	}
	replica, at := start(dbtest.ReadURL(t, standby))
	if status, body := apptest.Get(t, at+"/v1/events?from=-1h", token); status != http.StatusOK {
		t.Errorf("a search: %d %s", status, body)
	}
	if _, body := apptest.Readiness(at); !strings.Contains(body, `"standby"`) {
		t.Errorf("readiness is %s", body)
	}
	if _, body := apptest.Get(t, at+"/metrics", ""); !strings.Contains(string(body), "oriel_search_standby_up 1") {
		t.Error("the metrics do not say that the standby answers")
	}
	if code := replica.Stop(time.Minute); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	// A standby of something else would answer with other events.
	out := apptest.Fails(t, []string{
		"ORIEL_DATABASE_URL=" + dbtest.AppURL(t, dbtest.NewURL(t)), "ORIEL_DATABASE_READ_URL=" + dbtest.ReadURL(t, standby), "ORIEL_ROLES=web",
		"ORIEL_ADDR=" + apptest.FreeAddr(t), "ORIEL_PUBLIC_URL=http://127.0.0.1:1",
	}, "serve")
	if !strings.Contains(out, "not of the database of ORIEL_DATABASE_URL") {
		t.Errorf("a standby of another server is refused with:\n%s", out)
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
