package app

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"oriel/server/config"
	"oriel/server/embedded/idp"
)

func TestTheDemosProviderKeepsItsPlace(t *testing.T) {
	t.Parallel()
	listen := func(addr, last string) net.Listener {
		t.Helper()
		l, err := listenNextTo(t.Context(), addr, last)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	first := listen("127.0.0.1:65535", "") // there is no port after it
	address := first.Addr().String()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := listen("127.0.0.1:65535", "http://"+address)
	if again.Addr().String() != address {
		t.Errorf("the last one's place %s became %s", address, again.Addr())
	}
	if other := listen("127.0.0.1:65535", "http://"+address); other.Addr().String() == address {
		t.Error("two at one place")
	}
	port := again.Addr().(*net.TCPAddr).Port
	if taken := listen(net.JoinHostPort("127.0.0.1", strconv.Itoa(port-1)), "http://"+address); taken.Addr().String() == address {
		t.Error("a port that was taken was taken again")
	}
	if foreign := listen("127.0.0.1:65535", "http://192.0.2.1:80"); !strings.HasPrefix(foreign.Addr().String(), "127.0.0.1:") {
		t.Errorf("it listens at %s", foreign.Addr())
	}
}

func TestTheProviderIsNextToTheProgramWhereThatPortIsFree(t *testing.T) {
	t.Parallel()
	// Somebody may take the next port between finding and listening: then another pair is tried.
	for range 20 {
		var lc net.ListenConfig
		program, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { program.Close() })
		l, err := listenNextTo(t.Context(), program.Addr().String(), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if l.Addr().(*net.TCPAddr).Port == program.Addr().(*net.TCPAddr).Port+1 {
			return
		}
	}
	t.Error("never on the port after the program's")
}

func TestPeopleAreReadFromTheFileOnceItHasThem(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "demo.json")
	before := []idp.Person{{Username: "before"}}
	for _, step := range []struct{ text, want string }{
		{"", "before"},
		{`{"url":"x"}`, "before"},
		{`{"users":[{"username":"after"}]}`, "after"},
		{`{"users":[]}`, ""},
		{`{"users":[`, "error"},
	} {
		if step.text != "" {
			if err := os.WriteFile(file, []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		people, err := rereadPeople(file, before)
		for _, p := range people {
			got += p.Username
		}
		if err != nil {
			got = "error"
		}
		if got != step.want {
			t.Errorf("%q gave %q", step.text, got)
		}
	}
}

func TestASecretIsMadeOnceAndADamagedKeyIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var first, again config.SignIn
	if err := demoSecretKey(&first, dir); err != nil {
		t.Fatal(err)
	}
	if keys, ok := first.Keys(); !ok || len(keys) != 1 {
		t.Errorf("no key: %q", first.SecretKey)
	}
	if err := demoSecretKey(&again, dir); err != nil || again.SecretKey != first.SecretKey {
		t.Errorf("it changed, or %v", err)
	}
	given := config.SignIn{SecretKey: "of the environment"}
	if err := demoSecretKey(&given, dir); err != nil || given.SecretKey != "of the environment" {
		t.Errorf("the environment's became %q, %v", given.SecretKey, err)
	}
	file := filepath.Join(dir, "secret-key")
	if err := os.WriteFile(file, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damaged config.SignIn
	if err := demoSecretKey(&damaged, dir); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a damaged key gave %v", err)
	}
}

func TestTheDemoSaysWhoCanSignIn(t *testing.T) {
	t.Parallel()
	people := newDemoPeople()
	for want, f := range map[string]demoFile{
		"as analyst-1, operator-1 or admin-1": {Issuer: "x", Users: people},
		"as analyst-1 or operator-1":          {Issuer: "x", Users: people[:2]},
		"as admin-1":                          {Issuer: "x", Users: people[2:]},
		"at https://login.example.com":        {},
	} {
		if got := f.who(config.SignIn{Issuer: "https://login.example.com"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestABrowserMayComeBackByEachNameOfThisMachine(t *testing.T) {
	t.Parallel()
	callbacks, signedOut, err := loopbackAddresses("127.0.0.1:8080")
	if err != nil || len(callbacks) != 3 || len(signedOut) != 3 {
		t.Fatalf("%v, %v, %v", callbacks, signedOut, err)
	}
	for i, host := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080"} {
		for at, path := range map[string]string{callbacks[i]: "/auth/callback", signedOut[i]: "/signed-out"} {
			if u, err := url.Parse(at); err != nil || u.Host != host || u.Path != path {
				t.Errorf("%s, %v", at, err)
			}
		}
	}
}
