package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"oriel/server/db"
	"oriel/server/fault"
)

const (
	freshFor    = time.Second            // how long an answer of the database is taken without asking again
	knownWait   = 800 * time.Millisecond // with freshFor below the two seconds in which a revocation bites
	unknownWait = 3 * time.Second
	graceFor    = 10 * time.Minute
	awayFor     = 500 * time.Millisecond // after a failed lookup nobody asks for so long
	refusedFor  = 5 * time.Second
	touchEvery  = time.Minute

	maxKnown   = 16384
	maxRefused = 4096
	// Strangers share so many lookups at a time, so that guessing never starves the pool. Tokens
	// that were seen valid do not queue behind them.
	strangerLookups = 4
)

// lookup finds a token's row: pgx.ErrNoRows where there is none, another error where nobody knows.
type lookup func(ctx context.Context, hash digest) (db.FindTokenRow, error)

// Tokens verifies and makes API tokens. It is safe for concurrent use.
type Tokens struct {
	pool      *pgxpool.Pool
	queries   *db.Queries
	find      lookup
	touch     func(ctx context.Context, id int64) error
	log       *slog.Logger
	checks    *prometheus.CounterVec
	cache     cache
	flight    singleflight.Group
	strangers chan struct{}
	away      atomic.Int64 // unix nanoseconds until which the database is not asked
	lastSaid  atomic.Int64 // unix nanoseconds of the last line about grace

	closing  sync.Mutex // guards closed, and touching.Add against Wait
	closed   bool
	touching sync.WaitGroup
}

// NewTokens makes a verifier; a token seen valid within 10 minutes stays valid while the database is
// away. Close ends it.
func NewTokens(pool *pgxpool.Pool, log *slog.Logger, reg prometheus.Registerer) *Tokens {
	q := db.New(pool)
	t := newTokens(func(ctx context.Context, hash digest) (db.FindTokenRow, error) {
		return q.FindToken(ctx, hash[:])
	}, q.TouchToken, log, reg)
	t.pool, t.queries = pool, q
	return t
}

func newTokens(find lookup, touch func(context.Context, int64) error, log *slog.Logger, reg prometheus.Registerer) *Tokens {
	t := &Tokens{
		find: find, touch: touch, log: log,
		strangers: make(chan struct{}, strangerLookups),
		checks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oriel_auth_token_checks_total",
			Help: "Bearer tokens checked, by result; grace is a token accepted while the database was away.",
		}, []string{"result"}),
	}
	t.cache.init()
	for _, result := range []string{"valid", "invalid", "grace", "unavailable"} {
		t.checks.WithLabelValues(result)
	}
	reg.MustRegister(t.checks)
	registerLimits(reg, map[string]float64{
		"token_name_characters": maxTokenName, "token_source_prefixes": maxSourcePrefixes,
		"token_source_prefix_bytes": maxSourcePrefix, "token_page_size": maxTokenPage,
	})
	return t
}

// Verify finds the caller of a bearer token: fault.Unauthenticated where malformed, unknown, expired
// or revoked, fault.Unavailable where the database is away and the token was not seen.
func (t *Tokens) Verify(ctx context.Context, bearer string) (*Principal, error) {
	hash, err := digestOf(bearer)
	if err != nil {
		t.checks.WithLabelValues("invalid").Inc()
		return nil, err
	}
	known, refused := t.cache.get(hash, time.Now())
	switch {
	case refused != nil:
		t.checks.WithLabelValues("invalid").Inc()
		return nil, refused
	case known != nil && time.Since(known.confirmed) < freshFor:
		return t.accept(known, "valid")
	}
	fresh, err := t.refresh(ctx, hash, known)
	if err == nil {
		return t.accept(fresh, "valid")
	}
	if public := (*fault.Error)(nil); errors.As(err, &public) && public.Kind == fault.Unauthenticated {
		t.checks.WithLabelValues("invalid").Inc()
		return nil, err
	}
	if known != nil && time.Since(known.confirmed) < graceFor {
		t.sayGrace(ctx, known, err)
		return t.accept(known, "grace")
	}
	t.checks.WithLabelValues("unavailable").Inc()
	e := fault.Wrap(err, fault.Unavailable, fault.ReasonDatabaseUnavailable,
		"The token cannot be checked: the database does not answer.")
	e.RetryAfter = 2 * time.Second
	return nil, e
}

