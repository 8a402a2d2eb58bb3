package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/server/db"
	"oriel/server/fault"
)

// CheckNew says what is wrong with a token that is to be made.
func CheckNew(name string, scopes, sourcePrefixes []string, expires *time.Time) error {
	var errs []error
	if strings.TrimSpace(name) == "" {
		errs = append(errs, errors.New("a token needs a name"))
	}
	if len(scopes) == 0 {
		errs = append(errs, fmt.Errorf("a token needs a scope: %s", strings.Join(Scopes(), ", ")))
	}
	for _, s := range scopes {
		if !slices.Contains(Scopes(), s) {
			errs = append(errs, fmt.Errorf("there is no scope %q: %s", s, strings.Join(Scopes(), ", ")))
		}
	}
	if slices.Contains(sourcePrefixes, "") {
		errs = append(errs, errors.New("an empty source prefix would allow any source: leave it out"))
	}
	if expires != nil && !time.Now().Before(*expires) {
		errs = append(errs, errors.New("the expiry is in the past"))
	}
	return errors.Join(errs...)
}

// Create stores a new token's hash and returns its secret, once. No prefixes means any source, a nil
// expiry never.
func (t *Tokens) Create(ctx context.Context, name string, scopes, sourcePrefixes []string, expires *time.Time) (string, error) {
	if err := CheckNew(name, scopes, sourcePrefixes, expires); err != nil {
		return "", err
	}
	if len(sourcePrefixes) == 0 {
		sourcePrefixes = nil
	}
	secret := newSecret()
	hash, err := digestOf(secret)
	if err != nil {
		return "", err
	}
	_, err = t.queries.CreateToken(ctx, db.CreateTokenParams{
		Prefix: prefixOf(secret), Hash: hash[:], Name: name, Scopes: scopes,
		SourcePrefixes: sourcePrefixes, ExpiresAt: expires,
	})
	if err != nil {
		return "", fmt.Errorf("store token: %w", err)
	}
	return secret, nil
}

// Token is a stored token as people see it.
type Token struct {
	ID                             int64
	Prefix, Name                   string
	Scopes, SourcePrefixes         []string
	Created                        time.Time
	Expires, LastUsed, RevokedTime *time.Time
}

// List shows every token, oldest first.
func (t *Tokens) List(ctx context.Context) ([]Token, error) {
	rows, err := t.queries.ListTokens(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	tokens := make([]Token, len(rows))
	for i, r := range rows {
		tokens[i] = Token{r.ID, r.Prefix, r.Name, r.Scopes, r.SourcePrefixes, r.CreatedAt, r.ExpiresAt, r.LastUsedAt, r.RevokedAt}
	}
	return tokens, nil
}

// Revoke ends a token: fault.NotFound where it does not exist or was revoked before.
func (t *Tokens) Revoke(ctx context.Context, id int64) error {
	n, err := t.queries.RevokeToken(ctx, id)
	if err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	if n == 0 {
		return fault.New(fault.NotFound, fault.ReasonNotFound, "There is no such token that is not revoked.")
	}
	return nil
}
