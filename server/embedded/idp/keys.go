package idp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-jose/go-jose/v4"
)

// algorithm signs everything that is signed here.
const algorithm = jose.ES256

// signingKey is the private key as the library wants it.
type signingKey struct {
	private *ecdsa.PrivateKey
	id      string
}

func (k *signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return algorithm }
func (k *signingKey) Key() any                                    { return k.private }
func (k *signingKey) ID() string                                  { return k.id }

// publicKey is its other half.
type publicKey struct{ of *signingKey }

func (k publicKey) ID() string                         { return k.of.id }
func (k publicKey) Algorithm() jose.SignatureAlgorithm { return algorithm }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Key() any                           { return &k.of.private.PublicKey }

// loadKey reads the key, or makes one where there is none.
func loadKey(file string) (*signingKey, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return newKey(file)
	}
	if err != nil {
		return nil, fmt.Errorf("signing key of the demo's identity provider: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is damaged: delete it, and everybody signs in again", file)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok || private.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s is no P-256 key: delete it, and everybody signs in again", file)
	}
	return named(private)
}

func newKey(file string) (*signingKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	if err := replaceFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})); err != nil {
		return nil, fmt.Errorf("keep the signing key of the demo's identity provider: %w", err)
	}
	return named(private)
}

// named gives the key the id that follows from it (RFC 7638).
func named(private *ecdsa.PrivateKey) (*signingKey, error) {
	sum, err := (&jose.JSONWebKey{Key: &private.PublicKey}).Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, err
	}
	return &signingKey{private, base64.RawURLEncoding.EncodeToString(sum)}, nil
}

// replaceFile writes a file at once, readable by its owner alone.
func replaceFile(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".idp-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
