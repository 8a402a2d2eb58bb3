package auth

import (
	"context"
	"errors"
	"slices"
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
		s.metrics.refreshes.WithLabelValues(s.refresh(context.WithoutCancel(ctx), hash, row)).Inc()
	}()
	return done, nil
}

// refresh asks the provider and stores what it says, and returns the result for the metric.
func (s *Sessions) refresh(ctx context.Context, hash digest, claimed db.ClaimCheckRow) string {
	token, err := s.keys.open(claimed.RefreshToken, hash, sealedRefreshToken)
	if err != nil {
		s.log.ErrorContext(ctx, "a session was ended: its refresh token was changed in the database", "error", err)
		return s.endClaimed(ctx, hash, claimed, endedUnreadable, refreshUnreadable)
	}
	asked, cancel := context.WithTimeout(ctx, s.waits.provider)
	id, err := s.provider.Refresh(asked, token)
	cancel()
	if public := (*fault.Error)(nil); errors.As(err, &public) && public.Kind == fault.Unauthenticated {
		s.log.InfoContext(ctx, "a session was ended by the identity provider", "error", err)
		return s.endClaimed(ctx, hash, claimed, endedRefused, refreshRefused)
	}
	if err != nil {
		s.log.WarnContext(ctx, "the identity provider does not tell a person's roles", "error", err)
		ctx, cancel := context.WithTimeout(ctx, databaseWait)
		defer cancel()
		if err := s.queries.StoreNoAnswer(ctx, db.StoreNoAnswerParams{Hash: hash[:], Claimed: claimed.CheckAfter}); err != nil {
			s.log.WarnContext(ctx, "an unanswered check of a session was not recorded", "error", err)
		}
		return refreshUnavailable
	}
	return s.keep(ctx, hash, claimed, id)
}

// errOtherPerson and errClaimLost end a store without a trace.
var (
	errOtherPerson = errors.New("the provider answered with another person")
	errClaimLost   = errors.New("the session has ended or another replica has asked since")
)

// keep stores an answer, again where the database failed for a moment, because the refresh token in it may
// be the only one that still holds.
func (s *Sessions) keep(ctx context.Context, hash digest, claimed db.ClaimCheckRow, id *Identity) string {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	for {
		changed, err := s.store(ctx, hash, claimed, id)
		switch {
		case err == nil && changed:
			return refreshChanged
		case err == nil:
			return refreshSame
		case errors.Is(err, errClaimLost):
			return refreshLost
		case errors.Is(err, errOtherPerson):
			s.log.ErrorContext(ctx, "a session was ended: the identity provider refreshed it for another person")
			return s.endClaimed(ctx, hash, claimed, endedOtherPerson, refreshOtherPerson)
		}
		again := time.NewTimer(s.waits.poll)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			s.log.ErrorContext(ctx, "what the identity provider says of a session was not stored", "error", err)
			return refreshNotStored
		}
	}
}

func (s *Sessions) store(ctx context.Context, hash digest, claimed db.ClaimCheckRow, id *Identity) (changed bool, err error) {
	roles := RolesUpTo(id.Role)
	name, email := personTexts(id)
	refreshToken, idToken := claimed.RefreshToken, claimed.IDToken
	if id.RefreshToken != "" {
		refreshToken = s.keys.seal(id.RefreshToken, hash, sealedRefreshToken)
	}
	if id.IDToken != "" {
		idToken = s.keys.seal(id.IDToken, hash, sealedIDToken)
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		q := s.queries.WithTx(tx)
		was, err := q.LockClaimed(ctx, db.LockClaimedParams{Hash: hash[:], Claimed: claimed.CheckAfter})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return errClaimLost
		case err != nil:
			return err
		case was.Issuer != id.Issuer || was.Subject != id.Subject:
			return errOtherPerson
		}
		err = q.StoreCheck(ctx, db.StoreCheckParams{
			Hash: hash[:], Name: name, Email: email, Roles: roles, RefreshToken: refreshToken, IDToken: idToken,
			RoleCheck: s.cfg.RoleCheck.Seconds(),
		})
		if changed = !slices.Equal(was.Roles, roles); err != nil || !changed || s.rolesChanged == nil {
			return err
		}
		session := &Session{hash, was.Issuer, was.Subject, was.CreatedAt, was.ExpiresAt, s.cfg.Idle}
		return s.rolesChanged(ctx, tx, s.person(session, name, email, roles), was.Roles)
	})
	return changed, err
}

// endClaimed ends a session that nobody else has asked about since.
func (s *Sessions) endClaimed(ctx context.Context, hash digest, claimed db.ClaimCheckRow, reason, result string) string {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	n, err := s.queries.EndClaimed(ctx, db.EndClaimedParams{Hash: hash[:], Claimed: claimed.CheckAfter})
	if err != nil {
		s.log.ErrorContext(ctx, "a session was not ended", "error", err)
		return refreshNotStored
	}
	s.metrics.ended.WithLabelValues(reason).Add(float64(n))
	return result
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
