package fault

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/server/apptest"
	"oriel/server/dbtest"
)

// publish sends one event and returns the status.
func publish(t *testing.T, addr, token, id string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/v1/events", strings.NewReader(`{"n":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + token, "Content-Type": "application/json",
		"ce-specversion": "1.0", "ce-id": id, "ce-source": "/fault/token", "ce-type": "test.token.v1",
		"ce-time": time.Now().UTC().Format(time.RFC3339Nano),
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestATokenRevokedOnOneReplicaIsRefusedByTheOtherWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	in := apptest.Install(t, dbtest.NewKfake(t, 2))
	one, two := apptest.FreeAddr(t), apptest.FreeAddr(t)
	in.Serve(t, one)
	in.Serve(t, two)
	admin := apptest.Run(t, in.Env, "token", "create", "--scope", "admin:read", "--scope", "admin:write", "--name", "admin")
	for _, addr := range []string{one, two} { // both know it from now on
		if code := publish(t, addr, in.Producer, "before-"+addr); code != http.StatusOK {
			t.Fatalf("a valid token is answered %d", code)
		}
	}
	var tokens struct {
		Tokens []struct{ Name, DisplayName string } `json:"tokens"`
	}
	if code := apptest.GetJSON(t, "http://"+one+"/v1/tokens?q=producer", admin, &tokens); code != http.StatusOK || len(tokens.Tokens) != 1 {
		t.Fatalf("the tokens are answered %d, %+v", code, tokens)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+one+"/v1/"+tokens.Tokens[0].Name+":revoke",
		strings.NewReader(`{"reason":"it leaked"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+admin)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("revoking is answered %d", resp.StatusCode)
	}
	if code := publish(t, one, in.Producer, "after-one"); code != http.StatusUnauthorized {
		t.Errorf("the replica that revoked it answers %d", code)
	}
	// Asked all the time, so that its cache is as fresh as it gets.
	apptest.Eventually(t, 2*time.Second, func() bool {
		return publish(t, two, in.Producer, "after-two") == http.StatusUnauthorized
	}, func() string { return "the other replica still takes the token" })
}

func TestKnownTokensPublishWhileTheDatabaseIsAwayAndUnknownOnesAreToldToWait(t *testing.T) {
	t.Parallel()
	in := apptest.Install(t, dbtest.NewKfake(t, 2))
	unseen := apptest.Run(t, in.Env, "token", "create", "--scope", "events:write", "--name", "unseen")
	addr := apptest.FreeAddr(t)
	proxy := dbtest.NewProxy(t, strings.TrimPrefix(in.Env[0], "ORIEL_DATABASE_URL="))
	env := slices.Clone(in.Env)
	env[0] = "ORIEL_DATABASE_URL=" + proxy.URL()
	apptest.Installation{Broker: in.Broker, Database: in.Database, Env: env}.Serve(t, addr)
	if code := publish(t, addr, in.Producer, "before"); code != http.StatusOK {
		t.Fatalf("a valid token is answered %d", code)
	}
	proxy.Close()
	within := time.Now().Add(5 * time.Second) // longer than any answer of the database is taken as fresh
	for n := 0; time.Now().Before(within); n++ {
		if code := publish(t, addr, in.Producer, "while"); code != http.StatusOK {
			t.Fatalf("request %d with a token seen valid is answered %d", n, code)
		}
	}
	if code := publish(t, addr, unseen, "unseen"); code != http.StatusServiceUnavailable {
		t.Errorf("a token that was never seen is answered %d", code)
	}
}
