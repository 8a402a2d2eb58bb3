package saved

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"oriel/server/db"
	"oriel/server/fault"
)

// With runs in the transaction of a change, with the search before and after it; nil where there is none.
type With func(ctx context.Context, tx pgx.Tx, before, after *Search) error

func (with With) run(ctx context.Context, tx pgx.Tx, before, after *Search) error {
	if with == nil {
		return nil
	}
	return with(ctx, tx, before, after)
}

// Change is what is to change of a search; nil stays.
type Change struct {
	Name, Params, View *string
	Shared             *bool
}

// Page is some of the searches that a caller sees, by name.
type Page struct {
	Searches []Search
	Next     string // goes on; "" at the end
}

// List answers the caller's own and the shared ones, by name.
func (s *Store) List(ctx context.Context, c Caller, size int, token string) (*Page, error) {
	name, id, err := readToken(token)
	if err != nil {
		return nil, err
	}
	rows, err := s.queries.PageSavedSearches(ctx, db.PageSavedSearchesParams{Reader: c.ID, AfterName: name, AfterID: id, Size: int32(size) + 1})
	if err != nil {
		return nil, databaseError(err, "list saved searches")
	}
	page := &Page{Searches: make([]Search, 0, min(len(rows), size))}
	for i := range rows {
		if i == size {
			last := page.Searches[size-1]
			page.Next = writeToken(last.Name, last.ID)
			break
		}
		page.Searches = append(page.Searches, *searchOf(rows[i]))
	}
	return page, nil
}

func writeToken(name string, id int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(id, 10) + " " + name))
}

func readToken(token string) (name string, id int64, err error) {
	if token == "" {
		return "", 0, nil
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(token)
	number, name, ok := strings.Cut(string(text), " ")
	id, parse := strconv.ParseInt(number, 10, 64)
	var wrong violations
	if err != nil || !ok || parse != nil {
		err = errors.Join(err, parse)
	} else if checkName(name, &wrong); len(wrong) > 0 {
		err = wrong.err()
	}
	if err != nil || !ok {
		return "", 0, fault.Wrap(err, fault.InvalidArgument, fault.ReasonInvalidPageToken, "The page token is no token of this list.",
			"attribute", "pageToken", "accepted", "nextPageToken of a page of saved searches")
	}
	return name, id, nil
}

// Get answers one that the caller sees.
func (s *Store) Get(ctx context.Context, c Caller, id int64) (*Search, error) {
	row, err := s.queries.SavedSearch(ctx, id)
	return seen(c, id, row, err)
}

// seen is a row that was read, where the caller may see it.
func seen(c Caller, id int64, row db.SavedSearch, err error) (*Search, error) {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return nil, databaseError(err, "read a saved search")
	case row.Shared || c.ID != "" && row.Owner == c.ID:
		return searchOf(row), nil
	}
	return nil, fault.New(fault.NotFound, fault.ReasonNotFound,
		fmt.Sprintf("There is no savedSearches/%d, or it is not shared.", id), "attribute", "savedSearch", "value", strconv.FormatInt(id, 10))
}

// Create saves a search of the caller's.
func (s *Store) Create(ctx context.Context, c Caller, n Search, with With) (*Search, error) {
	var wrong violations
	checkName(n.Name, &wrong)
	checkView(n.View, &wrong)
	params := s.canonical(n.Params, &wrong)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	var made *Search
	err := s.transact(ctx, "save a search", func(ctx context.Context, q *db.Queries, tx pgx.Tx) error {
		if err := q.LockKeeper(ctx, c.ID); err != nil {
			return err
		}
		kept, err := q.CountSavedSearches(ctx, c.ID)
		if err != nil {
			return err
		}
		if kept >= MaxSearches {
			return s.full(limitSearches, MaxSearches, fmt.Sprintf("You keep %d searches, which is as many as one may. Delete one first.", kept))
		}
		row, err := q.AddSavedSearch(ctx, db.AddSavedSearchParams{
			Owner: c.ID, OwnerName: c.Name, Name: n.Name, Shared: n.Shared, Params: params, View: n.View,
		})
		if err != nil {
			return taken(err, n.Name)
		}
		made = searchOf(row)
		return with.run(ctx, tx, nil, made)
	})
	return made, err
}

