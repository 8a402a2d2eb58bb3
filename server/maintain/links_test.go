package maintain

import (
	"testing"

	"oriel/server/dbtest"
)

func TestShareLinksThatNobodyOpensForAYearAreDropped(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	m := newMaintainer(t, pool)
	exec(t, pool, `INSERT INTO share_link (slug, params, created_by, used_at)
		SELECT 's' || i, '', 'ada', now() - CASE WHEN i <= $1 THEN interval '367 days' ELSE interval '364 days' END FROM generate_series(1, $1 + 3) i`, 2*linksAtOnce+1)
	if err := m.dropLinks(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, pool, "SELECT count(*) FROM share_link WHERE used_at > now() - interval '1 year'"); n != 3 {
		t.Errorf("%d of 3 used ones are left", n)
	}
	if n := count(t, pool, "SELECT count(*) FROM share_link"); n != 3 {
		t.Errorf("%d are left, want 3", n)
	}
}
