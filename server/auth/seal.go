package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// What is sealed, so that one column of a row does not pass for another.
const (
	sealedRefreshToken = "refresh token"
	sealedIDToken      = "id token"
)

const (
	keyBytes  = 32
	markBytes = 8 // FindSession reads as many
)

// keyring seals tokens of the identity provider with AES-256-GCM. A sealed one is the mark of its key, a
// random nonce, the text and its tag; it opens only as the same column of the same session.
type keyring struct {
	first mark
	keys  map[mark]cipher.AEAD
	marks [][]byte
}

// mark tells which key sealed something, and nothing about the key.
type mark [markBytes]byte

func newKeyring(keys [][]byte) (*keyring, error) {
	if len(keys) == 0 {
		return nil, errors.New("sessions need a key")
	}
	k := &keyring{keys: map[mark]cipher.AEAD{}}
	for i, key := range keys {
		if len(key) != keyBytes {
			return nil, fmt.Errorf("key %d of sessions has %d bytes instead of %d", i+1, len(key), keyBytes)
		}
		m, aead, err := deriveKey(key)
		if err != nil {
			return nil, fmt.Errorf("key %d of sessions: %w", i+1, err)
		}
		if i == 0 {
			k.first = m
		}
		k.keys[m] = aead
		k.marks = append(k.marks, m[:])
	}
	return k, nil
}

// deriveKey keeps this use of the operator's key apart from every other.
func deriveKey(key []byte) (m mark, aead cipher.AEAD, err error) {
	text, err := hkdf.Key(sha256.New, key, nil, "oriel: mark of the key of session tokens", markBytes)
	if err != nil {
		return m, nil, err
	}
	own, err := hkdf.Key(sha256.New, key, nil, "oriel: key of session tokens", keyBytes)
	if err != nil {
		return m, nil, err
	}
	block, err := aes.NewCipher(own)
	if err != nil {
		return m, nil, err
	}
	aead, err = cipher.NewGCMWithRandomNonce(block)
	return mark(text), aead, err
}

func boundTo(session digest, column string) []byte {
	return append([]byte(column+"\x00"), session[:]...)
}

// seal is nil for an empty text.
func (k *keyring) seal(text string, session digest, column string) []byte {
	if text == "" {
		return nil
	}
	// The AEAD draws the nonce itself.
	sealed := k.keys[k.first].Seal(nil, nil, []byte(text), boundTo(session, column)) //nolint:gosec // no nonce is passed: see above
	return append(k.first[:len(k.first):len(k.first)], sealed...)
}

// open is empty for nil.
func (k *keyring) open(sealed []byte, session digest, column string) (string, error) {
	if sealed == nil {
		return "", nil
	}
	if len(sealed) < markBytes {
		return "", errors.New("sealed token is cut short")
	}
	aead, ok := k.keys[mark(sealed[:markBytes])]
	if !ok {
		return "", errors.New("sealed token: its key is not among ours")
	}
	text, err := aead.Open(nil, nil, sealed[markBytes:], boundTo(session, column))
	if err != nil {
		return "", fmt.Errorf("open sealed token: %w", err)
	}
	return string(text), nil
}
