package auth

import (
	"log/slog"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"oriel/server/dbtest"
	"oriel/server/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, dbtest.IgnoreServers()...) }

func stored(t *testing.T) *Tokens {
	t.Helper()
	tokens := NewTokens(dbtest.New(t), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	t.Cleanup(tokens.Close)
	return tokens
}

func TestATokenIsShownOnceAndStoredAsAHash(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	tokens := NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	t.Cleanup(tokens.Close)
	secret, err := tokens.Create(t.Context(), "producer", []string{ScopeEventsWrite}, []string{"urn:home:"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^orl_[A-Za-z0-9_-]{43}$`).MatchString(secret) {
		t.Errorf("the secret is %q", secret)
	}
	var found int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM api_token t WHERE t::text LIKE '%' || $1 || '%'", secret[12:]).Scan(&found); err != nil || found != 0 {
		t.Errorf("the secret is in %d rows, %v", found, err)
	}
	all, err := tokens.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%d tokens, %v", len(all), err)
	}
	if got := all[0]; got.Prefix != secret[4:12] || got.Name != "producer" || !slices.Equal(got.SourcePrefixes, []string{"urn:home:"}) || got.LastUsed != nil || got.Expires != nil {
		t.Errorf("listed as %+v", got)
	}
	p, err := tokens.Verify(t.Context(), secret)
	if err != nil || p.Name != "producer" || !p.Has(ScopeEventsWrite) || !slices.Equal(p.SourcePrefixes, []string{"urn:home:"}) {
		t.Errorf("verified as %+v, %v", p, err)
	}
	tokens.Close() // waits for the use being recorded
	if all, err = tokens.List(t.Context()); err != nil || all[0].LastUsed == nil {
		t.Errorf("last used %v, %v", all[0].LastUsed, err)
	}
}

func TestRevokedAndExpiredTokensAreRefused(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	soon := time.Now().Add(time.Hour)
	secret, err := tokens.Create(t.Context(), "reader", []string{ScopeEventsRead}, nil, &soon)
	if err != nil {
		t.Fatal(err)
	}
	all, err := tokens.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := tokens.Revoke(t.Context(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	_, err = tokens.Verify(t.Context(), secret)
	wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
	wantKind(t, tokens.Revoke(t.Context(), all[0].ID), fault.NotFound, fault.ReasonNotFound)

	past, err := tokens.Create(t.Context(), "past", []string{ScopeEventsRead}, nil, &soon)
	if err != nil {
		t.Fatal(err)
	}
	hash, _ := digestOf(past)
	pool := dbtest.New(t)
	other := NewTokens(pool, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	t.Cleanup(other.Close)
	if _, err := pool.Exec(t.Context(), "INSERT INTO api_token (prefix, hash, name, scopes, expires_at) VALUES ('x', $1, 'past', '{events:read}', now() - interval '1 second')", hash[:]); err != nil {
		t.Fatal(err)
	}
	_, err = other.Verify(t.Context(), past)
	wantKind(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
}

func TestTokensThatAreNotMade(t *testing.T) {
	t.Parallel()
	tokens := stored(t)
	past := time.Now().Add(-time.Second)
	for name, create := range map[string]func() (string, error){
		"without a name":   func() (string, error) { return tokens.Create(t.Context(), " ", []string{ScopeEventsRead}, nil, nil) },
		"without a scope":  func() (string, error) { return tokens.Create(t.Context(), "a", nil, nil, nil) },
		"of no such scope": func() (string, error) { return tokens.Create(t.Context(), "a", []string{"events:wirte"}, nil, nil) },
		"of any source by mistake": func() (string, error) {
			return tokens.Create(t.Context(), "a", []string{ScopeEventsWrite}, []string{""}, nil)
		},
		"that have expired": func() (string, error) { return tokens.Create(t.Context(), "a", []string{ScopeEventsRead}, nil, &past) },
	} {
		t.Run(name, func(t *testing.T) {
			if secret, err := create(); err == nil || secret != "" {
				t.Errorf("made %q", secret)
			}
		})
	}
	if all, err := tokens.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%d are stored, %v", len(all), err)
	}
}

func TestTheDemoAnalystReadsAndNothingElse(t *testing.T) {
	t.Parallel()
	p := DemoAnalyst()
	for _, s := range Scopes() {
		if p.Has(s) != (s == ScopeEventsRead) {
			t.Errorf("%s: %v", s, p.Has(s))
		}
	}
}
