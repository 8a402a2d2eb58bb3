package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	mostKeys    = 100
	leastRSA    = 2048 // bits
	mostRSA     = 8192
	mostWithout = 8 // keys tried for a token that names none
)

// algorithms are the ones that are believed, whatever a provider advertises: asymmetric, each with keys of
// its own kind.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
		jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	}
}

// key is one public key of the provider.
type key struct {
	id, algorithm string // either may be empty
	public        any    // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
}

// signs tells whether the key is one for an algorithm.
func (k key) signs(algorithm jose.SignatureAlgorithm) bool {
	if k.algorithm != "" && k.algorithm != string(algorithm) {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return slices.Contains([]jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}, algorithm)
	case *ecdsa.PublicKey:
		return algorithm == jose.ES256 && public.Curve == elliptic.P256() ||
			algorithm == jose.ES384 && public.Curve == elliptic.P384() ||
			algorithm == jose.ES512 && public.Curve == elliptic.P521()
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	}
	return false
}

// fitting are the keys that a header may mean.
func (k *keys) fitting(id string, algorithm jose.SignatureAlgorithm) []key {
	var fit []key
	for _, key := range k.all {
		if (id == "" || key.id == id) && key.signs(algorithm) && len(fit) < mostWithout {
			fit = append(fit, key)
		}
	}
	return fit
}

// parseKeys reads a key set. A key that cannot be read or used is left out, and the others stay.
func parseKeys(body []byte) (all []key, left []error, err error) {
	var set struct {
		Keys *[]jsontext.Value `json:"keys"`
	}
	// One key with a member twice must not spoil the others: each is read strictly below.
	if err := json.Unmarshal(body, &set, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, nil, fmt.Errorf("no key set: %w", err)
	}
	switch {
	case set.Keys == nil:
		return nil, nil, errors.New("no key set: keys is missing")
	case len(*set.Keys) > mostKeys:
		return nil, nil, fmt.Errorf("a set of %d keys is above %d", len(*set.Keys), mostKeys)
	}
	for i, raw := range *set.Keys {
		k, use, err := parseKey(raw)
		switch {
		case err != nil:
			left = append(left, fmt.Errorf("key %d: %w", i, cut{err}))
		case use:
			all = append(all, *k)
		}
	}
	return all, left, nil
}

// parseKey reads one key; use is false for a sound one that is for something else.
func parseKey(raw jsontext.Value) (k *key, use bool, err error) {
	members := map[string]any{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, false, err
	}
	if purpose, ok := members["use"]; ok && purpose != "sig" {
		return nil, false, nil
	}
	if operations, ok := members["key_ops"].([]any); ok && !slices.Contains(operations, any("verify")) {
		return nil, false, nil
	}
	for _, private := range []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"} {
		if _, ok := members[private]; ok {
			return nil, false, fmt.Errorf("it is no public key: %s is there", private)
		}
	}
	switch members["kty"] {
	case "RSA", "EC", "OKP":
	default:
		return nil, false, nil
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(raw); err != nil {
		if errors.Is(err, jose.ErrUnsupportedKeyType) {
			return nil, false, nil
		}
		return nil, false, err
	}
	if !parsed.Valid() {
		return nil, false, errors.New("it is not valid")
	}
	if public, ok := parsed.Key.(*rsa.PublicKey); ok {
		if bits := public.N.BitLen(); bits < leastRSA || bits > mostRSA {
			return nil, false, fmt.Errorf("RSA of %d bits is outside %d to %d", bits, leastRSA, mostRSA)
		}
	}
	k = &key{id: parsed.KeyID, algorithm: parsed.Algorithm, public: parsed.Key}
	return k, slices.ContainsFunc(algorithms(), k.signs), nil
}
