package oidc

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"oriel/server/auth"
	"oriel/server/fault"
)

func machineClaims(i *issuer) map[string]any {
	return map[string]any{
		"iss": i.URL, "aud": testAudience, "sub": "billing", "azp": "billing-client",
		"exp": now().Unix() + 300, "iat": now().Unix(), "scope": "events:write",
	}
}

func TestAMachineIsWhatItsJWTSays(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := newProvider(t, i.config())
	for name, c := range map[string]struct {
		changes []any
		header  map[string]any
		id      string
		called  string
		scopes  []string
	}{
		"as it is":                    {id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"audiences":                   {changes: []any{"aud", []string{"other", testAudience}}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"of an access token's type":   {header: map[string]any{"typ": "at+jwt"}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"of its whole media type":     {header: map[string]any{"typ": "application/AT+JWT"}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"of no type":                  {header: map[string]any{"typ": nil}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"without a key id":            {header: map[string]any{"kid": nil}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"with an address for its key": {header: map[string]any{"jku": "https://evil.example/keys", "x5u": "https://evil.example/chain"}, id: "#billing", called: "billing-client", scopes: []string{"events:write"}},
		"a client without sub":        {changes: []any{"sub", nil, "azp", nil, "client_id", "c"}, id: "#c", called: "c", scopes: []string{"events:write"}},
		"without a client":            {changes: []any{"azp", nil}, id: "#billing", called: "billing", scopes: []string{"events:write"}},
		"with a client of two lines":  {changes: []any{"azp", "a\nb"}, id: "#billing", called: "billing", scopes: []string{"events:write"}},
		"only our scopes, in our order, once": {
			changes: []any{"scope", "openid admin:write events:read  events:read EVENTS:WRITE"},
			id:      "#billing", called: "billing-client", scopes: []string{"events:read", "admin:write"},
		},
		"scopes as an array": {changes: []any{"scope", []string{"operate", "events:write"}}, id: "#billing", called: "billing-client", scopes: []string{"events:write", "operate"}},
		"scopes as scp":      {changes: []any{"scope", nil, "scp", []string{"operate"}}, id: "#billing", called: "billing-client", scopes: []string{"operate"}},
		"scope before scp":   {changes: []any{"scope", "", "scp", "operate"}, id: "#billing", called: "billing-client"},
		"no scopes":          {changes: []any{"scope", nil}, id: "#billing", called: "billing-client"},
		"no role from it":    {changes: []any{"scope", nil, "roles", []string{"admin"}}, id: "#billing", called: "billing-client"},
		"a date with part of a second": {
			changes: []any{"exp", float64(now().Unix()) + 0.5}, id: "#billing", called: "billing-client", scopes: []string{"events:write"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, err := p.Verify(t.Context(), i.key.token(with(machineClaims(i), c.changes...), c.header))
			if err != nil {
				t.Fatal(err)
			}
			if who.Kind != auth.KindWorkload || who.ID != i.URL+c.id || who.Name != c.called || !slices.Equal(who.Scopes, c.scopes) || who.Roles != nil || who.SourcePrefixes != nil || who.Session != nil {
				t.Errorf("got %+v", who)
			}
		})
	}
}

func TestTimesHaveThirtySecondsOfLeewayBothWays(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	for name, c := range map[string]struct {
		claim string
		by    time.Duration // of the claim from now
		ok    bool
	}{
		"exp, 1 ms within":  {"exp", -30*time.Second + time.Millisecond, true},
		"exp, at the edge":  {"exp", -30 * time.Second, false},
		"exp, 1 ms beyond":  {"exp", -30*time.Second - time.Millisecond, false},
		"nbf, 1 ms within":  {"nbf", 30*time.Second - time.Millisecond, true},
		"nbf, at the edge":  {"nbf", 30 * time.Second, true},
		"nbf, 1 ms beyond":  {"nbf", 30*time.Second + time.Millisecond, false},
		"iat, at the edge":  {"iat", 30 * time.Second, true},
		"iat, 1 ms beyond":  {"iat", 30*time.Second + time.Millisecond, false},
		"iat, years before": {"iat", -10 * 365 * 24 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := i.config()
			// The claim is a whole second, so that no fraction is lost on the way: the clock is moved.
			cfg.Now = func() time.Time { return now().Add(-c.by) }
			_, err := newProvider(t, cfg).Verify(t.Context(), i.key.token(with(machineClaims(i), "iat", nil, "exp", now().Unix()+1<<30, c.claim, now().Unix()), nil))
			if (err == nil) != c.ok {
				t.Fatalf("got %v, want accepted %t", err, c.ok)
			}
		})
	}
}

func TestNoJWTIsAcceptedWithoutAnAudience(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	cfg := i.config()
	cfg.Audience = ""
	for _, audience := range []any{"", []string{""}, []string{}, nil, testClient} {
		_, err := newProvider(t, cfg).Verify(t.Context(), i.key.token(with(machineClaims(i), "aud", audience), nil))
		wantFault(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
	}
	if i.count(pathKeys) != 0 {
		t.Error("keys were fetched for nothing")
	}
}

func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
