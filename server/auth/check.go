package auth

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
	"oriel/server/fault"
)

// Verify finds the person of a cookie, and lets the provider tell the roles again where that is due:
// fault.Unauthenticated with SESSION_EXPIRED, fault.Unavailable where the database does not answer, or
// where the provider has not for so long that the roles are not believed any more.
func (s *Sessions) Verify(ctx context.Context, cookie string) (*Principal, error) {
	p, err := s.verify(ctx, cookie)
	s.metrics.check(err)
	return p, err
}

func (s *Sessions) verify(ctx context.Context, cookie string) (*Principal, error) {
	hash, ok := hashOf(cookie)
	if !ok {
		return nil, sessionExpired()
	}
	row, err := s.find(ctx, hash)
	if err != nil {
		return nil, err
	}
	if row.Untouched {
		s.touch(ctx, hash)
	}
	limit := time.NewTimer(s.waits.request)
	defer limit.Stop()
	if row.Refreshable && row.Due {
		answered, err := s.claim(ctx, hash, row.CheckAfter)
		if err != nil {
			return nil, err
		}
		if answered != nil {
			select {
			case <-answered:
			case <-limit.C:
				limit.Reset(0) // what follows waits no more
			case <-ctx.Done():
			}
		}
		if answered != nil || row.Outdated {
			if row, err = s.find(ctx, hash); err != nil {
				return nil, err
			}
		}
	}
	for row.Refreshable && row.Outdated {
		// Without an answer on its way to whoever asked, waiting is in vain.
		if !row.Asking || !s.pause(ctx, limit) {
			return nil, providerAway(row.DueIn)
		}
		if row, err = s.find(ctx, hash); err != nil {
			return nil, err
		}
	}
	session := &Session{hash, row.Issuer, row.Subject, row.CreatedAt, row.EndsAt, s.cfg.Idle}
	return s.person(session, row.Name, row.Email, row.Roles), nil
}

// pause waits for a moment, and says whether there is time for more.
func (s *Sessions) pause(ctx context.Context, limit *time.Timer) bool {
	poll := time.NewTimer(s.waits.poll)
	defer poll.Stop()
	select {
	case <-poll.C:
		return true
	case <-limit.C:
	case <-ctx.Done():
	}
	return false
}

func (s *Sessions) find(ctx context.Context, hash digest) (db.FindSessionRow, error) {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	row, err := s.queries.FindSession(ctx, db.FindSessionParams{
		Hash: hash[:], Keys: s.keys.marks, WithoutRefresh: withoutRefresh.Seconds(), Believed: believed.Seconds(),
		TouchEvery: s.touchEvery().Seconds(), Idle: s.cfg.Idle.Seconds(),
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return row, sessionExpired()
	}
	return row, databaseError(err, "find session")
}

// touchEvery is a minute; less where a minute is much of the idle time, which a use must prolong.
func (s *Sessions) touchEvery() time.Duration { return min(touchAtMost, s.cfg.Idle/10) }

func (s *Sessions) touch(ctx context.Context, hash digest) {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	err := s.queries.TouchSession(ctx, db.TouchSessionParams{Hash: hash[:], TouchEvery: s.touchEvery().Seconds()})
	if err != nil { // the next request tries again
		s.log.WarnContext(ctx, "use of a session was not recorded", "error", err)
	}
}

// claim makes us the one that asks the provider; answered is nil where another does or we are closing. The
// question outlives the request: a provider that has given a new refresh token takes the old one no more.
func (s *Sessions) claim(ctx context.Context, hash digest, seen time.Time) (answered <-chan struct{}, err error) {
	s.closing.Lock()
	closed := s.closed
	if !closed {
		s.asking.Add(1)
	}
	s.closing.Unlock()
	if closed {
		return nil, nil
	}
	bounded, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	row, err := s.queries.ClaimCheck(bounded, db.ClaimCheckParams{Hash: hash[:], Seen: seen, Claim: s.waits.claim.Seconds()})
	if err != nil {
		s.asking.Done()
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil
		}
		return nil, databaseError(err, "claim check of a session")
	}
	done := make(chan struct{})
	go func() {
		defer s.asking.Done()
		defer close(done)
		s.metrics.refreshes.WithLabelValues(s.ask(context.WithoutCancel(ctx), hash, row)).Inc()
	}()
	return done, nil
}

func sessionExpired() error {
	return fault.New(fault.Unauthenticated, fault.ReasonSessionExpired, "The session has ended. Sign in again.")
}

// providerAway asks the client to come again when somebody will ask the provider again.
func providerAway(dueIn float64) error {
	e := fault.New(fault.Unavailable, fault.ReasonProviderUnavailable,
		"The identity provider does not answer, and the last time that it told your roles is more than an hour ago.")
	e.RetryAfter = max(time.Second, time.Duration(dueIn*float64(time.Second)))
	return e
}
