package app_test

import (
	"strings"
	"testing"

	"oriel/server/config"
	"oriel/server/httpapi"
)

// The configuration and the edge know nothing of each other, and must accept the same addresses: else
// `oriel config` passes what `oriel serve` refuses.
func TestTheConfigurationAcceptsThePublicURLsThatTheEdgeServes(t *testing.T) {
	t.Parallel()
	for url, c := range map[string]struct {
		base string
		ok   bool
	}{
		"https://x": {"", true}, "https://x/": {"", true}, "https://x/oriel": {"/oriel", true}, "https://x/oriel/": {"/oriel", true},
		"https://x:8443/a/b-1_2.3~4": {"/a/b-1_2.3~4", true}, "https://x/a/v1": {"/a/v1", true}, "https://x/v12": {"/v12", true},
		"http://[::1]:8080/a": {"/a", true}, "https://xn--bcher-kva.example/a": {"/a", true},
		"https://x/a;b": {}, "https://x/a/../b": {}, "https://x//a": {}, "https://x/a//b": {}, "https://x/./a": {}, "https://x/a/..": {},
		"https://x/a%20b": {}, "https://x/a%2Fb": {}, "https://x/ä": {}, "https://x/<a>": {}, "https://x/a?b": {}, "https://x/a#b": {},
		"https://x/v1": {}, "https://x/auth/": {}, "https://x/health/a": {}, "https://x/metrics": {},
		"https://:443": {}, "https://": {}, "x": {}, "ftp://x": {}, "https://u:p@x": {},
	} {
		cfg, err := config.Read([]string{"ORIEL_PUBLIC_URL=" + url, "ORIEL_DATABASE_URL=postgres://db/oriel", "ORIEL_KAFKA_BROKERS=a:1"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.Validate(); (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(), "ORIEL_PUBLIC_URL: ") {
			t.Errorf("the configuration of %s: %v", url, err)
		}
		if base, err := httpapi.BasePath(url); (err == nil) != c.ok || base != c.base {
			t.Errorf("the edge of %s has the base %q, %v", url, base, err)
		}
	}
}

// Browsers send a host in ASCII, so one that is written otherwise would match no request.
func TestAHostInAnotherScriptIsToldItsForm(t *testing.T) {
	t.Parallel()
	cfg, err := config.Read([]string{"ORIEL_PUBLIC_URL=https://bücher.example", "ORIEL_DATABASE_URL=postgres://db/oriel", "ORIEL_KAFKA_BROKERS=a:1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "punycode") {
		t.Errorf("got %v", err)
	}
}
