package oidc

import "testing"

func BenchmarkVerify(b *testing.B) {
	for _, algorithm := range algorithms() {
		b.Run(string(algorithm), func(b *testing.B) {
			i := newIssuer(b)
			i.key = newSigner(b, "k", algorithm)
			i.jwks = map[string]any{"keys": []any{i.key.jwk()}}
			p := newProvider(b, i.config())
			token := i.key.token(machineClaims(i), nil)
			for b.Loop() {
				if _, err := p.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