// accept applies the expiry by our clock, because a cached token may expire between two lookups.
func (t *Tokens) accept(k *known, result string) (*Principal, error) {
	if k.expires != nil && !time.Now().Before(*k.expires) {
		t.checks.WithLabelValues("invalid").Inc()
		return nil, expired(*k.expires)
	}
	t.checks.WithLabelValues(result).Inc()
	t.markUsed(k)
	return k.principal, nil
}

// refresh asks the database once for all who wait for the same token. The lookup outlives the caller:
// somebody else may be waiting for it.
func (t *Tokens) refresh(ctx context.Context, hash digest, seen *known) (*known, error) {
	if time.Now().UnixNano() < t.away.Load() {
		return nil, errors.New("the last lookup failed a moment ago")
	}
	wait := unknownWait
	if seen != nil {
		wait = knownWait
	}
	answer := t.flight.DoChan(string(hash[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		if seen == nil {
			select {
			case t.strangers <- struct{}{}:
				defer func() { <-t.strangers }()
			case <-ctx.Done():
				return nil, fmt.Errorf("wait for a lookup: %w", ctx.Err())
			}
		}
		return t.load(ctx, hash, seen)
	})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case a := <-answer:
		if a.Err != nil {
			return nil, a.Err
		}
		return a.Val.(*known), nil
	case <-timer.C:
		return nil, errors.New("the lookup takes too long")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *Tokens) load(ctx context.Context, hash digest, seen *known) (*known, error) {
	asked := time.Now() // the answer is as old as the question
	row, err := t.find(ctx, hash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, t.cache.refuse(hash, fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid, "The bearer token is not known."))
	case err != nil:
		t.away.Store(time.Now().Add(awayFor).UnixNano())
		return nil, fmt.Errorf("find token: %w", err)
	case row.RevokedAt != nil:
		return nil, t.cache.refuse(hash, revoked())
	case row.ExpiresAt != nil && !asked.Before(*row.ExpiresAt):
		return nil, t.cache.refuse(hash, expired(*row.ExpiresAt))
	}
	k := &known{
		id: row.ID, confirmed: asked, expires: row.ExpiresAt, used: new(atomic.Int64),
		principal: &Principal{
			Kind: KindToken, ID: TokenName(row.ID), Name: row.Name, Scopes: row.Scopes, SourcePrefixes: row.SourcePrefixes,
		},
	}
	if seen != nil {
		k.used = seen.used
	}
	t.cache.keep(hash, k)
	return k, nil
}

func revoked() *fault.Error {
	return fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid, "The bearer token was revoked.")
}

func expired(at time.Time) *fault.Error {
	return fault.New(fault.Unauthenticated, fault.ReasonTokenInvalid,
		"The bearer token expired at "+at.UTC().Format(time.RFC3339)+".")
}

// sayGrace logs at most one line a second.
func (t *Tokens) sayGrace(ctx context.Context, k *known, cause error) {
	now, last := time.Now().UnixNano(), t.lastSaid.Load()
	if now-last < int64(time.Second) || !t.lastSaid.CompareAndSwap(last, now) {
		return
	}
	t.log.WarnContext(ctx, "token accepted without the database", "token", k.principal.Name,
		"confirmed", k.confirmed.UTC(), "error", cause)
}

// markUsed records the use at most once a minute and token, beside the request.
func (t *Tokens) markUsed(k *known) {
	now := time.Now()
	last := k.used.Load()
	if now.UnixNano()-last < int64(touchEvery) || now.UnixNano() < t.away.Load() || !k.used.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	t.closing.Lock()
	defer t.closing.Unlock()
	if t.closed {
		return
	}
	t.touching.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := t.touch(ctx, k.id); err != nil {
			k.used.CompareAndSwap(now.UnixNano(), last) // the next use tries again
			t.log.WarnContext(ctx, "last use of a token was not recorded", "token", k.principal.Name, "error", err)
		}
	})
}

// Close waits for uses being recorded. Verify keeps working, without recording. Safe twice.
func (t *Tokens) Close() {
	t.closing.Lock()
	t.closed = true
	t.closing.Unlock()
	t.touching.Wait()
}
