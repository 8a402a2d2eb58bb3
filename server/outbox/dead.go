package outbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oriel/server/db"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Dead is a message that waits for an operator.
type Dead = db.OutboxDeadRow

// ListDead are the dead messages of a topic, or of any where it is "", the oldest first and at most so many.
func ListDead(ctx context.Context, pool *pgxpool.Pool, topic string, most int) ([]Dead, error) {
	rows, err := db.New(pool).OutboxDead(ctx, db.OutboxDeadParams{Topic: topic, Most: int32(most)})
	if err != nil {
		return nil, fmt.Errorf("read the dead messages: %w", err)
	}
	return rows, nil
}

// Choice is which dead messages an operator decides about: those of some ids, or all of one topic.
type Choice struct {
	IDs   []int64
	Topic string
}

// ChoiceError says what is wrong with a choice. Nothing was changed.
type ChoiceError struct{ text string }

func (e *ChoiceError) Error() string { return e.text }

// Decided is a message that was decided about, and the reason that it was dead for.
type Decided = db.OutboxDiscardDeadRow

// RetryDead has dead messages tried again, with no attempt counted, and DiscardDead deletes them. Each does
// that for all that were chosen or for none. with runs in the same transaction.
func RetryDead(ctx context.Context, pool *pgxpool.Pool, c Choice, with func(context.Context, pgx.Tx, []Decided) error) ([]Decided, error) {
	return c.decide(ctx, pool, with, func(q *db.Queries) ([]Decided, error) {
		rows, err := q.OutboxRetryDead(ctx, db.OutboxRetryDeadParams{Ids: c.IDs, Topic: c.Topic})
		done := make([]Decided, len(rows))
		for i, r := range rows {
			done[i] = Decided(r)
		}
		return done, err
	})
}

// DiscardDead is described at RetryDead.
func DiscardDead(ctx context.Context, pool *pgxpool.Pool, c Choice, with func(context.Context, pgx.Tx, []Decided) error) ([]Decided, error) {
	return c.decide(ctx, pool, with, func(q *db.Queries) ([]Decided, error) {
		return q.OutboxDiscardDead(ctx, db.OutboxDiscardDeadParams{Ids: c.IDs, Topic: c.Topic})
	})
}

func (c Choice) decide(ctx context.Context, pool *pgxpool.Pool, with func(context.Context, pgx.Tx, []Decided) error,
	do func(*db.Queries) ([]Decided, error),
) (done []Decided, err error) {
	if (len(c.IDs) == 0) == (c.Topic == "") {
		return nil, &ChoiceError{"Say which messages: by their ids, or all dead ones of a topic."}
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if done, err = do(db.New(pool).WithTx(tx)); err != nil {
			return fmt.Errorf("decide about dead messages: %w", err)
		}
		slices.SortFunc(done, func(a, b Decided) int { return cmp.Compare(a.ID, b.ID) })
		if err := c.all(done); err != nil {
			return err
		}
		return with(ctx, tx, done)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// all refuses where a message that was asked for is not dead, or is gone.
func (c Choice) all(done []Decided) error {
	var missing []string
	for _, id := range c.IDs {
		if !slices.ContainsFunc(done, func(d Decided) bool { return d.ID == id }) {
			missing = append(missing, strconv.FormatInt(id, 10))
		}
	}
	switch {
	case len(missing) > 0:
		return &ChoiceError{"Not dead, or gone: " + strings.Join(missing, ", ") + ". Nothing was changed."}
	case len(done) == 0:
		return &ChoiceError{fmt.Sprintf("No message for topic %q is dead.", c.Topic)}
	}
	return nil
}
