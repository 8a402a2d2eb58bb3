package config

import (
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"
)

const key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func signIn(more ...string) []string {
	return append([]string{
		"ORIEL_PUBLIC_URL=https://oriel.example.com", "ORIEL_DATABASE_URL=postgres://db/oriel", "ORIEL_KAFKA_BROKERS=a:1",
		"ORIEL_OIDC_ISSUER=https://login.example.com/realms/staff", "ORIEL_OIDC_CLIENT_ID=oriel", "ORIEL_SECRET_KEY=" + key,
	}, more...)
}

func TestSignInIsAcceptedWithAnIssuerAClientAndAKey(t *testing.T) {
	t.Parallel()
	for what, environ := range map[string][]string{
		"by itself":                    signIn(),
		"with an older key":            signIn("ORIEL_SECRET_KEY=" + key + "," + base64.StdEncoding.EncodeToString(make([]byte, 32))),
		"with a provider on loopback":  signIn("ORIEL_OIDC_ISSUER=http://127.0.0.1:8081"),
		"with JWTs and a default role": signIn("ORIEL_OIDC_AUDIENCE=oriel", "ORIEL_OIDC_DEFAULT_ROLE=analyst"),
		"with a nested role claim":     signIn("ORIEL_OIDC_ROLE_CLAIM=realm_access.roles"),
		"with a claim that is a URL":   signIn("ORIEL_OIDC_ROLE_CLAIM=https://example.com/roles"),
		"with names in any script":     signIn("ORIEL_NAME=Büro 東京", "ORIEL_ACCESS_CONTACT=#zugänge", "ORIEL_OIDC_PROVIDER_NAME=Größe"),
		"under a base path":            signIn("ORIEL_PUBLIC_URL=https://example.com/oriel"),
		"with traces in a path":        signIn("ORIEL_TRACE_URL=https://traces.example.com/trace/{traceId}?tab=spans"),
		"with traces in a query":       signIn("ORIEL_TRACE_URL=http://traces.internal:3000?id={traceId}"),
	} {
		if err := read(t, environ...).Validate(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestSignInThatCannotWorkIsRefusedByName(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{
		"ORIEL_SECRET_KEY=":                                        "ORIEL_SECRET_KEY",
		"ORIEL_SECRET_KEY=c2hvcnQ=":                                "ORIEL_SECRET_KEY",
		"ORIEL_SECRET_KEY=" + key + ",x":                           "ORIEL_SECRET_KEY",
		"ORIEL_OIDC_CLIENT_ID=":                                    "ORIEL_OIDC_CLIENT_ID",
		"ORIEL_OIDC_ISSUER=":                                       "ORIEL_OIDC_ISSUER",
		"ORIEL_OIDC_ISSUER=login.example.com":                      "ORIEL_OIDC_ISSUER",
		"ORIEL_OIDC_ISSUER=http://login.example.com":               "ORIEL_OIDC_ISSUER",
		"ORIEL_OIDC_ISSUER=https://x/?y":                           "ORIEL_OIDC_ISSUER",
		"ORIEL_OIDC_SCOPES=profile":                                "ORIEL_OIDC_SCOPES",
		"ORIEL_OIDC_ROLE_CLAIM=two words":                          "ORIEL_OIDC_ROLE_CLAIM",
		"ORIEL_OIDC_ROLE_CLAIM=a..b":                               "ORIEL_OIDC_ROLE_CLAIM",
		"ORIEL_OIDC_ROLE_CLAIM=.a":                                 "ORIEL_OIDC_ROLE_CLAIM",
		"ORIEL_OIDC_ROLE_CLAIM=a.":                                 "ORIEL_OIDC_ROLE_CLAIM",
		"ORIEL_OIDC_ROLE_CLAIM=a\x00b":                             "ORIEL_OIDC_ROLE_CLAIM",
		"ORIEL_OIDC_PROVIDER_NAME=a\nb":                            "ORIEL_OIDC_PROVIDER_NAME",
		"ORIEL_ACCESS_CONTACT=a\x1bb":                              "ORIEL_ACCESS_CONTACT",
		"ORIEL_NAME=a\x7fb":                                        "ORIEL_NAME",
		"ORIEL_NAME=a\xff":                                         "ORIEL_NAME",
		"ORIEL_TRACE_URL=https://traces.example.com/":              "ORIEL_TRACE_URL",
		"ORIEL_TRACE_URL=https://{traceId}.example.com/":           "ORIEL_TRACE_URL",
		"ORIEL_TRACE_URL=https://traces.example.com{traceId}":      "ORIEL_TRACE_URL",
		"ORIEL_TRACE_URL=javascript:alert('{traceId}')":            "ORIEL_TRACE_URL",
		"ORIEL_TRACE_URL=//traces.example.com/{traceId}":           "ORIEL_TRACE_URL",
		"ORIEL_TRACE_URL=https://a:b@traces.example.com/{traceId}": "ORIEL_TRACE_URL",
		"ORIEL_TRACE_URL=https://traces.example.com/a b{traceId}":  "ORIEL_TRACE_URL",
		"ORIEL_OIDC_DEFAULT_ROLE=root":                             "ORIEL_OIDC_DEFAULT_ROLE",
		"ORIEL_OIDC_CA_FILE=/nope":                                 "ORIEL_OIDC_CA_FILE",
		"ORIEL_SESSION_IDLE=48h":                                   "ORIEL_SESSION_IDLE",
		"ORIEL_SESSION_IDLE=1s":                                    "ORIEL_SESSION_IDLE",
		"ORIEL_SESSION_LONGEST=1000h":                              "ORIEL_SESSION_LONGEST",
		"ORIEL_SESSION_ROLE_CHECK=100ms":                           "ORIEL_SESSION_ROLE_CHECK",
		"ORIEL_PUBLIC_URL=http://oriel.example.com":                "ORIEL_PUBLIC_URL",
		"ORIEL_LIMIT_SIGN_IN_ADDRESS=-1":                           "ORIEL_LIMIT_SIGN_IN_ADDRESS",
		"ORIEL_DATABASE_READ_URL=mysql://x":                        "ORIEL_DATABASE_READ_URL",
		"ORIEL_DATABASE_MIGRATE_URL=db:5432":                       "ORIEL_DATABASE_MIGRATE_URL",
	} {
		err := read(t, signIn(set)...).Validate()
		if err == nil || !strings.HasPrefix(err.Error(), want+":") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s gave %v, want %s alone", set, err, want)
		}
	}
}

func TestPlainHTTPIsForThisMachineOnly(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost:8080": true, "http://[::1]:8080": true,
		"http://10.0.0.7:8080": false, "http://localhost.example.com": false, "http://127.0.0.1.example.com": false,
	} {
		if err := read(t, signIn("ORIEL_PUBLIC_URL="+url)...).Validate(); (err == nil) != ok {
			t.Errorf("%s gave %v", url, err)
		}
	}
}

func TestKeysAreDecodedInTheirOrder(t *testing.T) {
	t.Parallel()
	zeros := base64.StdEncoding.EncodeToString(make([]byte, 32))
	keys, ok := read(t, signIn("ORIEL_SECRET_KEY="+key+", "+zeros)...).SignIn.Keys()
	if !ok || len(keys) != 2 || keys[0][31] != 31 || keys[1][31] != 0 {
		t.Fatalf("got %v, %v", keys, ok)
	}
}

func TestTrustedProxiesAreNetworks(t *testing.T) {
	t.Parallel()
	cfg := read(t, "ORIEL_TRUSTED_PROXIES=10.0.0.0/8,2001:db8::/32")
	if len(cfg.HTTP.TrustedProxies) != 2 || !cfg.HTTP.TrustedProxies[1].Contains(netip.MustParseAddr("2001:db8::7")) {
		t.Fatalf("got %v", cfg.HTTP.TrustedProxies)
	}
	_, err := Read([]string{"ORIEL_TRUSTED_PROXIES=10.0.0.1"}, nil)
	if err == nil || !strings.Contains(err.Error(), "ORIEL_TRUSTED_PROXIES") || !strings.Contains(err.Error(), "10.0.0.0/8") {
		t.Fatalf("an address without a length gave %v", err)
	}
}

func TestTheDumpRedactsTheKeyAndTheClientSecret(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	cfg := read(t, signIn("ORIEL_OIDC_CLIENT_SECRET=hunter2", "ORIEL_DATABASE_READ_URL=postgres://r:hunter2@db/oriel", "ORIEL_TRUSTED_PROXIES=10.0.0.0/8")...)
	if err := cfg.Dump(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") || strings.Contains(out.String(), key) {
		t.Errorf("a secret shows:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "ORIEL_TRUSTED_PROXIES=10.0.0.0/8\n") {
		t.Errorf("the proxies are missing:\n%s", out.String())
	}
}
