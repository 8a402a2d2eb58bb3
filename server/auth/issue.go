package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
	"oriel/server/fault"
)

const (
	maxTokenName      = 100   // characters
	maxSourcePrefixes = 50    // of a token
	maxSourcePrefix   = 1_024 // bytes
)

// NewToken is a token that is to be made.
type NewToken struct {
	Name           string
	Scopes         []string
	SourcePrefixes []string   // none: any source
	Expires        *time.Time // nil: never
	By             string     // who makes it
}

// CheckNew says everything that is wrong with a token that is to be made: nil, or fault.InvalidArgument
// with a violation of INVALID_FIELD for each mistake, named as in the API.
func CheckNew(n NewToken) error {
	var wrong []fault.Violation
	bad := func(field, accepted, message string) {
		wrong = append(wrong, fault.Violation{
			Reason: fault.ReasonInvalidField, Message: message, Metadata: fault.Pairs("attribute", field, "accepted", accepted),
		})
	}
	named := "1 to " + strconv.Itoa(maxTokenName) + " characters, none a control character or an invisible one"
	switch length := utf8.RuneCountInString(n.Name); {
	case strings.TrimSpace(n.Name) == "":
		bad("displayName", named, "A token needs a name.")
	case length > maxTokenName:
		bad("displayName", named, fmt.Sprintf("The name of a token has at most %d characters, and this one has %d.", maxTokenName, length))
	case !plain(n.Name):
		bad("displayName", named, "The name of a token has a control character or is not UTF-8.")
	case strings.ContainsFunc(n.Name, invisible):
		bad("displayName", named, "The name of a token has a character that nobody sees, or that turns the text around it.")
	}
	every := strings.Join(Scopes(), ", ")
	if len(n.Scopes) == 0 {
		bad("scopes", every, "A token needs a scope: "+every+".")
	}
	for _, s := range n.Scopes {
		if !slices.Contains(Scopes(), s) {
			bad("scopes", every, fmt.Sprintf("There is no scope %q: %s.", s, every))
		}
	}
	if len(n.SourcePrefixes) > maxSourcePrefixes {
		bad("sourcePrefixes", fmt.Sprintf("at most %d", maxSourcePrefixes),
			fmt.Sprintf("A token has at most %d source prefixes, and this one has %d.", maxSourcePrefixes, len(n.SourcePrefixes)))
	} else {
		checkPrefixes(n.SourcePrefixes, bad)
	}
	if len(n.SourcePrefixes) > 0 && !slices.Contains(n.Scopes, ScopeEventsWrite) {
		bad("sourcePrefixes", "none without the scope "+ScopeEventsWrite, "Source prefixes hold a token to where it may write, and this one has no scope "+ScopeEventsWrite+".")
	}
	const acceptedExpiry = "a time to come, up to 9999-12-31T23:59:59Z"
	switch {
	case n.Expires == nil:
	case !time.Now().Before(*n.Expires):
		bad("expireTime", acceptedExpiry, "The expiry is in the past.")
	case n.Expires.UTC().Year() > 9999: // which RFC 3339 cannot write
		bad("expireTime", acceptedExpiry, "The expiry is after the year 9999 in UTC.")
	}
	if len(wrong) == 0 {
		return nil
	}
	return fault.Many(fault.InvalidArgument, wrong)
}

func checkPrefixes(prefixes []string, bad func(field, accepted, message string)) {
	accepted := fmt.Sprintf("1 to %d bytes of UTF-8, none a control character, and not blank", maxSourcePrefix)
	for i, p := range prefixes {
		switch {
		case p == "":
			bad("sourcePrefixes", accepted, "An empty source prefix would allow any source: leave it out.")
		case strings.TrimSpace(p) == "":
			bad("sourcePrefixes", accepted, fmt.Sprintf("Source prefix number %d is blank, and no source begins with white space.", i+1))
		case len(p) > maxSourcePrefix:
			bad("sourcePrefixes", accepted, fmt.Sprintf("A source prefix has at most %d bytes, and number %d has %d.", maxSourcePrefix, i+1, len(p)))
		case !plain(p):
			bad("sourcePrefixes", accepted, fmt.Sprintf("Source prefix number %d has a control character or is not UTF-8.", i+1))
		}
	}
}

