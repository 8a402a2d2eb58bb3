package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// signer is a key pair with its name and algorithm.
type signer struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

func newSigner(t testing.TB, id string, algorithm jose.SignatureAlgorithm) signer {
	t.Helper()
	var private crypto.Signer
	var err error
	switch algorithm {
	case jose.ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case jose.EdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return signer{id, algorithm, private}
}

func (s signer) jwk() map[string]any {
	raw, err := jose.JSONWebKey{Key: s.private.Public(), KeyID: s.id, Algorithm: string(s.algorithm), Use: "sig"}.MarshalJSON()
	if err != nil {
		panic(err)
	}
	members := map[string]any{}
	if err := json.Unmarshal(raw, &members); err != nil {
		panic(err)
	}
	return members
}

// token signs claims; header members are added to alg, kid and typ, or take their place, or where nil
// take them away.
func (s signer) token(claims map[string]any, header map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	all := map[string]any{"alg": string(s.algorithm), "kid": s.id, "typ": "JWT"}
	for name, value := range header {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	head, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return s.raw(string(head), string(payload))
}

// raw signs exactly these bytes.
func (s signer) raw(head, payload string) string {
	input := b64(head) + "." + b64(payload)
	var signature []byte
	var err error
	switch private := s.private.(type) {
	case ed25519.PrivateKey:
		signature = ed25519.Sign(private, []byte(input))
	case *rsa.PrivateKey:
		hash := hashOf(s.algorithm)
		h := hash.New()
		h.Write([]byte(input))
		if strings.HasPrefix(string(s.algorithm), "PS") {
			signature, err = rsa.SignPSS(rand.Reader, private, hash, h.Sum(nil), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
		} else {
			signature, err = rsa.SignPKCS1v15(rand.Reader, private, hash, h.Sum(nil))
		}
	case *ecdsa.PrivateKey:
		h := hashOf(s.algorithm).New()
		h.Write([]byte(input))
		r, ss, signErr := ecdsa.Sign(rand.Reader, private, h.Sum(nil))
		err = signErr
		size := (private.Curve.Params().BitSize + 7) / 8
		signature = append(r.FillBytes(make([]byte, size)), ss.FillBytes(make([]byte, size))...)
	}
	if err != nil {
		panic(err)
	}
	return input + "." + b64(string(signature))
}

func hashOf(algorithm jose.SignatureAlgorithm) crypto.Hash {
	switch string(algorithm[2:]) {
	case "384":
		return crypto.SHA384
	case "512":
		return crypto.SHA512
	}
	return crypto.SHA256
}

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
