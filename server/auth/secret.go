package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"oriel/server/fault"
)

// A token is "orl_" and the base64url form, without padding, of 32 random bytes.
const (
	secretMark   = "orl_"
	secretBytes  = 32
	prefixLength = 8 // characters of the random part that are stored, so that people tell tokens apart
)

type digest = [sha256.Size]byte

func newSecret() string {
	var raw [secretBytes]byte
	_, _ = rand.Read(raw[:]) // never fails: the runtime aborts instead
	return secretMark + base64.RawURLEncoding.EncodeToString(raw[:])
}

func prefixOf(secret string) string { return secret[len(secretMark) : len(secretMark)+prefixLength] }

// digestOf hashes a well-formed secret. A slow hash would defend nothing: the secret has 256 bits.
func digestOf(secret string) (digest, error) {
	random, marked := strings.CutPrefix(secret, secretMark)
	if !marked || len(random) != base64.RawURLEncoding.EncodedLen(secretBytes) || !isBase64URL(random) {
		return digest{}, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid,
			"The bearer token is malformed.", "accepted", `"orl_" and 43 characters of base64url, as printed by "oriel token create"`)
	}
	return sha256.Sum256([]byte(secret)), nil
}

func isBase64URL(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}
