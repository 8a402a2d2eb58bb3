package fault

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"oriel/server/reindex"
)

// checkBlocks looks for events that are in no block of identifiers, or in one that does not find them.
func checkBlocks(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	x, err := reindex.New(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x.Check(t.Context(), reindex.Window{}, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Wrong) > 0 || c.Waiting > 0 {
		t.Errorf("blocks and events differ, %d wait for a block: %s", c.Waiting, strings.Join(c.Wrong, "\n"))
	}
}
