package idp

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// What is kept in memory, and for how long.
const (
	requestLife = 10 * time.Minute
	codeLife    = time.Minute
	usedLife    = 10 * time.Minute
	sessionLife = 12 * time.Hour
	most        = 1000 // of each
)

// errNotOffered answers what the library could do and this provider does not.
var errNotOffered = errors.New("not offered here")

// store is what the library keeps with us: requests, codes and sessions in memory, grants in a file.
type store struct {
	cfg      Config
	key      *signingKey
	people   *people
	grants   *grants
	now      func() time.Time
	requests *expiring[*request]
	codes    *expiring[*request] // by code, to be had once
	used     *expiring[string]   // request of a code that was used
	sessions *expiring[session]  // by digest of the cookie
}

func newStore(cfg Config, key *signingKey, kept *grants, now func() time.Time) *store {
	return &store{
		cfg: cfg, key: key, grants: kept, now: now,
		people:   &people{reread: cfg.Reread, log: cfg.Log, last: cfg.People},
		requests: newExpiring[*request](requestLife, most, now), codes: newExpiring[*request](codeLife, most, now),
		used: newExpiring[string](usedLife, most, now), sessions: newExpiring[session](sessionLife, most, now),
	}
}

func (s *store) CreateAuthRequest(ctx context.Context, in *oidc.AuthRequest, hinted string) (op.AuthRequest, error) {
	from := askingFrom(ctx)
	switch {
	case from.browser == "":
		return nil, oidc.ErrServerError().WithDescription("no browser")
	case in.CodeChallenge == "" || in.CodeChallengeMethod != oidc.CodeChallengeMethodS256:
		return nil, oidc.ErrInvalidRequest().WithDescription("PKCE is required: send code_challenge with code_challenge_method S256")
	case in.ResponseMode != "" && in.ResponseMode != oidc.ResponseModeQuery:
		return nil, oidc.ErrInvalidRequest().WithDescription("response_mode must be query")
	case !slices.Contains(in.Scopes, oidc.ScopeOpenID):
		return nil, oidc.ErrInvalidScope().WithDescription("scope openid is missing")
	}
	r := &request{id: rand.Text(), browser: from.browser, in: *in, hinted: hinted}
	if slices.Contains(in.Prompt, oidc.PromptNone) && !r.suits(from.session, s.now()) {
		return nil, oidc.ErrLoginRequired()
	}
	s.requests.put(r.id, r)
	return r, nil
}

func (s *store) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	r, ok := s.requests.get(id)
	if !ok {
		return nil, errors.New("the sign-in is over or was never begun")
	}
	return r, nil
}

func (s *store) SaveAuthCode(ctx context.Context, _, code string) error {
	done := askingFrom(ctx).done
	if done == nil {
		return errors.New("nobody has signed in")
	}
	s.codes.put(code, done)
	return nil
}

// AuthRequestByCode gives a code's request once. Whoever brings a code twice, thief or robbed, ends what
// its first use began.
func (s *store) AuthRequestByCode(_ context.Context, code string) (op.AuthRequest, error) {
	r, ok := s.codes.take(code)
	if ok {
		s.used.put(code, r.id)
		return r, nil
	}
	wrong := errors.New("the code is not, or no longer, valid")
	if id, ok := s.used.get(code); ok {
		return nil, errors.Join(wrong, s.grants.end(func(g grant) bool { return g.Request == id }))
	}
	return nil, wrong
}

func (s *store) DeleteAuthRequest(_ context.Context, id string) error {
	s.requests.take(id)
	return nil
}

func (s *store) CreateAccessToken(context.Context, op.TokenRequest) (string, time.Time, error) {
	return rand.Text(), s.now().Add(tokenLife), nil
}

func (s *store) CreateAccessAndRefreshTokens(_ context.Context, in op.TokenRequest, current string) (id, token string, until time.Time, err error) {
	switch r := in.(type) {
	case *request:
		token, err = s.grants.create(grant{
			Subject: r.session.person, Scopes: r.in.Scopes, Session: r.session.id, Request: r.id, AuthTime: r.session.authTime,
		})
	case *refresh:
		token, err = s.grants.replace(current)
	default:
		err = errNotOffered
	}
	if errors.Is(err, errGrant) { // another use was faster
		err = oidc.ErrInvalidGrant().WithParent(err)
	}
	return rand.Text(), token, s.now().Add(tokenLife), err
}

func (s *store) TokenRequestByRefreshToken(_ context.Context, token string) (op.RefreshTokenRequest, error) {
	g, err := s.grants.find(token)
	if err != nil {
		return nil, err
	}
	if _, ok := s.people.find(g.Subject); !ok {
		return nil, errors.Join(errGrant, s.grants.end(func(other grant) bool { return other.Subject == g.Subject }))
	}
	return &refresh{grant: g, client: s.cfg.ClientID, scopes: g.Scopes}, nil
}

func (s *store) SigningKey(context.Context) (op.SigningKey, error) { return s.key, nil }

func (s *store) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{algorithm}, nil
}

func (s *store) KeySet(context.Context) ([]op.Key, error) { return []op.Key{publicKey{s.key}}, nil }

func (s *store) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	switch {
	case id == s.cfg.ClientID:
		return &client{id: id, redirects: s.cfg.Redirects, signedOut: s.cfg.SignedOut}, nil
	case id == s.cfg.Machine.ID && id != "":
		return &client{id: id, machine: true}, nil
	}
	return nil, oidc.ErrInvalidClient().WithDescription("no such client")
}

func (s *store) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	m := s.cfg.Machine
	if m.ID == "" || m.Secret == "" || id != m.ID || subtle.ConstantTimeCompare([]byte(secret), []byte(m.Secret)) != 1 {
		return oidc.ErrInvalidClient().WithDescription("unknown client, or wrong secret")
	}
	return nil
}

func (s *store) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	if err := s.AuthorizeClientIDSecret(ctx, id, secret); err != nil {
		return nil, err
	}
	return s.GetClientByClientID(ctx, id)
}

func (s *store) ClientCredentialsTokenRequest(_ context.Context, id string, scopes []string) (op.TokenRequest, error) {
	may := s.cfg.Machine.Scopes
	scopes = slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return scope == "" })
	for _, scope := range scopes {
		if !slices.Contains(may, scope) {
			return nil, oidc.ErrInvalidScope().WithDescription("accepted are: %s", strings.Join(may, " "))
		}
	}
	if len(scopes) == 0 {
		scopes = may
	}
	return &machineRequest{id: id, audience: s.cfg.Audience, scopes: scopes}, nil
}
