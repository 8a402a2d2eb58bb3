package oidc

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"oriel/server/fault"
)

func publish(i *issuer, signers ...signer) {
	all := []any{}
	for _, s := range signers {
		all = append(all, s.jwk())
	}
	i.set(func() { i.jwks = map[string]any{"keys": all} })
}

// settle waits for what goes on in the background.
func settle(t *testing.T, a *asker) {
	t.Helper()
	a.mu.Lock()
	running := a.running
	a.mu.Unlock()
	if running == nil {
		return
	}
	select {
	case <-running:
	case <-time.After(10 * time.Second):
		t.Fatal("a question to the provider does not end")
	}
}

func TestKeysRotateWhileRunning(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	clock := new(hand)
	cfg := i.config()
	cfg.Now = clock.now
	p := newProvider(t, cfg)
	claims := with(machineClaims(i), "exp", now().Unix()+1<<20)
	second := newSigner(t, "second", "ES384")
	verify := func(s signer) error {
		_, err := p.Verify(t.Context(), s.token(claims, nil))
		return err
	}
	if err := verify(i.key); err != nil {
		t.Fatal(err)
	}
	publish(i, i.key, second)
	clock.forward(6 * time.Second)
	if err := verify(second); err != nil {
		t.Fatalf("the new key: %v", err)
	}
	if n := i.count(pathKeys); n != 2 {
		t.Fatalf("%d fetches for one new key", n)
	}
	publish(i, second)
	clock.forward(9 * time.Minute)
	if err := verify(i.key); err != nil {
		t.Fatalf("the old key, which is still remembered: %v", err)
	}
	clock.forward(2 * time.Minute)
	if err := verify(second); err != nil { // lets the keys be fetched in the background
		t.Fatal(err)
	}
	settle(t, p.keys.asker)
	wantFault(t, verify(i.key), fault.Unauthenticated, fault.ReasonTokenInvalid)
	if err := verify(second); err != nil {
		t.Fatal(err)
	}
}

func TestARemovedKeyIsRefusedAfterAQuietTimeToo(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	clock := new(hand)
	cfg := i.config()
	cfg.Now = clock.now
	p := newProvider(t, cfg)
	token := i.key.token(with(machineClaims(i), "exp", now().Unix()+1<<20), nil)
	if _, err := p.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	publish(i, newSigner(t, "second", "ES256"))
	clock.forward(3 * time.Hour)
	_, err := p.Verify(t.Context(), token)
	wantFault(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
}

func TestOldKeysServeForADayWhileTheProviderIsAway(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	clock := new(hand)
	cfg := i.config()
	cfg.Now = clock.now
	p := newProvider(t, cfg)
	token := i.key.token(with(machineClaims(i), "exp", now().Unix()+1<<20), nil)
	if _, err := p.Verify(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	i.set(func() { i.answers[pathKeys] = status(502) })
	for _, by := range []time.Duration{11 * time.Minute, 20 * time.Minute, 23 * time.Hour} {
		clock.forward(by)
		if _, err := p.Verify(t.Context(), token); err != nil {
			t.Fatalf("%s later: %v", by, err)
		}
		settle(t, p.keys.asker)
	}
	if testutil.ToFloat64(p.metrics.fetches.WithLabelValues(failed)) != 3 {
		t.Error("the failed fetches are not counted")
	}
	stranger := newSigner(t, "second", "ES256").token(machineClaims(i), nil)
	clock.forward(time.Minute / 2)
	_, err := p.Verify(t.Context(), stranger)
	wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
	clock.forward(time.Hour)
	_, err = p.Verify(t.Context(), token)
	wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
	i.set(func() { delete(i.answers, pathKeys) })
	clock.forward(time.Minute)
	if _, err := p.Verify(t.Context(), token); err != nil {
		t.Fatalf("the provider is back: %v", err)
	}
}

func TestAThousandUnknownKeysCostTwoFetches(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	p := newProvider(t, i.config())
	mallory := newSigner(t, "", "ES256")
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := range 125 {
				id := fmt.Sprintf("k-%d-%d", worker, n)
				if _, err := p.Verify(t.Context(), mallory.token(machineClaims(i), map[string]any{"kid": id})); fault.Of(err).Kind != fault.Unauthenticated {
					t.Errorf("got %v", err)
				}
			}
		})
	}
	wg.Wait()
	if n := i.count(pathKeys); n > 2 {
		t.Errorf("%d fetches", n)
	}
	if got := testutil.ToFloat64(p.metrics.verifies.WithLabelValues(resultKey)); got != 1000 {
		t.Errorf("%v counted", got)
	}
}

