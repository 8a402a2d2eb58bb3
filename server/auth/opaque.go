package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// newOpaque is the base64url form, without padding, of 32 random bytes, and the SHA-256 under which it is
// stored: a copy of the database signs nobody in.
func newOpaque() (value string, hash digest) {
	var raw [secretBytes]byte
	_, _ = rand.Read(raw[:]) // never fails: the runtime aborts instead
	value = base64.RawURLEncoding.EncodeToString(raw[:])
	return value, sha256.Sum256([]byte(value))
}

// WellFormed says whether a cookie's value has the shape of those that Begin and Create make.
func WellFormed(value string) bool {
	return len(value) == base64.RawURLEncoding.EncodedLen(secretBytes) && isBase64URL(value)
}

func hashOf(value string) (digest, bool) {
	if !WellFormed(value) {
		return digest{}, false
	}
	return sha256.Sum256([]byte(value)), true
}
