package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/audit"
	"oriel/server/auth"
	"oriel/server/fault"
)

// tokenAdmin is an *auth.Tokens.
type tokenAdmin interface {
	Page(ctx context.Context, f auth.TokenFilter, size int, after string) (*auth.TokenPage, error)
	Create(ctx context.Context, n auth.NewToken, with auth.WithToken) (*auth.Token, string, error)
	Revoke(ctx context.Context, id int64, by string, with auth.WithToken) (*auth.Token, error)
}

// ListTokens answers one page.
func (h *handlers) ListTokens(ctx context.Context, req ListTokensRequestObject) (ListTokensResponseObject, error) {
	f := auth.TokenFilter{Text: given(req.Params.Q), States: texts(req.Params.State)}
	page, err := h.s.deps.TokenAdmin.Page(ctx, f, pageSize(req.Params.PageSize), given(req.Params.PageToken))
	if err != nil {
		return nil, err
	}
	out := ListTokens200JSONResponse{Tokens: make([]Token, len(page.Tokens)), Total: int32(page.Total), NextPageToken: some(page.Next)}
	for i := range page.Tokens {
		out.Tokens[i] = token(&page.Tokens[i])
	}
	return out, nil
}

// CreateToken makes a token, of which the record has everything but the secret.
func (h *handlers) CreateToken(ctx context.Context, req CreateTokenRequestObject) (CreateTokenResponseObject, error) {
	call, s := callIn(ctx), h.s
	n := auth.NewToken{
		Name: req.Body.DisplayName, Scopes: texts(&req.Body.Scopes), SourcePrefixes: texts(req.Body.SourcePrefixes),
		Expires: req.Body.ExpireTime, By: call.principal.Name,
	}
	if err := auth.CheckNew(n); err != nil {
		return nil, err // nothing was asked for that could be done
	}
	op, err := s.intend(ctx, call, audit.Entry{
		Action: audit.ActionTokenCreate, Target: "tokens", Reason: req.Body.Reason,
		After: (&auth.Token{Name: n.Name, Scopes: n.Scopes, SourcePrefixes: n.SourcePrefixes, Expires: n.Expires}).Recorded(),
	})
	if err != nil {
		return nil, err
	}
	made, secret, err := s.deps.TokenAdmin.Create(ctx, n, func(ctx context.Context, tx pgx.Tx, t *auth.Token) error {
		return op.Done(ctx, tx, auth.TokenName(t.ID), nil, t.Recorded())
	})
	if err != nil {
		return nil, s.ended(ctx, call, op, err)
	}
	return CreateToken200JSONResponse{Token: token(made), Secret: secret}, nil
}

// RevokeToken ends a token.
func (h *handlers) RevokeToken(ctx context.Context, req RevokeTokenRequestObject) (RevokeTokenResponseObject, error) {
	call, s := callIn(ctx), h.s
	id, err := strconv.ParseInt(req.Token, 10, 64)
	if err != nil { // a number that no token has reached
		return nil, fault.Wrap(err, fault.NotFound, fault.ReasonNotFound, "There is no tokens/"+cut(req.Token)+".")
	}
	op, err := s.intend(ctx, call, audit.Entry{Action: audit.ActionTokenRevoke, Target: auth.TokenName(id), Reason: req.Body.Reason})
	if err != nil {
		return nil, err
	}
	ended, err := s.deps.TokenAdmin.Revoke(ctx, id, call.principal.Name, func(ctx context.Context, tx pgx.Tx, t *auth.Token) error {
		return op.Done(ctx, tx, "", t.Unrevoked().Recorded(), t.Recorded())
	})
	if err != nil {
		return nil, s.ended(ctx, call, op, err)
	}
	return RevokeToken200JSONResponse(token(ended)), nil
}

func token(t *auth.Token) Token {
	out := Token{
		Name: auth.TokenName(t.ID), DisplayName: t.Name, Prefix: t.Prefix, State: TokenState(t.State),
		Scopes: make([]Scope, len(t.Scopes)), CreateTime: instant(t.Created), CreatedBy: some(t.CreatedBy),
		ExpireTime: maybe(t.Expires), LastUseTime: maybe(t.LastUsed), RevokeTime: maybe(t.Revoked), RevokedBy: some(t.RevokedBy),
	}
	for i, scope := range t.Scopes {
		out.Scopes[i] = Scope(scope)
	}
	if len(t.SourcePrefixes) > 0 {
		out.SourcePrefixes = &t.SourcePrefixes
	}
	return out
}

func maybe(t *time.Time) *string {
	if t == nil {
		return nil
	}
	return open(*t)
}

// given is a parameter's text; empty where it is absent.
func given[T ~string](v *T) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

// texts are a parameter's values without the empty ones.
func texts[T ~string](values *[]T) []string {
	if values == nil {
		return nil
	}
	var out []string
	for _, v := range *values {
		if v != "" {
			out = append(out, string(v))
		}
	}
	return out
}

// pageSize is openapi.yaml's default where there is none.
func pageSize(n *int32) int {
	if n == nil {
		return 100
	}
	return int(*n)
}