func TestAFetchThatBringsNoSuchKeyLetsNobodyIn(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	clock := new(hand)
	cfg := i.config()
	cfg.Now = clock.now
	p := newProvider(t, cfg)
	mallory := newSigner(t, "mallory", "ES256")
	if _, err := p.Verify(t.Context(), i.key.token(machineClaims(i), nil)); err != nil {
		t.Fatal(err)
	}
	for n, id := range []any{"mallory", nil} {
		clock.forward(6 * time.Second)
		_, err := p.Verify(t.Context(), mallory.token(machineClaims(i), map[string]any{"kid": id}))
		wantFault(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
		if got := i.count(pathKeys); got != int64(n)+2 {
			t.Errorf("%d fetches", got)
		}
	}
}

func TestASignInWaitsForTheMomentThatKeysMayBeFetchedAgain(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	cfg := i.config()
	began := time.Now()
	cfg.Now = func() time.Time { return now().Add(time.Since(began)) }
	p := newProvider(t, cfg)
	p.keys.apart = 300 * time.Millisecond
	if _, err := p.Verify(t.Context(), i.key.token(machineClaims(i), nil)); err != nil {
		t.Fatal(err)
	}
	second := newSigner(t, "second", "ES256")
	publish(i, second)
	i.set(func() { i.key = second })
	if _, err := signIn(t, i, p, nil); err != nil {
		t.Fatalf("the provider's new key, right after a fetch: %v", err)
	}
	if n := i.count(pathKeys); n != 2 {
		t.Errorf("%d fetches", n)
	}
}

func TestOneBadKeyDoesNotSpoilTheOthers(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	rsaKey := newSigner(t, "rsa", "RS256")
	change := func(s signer, changes ...any) map[string]any { return with(s.jwk(), changes...) }
	off := maps.Clone(i.key.jwk())
	off["x"] = off["y"]
	i.jwks["keys"] = []any{
		nil, 7, "x",
		[]any{},
		map[string]any{},
		map[string]any{"kty": 1},
		map[string]any{"kty": "future", "kid": "f"},
		map[string]any{"kty": "oct", "k": b64("secret"), "kid": "oct", "alg": "HS256"},
		map[string]any{"kty": "EC", "crv": "P-256", "x": "!", "y": "!"},
		map[string]any{"kty": "EC", "crv": "P-999"},
		off, change(rsaKey, "n", ""), change(rsaKey, "e", ""), change(rsaKey, "e", "AA"),
		change(rsaKey, "x5c", []string{"not a certificate"}), change(rsaKey, "d", b64("private")),
		i.key.jwk(),
	}
	raw := mustJSON(i.jwks)
	raw = strings.Replace(raw, `"keys":[`, `"keys":[{"kty":"EC","kty":"RSA"},{"kty":"`+"\xff"+`"},`, 1)
	i.answers[pathKeys] = body("application/json", raw)
	p := newProvider(t, i.config())
	if _, err := p.Verify(t.Context(), i.key.token(machineClaims(i), nil)); err != nil {
		t.Fatal(err)
	}
	if all := p.keys.known.Load().all; len(all) != 1 {
		t.Errorf("%d keys are used: %+v", len(all), all)
	}
	for _, algorithm := range []string{"RS256"} {
		_, err := p.Verify(t.Context(), signer{"rsa", rsaKey.algorithm, rsaKey.private}.token(machineClaims(i), map[string]any{"alg": algorithm}))
		wantFault(t, err, fault.Unauthenticated, fault.ReasonTokenInvalid)
	}
}

func TestKeySetsAreBounded(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	many := func(n int) []any {
		all := make([]any, n)
		for k := range all {
			all[k] = with(i.key.jwk(), "kid", fmt.Sprint(k))
		}
		return all
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		ok     bool
	}{
		"100 keys":          {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]any{"keys": many(100)}) }, true},
		"101 keys":          {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]any{"keys": many(101)}) }, false},
		"no keys member":    {body("application/json", `{}`), false},
		"keys null":         {body("application/json", `{"keys":null}`), false},
		"keys as an object": {body("application/json", `{"keys":{}}`), false},
		"not JSON":          {body("application/json", `<html>`), false},
		"too large":         {body("application/json", `{"keys":[]}`+strings.Repeat(" ", answerBytes)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := newIssuer(t)
			own.answers[pathKeys] = c.answer
			p := newProvider(t, own.config())
			_, err := p.Verify(t.Context(), i.key.token(machineClaims(own), map[string]any{"kid": "99"}))
			if c.ok {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantFault(t, err, fault.Unavailable, fault.ReasonProviderUnavailable)
		})
	}
}

func TestTokensWithoutAKeyIDFindTheNewKey(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	clock := new(hand)
	cfg := i.config()
	cfg.Now = clock.now
	p := newProvider(t, cfg)
	if _, err := p.Verify(t.Context(), i.key.token(machineClaims(i), map[string]any{"kid": nil})); err != nil {
		t.Fatal(err)
	}
	second := newSigner(t, "second", "ES256")
	publish(i, second)
	clock.forward(6 * time.Second)
	if _, err := p.Verify(t.Context(), second.token(machineClaims(i), map[string]any{"kid": nil})); err != nil {
		t.Fatal(err)
	}
}
