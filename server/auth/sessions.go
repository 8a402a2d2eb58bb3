package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"oriel/server/db"
	"oriel/server/fault"
)

// Session is a person's signed-in browser, as one request sees it.
type Session struct {
	hash            digest
	issuer, subject string
	Created         time.Time
	Expires         time.Time // at the latest
	Idle            time.Duration
}

// Refresher asks the identity provider again: an *oidc.Provider. fault.Unauthenticated where the provider
// ended the grant, fault.Unavailable where it does not answer; an identity that comes with that holds the
// refresh token to use next. What is empty in an identity was not said again, but for the role. It ends
// within 20 s.
type Refresher interface {
	Refresh(ctx context.Context, refreshToken string) (*Identity, error)
}

// SessionConfig bounds sessions.
type SessionConfig struct {
	Keys      [][]byte // 32 bytes each; the first seals, all open
	Idle      time.Duration
	Longest   time.Duration
	RoleCheck time.Duration // how often, at most, the provider is asked for the roles; 0: 5 minutes
}

// RolesChanged is told of a person whose roles are other than before, in the transaction that stores them.
type RolesChanged = func(ctx context.Context, tx pgx.Tx, p *Principal, before []string) error

const (
	withoutRefresh = time.Hour // a session lives at most so long where nobody can ask for the roles again
	believed       = time.Hour // and its roles are believed so long while the provider does not answer
	touchAtMost    = time.Minute

	maxPersonText = 200 // characters of a name or an address that are kept
)

// Sessions keeps who is signed in, in PostgreSQL: every replica sees an end at the next request. Times are
// compared by the database's clock alone. It is safe for concurrent use.
type Sessions struct {
	pool         *pgxpool.Pool
	queries      *db.Queries
	cfg          SessionConfig
	keys         *keyring
	provider     Refresher
	rolesChanged RolesChanged
	log          *slog.Logger
	metrics      *sessionMetrics
	waits        waits
	begun        atomic.Int64 // sign-ins, so that now and then the surplus is dropped
	openSignIns  int64

	closing sync.Mutex // guards closed, and asking.Add against Wait
	closed  bool
	asking  sync.WaitGroup
}

// waits are the bounds of asking the provider; tests shorten them.
type waits struct {
	request  time.Duration // of a request, for the provider's answer
	provider time.Duration // of the question itself
	claim    time.Duration // nobody else asks for so long: above provider and what storing takes
	poll     time.Duration // between two looks at whether another replica has the answer
}

// NewSessions checks the keys. Close ends it.
//
// rolesChanged, where not nil, is told of a person whose roles are other than before, in the transaction
// that stores them.
func NewSessions(pool *pgxpool.Pool, cfg SessionConfig, provider Refresher, rolesChanged RolesChanged, log *slog.Logger, reg prometheus.Registerer) (*Sessions, error) {
	keys, err := newKeyring(cfg.Keys)
	if err != nil {
		return nil, err
	}
	if cfg.Idle <= 0 || cfg.Longest <= 0 {
		return nil, errors.New("sessions need bounds above 0")
	}
	if cfg.RoleCheck == 0 {
		cfg.RoleCheck = 5 * time.Minute
	}
	return &Sessions{
		pool: pool, queries: db.New(pool), cfg: cfg, keys: keys, provider: provider, rolesChanged: rolesChanged,
		log: log, metrics: newSessionMetrics(reg), openSignIns: maxOpenSignIns,
		waits: waits{request: 3 * time.Second, provider: 20 * time.Second, claim: 30 * time.Second, poll: 100 * time.Millisecond},
	}, nil
}

// Close waits for the provider's answers on their way, since one may carry the only refresh token that
// still holds: at most as long as a question and its storing may take. Verify keeps working and asks
// nobody. Safe twice.
func (s *Sessions) Close() {
	s.closing.Lock()
	s.closed = true
	s.closing.Unlock()
	s.asking.Wait()
}

