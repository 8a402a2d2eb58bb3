package oidc

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"oriel/server/fault"
)

// nowhere answers nothing, so that a fuzzed token reaches nobody.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("nowhere") }

// FuzzVerify feeds what is not the one good token, and sees that it is refused without a panic.
func FuzzVerify(f *testing.F) {
	i := newIssuer(f)
	rsaKey := newSigner(f, "rsa", "RS256")
	ed := newSigner(f, "ed", "EdDSA")
	cfg := i.config()
	cfg.Client = &http.Client{Transport: nowhere{}}
	p := newProvider(f, cfg)
	set := &keys{at: now()}
	for _, s := range []signer{i.key, rsaKey, ed} {
		set.all = append(set.all, key{id: s.id, algorithm: string(s.algorithm), public: s.private.Public()})
	}
	p.keys.known.Store(set)
	claims := machineClaims(i)
	good := map[string]bool{}
	for _, s := range []signer{i.key, rsaKey, ed} {
		token := s.token(claims, nil)
		if _, err := p.Verify(f.Context(), token); err != nil {
			f.Fatalf("the good one: %v", err)
		}
		good[token] = true
		parts := strings.Split(token, ".")
		f.Add(token)
		f.Add(token + "=")
		f.Add(parts[0] + "." + parts[1] + ".")
		f.Add(b64(`{"alg":"none"}`) + "." + parts[1] + ".")
		f.Add(b64(`{"alg":"ES256","jwk":{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}}`) + "." + parts[1] + "." + parts[2])
		f.Add(b64(`{"alg":"RS256","kid":"rsa","x5c":["AAAA"],"crit":["b64"],"b64":false}`) + "." + parts[1] + "." + parts[2])
		f.Add(s.token(with(claims, "exp", 1), nil))
		f.Add(s.token(with(claims, "aud", "other"), nil))
	}
	f.Add("..")
	f.Add("e30.e30.e30")
	f.Fuzz(func(t *testing.T, token string) {
		who, err := p.Verify(t.Context(), token)
		if good[token] {
			return
		}
		if err == nil {
			t.Fatalf("%q was accepted as %+v", token, who)
		}
		if kind := fault.Of(err).Kind; kind != fault.Unauthenticated && kind != fault.Unavailable {
			t.Fatalf("%q got %v", token, err)
		}
	})
}
