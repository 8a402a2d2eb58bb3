package oidc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	machineBytes  = 16 << 10 // of a JWT that a machine sends
	providerBytes = 64 << 10 // of one that the provider itself sends
	leeway        = 30 * time.Second
	mostKeyID     = 256
)

// refusal is why a JWT is not believed.
type refusal struct {
	result string // of the metric's set
	text   string // the rest of a sentence that begins with what the JWT is
	cause  error
}

func (r *refusal) Error() string {
	if r.cause != nil {
		return r.text + ": " + cut{r.cause}.Error()
	}
	return r.text
}

func (r *refusal) Unwrap() error { return r.cause }

func refuse(result, text string, args ...any) error {
	return &refusal{result: result, text: fmt.Sprintf(text, args...)}
}

// publicly is the part of an error that a caller may read.
func publicly(err error) string {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r.text
	}
	return "it cannot be read"
}

// jwt is one whose signature and issuer hold, and whose times do.
type jwt struct {
	algorithm jose.SignatureAlgorithm
	claims    claims
}

// kind is what a JWT is taken for.
type kind struct {
	bytes   int
	types   []string // of the typ header, in lower case; it may be absent
	patient bool     // waits for the moment that the keys may be fetched again
	exp     bool     // exp is required
	iss     bool     // iss is required
}

func machineKind() kind {
	return kind{bytes: machineBytes, types: []string{"jwt", "at+jwt", "application/at+jwt"}, exp: true, iss: true}
}

func idTokenKind() kind {
	return kind{bytes: providerBytes, types: []string{"jwt"}, patient: true, exp: true, iss: true}
}

func accessTokenKind() kind {
	k := machineKind()
	k.bytes = providerBytes
	return k
}

// open believes a JWT: a *refusal where it does not hold, another error where the keys cannot be had.
func (p *Provider) open(ctx context.Context, raw string, k kind) (*jwt, error) {
	if len(raw) > k.bytes {
		return nil, refuse(resultMalformed, "is above %d bytes", k.bytes)
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return nil, refuse(resultMalformed, "is no signed JWT of three parts")
	}
	var decoded [3][]byte
	for i, part := range parts {
		// The decoder passes over line ends, and two spellings of one token must not both be it.
		if strings.ContainsAny(part, "\r\n") {
			return nil, refuse(resultMalformed, "has a line end in it")
		}
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil || part == "" {
			return nil, &refusal{resultMalformed, "is not in base64url without padding", err}
		}
	}
	algorithm, id, err := readHeader(decoded[0], k.types)
	if err != nil {
		return nil, err
	}
	if err := p.signed(ctx, raw, algorithm, id, k.patient); err != nil {
		return nil, err
	}
	c, err := readClaims(decoded[1])
	if err != nil {
		return nil, &refusal{resultMalformed, "has claims that are no JSON object with each member once", err}
	}
	if err := p.holds(c, k); err != nil {
		return nil, err
	}
	return &jwt{algorithm: algorithm, claims: c}, nil
}

// readHeader takes the algorithm and the key's id from a header. What else it says of keys (jwk, jku, x5u,
// x5c) is not looked at: only the provider's published keys count.
func readHeader(data []byte, types []string) (algorithm jose.SignatureAlgorithm, id string, err error) {
	members, err := readClaims(data)
	if err != nil {
		return "", "", &refusal{resultMalformed, "has a header that is no JSON object with each member once", err}
	}
	name, ok := members["alg"].(string)
	algorithm = jose.SignatureAlgorithm(name)
	if !ok || !slices.Contains(algorithms(), algorithm) {
		return "", "", refuse(resultHeader, "is signed with another algorithm than %s", algorithmNames())
	}
	for _, extension := range []string{"crit", "b64"} {
		if _, ok := members[extension]; ok {
			return "", "", refuse(resultHeader, "has the header %s, which is not accepted", extension)
		}
	}
	if of, ok := members["typ"]; ok {
		text, isText := of.(string)
		if !isText || !slices.Contains(types, strings.ToLower(text)) {
			return "", "", refuse(resultHeader, "is of another type than %s", strings.Join(types, ", "))
		}
	}
	if of, ok := members["kid"]; ok {
		text, isText := of.(string)
		if !isText || text == "" || len(text) > mostKeyID {
			return "", "", refuse(resultHeader, "has a kid that is no text of 1 to %d bytes", mostKeyID)
		}
		id = text
	}
	return algorithm, id, nil
}

func algorithmNames() string {
	var b strings.Builder
	for i, a := range algorithms() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(a))
	}
	return b.String()
}

// signed checks the signature by the provider's keys, and fetches them anew where they lack the key.
func (p *Provider) signed(ctx context.Context, raw string, algorithm jose.SignatureAlgorithm, id string, patient bool) error {
	parsed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{algorithm})
	if err != nil {
		return &refusal{resultMalformed, "cannot be read", err}
	}
	came := p.cfg.Now()
	set, err := p.keys.current(ctx)
	if err != nil {
		return err
	}
	for {
		fitting := set.fitting(id, algorithm)
		for _, key := range fitting {
			if _, err := parsed.Verify(key.public); err == nil {
				return nil
			}
		}
		if id != "" && len(fitting) > 0 {
			return refuse(resultSignature, "is not signed with the key that it names")
		}
		if !set.at.Before(came) {
			return refuse(resultKey, "is signed with a key that the identity provider does not publish for its algorithm")
		}
		if set, err = p.keys.newer(ctx, set, patient); err != nil {
			return err
		}
	}
}

// holds checks issuer and times, which each kind of JWT has alike.
func (p *Provider) holds(c claims, k kind) error {
	issuer, there, err := c.text("iss")
	switch {
	case err != nil:
		return err
	case !there && k.iss:
		return refuse(resultIssuer, "has no iss")
	case there && issuer != p.cfg.Issuer:
		return refuse(resultIssuer, "is of another issuer than %s", p.cfg.Issuer)
	}
	now := p.cfg.Now()
	expires, there, err := c.time("exp")
	switch {
	case err != nil:
		return err
	case !there && k.exp:
		return refuse(resultClaims, "has no exp")
	case there && !now.Before(expires.Add(leeway)):
		return refuse(resultExpired, "expired at %s", expires.UTC().Format(time.RFC3339))
	}
	for _, name := range []string{"nbf", "iat"} {
		from, there, err := c.time(name)
		if err != nil {
			return err
		}
		if there && now.Add(leeway).Before(from) {
			return refuse(resultEarly, "is valid only from %s (%s)", from.UTC().Format(time.RFC3339), name)
		}
	}
	return nil
}