// Create starts a session and returns the cookie's value, new at every sign-in; old, the value of the
// cookie that the browser had, ends with it. with runs in the same transaction. Without a refresh token
// the session ends after an hour at the latest.
func (s *Sessions) Create(ctx context.Context, id *Identity, old string, with InTx) (cookie string, p *Principal, err error) {
	if !storable(id.Issuer) || !storable(id.Subject) {
		return "", nil, fault.New(fault.Unauthenticated, fault.ReasonSignInRejected,
			"The identity provider sent a person without an identifier that can be kept.")
	}
	cookie, hash := newOpaque()
	lasting := s.cfg.Longest
	if id.RefreshToken == "" {
		lasting = min(lasting, withoutRefresh)
	}
	roles := RolesUpTo(id.Role)
	name, email := personTexts(id)
	var row db.CreateSessionRow
	var replaced int
	err = transact(ctx, s.pool, pgx.TxOptions{}, "start session", func(ctx context.Context, tx pgx.Tx) error {
		q := s.queries.WithTx(tx)
		if before, ok := hashOf(old); ok {
			ended, err := q.EndSession(ctx, before[:])
			if err != nil {
				return err
			}
			replaced = len(ended)
		}
		var err error
		row, err = q.CreateSession(ctx, db.CreateSessionParams{
			Hash: hash[:], Issuer: id.Issuer, Subject: id.Subject, Name: name, Email: email, Roles: roles,
			RefreshToken: s.keys.seal(id.RefreshToken, hash, sealedRefreshToken),
			IDToken:      s.keys.seal(id.IDToken, hash, sealedIDToken),
			RoleCheck:    s.cfg.RoleCheck.Seconds(), Lasting: lasting.Seconds(),
		})
		if err != nil {
			return err
		}
		return with.run(ctx, tx)
	})
	if err != nil {
		return "", nil, err
	}
	s.metrics.started.Inc()
	s.metrics.ended.WithLabelValues(endedReplaced).Add(float64(replaced))
	return cookie, s.person(&Session{hash, id.Issuer, id.Subject, row.CreatedAt, row.ExpiresAt, s.cfg.Idle}, name, email, roles), nil
}

// End ends one session, or all of the same person, and returns how many and the id token for the
// provider's own sign-out, empty where there is none. with runs in the same transaction, also where the
// session had ended already.
func (s *Sessions) End(ctx context.Context, p *Principal, everywhere bool, with InTx) (ended int, idToken string, err error) {
	if p.Session == nil {
		return 0, "", errors.New("end session: the caller has none")
	}
	var rows []db.EndSessionRow
	err = transact(ctx, s.pool, pgx.TxOptions{}, "end session", func(ctx context.Context, tx pgx.Tx) error {
		q := s.queries.WithTx(tx)
		var err error
		if everywhere {
			var all []db.EndSessionsOfRow
			all, err = q.EndSessionsOf(ctx, db.EndSessionsOfParams{Issuer: p.Session.issuer, Subject: p.Session.subject})
			for _, row := range all {
				rows = append(rows, db.EndSessionRow(row))
			}
		} else {
			rows, err = q.EndSession(ctx, p.Session.hash[:])
		}
		if err != nil {
			return err
		}
		return with.run(ctx, tx)
	})
	if err != nil {
		return 0, "", err
	}
	reason := endedSignedOut
	if everywhere {
		reason = endedEverywhere
	}
	s.metrics.ended.WithLabelValues(reason).Add(float64(len(rows)))
	for _, row := range rows {
		if digest(row.Hash) != p.Session.hash {
			continue
		}
		// One that does not open, of a key that is gone, only makes the provider ask the person.
		idToken, err = s.keys.open(row.IDToken, p.Session.hash, sealedIDToken)
		if err != nil {
			s.log.WarnContext(ctx, "signing out at the provider goes without the id token", "error", err)
		}
	}
	return len(rows), idToken, nil
}

func (s *Sessions) person(session *Session, name string, email *string, roles []string) *Principal {
	p := &Principal{
		Kind: KindPerson, ID: session.issuer + "#" + session.subject, Name: name, Roles: roles, Session: session,
	}
	if email != nil {
		p.Email = *email
	}
	if len(roles) > 0 {
		p.Scopes = RoleScopes(roles[len(roles)-1])
	}
	return p
}

// storable says whether PostgreSQL keeps a text as it is.
func storable(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// personTexts are the name and the address of a person as they are kept and shown; a person without a name
// goes by the address, and else by the subject.
func personTexts(id *Identity) (name string, email *string) {
	if address := shown(id.Email); address != "" {
		email = &address
	}
	for _, text := range []string{id.Name, id.Email, id.Subject} {
		if name = shown(text); name != "" {
			return name, email
		}
	}
	return fmt.Sprintf("%q", id.Subject), email
}

func shown(text string) string {
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD")))
	if runes := []rune(text); len(runes) > maxPersonText {
		return string(runes[:maxPersonText-1]) + "…"
	}
	return text
}