// plain says whether a text is UTF-8 without control characters.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// invisible finds characters that show nothing or change how others show: two names must not look alike.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// WithToken is InTx for work that needs the token.
type WithToken func(ctx context.Context, tx pgx.Tx, t *Token) error

func (with WithToken) of(t *Token) InTx {
	if with == nil {
		return nil
	}
	return func(ctx context.Context, tx pgx.Tx) error { return with(ctx, tx, t) }
}

// Create stores a new token's hash and returns its secret, once. with runs in the same transaction, nil:
// nothing. A scope or a prefix that is given twice counts once.
func (t *Tokens) Create(ctx context.Context, n NewToken, with WithToken) (*Token, string, error) {
	if err := CheckNew(n); err != nil {
		return nil, "", err
	}
	made := &Token{
		Name: n.Name, SourcePrefixes: once(n.SourcePrefixes), CreatedBy: n.By, Expires: n.Expires, State: TokenActive,
		Scopes: slices.DeleteFunc(Scopes(), func(s string) bool { return !slices.Contains(n.Scopes, s) }),
	}
	secret := newSecret()
	hash, err := digestOf(secret)
	if err != nil {
		return nil, "", err
	}
	made.Prefix = prefixOf(secret)
	err = transact(ctx, t.pool, pgx.TxOptions{}, "make token", func(ctx context.Context, tx pgx.Tx) error {
		row, err := t.queries.WithTx(tx).CreateToken(ctx, db.CreateTokenParams{
			Prefix: made.Prefix, Hash: hash[:], Name: made.Name, Scopes: made.Scopes, SourcePrefixes: made.SourcePrefixes,
			ExpiresAt: made.Expires, CreatedBy: optional(n.By),
		})
		if err != nil {
			return err
		}
		made.ID, made.Created, made.Expires = row.ID, row.CreatedAt, row.ExpiresAt
		return with.of(made).run(ctx, tx)
	})
	if err != nil {
		return nil, "", err
	}
	return made, secret, nil
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// once is the list without repetitions, in its order; nil for none.
func once(list []string) []string {
	var each []string
	for _, s := range list {
		if !slices.Contains(each, s) {
			each = append(each, s)
		}
	}
	return each
}

// Revoke ends a token and returns it as it is then: fault.NotFound where there is none, fault.Aborted
// where it was revoked before. with runs in the same transaction. This replica refuses the token at once,
// others within two seconds.
func (t *Tokens) Revoke(ctx context.Context, id int64, by string, with WithToken) (*Token, error) {
	var ended *Token
	var hash digest
	err := transact(ctx, t.pool, pgx.TxOptions{}, "revoke token", func(ctx context.Context, tx pgx.Tx) error {
		q := t.queries.WithTx(tx)
		n, err := q.RevokeToken(ctx, db.RevokeTokenParams{ID: id, RevokedBy: optional(by)})
		if err != nil {
			return err
		}
		row, err := q.GetToken(ctx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return noSuchToken(id)
		}
		if err != nil {
			return err
		}
		if ended = tokenOf(row); n == 0 {
			return revokedBefore(ended)
		}
		hash = digest(row.Hash)
		return with.of(ended).run(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	_ = t.cache.refuse(hash, revoked()) // the caller has no use for what the bearer is told
	return ended, nil
}

// TokenName is the name of a token in the API and in the record.
func TokenName(id int64) string { return "tokens/" + strconv.FormatInt(id, 10) }

func noSuchToken(id int64) error {
	return fault.New(fault.NotFound, fault.ReasonNotFound, "There is no "+TokenName(id)+".")
}

func revokedBefore(t *Token) error {
	by := ""
	if t.RevokedBy != "" {
		by = " by " + t.RevokedBy
	}
	return fault.New(fault.Aborted, fault.ReasonAlreadyRevoked,
		TokenName(t.ID)+" was revoked before, at "+t.Revoked.UTC().Format(time.RFC3339)+by+".", "attribute", "token", "value", TokenName(t.ID))
}
