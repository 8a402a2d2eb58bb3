package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/config"
)

// NewToken is a token that `oriel token create` makes.
type NewToken struct {
	Name           string
	Scopes         []string
	SourcePrefixes []string       // none: any source
	Lasting        *time.Duration // nil: for ever
	Reason         string
}

// TokenID is a token's id on the command line, as `oriel token list` or as the API writes it.
type TokenID int64

// UnmarshalText reads 3 and tokens/3.
func (id *TokenID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(strings.TrimPrefix(string(text), "tokens/"), 10, 64)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no token's id, such as 3 or tokens/3", text)
	}
	*id = TokenID(n)
	return nil
}

// checkReason asks of the command line what the API asks of its callers.
func checkReason(reason string) error {
	if n := utf8.RuneCountInString(reason); strings.TrimSpace(reason) == "" || n > maxReason {
		return fmt.Errorf("--reason: 1 to %d characters, not blank alone, for the record; leave it out for the usual one", maxReason)
	}
	return nil
}

// maxReason is in characters, as in the API.
const maxReason = 500

// CreateToken runs `oriel token create` and prints the secret, once.
func CreateToken(ctx context.Context, cfg config.Config, out io.Writer, n NewToken) error {
	made := auth.NewToken{Name: n.Name, Scopes: n.Scopes, SourcePrefixes: n.SourcePrefixes, By: actor()}
	if n.Lasting != nil {
		until := time.Now().Add(*n.Lasting)
		made.Expires = &until
	}
	if err := errors.Join(checkReason(n.Reason), auth.CheckNew(made)); err != nil {
		return err
	}
	return withTokens(ctx, cfg, func(tokens *auth.Tokens, record *audit.Log) error {
		op, err := record.Begin(ctx, audit.Entry{
			Action: audit.ActionTokenCreate, Actor: commandLine(), Reason: n.Reason, Target: n.Name,
		})
		if err != nil {
			return err
		}
		_, secret, err := tokens.Create(ctx, made, func(ctx context.Context, tx pgx.Tx, t *auth.Token) error {
			return op.Done(ctx, tx, auth.TokenName(t.ID), nil, t.Recorded())
		})
		if err != nil {
			return errors.Join(err, op.End(ctx, err))
		}
		_, err = fmt.Fprintln(out, secret)
		return err
	})
}

// ListTokens runs `oriel token list`: one line a token, with a head.
func ListTokens(ctx context.Context, cfg config.Config, out io.Writer) error {
	return withTokens(ctx, cfg, func(tokens *auth.Tokens, _ *audit.Log) error {
		all, err := tokens.List(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		day := func(t *time.Time) string {
			if t == nil {
				return "-"
			}
			return t.UTC().Format(time.RFC3339)
		}
		_, _ = fmt.Fprintln(table, "ID\tPREFIX\tNAME\tSCOPES\tSOURCES\tCREATED\tEXPIRES\tLAST USED\tREVOKED")
		for _, t := range all {
			sources := strings.Join(t.SourcePrefixes, ",")
			if sources == "" {
				sources = "any"
			}
			_, _ = fmt.Fprintf(table, "%d\torl_%s…\t%q\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Prefix, t.Name,
				strings.Join(t.Scopes, ","), sources, day(&t.Created), day(t.Expires), day(t.LastUsed), day(t.Revoked))
		}
		return table.Flush()
	})
}

// RevokeToken runs `oriel token revoke`.
func RevokeToken(ctx context.Context, cfg config.Config, out io.Writer, token TokenID, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	id := int64(token)
	return withTokens(ctx, cfg, func(tokens *auth.Tokens, record *audit.Log) error {
		op, err := record.Begin(ctx, audit.Entry{
			Action: audit.ActionTokenRevoke, Actor: commandLine(), Reason: reason, Target: auth.TokenName(id),
		})
		if err != nil {
			return err
		}
		_, err = tokens.Revoke(ctx, id, actor(), func(ctx context.Context, tx pgx.Tx, t *auth.Token) error {
			return op.Done(ctx, tx, "", t.Unrevoked().Recorded(), t.Recorded())
		})
		if err != nil {
			return errors.Join(err, op.End(ctx, err))
		}
		_, err = fmt.Fprintf(out, "token %d is revoked\n", id)
		return err
	})
}

// withTokens opens the database for a command about tokens.
func withTokens(ctx context.Context, cfg config.Config, do func(*auth.Tokens, *audit.Log) error) error {
	pool, err := openKnown(ctx, cfg, "oriel-token")
	if err != nil {
		return err
	}
	defer pool.Close()
	reg := prometheus.NewRegistry()
	tokens := auth.NewTokens(pool, slog.New(slog.DiscardHandler), reg)
	defer tokens.Close()
	return do(tokens, audit.New(pool, reg))
}
