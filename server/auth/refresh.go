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

var (
	errOtherPerson = errors.New("the provider answered with another person")
	errClaimLost   = errors.New("the session has ended or another replica has asked since")
)

// check is one claimed question to the provider about a session.
type check struct {
	*Sessions
	hash    digest
	claimed time.Time // check_after as the claim set it: whoever moves it on has the session
	refresh string    // the token to ask with, and after the answer the one to ask with next
	id      string    // the id token
}

// ask asks the provider and stores what it says, and returns the result for the metric.
func (s *Sessions) ask(ctx context.Context, hash digest, row db.ClaimCheckRow) string {
	c := &check{Sessions: s, hash: hash, claimed: row.CheckAfter}
	var err error
	if c.refresh, err = s.keys.open(row.RefreshToken, hash, sealedRefreshToken); err != nil {
		s.log.ErrorContext(ctx, "a session ends: its refresh token was changed in the database", "error", err)
		return c.end(ctx, endedUnreadable, refreshUnreadable)
	}
	if c.id, err = s.keys.open(row.IDToken, hash, sealedIDToken); err != nil {
		c.id = "" // of a key that is gone: the provider will ask the person when signing out
	}
	asking, cancel := context.WithTimeout(ctx, s.waits.provider)
	who, err := s.provider.Refresh(asking, c.refresh)
	cancel()
	if who != nil && who.RefreshToken != "" {
		c.refresh = who.RefreshToken
	}
	switch public := (*fault.Error)(nil); {
	case errors.As(err, &public) && public.Kind == fault.Unauthenticated:
		s.log.InfoContext(ctx, "a session was ended by the identity provider", "error", err)
		return c.end(ctx, endedRefused, refreshRefused)
	case err != nil:
		s.log.WarnContext(ctx, "the identity provider does not tell a person's roles", "error", err)
		return c.settle(ctx, c.storeNoAnswer)
	}
	return c.settle(ctx, func(ctx context.Context) (string, error) { return c.store(ctx, who) })
}

// settle stores an answer, again where the database fails for a moment, because the refresh token in it may
// be the only one that still holds.
func (c *check) settle(ctx context.Context, store func(ctx context.Context) (string, error)) string {
	ctx, cancel := context.WithTimeout(ctx, databaseWait)
	defer cancel()
	for {
		result, err := store(ctx)
		switch {
		case err == nil:
			return result
		case errors.Is(err, errClaimLost):
			return refreshLost
		case errors.Is(err, errOtherPerson):
			c.log.ErrorContext(ctx, "a session ends: the identity provider refreshed it for another person")
			return c.end(ctx, endedOtherPerson, refreshOtherPerson)
		}
		again := time.NewTimer(c.waits.poll)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			c.log.ErrorContext(ctx, "what the identity provider says of a session was not stored", "error", err)
			return refreshNotStored
		}
	}
}

func (c *check) storeNoAnswer(ctx context.Context) (string, error) {
	n, err := c.queries.StoreNoAnswer(ctx, db.StoreNoAnswerParams{
		Hash: c.hash[:], Claimed: c.claimed, RefreshToken: c.keys.seal(c.refresh, c.hash, sealedRefreshToken),
	})
	if err == nil && n == 0 {
		err = errClaimLost
	}
	return refreshUnavailable, err
}

// store keeps what the provider said; what it did not say again stays. Both tokens are sealed anew, so that
// an older key falls out of use.
func (c *check) store(ctx context.Context, who *Identity) (result string, err error) {
	roles := RolesUpTo(who.Role)
	if who.IDToken != "" {
		c.id = who.IDToken
	}
	result = refreshSame
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		q := c.queries.WithTx(tx)
		was, err := q.LockClaimed(ctx, db.LockClaimedParams{Hash: c.hash[:], Claimed: c.claimed})
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return errClaimLost
		case err != nil:
			return err
		case who.Subject != "" && (who.Subject != was.Subject || who.Issuer != was.Issuer):
			return errOtherPerson
		}
		name, email := was.Name, was.Email
		if text := shown(who.Name); text != "" {
			name = text
		}
		if text := shown(who.Email); text != "" {
			email = &text
		}
		err = q.StoreCheck(ctx, db.StoreCheckParams{
			Hash: c.hash[:], Name: name, Email: email, Roles: roles, RoleCheck: c.cfg.RoleCheck.Seconds(),
			RefreshToken: c.keys.seal(c.refresh, c.hash, sealedRefreshToken), IDToken: c.keys.seal(c.id, c.hash, sealedIDToken),
		})
		if err != nil || slices.Equal(was.Roles, roles) {
			return err
		}
		result = refreshChanged
		if c.rolesChanged == nil {
			return nil
		}
		session := &Session{c.hash, was.Issuer, was.Subject, was.CreatedAt, was.ExpiresAt, c.cfg.Idle}
		return c.rolesChanged(ctx, tx, c.person(session, name, email, roles), was.Roles)
	})
	return result, err
}

// end ends the session, unless another replica has asked since.
func (c *check) end(ctx context.Context, reason, result string) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseWait)
	defer cancel()
	n, err := c.queries.EndClaimed(ctx, db.EndClaimedParams{Hash: c.hash[:], Claimed: c.claimed})
	if err != nil {
		c.log.ErrorContext(ctx, "a session was not ended", "error", err)
		return refreshNotStored
	}
	if n == 0 {
		return refreshLost
	}
	c.metrics.ended.WithLabelValues(reason).Inc()
	return result
}
