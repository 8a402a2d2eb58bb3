package saved

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"oriel/server/db"
	"oriel/server/fault"
)

// slugLength is 100 bits of a hash: two filters do not come to the same name by chance.
const slugLength = 20

// slugOf is the name of canonical parameters.
func slugOf(params string) string {
	sum := sha256.Sum256([]byte(params))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:slugLength])
}

// Link gives a filter a short name, the same for the same filter.
func (s *Store) Link(ctx context.Context, c Caller, params string) (*Link, error) {
	var wrong violations
	params = s.canonical(params, &wrong)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	l := &Link{slugOf(params), params}
	switch found, err := s.Follow(ctx, l.Slug); {
	case err == nil:
		return l, l.same(found.Params)
	case fault.Of(err).Kind != fault.NotFound:
		return nil, err
	}
	err := s.transact(ctx, "make a share link", func(ctx context.Context, q *db.Queries, _ pgx.Tx) error {
		if err := q.LockKeeper(ctx, c.ID); err != nil {
			return err
		}
		made, err := q.CountShareLinks(ctx, c.ID)
		if err != nil {
			return err
		}
		if made >= MaxLinks {
			return s.full(limitLinks, MaxLinks, fmt.Sprintf("You have made %d share links that somebody used within a year, which is as many as one may.", made))
		}
		n, err := q.AddShareLink(ctx, db.AddShareLinkParams{Slug: l.Slug, Params: l.Params, CreatedBy: c.ID})
		if err != nil || n == 1 {
			return err
		}
		found, err := q.ShareLink(ctx, l.Slug) // somebody else made it in between
		if err != nil {
			return err
		}
		return l.same(found.Params)
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// same refuses to send people to another filter.
func (l *Link) same(params string) error {
	if params != l.Params {
		return fmt.Errorf("share link %s stands for other parameters", l.Slug)
	}
	return nil
}

// Follow answers the filter of a link, which counts as used.
func (s *Store) Follow(ctx context.Context, slug string) (*Link, error) {
	found, err := s.queries.ShareLink(ctx, slug)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.New(fault.NotFound, fault.ReasonNotFound, "There is no such share link; those that nobody opens for a year are removed.",
			"attribute", "slug", "value", slug)
	}
	if err == nil && found.Stale {
		err = s.queries.UseShareLink(ctx, slug)
	}
	if err != nil {
		return nil, databaseError(err, "read a share link")
	}
	return &Link{found.Slug, found.Params}, nil
}
