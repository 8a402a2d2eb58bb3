package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
	"oriel/server/fault"
)

// The states of a token, by the database's clock.
const (
	TokenActive  = "active"
	TokenExpired = "expired"
	TokenRevoked = "revoked"
)

// Token is a stored token as people see it.
type Token struct {
	ID                         int64
	Prefix, Name               string
	Scopes, SourcePrefixes     []string
	State                      string
	Created                    time.Time
	CreatedBy                  string // empty: unknown
	Expires, LastUsed, Revoked *time.Time
	RevokedBy                  string
}

// Recorded is what the audit record keeps of a token; never its secret.
func (t *Token) Recorded() map[string]any {
	instant := func(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }
	o := map[string]any{"displayName": t.Name, "scopes": t.Scopes}
	if t.Prefix != "" {
		o["prefix"] = t.Prefix
	}
	if len(t.SourcePrefixes) > 0 {
		o["sourcePrefixes"] = t.SourcePrefixes
	}
	if t.Expires != nil {
		o["expireTime"] = instant(*t.Expires)
	}
	if t.Revoked != nil {
		o["revokeTime"], o["revokedBy"] = instant(*t.Revoked), t.RevokedBy
	}
	return o
}

// Unrevoked is a revoked token as it was before.
func (t *Token) Unrevoked() *Token {
	was := *t
	was.Revoked, was.RevokedBy = nil, ""
	return &was
}

func tokenOf(r db.GetTokenRow) *Token {
	t := &Token{
		ID: r.ID, Prefix: r.Prefix, Name: r.Name, Scopes: r.Scopes, SourcePrefixes: r.SourcePrefixes, State: TokenActive,
		Created: r.CreatedAt, Expires: r.ExpiresAt, LastUsed: r.LastUsedAt, Revoked: r.RevokedAt,
	}
	switch {
	case r.RevokedAt != nil:
		t.State = TokenRevoked
	case r.Past:
		t.State = TokenExpired
	}
	if r.CreatedBy != nil {
		t.CreatedBy = *r.CreatedBy
	}
	if r.RevokedBy != nil {
		t.RevokedBy = *r.RevokedBy
	}
	return t
}

// List shows every token, oldest first.
func (t *Tokens) List(ctx context.Context) ([]Token, error) {
	rows, err := t.queries.ListTokens(ctx)
	if err != nil {
		return nil, databaseError(err, "list tokens")
	}
	tokens := make([]Token, len(rows))
	for i, r := range rows {
		tokens[i] = *tokenOf(db.GetTokenRow(r))
	}
	return tokens, nil
}

// Get shows one token: fault.NotFound where there is none.
func (t *Tokens) Get(ctx context.Context, id int64) (*Token, error) {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	row, err := t.queries.GetToken(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, noSuchToken(id)
	}
	if err != nil {
		return nil, databaseError(err, "get token")
	}
	return tokenOf(row), nil
}

// TokenFilter selects tokens: those with the text in their name or at the start of their prefix, as shown
// or after orl_, whatever the case, in any of the states. Its zero value selects all.
type TokenFilter struct {
	Text   string
	States []string
}

// TokenPage is one page, newest first.
type TokenPage struct {
	Tokens []Token
	Total  int64  // of all pages
	Next   string // empty: no more
}

// Page reads a page of 1 to 500 tokens, after being the Next of the page before, or empty:
// fault.InvalidArgument with INVALID_PAGE_TOKEN for one of another filter, INVALID_PARAMETER for a filter
// that cannot be.
func (t *Tokens) Page(ctx context.Context, f TokenFilter, size int, after string) (*TokenPage, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if size < 1 || size > maxTokenPage {
		return nil, fault.New(fault.InvalidArgument, fault.ReasonInvalidParameter,
			fmt.Sprintf("A page has 1 to %d tokens.", maxTokenPage), "attribute", "pageSize", "limit", fmt.Sprint(maxTokenPage))
	}
	below := int64(math.MaxInt64)
	if after != "" {
		var err error
		if below, err = f.position(after); err != nil {
			return nil, err
		}
	}
	prefix := f.Text
	if len(prefix) > len(secretMark) && strings.EqualFold(prefix[:len(secretMark)], secretMark) {
		prefix = prefix[len(secretMark):] // as people see it: orl_ and the prefix
	}
	states := slices.Clone(f.States)
	if states == nil {
		states = []string{}
	}
	page := &TokenPage{}
	// One snapshot, so that the number is that of the pages.
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := transact(ctx, t.pool, snapshot, "list tokens", func(ctx context.Context, tx pgx.Tx) error {
		q := t.queries.WithTx(tx)
		var err error
		if page.Total, err = q.CountTokens(ctx, db.CountTokensParams{Part: f.Text, Prefix: prefix, States: states}); err != nil {
			return err
		}
		rows, err := q.PageTokens(ctx, db.PageTokensParams{Below: below, Part: f.Text, Prefix: prefix, States: states, Size: int32(size) + 1})
		if err != nil {
			return err
		}
		page.Tokens = make([]Token, 0, size)
		for i, r := range rows {
			if i == size {
				page.Next = f.token(page.Tokens[size-1].ID)
				break
			}
			page.Tokens = append(page.Tokens, *tokenOf(db.GetTokenRow(r)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

const (
	maxTokenPage     = 500
	kindTokenPage    = 0x31 // version 1
	tokenPageBytes   = 1 + 8 + 8 + 4
	filterMarkBytes  = 8
	acceptedNextPage = "nextPageToken of a page with the same filter"
)

func (f TokenFilter) check() error {
	if !storable(f.Text) && f.Text != "" {
		return fault.New(fault.InvalidArgument, fault.ReasonInvalidParameter, "The text has a NUL or is not UTF-8.", "attribute", "q", "accepted", "UTF-8 without NUL")
	}
	states := []string{TokenActive, TokenExpired, TokenRevoked}
	for _, s := range f.States {
		if !slices.Contains(states, s) {
			accepted := strings.Join(states, ", ")
			return fault.New(fault.InvalidArgument, fault.ReasonInvalidParameter,
				fmt.Sprintf("There is no state %q: %s.", s, accepted), "attribute", "state", "accepted", accepted)
		}
	}
	return nil
}

// mark tells filters apart; the order of the states makes none.
func (f TokenFilter) mark() []byte {
	states := once(f.States)
	slices.Sort(states)
	sum := sha256.Sum256([]byte(f.Text + "\x00" + strings.Join(states, "\x00")))
	return sum[:filterMarkBytes]
}

// token is where a page ended: opaque, no secret, with a checksum that finds what was cut or mistyped.
func (f TokenFilter) token(last int64) string {
	b := binary.BigEndian.AppendUint64([]byte{kindTokenPage}, uint64(last))
	b = append(b, f.mark()...)
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

func (f TokenFilter) position(token string) (int64, error) {
	bad := func(message string) error {
		return fault.New(fault.InvalidArgument, fault.ReasonInvalidPageToken, message, "attribute", "pageToken", "accepted", acceptedNextPage)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != tokenPageBytes || b[0] != kindTokenPage ||
		crc32.ChecksumIEEE(b[:tokenPageBytes-4]) != binary.BigEndian.Uint32(b[tokenPageBytes-4:]) {
		return 0, bad("The page token is malformed.")
	}
	if string(b[9:17]) != string(f.mark()) {
		return 0, bad("The page token belongs to another filter.")
	}
	return int64(binary.BigEndian.Uint64(b[1:9])), nil
}