// Update changes a search that has the version that its changer has seen.
func (s *Store) Update(ctx context.Context, c Caller, id, version int64, change Change, with With) (*Search, error) {
	var wrong violations
	if change.Name != nil {
		checkName(*change.Name, &wrong)
	}
	if change.View != nil {
		checkView(*change.View, &wrong)
	}
	if change.Params != nil {
		params := s.canonical(*change.Params, &wrong)
		change.Params = &params
	}
	if err := wrong.err(); err != nil {
		return nil, err
	}
	var after *Search
	err := s.transact(ctx, "change a saved search", func(ctx context.Context, q *db.Queries, tx pgx.Tx) error {
		before, err := lock(ctx, q, c, id, version)
		if err != nil {
			return err
		}
		n := *before
		for _, f := range []struct{ to, from *string }{{&n.Name, change.Name}, {&n.Params, change.Params}, {&n.View, change.View}} {
			if f.from != nil {
				*f.to = *f.from
			}
		}
		if change.Shared != nil {
			n.Shared = *change.Shared
		}
		row, err := q.ChangeSavedSearch(ctx, db.ChangeSavedSearchParams{ID: id, Name: n.Name, Shared: n.Shared, Params: n.Params, View: n.View})
		if err != nil {
			return taken(err, n.Name)
		}
		after = searchOf(row)
		return with.run(ctx, tx, before, after)
	})
	if err != nil {
		return nil, err
	}
	return after, nil
}

// Delete removes a search; version 0 is any.
func (s *Store) Delete(ctx context.Context, c Caller, id, version int64, with With) error {
	return s.transact(ctx, "delete a saved search", func(ctx context.Context, q *db.Queries, tx pgx.Tx) error {
		before, err := lock(ctx, q, c, id, version)
		if err != nil {
			return err
		}
		if err := q.DeleteSavedSearch(ctx, id); err != nil {
			return err
		}
		return with.run(ctx, tx, before, nil)
	})
}

// lock holds a search that the caller may change, as they have seen it.
func lock(ctx context.Context, q *db.Queries, c Caller, id, version int64) (*Search, error) {
	row, err := q.LockSavedSearch(ctx, id)
	found, err := seen(c, id, row, err)
	switch {
	case err != nil:
		return nil, err
	case found.Owner != c.ID && !c.Admin:
		return nil, fault.New(fault.PermissionDenied, fault.ReasonNotOwner,
			"This search is "+found.OwnerName+"'s, who alone can change it, and admins. Save one of your own with the same filter.", "accepted", found.OwnerName)
	case version != 0 && found.Version != version:
		return nil, fault.New(fault.Aborted, fault.ReasonVersionConflict,
			fmt.Sprintf("The search was changed meanwhile: it has version %d, not %d. Look at it again.", found.Version, version),
			"attribute", "version", "value", strconv.FormatInt(version, 10), "accepted", strconv.FormatInt(found.Version, 10))
	}
	return found, nil
}

// taken gives the name that somebody has twice a public side.
func taken(err error, name string) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "23505" {
		return fault.Wrap(err, fault.Aborted, fault.ReasonNameTaken, "There is a saved search of that name and owner already.", "attribute", "displayName", "value", name)
	}
	return err
}

func (s *Store) full(limit string, most int, message string) error {
	s.refused.WithLabelValues(limit).Inc()
	return fault.New(fault.Exhausted, fault.ReasonLimitReached, message, "limit", strconv.Itoa(most))
}

func searchOf(r db.SavedSearch) *Search {
	return &Search{
		ID: r.ID, Owner: r.Owner, OwnerName: r.OwnerName, Name: r.Name, Shared: r.Shared, Params: r.Params, View: r.View,
		Version: r.Version, Created: r.CreatedAt, Updated: r.UpdatedAt,
	}
}
